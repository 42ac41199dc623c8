//! Classes with limits, legends, extreme figures, counted lists and changes between two figures.
//! The values are made up.

use plimsoll_audit::{Level, audit};

fn rules(text: &str) -> Vec<&'static str> {
    let audited = audit("x.md", text).unwrap();
    let found = audited.findings.into_iter();
    let loud = found.filter(|finding| finding.level > Level::Note);
    loud.map(|finding| finding.rule).collect()
}

/// Checks a sentence next to a table, and returns the only rule that reports it.
fn judge(table: &str, cases: &[(&str, Option<&str>)]) {
    for (text, expected) in cases {
        let found = rules(&format!("# Results\n\n{table}\n{text}\n"));
        let expected: Vec<&str> = expected.iter().copied().collect();
        assert_eq!(found, expected, "{text}");
    }
}

const SERVERS: &str = "| Server | Requests/sec | p99 (ms) |\n|---|---|---|\n| Alpha | 152,300 | 11.2 |\n| Beta | 97,400 | 17.3 |\n| Gamma | 61,200 | 24.8 |\n| Delta | 31,900 | 51.6 |\n";

#[test]
fn records_in_the_wrong_class_are_reported() {
    judge(
        SERVERS,
        &[
            ("Fast (> 50k req/s): Alpha, Beta, Gamma", None),
            (
                "Fast (> 50k req/s): Alpha, Beta, Delta",
                Some("label-mismatch"),
            ),
            ("Middle (50-100k req/s): Beta, Gamma", None),
            (
                "Middle (50-100k req/s): Alpha, Beta, Gamma",
                Some("label-mismatch"),
            ),
            ("Low latency (under 20 ms): Alpha, Beta", None),
            (
                "Low latency (under 20 ms): Alpha, Beta, Gamma",
                Some("label-mismatch"),
            ),
            // The limit may apply to a figure that the table does not contain.
            ("Fast start (under 2 ms): Alpha, Beta", None),
            ("Target (under 20 ms): Alpha, Beta, Gamma", None),
            (
                "## Fast: more than 50,000 req/s\n\n- Alpha: written in Rust\n- Delta: written in C",
                Some("label-mismatch"),
            ),
            (
                "## Fast: more than 50,000 req/s\n\n- Alpha: written in Rust\n- Beta: written in C",
                None,
            ),
        ],
    );
}

#[test]
fn marks_are_compared_with_the_legend() {
    let table = |third: &str| {
        format!(
            "| Endpoint | p95 | Rating |\n|---|---|---|\n| /a | 31 ms | 🟢 |\n| /b | 120 ms | 🟡 |\n| /c | 480 ms | {third} |\n"
        )
    };
    let legends = [
        "Legend: 🟢 < 50 ms, 🟡 50-200 ms, 🔴 > 200 ms",
        "- 🟢 Good: < 50 ms\n- 🟡 Fair: 50 ms – 200 ms\n- 🔴 Poor: > 200 ms",
    ];
    for legend in legends {
        judge(&table("🔴"), &[(legend, None)]);
        judge(&table("🟡"), &[(legend, Some("label-mismatch"))]);
    }
    // Limits of two figures are not classes.
    let limits = "- 🟢 p50: < 50 ms\n- 🟡 p95: < 200 ms";
    judge(&table("🟡"), &[(limits, None)]);
    let words = "| Endpoint | p95 | Rating |\n|---|---|---|\n| /a | 31 ms | Good |\n| /b | 120 ms | Good |\n";
    judge(
        words,
        &[("Good: < 50 ms\n\nFair: 50-200 ms", Some("label-mismatch"))],
    );
}

#[test]
fn wrong_extreme_figures_are_reported() {
    judge(
        SERVERS,
        &[
            ("- Peak throughput: 152,300 req/s", None),
            (
                "- Peak throughput: 97,400 req/s",
                Some("comparison-reversed"),
            ),
            ("- Lowest p99: 11.2 ms", None),
            ("- Lowest p99: 17.3 ms", Some("comparison-reversed")),
            ("- Peak throughput of Beta: 97,400 req/s", None),
            ("- Peak throughput: 88,800 req/s", None),
        ],
    );
}

#[test]
fn a_winner_mark_must_be_on_the_best_row() {
    let table = |winner: &str, other: &str| {
        format!(
            "| Server | Requests/sec | p99 (ms) |\n|---|---|---|\n| Alpha {winner} | 97,400 | 17 |\n| Beta {other} | 112,300 | 13 |\n| Gamma | 84,100 | 19 |\n"
        )
    };
    judge(&table("", "🏆"), &[("", None)]);
    judge(&table("🏆", ""), &[("", Some("comparison-reversed"))]);
}

#[test]
fn stated_list_lengths_are_checked() {
    let list = "\n\n1. Alpha\n2. Beta\n   - with TLS\n3. Gamma\n\nMore text.";
    for (lead, expected) in [
        ("We compare three servers:", None),
        ("We compare four servers:", Some("total-mismatch")),
        ("**2 scenarios:**", Some("total-mismatch")),
        // The number may count something else.
        ("We ran 40 tests:", None),
        ("Two of the four servers:", None),
        ("The servers of both runs:", None),
    ] {
        judge(SERVERS, &[(&format!("{lead}{list}"), expected)]);
    }
}

#[test]
fn two_figures_differ_by_the_stated_change() {
    let wrong = Some("ratio-misstated");
    judge(
        SERVERS,
        &[
            (
                "The new version reached 60,000 req/s and the old one 50,000 req/s, 20 % more.",
                None,
            ),
            (
                "The new version reached 60,000 req/s and the old one 50,000 req/s, 45 % more.",
                wrong,
            ),
            (
                "The new version (60k req/s) is 3x faster than the old one (50k req/s).",
                wrong,
            ),
            ("The p95 doubled from 80 ms to 163 ms.", None),
            ("The p95 doubled from 80 ms to 110 ms.", wrong),
            // The change is one of the load or of another record, or is only a bound.
            (
                "With 50 % more users the p95 rose by itself, 100 ms before and 112 ms after.",
                None,
            ),
            (
                "It has 80 ms with a cache and 110 ms without, 60 % lower than the old version.",
                None,
            ),
            (
                "The p50 of 12 ms and the p95 of 61 ms are 20 % lower on the new version.",
                None,
            ),
            (
                "The p95 was 80 ms before and 240 ms after, more than 2x slower.",
                None,
            ),
        ],
    );
}

#[test]
fn a_change_with_a_different_sign_is_reported() {
    let table = |last: &str| {
        format!(
            "| Endpoint | Before (ms) | After (ms) | Change |\n|---|---|---|---|\n| /a | 100 | 80 | -20% |\n| /b | 50 | 60 | +20% |\n| /c | 200 | 150 | -25% |\n| /d | 40 | 30 | {last} |\n"
        )
    };
    judge(&table("-25%"), &[("", None)]);
    judge(&table("+25%"), &[("", Some("comparison-reversed"))]);
}

#[test]
fn an_item_of_a_list_compares_two_records() {
    judge(
        SERVERS,
        &[
            ("- **Alpha**: 56% faster than Beta", None),
            ("- **Beta**: 3x faster than Delta", None),
            ("- **Beta**: 5x faster than Delta", Some("ratio-misstated")),
            ("- **Gamma**: faster than Beta", Some("comparison-reversed")),
        ],
    );
}

#[test]
fn successes_and_failures_must_not_exceed_100_percent() {
    let table = |failed: &str| {
        format!(
            "| Run | Requests/sec | Success rate | Error rate |\n|---|---|---|---|\n| 1 | 97,400 | 98.5% | {failed} |\n"
        )
    };
    judge(&table("1.5%"), &[("", None)]);
    judge(&table("2.5%"), &[("", Some("total-mismatch"))]);
}

#[test]
fn swapped_figures_in_a_sentence_are_reported() {
    judge(
        SERVERS,
        &[
            ("Alpha reached 152,300 req/s, and Beta 97,400 req/s.", None),
            (
                "Alpha reached 97,400 req/s, and Beta 152,300 req/s.",
                Some("stale-prose"),
            ),
            (
                "Alpha and Beta reached 97,400 and 152,300 req/s respectively.",
                Some("stale-prose"),
            ),
            // The names and the figures are in different orders.
            ("Beta is slower than Alpha: 152,300 and 97,400 req/s.", None),
        ],
    );
}

#[test]
fn all_requests_are_the_sum_of_the_rows() {
    let table = "| Endpoint | Requests | p95 (ms) |\n|---|---|---|\n| /a | 1,520 | 31 |\n| /b | 2,310 | 42 |\n| /c | 870 | 55 |\n";
    judge(
        table,
        &[
            ("We sent 4,700 requests in total.", None),
            ("We sent 4,900 requests in total.", Some("total-mismatch")),
            ("- Total requests: 4,700", None),
            ("- Total requests: 4,900", Some("total-mismatch")),
            ("We sent 2,310 requests in total.", None),
        ],
    );
}

#[test]
fn the_shares_of_a_load_must_not_exceed_100_percent() {
    judge(
        SERVERS,
        &[
            (
                "Each user sends a mix of 70% reads, 20% writes and 10% deletes.",
                None,
            ),
            (
                "Users send a mix of 70% reads, 20% writes and 20% deletes.",
                Some("total-mismatch"),
            ),
            (
                "Traffic mix:\n\n- `/a`: 60%\n- `/b`: 30%\n- `/c`: 20%",
                Some("total-mismatch"),
            ),
            ("Traffic mix:\n\n- `/a`: 60%\n- `/b`: 30%", None),
        ],
    );
}

#[test]
fn a_quoted_figure_must_belong_to_the_named_record() {
    judge(
        SERVERS,
        &[
            ("- **Beta**: 97,400 req/s", None),
            ("- **Gamma**: 97,400 req/s", Some("stale-prose")),
            (
                "Gamma responded in 17.3 ms at the 99th percentile.",
                Some("stale-prose"),
            ),
            ("Gamma's p99 of 17.3 ms is low.", Some("stale-prose")),
            ("- **Throughput**: 97,400 req/s", None),
        ],
    );
}
