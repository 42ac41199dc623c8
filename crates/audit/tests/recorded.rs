//! Output of actual tools: sound runs, which must have no findings, and runs with a deliberate
//! error. `recorded/recorder/record.sh` shows how each one was made.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use plimsoll_audit::{Finding, Level, RULES, audit};

fn recorded() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded")
}

fn files(folder: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(recorded().join(folder))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    files
}

/// Replaces each `{{recording}}` in a document with the recording.
fn documents() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/documents");
    let mut documents: Vec<(String, String)> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let mut text = fs::read_to_string(&path).unwrap();
            while let Some(start) = text.find("{{") {
                let end = start + text[start..].find("}}").unwrap();
                let block = fs::read_to_string(recorded().join(&text[start + 2..end])).unwrap();
                text.replace_range(start..end + 2, block.trim_end());
            }
            (name, text)
        })
        .collect();
    documents.sort();
    documents
}

fn findings(name: &str, text: &str) -> Vec<Finding> {
    audit(name, text)
        .unwrap_or_else(|why| panic!("{name}: {why}"))
        .findings
}

#[test]
fn sound_runs_have_no_findings() {
    let files = files("clean");
    assert!(files.len() >= 40, "only {} sound runs", files.len());
    let mut false_alarms = Vec::new();
    for path in &files {
        let name = path.file_name().unwrap().to_string_lossy();
        for finding in findings(&name, &fs::read_to_string(path).unwrap()) {
            if finding.level > Level::Note {
                false_alarms.push(format!("{finding:#?}"));
            }
        }
    }
    assert!(false_alarms.is_empty(), "{}", false_alarms.join("\n"));
}

/// iperf3 prints the interval with two digits, so that of a short transfer may be wrong by half.
#[test]
fn short_transfers_agree_with_their_rounded_intervals() {
    let files = files("short");
    assert_eq!(files.len(), 2);
    for path in &files {
        let name = path.file_name().unwrap().to_string_lossy();
        let findings = findings(&name, &fs::read_to_string(path).unwrap());
        let rules: Vec<&str> = findings.iter().map(|finding| finding.rule).collect();
        assert!(rules.contains(&"run-too-short"), "{rules:?}");
        assert!(!rules.contains(&"unit-mismatch"), "{findings:#?}");
    }
}

/// All findings for each faulty run, so that both missing and false findings are noticed.
#[test]
fn findings_about_faulty_runs() {
    let mut report = String::new();
    for (name, text) in faulty() {
        report.push_str(&format!("{name}\n"));
        for finding in findings(&name, &text) {
            report.push_str(&format!(
                "  {} {}:{} {}\n",
                finding.level.name(),
                finding.rule,
                finding.line,
                finding.arithmetic
            ));
        }
    }
    let snapshot = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/faulty.txt");
    plimsoll_testkit::snapshot::compare(snapshot, &report);
}

fn faulty() -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = files("wrong")
        .into_iter()
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, fs::read_to_string(path).unwrap())
        })
        .collect();
    all.extend(documents());
    all.extend(altered());
    all
}

/// Errors that no tool makes: recordings that were truncated or changed by hand.
fn altered() -> Vec<(String, String)> {
    let clean = |name: &str| fs::read_to_string(recorded().join("clean").join(name)).unwrap();
    let without = |text: &str, gone: &str| -> String {
        assert!(text.contains(gone), "{gone}");
        let kept: Vec<&str> = text.lines().filter(|line| !line.contains(gone)).collect();
        kept.join("\n")
    };
    let both = clean("vegeta_both.txt");
    let old = clean("k6_old_150.txt");
    assert!(both.contains("Requests  ") && old.contains("interrupted iterations\n"));
    vec![
        ("a histogram's row is gone".into(), without(&both, "[5ms,")),
        (
            "first letters are gone".into(),
            both.replacen("Requests  ", "equests  ", 1),
        ),
        ("its heading is gone".into(), without(&both, "Bucket")),
        ("the last word is gone".into(), {
            let at = old.rfind(" iterations\n").unwrap();
            format!("{}{}", &old[..at], &old[at + " iterations".len()..])
        }),
    ]
}

#[test]
fn every_rule_has_a_positive() {
    let mut found: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for (name, text) in faulty() {
        for finding in findings(&name, &text) {
            found.entry(finding.rule).or_default().insert(name.clone());
        }
    }
    let missing: Vec<&str> = RULES
        .iter()
        .map(|rule| rule.name)
        .filter(|rule| !found.contains_key(rule))
        .collect();
    assert!(missing.is_empty(), "no positive for {missing:?}");
    let unknown: Vec<&&str> = found
        .keys()
        .filter(|rule| RULES.iter().all(|known| known.name != **rule))
        .collect();
    assert!(unknown.is_empty(), "not in the table: {unknown:?}");
}

/// A finding without figures is only an opinion.
#[test]
fn every_finding_quotes_figures() {
    for (name, text) in faulty() {
        for finding in findings(&name, &text) {
            let figures = |text: &str| text.chars().any(|letter| letter.is_ascii_digit());
            let quoted = figures(&finding.evidence) || figures(&finding.arithmetic);
            let untold = finding.arithmetic.contains("cannot tell");
            assert!(
                quoted || untold || finding.rule == "label-mismatch",
                "{finding:#?}"
            );
            assert!(
                finding.line > 0 && finding.line <= text.lines().count() + 1,
                "{finding:#?}"
            );
            assert!(!finding.advice.is_empty());
        }
    }
}
