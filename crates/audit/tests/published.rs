//! Five published reports that are not part of the repository: every error visible on the page is
//! found, and every finding was verified by hand. Without these reports, the tests do nothing.
//! PLIMSOLL_SEEDS sets another directory for them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use plimsoll_audit::{Finding, Level, audit};

fn folder() -> Option<PathBuf> {
    let sibling_folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("..")
        .join("..")
        .join("..")
        .join("shared")
        .join("reference/seeds");
    let named = std::env::var_os("PLIMSOLL_SEEDS").map(PathBuf::from);
    named
        .into_iter()
        .chain([sibling_folder])
        .find(|folder| folder.is_dir())
}

/// The findings for the report whose file name begins with `number`.
fn findings_for(number: &str) -> Option<Vec<Finding>> {
    let path = fs::read_dir(folder()?)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| {
            path.file_name()
                .unwrap()
                .to_string_lossy()
                .starts_with(number)
        })?;
    let text = fs::read_to_string(&path).unwrap();
    Some(audit(number, &text).unwrap().findings)
}

/// Checks that `rule` has a finding at `line` with these words in its evidence or arithmetic.
#[track_caller]
fn holds(findings: &[Finding], rule: &str, line: usize, words: &[&str]) {
    let found = findings
        .iter()
        .find(|finding| finding.rule == rule && finding.line == line);
    let Some(found) = found else {
        let near: Vec<_> = findings
            .iter()
            .filter(|finding| finding.rule == rule)
            .collect();
        panic!("no {rule} at {line}; there are {near:#?}");
    };
    for word in words {
        let quoted = found.evidence.contains(word) || found.arithmetic.contains(word);
        assert!(quoted, "`{word}` is not in {found:#?}");
    }
}

/// Checks the number of findings above a note for each rule. All of them were verified by hand.
#[track_caller]
fn nothing_else(findings: &[Finding], expected: &[(&str, usize)]) {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for finding in findings
        .iter()
        .filter(|finding| finding.level > Level::Note)
    {
        *counts.entry(finding.rule).or_default() += 1;
    }
    assert_eq!(counts, expected.iter().copied().collect());
}

#[test]
fn authorization() {
    let Some(findings) = findings_for("000_") else {
        return;
    };
    // In every block, the think time determines the rate, not the capacity.
    holds(
        &findings,
        "think-time-bound",
        113,
        &["100 users", "99.47/s"],
    );
    // Users start in lock-step.
    holds(&findings, "lock-step", 113, &["6000 = 100 × 60"]);
    // The burst at the start makes mean > p90.
    holds(
        &findings,
        "startup-dominates",
        145,
        &["mean 9.2ms", "p90 5.6ms", "233.45ms"],
    );
    // The legend says sd, the rows say dr.
    holds(
        &findings,
        "label-mismatch",
        71,
        &["[-sd]", "sqlite-http-100-dr", "4 of 16"],
    );
    // New connections, compared by a duration that excludes connecting.
    holds(
        &findings,
        "connect-left-out",
        717,
        &["9.31ms", "8.75ms", "1.02s"],
    );
    // The value is the last sample of a gauge.
    holds(&findings, "gauge-as-result", 155, &["vus: 242 max=1000"]);
    // The only check is on the status.
    holds(&findings, "vacuous-check", 97, &["is status 200"]);
    nothing_else(
        &findings,
        &[
            ("connect-left-out", 4),
            ("gauge-as-result", 6),
            ("label-mismatch", 1),
            ("lock-step", 17),
            ("non-monotone", 5),
            ("startup-dominates", 4),
            ("think-time-bound", 20),
        ],
    );
}

#[test]
fn time_zones() {
    let Some(findings) = findings_for("001_") else {
        return;
    };
    holds(
        &findings,
        "objective-contradicted",
        148,
        &["100.762409ms > 100ms", "254613 of 270000 = 94.3 %"],
    );
    holds(
        &findings,
        "non-monotone",
        148,
        &["89.042294ms", "87.714309ms"],
    );
    holds(
        &findings,
        "stale-prose",
        3,
        &["connections were to be measured"],
    );
    holds(&findings, "torn-block", 63, &["without its line"]);
    nothing_else(
        &findings,
        &[
            ("non-monotone", 1),
            ("objective-contradicted", 1),
            ("stale-prose", 1),
            ("torn-block", 1),
        ],
    );
}

#[test]
fn status_lists() {
    let Some(findings) = findings_for("002_") else {
        return;
    };
    // A stall of 4.31 s, hidden by p95 = 4.82 ms.
    holds(
        &findings,
        "hidden-stall",
        303,
        &["p95 4.82ms", "max 4.31s", "14.4 %"],
    );
    // One hot row; 278/s at 357 ms follows from Little's law.
    holds(
        &findings,
        "hot-key",
        151,
        &["321.2/s × 3.15ms = 1.012", "278/s"],
    );
    holds(
        &findings,
        "saturated-closed-loop",
        182,
        &["100 ÷ 278/s", "357.28ms"],
    );
    // Numbers in the prose that no block contains.
    holds(
        &findings,
        "stale-prose",
        12,
        &[
            "no output has 4 users",
            "no output has 200 users",
            "80000…90000",
        ],
    );
    holds(&findings, "stale-prose", 201, &["15.97ms"]);
    holds(&findings, "stale-prose", 241, &["263.86ms"]);
    // The clock ticks every half millisecond.
    holds(
        &findings,
        "coarse-clock",
        107,
        &["http_req_duration: min=0s", "532.9 µs"],
    );
    // Requests per second instead of references per second.
    holds(
        &findings,
        "unlike-questions",
        269,
        &["37.828217/s", "762.4742/s", "items per second are unknown"],
    );
    // Failures that increase the rate.
    holds(
        &findings,
        "failures-as-work",
        387,
        &["1279", "151403", "5003.7/s"],
    );
    // Settings of Redis above runs of PostgreSQL.
    holds(&findings, "label-mismatch", 36, &["redis:", "Posgres DB"]);
    nothing_else(
        &findings,
        &[
            ("coarse-clock", 9),
            ("failures-as-work", 1),
            ("hidden-stall", 1),
            ("hot-key", 1),
            ("label-mismatch", 2),
            ("saturated-closed-loop", 7),
            ("stale-prose", 3),
            ("think-time-bound", 2),
            ("torn-block", 1),
            ("unlike-questions", 1),
        ],
    );
}

#[test]
fn distance_and_tls() {
    let Some(findings) = findings_for("003_") else {
        return;
    };
    // Mbit/s printed as MB/s.
    holds(
        &findings,
        "unit-mismatch",
        29,
        &["933 MB/s", "933 Mbits/sec", "116.6 MB/s"],
    );
    holds(&findings, "unit-mismatch", 30, &["556 MB/s"]);
    // A figure without a unit.
    holds(&findings, "unit-mismatch", 43, &["10.3"]);
    // Ten times the declared messages, which exceeds the network's capacity. The page does not
    // contain the counts, so both findings are notes.
    holds(
        &findings,
        "declared-vs-counted",
        36,
        &["1/10", "This is uncertain"],
    );
    holds(
        &findings,
        "above-baseline",
        37,
        &["707.9 Mbit/s", "556 Mbits/sec"],
    );
    // HTTP/1.1 compared with HTTP/2.
    holds(&findings, "protocol-mismatch", 248, &["111 B", "85 B"]);
    // Handshakes amortized to almost nothing.
    holds(
        &findings,
        "handshake-amortised",
        256,
        &["14.65µs × 176803 = 2.59 s"],
    );
    // "Twice the throughput" refers to the place with the lower throughput.
    holds(&findings, "comparison-reversed", 21, &["all below 1"]);
    nothing_else(
        &findings,
        &[
            ("comparison-reversed", 1),
            ("handshake-amortised", 4),
            ("impossible-minimum", 2),
            ("protocol-mismatch", 4),
            ("saturated-closed-loop", 3),
            ("unit-mismatch", 3),
        ],
    );
}

#[test]
fn gateways() {
    let Some(findings) = findings_for("004_") else {
        return;
    };
    // "http1 (tls)" was HTTP/2.
    holds(
        &findings,
        "protocol-mismatch",
        173,
        &["221 B", "HTTP/1", "http2 (tls)"],
    );
    holds(&findings, "negative-duration", 37, &["min=-1009014ns"]);
    // 111 failures are printed as 0.00 %, and their time counts.
    holds(
        &findings,
        "failures-rounded-away",
        116,
        &["111 ÷ 3542766 = 0.003133 %"],
    );
    holds(&findings, "failures-as-work", 121, &["3.02s", "189.77ms"]);
    // Average latency is users ÷ rate.
    holds(
        &findings,
        "saturated-closed-loop",
        34,
        &["500 ÷ 47618.1/s = 10.5 ms"],
    );
    // A minimum below what the iteration allows.
    holds(&findings, "impossible-minimum", 34, &["11.2µs", "111µs"]);
    holds(&findings, "timeout-as-percentile", 114, &["3.02s"]);
    nothing_else(
        &findings,
        &[
            ("failures-as-work", 1),
            ("failures-rounded-away", 1),
            ("handshake-amortised", 4),
            ("impossible-minimum", 6),
            ("negative-duration", 8),
            ("protocol-mismatch", 1),
            ("saturated-closed-loop", 5),
            ("timeout-as-percentile", 1),
        ],
    );
}
