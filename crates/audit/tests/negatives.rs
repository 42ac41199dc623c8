//! Negatives: for each rule, a report that contains the figures it checks, but no error. Also tests
//! that each rule is documented.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use plimsoll_audit::{Level, RULES, audit};

fn here(path: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// A file in this directory, with each `{{recording}}` replaced by a recording.
fn report(name: &str) -> String {
    filled(fs::read_to_string(here("tests").join(name)).unwrap())
}

fn filled(mut text: String) -> String {
    while let Some(start) = text.find("{{") {
        let end = start + text[start..].find("}}").unwrap();
        let name = here("tests/recorded").join(&text[start + 2..end]);
        let block = fs::read_to_string(name).unwrap();
        text.replace_range(start..end + 2, block.trim_end());
    }
    text
}

/// The documents in `tests/documents`, with their errors fixed.
#[test]
fn sound_documents_have_no_findings() {
    let mut false_alarms = Vec::new();
    for entry in fs::read_dir(here("tests/sound")).unwrap() {
        let name = format!("sound/{}", entry.unwrap().file_name().to_string_lossy());
        let found = audit(&name, &report(&name)).unwrap().findings;
        let loud = found
            .into_iter()
            .filter(|finding| finding.level > Level::Note);
        false_alarms.extend(loud.map(|finding| format!("{finding:#?}")));
    }
    assert!(false_alarms.is_empty(), "{}", false_alarms.join("\n"));
}

/// For each rule, reports that contain what it checks. Other rules may find errors in them.
const NEGATIVES: &[(&str, &[&str])] = &[
    ("negative-duration", &["recorded/clean/k6_full.txt"]),
    ("impossible-minimum", &["recorded/clean/k6_one_user.txt"]),
    (
        "percentile-disorder",
        &["recorded/clean/wrk2_uncorrected.txt"],
    ),
    ("coarse-clock", &["recorded/clean/k6_open_100.txt"]),
    ("printed-too-coarsely", &["recorded/clean/ab_1.txt"]),
    ("percentile-undersampled", &["recorded/clean/k6_p99.txt"]),
    ("run-too-short", &["recorded/clean/hey_1.txt"]),
    ("startup-dominates", &["recorded/clean/k6_ten_users.txt"]),
    ("hidden-stall", &["recorded/clean/wrk_2_latency.txt"]),
    (
        "connection-setup-tail",
        &["../corpus/pages/hey-balanced-fast-tail.page"],
    ),
    ("one-stall-explains", &["sound/rows.md"]),
    ("think-time-bound", &["recorded/clean/k6_ten_users.txt"]),
    (
        "saturated-closed-loop",
        &["recorded/clean/k6_ten_users.txt"],
    ),
    ("lock-step", &["recorded/clean/k6_ten_users.txt"]),
    (
        "littles-law-gap",
        &["recorded/clean/h2load_2.txt", "recorded/clean/wrk_4.txt"],
    ),
    ("gauge-as-result", &["recorded/clean/k6_ten_users.txt"]),
    ("hot-key", &["sound/users.md"]),
    ("unseeded-keys", &["sound/keys.md"]),
    (
        "failures-rounded-away",
        &[
            "recorded/clean/vegeta_100.txt",
            "recorded/wrong/k6_failing.txt",
        ],
    ),
    ("failures-as-work", &["recorded/clean/k6_legacy_150.txt"]),
    (
        "failures-left-out",
        &["../corpus/pages/wrk-gin-and-quarkus.page"],
    ),
    ("same-request", &["recorded/clean/hey_1.txt"]),
    ("length-failures", &["recorded/clean/ab_2.txt"]),
    (
        "non-success-as-success",
        &["recorded/clean/hey_1.txt", "recorded/clean/oha.txt"],
    ),
    ("timeout-as-percentile", &["recorded/clean/vegeta_200.txt"]),
    ("vacuous-check", &["recorded/clean/k6_one_user.txt"]),
    (
        "partial-check",
        &[
            "recorded/clean/k6_one_user.txt",
            "recorded/clean/plimsoll_two_checks.txt",
        ],
    ),
    ("setup-in-metrics", &["recorded/clean/k6_one_user.txt"]),
    ("protocol-mismatch", &["plain and TLS"]),
    ("handshake-amortised", &["recorded/clean/k6_open_100.txt"]),
    ("connect-left-out", &["recorded/clean/k6_full.txt"]),
    (
        "keepalive-not-kept",
        &["recorded/clean/ab_2.txt", "recorded/clean/h2load_1.txt"],
    ),
    ("unit-mismatch", &["sound/network.md"]),
    (
        "declared-vs-counted",
        &["recorded/clean/ab_4.txt", "sound/network.md"],
    ),
    (
        "total-mismatch",
        &["recorded/clean/vegeta_both.txt", "recorded/clean/oha.txt"],
    ),
    (
        "divisor-includes-waiting",
        &["recorded/clean/k6_one_user.txt"],
    ),
    ("copied-block", &["sound/rows.md"]),
    (
        "torn-block",
        &[
            "recorded/clean/vegeta_both.txt",
            "recorded/clean/k6_old_150.txt",
        ],
    ),
    (
        "rate-is-the-asked-rate",
        &["recorded/wrong/vegeta_starved.txt"],
    ),
    ("ramp-end-as-rate", &["sound/ramp.md"]),
    (
        "overdriven",
        &["recorded/clean/vegeta_300.txt", "recorded/clean/wrk2.txt"],
    ),
    (
        "generator-saturated",
        &[
            "recorded/clean/wrk2_uncorrected.txt",
            "recorded/clean/k6_open_300.txt",
        ],
    ),
    ("above-baseline", &["sound/network.md"]),
    (
        "objective-contradicted",
        &["sound/claims.md", "recorded/clean/k6_threshold.txt"],
    ),
    ("non-monotone", &["sound/rows.md"]),
    ("single-run", &["recorded/clean/k6_one_user.txt"]),
    (
        "common-cap",
        &["../corpus/pages/wrk-three-rust-frameworks.page"],
    ),
    (
        "ratio-misstated",
        &[
            "../corpus/pages/ab-workouts-n-plus-one.page",
            "sound/ratios.md",
        ],
    ),
    ("errors-denied", &["sound/ratios.md"]),
    ("unlike-questions", &["sound/rows.md"]),
    ("stale-prose", &["sound/claims.md"]),
    ("percentile-misquoted", &["sound/claims.md"]),
    ("label-mismatch", &["sound/rows.md", "sound/users.md"]),
    (
        "comparison-reversed",
        &["sound/network.md", "sound/claims.md"],
    ),
    ("wrong-base", &["sound/claims.md"]),
    ("inverse-rate-as-latency", &["sound/claims.md"]),
    ("co-located", &["sound/keys.md"]),
];

const PLAIN_AND_TLS: &str = "# Plain against TLS\n\n## http1.1\n\n```\n{{wrong/k6_saturated_plain.txt}}\n```\n\n\
    ## http1.1 (tls)\n\n```\n{{wrong/k6_saturated_tls.txt}}\n```\n";

#[test]
fn every_rule_has_a_clean_negative() {
    let with_one: BTreeSet<&str> = NEGATIVES.iter().map(|(rule, _)| *rule).collect();
    let all: BTreeSet<&str> = RULES.iter().map(|rule| rule.name).collect();
    assert_eq!(with_one, all);
    for (rule, names) in NEGATIVES {
        for name in *names {
            let text = match *name {
                "plain and TLS" => filled(PLAIN_AND_TLS.to_owned()),
                file => report(file),
            };
            let found = audit(name, &text).unwrap().findings;
            // Notes are allowed, because ab always prints 1 ÷ rate.
            let false_finding = found
                .iter()
                .find(|finding| finding.rule == *rule && finding.level > Level::Note);
            assert!(
                false_finding.is_none(),
                "{rule} of {name}: {false_finding:#?}"
            );
        }
    }
}

/// `docs/audit.md` has a formula and an example for each rule, and no others.
#[test]
fn every_rule_is_explained_with_a_formula_and_an_example() {
    let page = fs::read_to_string(here("../../docs/audit.md")).unwrap();
    let rules = page
        .split("\n## Rules\n")
        .nth(1)
        .and_then(|rest| rest.split("\n## ").next())
        .expect("the chapter on rules");
    let mut explained = BTreeSet::new();
    for row in rules.lines().filter(|line| line.starts_with("| `")) {
        // A formula may contain an escaped bar, but no cell may contain an unescaped one.
        let row = row.replace("\\|", "");
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [name, formula, example] = cells[..] else {
            panic!("three cells: {row}");
        };
        let name = name.trim_matches('`').to_owned();
        assert!(formula.len() >= 12 && example.len() >= 8, "{row}");
        assert!(explained.insert(name), "twice: {row}");
    }
    let all: BTreeSet<String> = RULES.iter().map(|rule| rule.name.to_owned()).collect();
    assert_eq!(explained, all);
}
