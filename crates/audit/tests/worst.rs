//! The longest finding of each rule, over all findings on published pages and on recorded outputs.
//! Anyone who changes a message can review it in `worst.txt`.

#[allow(dead_code)]
mod score;

use std::collections::BTreeMap;
use std::path::Path;

use plimsoll_audit::{Finding, Level, RULES, audit};
use score::{PARTS, pages};

/// Every page of the corpus, and every recorded output with a fault.
fn examples() -> Vec<(String, String)> {
    let corpus = PARTS.into_iter().flat_map(|(_, part)| pages(part));
    let mut all: Vec<(String, String)> = corpus.map(|page| (page.name, page.text)).collect();
    for folder in ["tests/recorded/wrong", "tests/documents"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        let mut paths: Vec<_> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        paths.sort();
        for path in paths {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            all.push((name, std::fs::read_to_string(path).unwrap()));
        }
    }
    all
}

fn findings() -> Vec<(String, Finding)> {
    let mut all = Vec::new();
    for (name, text) in examples() {
        if let Ok(audited) = audit(&name, &text) {
            all.extend(
                audited
                    .findings
                    .into_iter()
                    .map(|found| (name.clone(), found)),
            );
        }
    }
    all
}

fn length(finding: &Finding) -> usize {
    finding.evidence.chars().count() + finding.arithmetic.chars().count()
}

/// What a user reads: the conclusion, then the figures, the calculation, and the advice.
#[test]
fn the_worst_example_of_each_rule_can_be_read() {
    let mut worst: BTreeMap<&str, (String, Finding)> = BTreeMap::new();
    for (page, finding) in findings() {
        let known = worst.get(finding.rule);
        let louder = |other: &Finding| {
            (finding.level > Level::Note, length(&finding))
                > (other.level > Level::Note, length(other))
        };
        if known.is_none_or(|(_, other)| louder(other)) {
            worst.insert(finding.rule, (page, finding));
        }
    }
    let mut report = String::new();
    for (rule, (page, finding)) in &worst {
        report.push_str(&format!(
            "{rule} ({}, {page}:{})\n  {}\n  {}\n  {}\n  {}\n",
            finding.level.name(),
            finding.line,
            finding.conclusion,
            finding.evidence,
            finding.arithmetic,
            finding.advice
        ));
    }
    plimsoll_testkit::snapshot::compare(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/worst.txt"),
        &report,
    );
    // No page in the corpus triggers these rules.
    let without: Vec<&str> = RULES
        .iter()
        .map(|rule| rule.name)
        .filter(|rule| !worst.contains_key(rule))
        .collect();
    assert!(without.len() <= 8, "{without:?}");
}

#[test]
fn messages_are_short_and_have_figures() {
    for (page, finding) in findings() {
        let place = format!("{page}:{} {finding:?}", finding.line);
        // The evidence quotes the page, including its spaces.
        for text in [&finding.arithmetic, &finding.advice] {
            let quoted = text.contains('`') || text.contains('"');
            assert!(quoted || !text.contains("  "), "{place}");
        }
        for text in [&finding.evidence, &finding.arithmetic, &finding.advice] {
            assert!(!text.trim().is_empty(), "{place}");
            let quoted = text.contains('`') || text.contains('"');
            for bad in [
                "NaN", "inf ", "inf%", "∞", " ,", "-0 ", "probably", "maybe", "(s)",
            ] {
                assert!(quoted || !text.contains(bad), "`{bad}` in {place}");
            }
        }
        assert!(finding.evidence.chars().count() <= 600, "{place}");
        assert!(finding.arithmetic.chars().count() <= 400, "{place}");
        assert!(finding.advice.ends_with('.'), "{place}");
        assert!(!finding.conclusion.ends_with('.'), "{place}");
        let figures = finding.evidence.contains(|c: char| c.is_ascii_digit())
            || finding.arithmetic.contains(|c: char| c.is_ascii_digit());
        assert!(figures || finding.level == Level::Note, "{place}");
    }
}
