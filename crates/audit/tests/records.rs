//! Tables and lists without the output of a known tool, and sentences that compare their records.
//! The values are made up.

use plimsoll_audit::{Level, Unreadable, audit};

fn rules(text: &str) -> Vec<&'static str> {
    let audited = audit("x.md", text).unwrap();
    let found = audited.findings.into_iter();
    let loud = found.filter(|finding| finding.level > Level::Note);
    loud.map(|finding| finding.rule).collect()
}

const SERVERS: &str = "\
# Results

| Server | Requests/sec | Avg latency | p99 latency |
|---|---|---|---|
| Alpha | 12,400 | 4.1 ms | 19 ms |
| Beta (tuned) | 18,600 | 2.7 ms | 31 ms |
| Gamma | 9,300 | 5.4 ms | 44 ms |
";

fn below(sentence: &str) -> String {
    format!("{SERVERS}\n{sentence}\n")
}

#[test]
fn a_table_alone_can_be_audited() {
    assert!(rules(SERVERS).is_empty());
    let settings = "# Options\n\n| Option | Default |\n|---|---|\n| retries | 3 |\n";
    assert_eq!(audit("x.md", settings).err(), Some(Unreadable::NoBlock));
}

#[test]
fn a_comparison_needs_one_figure_that_supports_it() {
    for (sentence, expected) in [
        ("Beta is faster than Alpha.", None),
        ("Gamma is faster than Alpha.", Some("comparison-reversed")),
        ("Alpha outperforms Beta in every test.", None),
        ("Gamma outperforms Beta.", Some("comparison-reversed")),
        ("Alpha has a lower p99 latency than Beta.", None),
        (
            "Gamma has a lower p99 latency than Beta.",
            Some("comparison-reversed"),
        ),
        (
            "Alpha has higher throughput than Beta.",
            Some("comparison-reversed"),
        ),
        // The claim is denied, expected, about another quantity, or about an unknown subject.
        ("Gamma is not faster than Alpha.", None),
        ("Gamma should be faster than Alpha.", None),
        ("Gamma uses less memory and is faster than Alpha.", None),
        ("Delta is faster than Alpha.", None),
    ] {
        let found = rules(&below(sentence));
        assert_eq!(found.first().copied(), expected, "{sentence}: {found:?}");
    }
}

#[test]
fn factors_between_two_figures_are_checked() {
    for (sentence, expected) in [
        ("Beta is 50% faster than Alpha.", None),
        ("Beta is 1.5x faster than Alpha.", None),
        ("Beta is twice as fast as Alpha.", None),
        (
            "Beta is three times as fast as Alpha.",
            Some("ratio-misstated"),
        ),
        (
            "Beta delivers triple the throughput of Alpha.",
            Some("ratio-misstated"),
        ),
        ("Beta delivers double the throughput of Gamma.", None),
        ("Beta achieves 1.5 times the throughput of Alpha.", None),
        (
            "Beta delivers 4x the throughput of Alpha.",
            Some("ratio-misstated"),
        ),
        ("Gamma delivers half the throughput of Beta.", None),
        ("Beta is 3x faster than Alpha.", Some("ratio-misstated")),
        ("Beta is 80% faster than Alpha.", Some("ratio-misstated")),
    ] {
        let found = rules(&below(sentence));
        assert_eq!(found.first().copied(), expected, "{sentence}: {found:?}");
    }
}

#[test]
fn the_best_row_must_be_best_in_one_column() {
    for (sentence, expected) in [
        ("Beta is the fastest.", None),
        ("Alpha has the lowest p99 latency.", None),
        (
            "Beta has the lowest p99 latency.",
            Some("comparison-reversed"),
        ),
        ("Gamma is the fastest.", Some("comparison-reversed")),
        ("Gamma is the slowest.", None),
    ] {
        let found = rules(&below(sentence));
        assert_eq!(found.first().copied(), expected, "{sentence}: {found:?}");
    }
}

#[test]
fn a_rate_that_is_not_on_the_page_is_reported() {
    for (sentence, expected) in [
        ("Beta reached 18,600 requests per second.", None),
        ("Beta reached about 18k rps.", None),
        (
            "Beta reached 23,100 requests per second.",
            Some("stale-prose"),
        ),
        ("Delta reached 23,100 requests per second.", None),
    ] {
        let found = rules(&below(sentence));
        assert_eq!(found.first().copied(), expected, "{sentence}: {found:?}");
    }
}

#[test]
fn percentiles_ascend_in_each_row() {
    let table = |p99: &str, max: &str| {
        format!(
            "# A\n\n| Run | p50 (ms) | p95 (ms) | p99 (ms) | Max (ms) |\n|---|---|---|---|---|\n| 1 | 4 | 9 | {p99} | {max} |\n"
        )
    };
    assert!(rules(&table("12", "40")).is_empty());
    assert_eq!(rules(&table("5", "40")), ["percentile-disorder"]);
    assert_eq!(rules(&table("55", "40")), ["percentile-disorder"]);
    // Locust rounds percentiles, but prints the exact maximum.
    assert!(rules(&table("66.00", "65.65")).is_empty());
    assert!(rules(&table("480", "478.2")).is_empty());
}

#[test]
fn counts_and_times_must_match_the_rate() {
    let list = |rate: &str| {
        format!(
            "# A\n\n- Total requests: 60,000\n- Duration: 30 s\n- RPS: {rate}\n- p95: 12 ms\n\n| p95 | p99 |\n|---|---|\n| 12 ms | 20 ms |\n"
        )
    };
    assert!(rules(&list("2,000")).is_empty());
    assert_eq!(rules(&list("2,600")), ["total-mismatch"]);
}

#[test]
fn shares_must_match_the_counts() {
    let table = |share: &str| {
        format!(
            "# A\n\n| Route | Requests | Failed | Error rate | p95 |\n|---|---|---|---|---|\n| / | 4,000 | 90 | {share} | 12 ms |\n"
        )
    };
    assert!(rules(&table("2.25%")).is_empty());
    assert!(rules(&table("2.3%")).is_empty());
    assert_eq!(rules(&table("3.2%")), ["total-mismatch"]);
}

#[test]
fn calculated_columns_must_be_consistent() {
    let table = |last: &str| {
        format!(
            "# A\n\n| Test | Before p95 | After p95 | Speedup |\n|---|---|---|---|\n| a | 120 ms | 40 ms | 3.00x |\n| b | 90 ms | 36 ms | 2.50x |\n| c | 84 ms | 48 ms | 1.75x |\n| d | 77 ms | 55 ms | {last} |\n"
        )
    };
    assert!(rules(&table("1.40x")).is_empty());
    assert_eq!(rules(&table("1.90x")), ["ratio-misstated"]);
    let base = |last: &str| {
        format!(
            "# A\n\n| Server | Requests/sec | Ratio |\n|---|---|---|\n| a | 400 | 1.00x |\n| b | 450 | 1.13x |\n| c | 720 | 1.80x |\n| d | 1,300 | {last} |\n"
        )
    };
    assert!(rules(&base("3.25x")).is_empty());
    assert_eq!(rules(&base("3.45x")), ["ratio-misstated"]);
}

#[test]
fn a_wrong_total_row_is_reported() {
    let table = |sum: &str| {
        format!(
            "# A\n\n| Route | Requests | p95 |\n|---|---|---|\n| / | 310 | 12 ms |\n| /a | 225 | 15 ms |\n| **Total** | {sum} | 14 ms |\n"
        )
    };
    assert!(rules(&table("535")).is_empty());
    assert_eq!(rules(&table("553")), ["total-mismatch"]);
}

#[test]
fn ranges_are_checked_for_each_named_percentile() {
    let page = |range: &str| {
        format!(
            "# A\n\n| Metric | Before | After |\n|---|---|---|\n| p50 | 80 ms | 48 ms |\n| p95 | 120 ms | 92 ms |\n\nLatency improved {range} across p50/p95.\n"
        )
    };
    assert!(rules(&page("23–40 %")).is_empty());
    assert_eq!(rules(&page("20–30 %")), ["ratio-misstated"]);
}

#[test]
fn marked_findings_are_compared_with_the_row_of_their_name() {
    let page = |measured: &str, rate: &str| {
        format!(
            "# A\n\n- Overhead: <5ms ✅ PASS\n- 800 requests at once: 100% success ✅\n\n## Limits\n\nAll objectives are met.\n\n| Objective | Target | Measured |\n|---|---|---|\n| Overhead | <5ms (p95) | {measured} |\n\n## 800 requests at once\n\n| Metric | Value |\n|---|---|\n| Success rate | {rate} |\n| p95 latency | 12 ms |\n"
        )
    };
    assert!(rules(&page("4ms", "100%")).is_empty());
    assert_eq!(rules(&page("4ms", "98.5%")), ["errors-denied"]);
    assert_eq!(
        rules(&page("7ms", "100%")),
        ["objective-contradicted", "objective-contradicted"]
    );
}

#[test]
fn rows_with_different_work_are_reported() {
    let table = |rate: &str| {
        format!(
            "# A\n\n| Batch | Time | Throughput |\n|---|---|---|\n| 1 | 4.00s | 25,000/s |\n| 10 | 2.00s | 50,000/s |\n| 50 | 1.25s | 80,000/s |\n| 100 | 1.60s | 62,500/s |\n| 200 | 1.50s | {rate} |\n"
        )
    };
    assert!(rules(&table("66,700/s")).is_empty());
    assert_eq!(rules(&table("41,000/s")), ["total-mismatch"]);
}

#[test]
fn a_count_of_failures_is_not_a_share_of_zero() {
    let table = |share: &str| {
        format!(
            "# A\n\n| Server | RPS | Error rate | Errors |\n|---|---|---|---|\n| a | 230 | {share} | 3 |\n"
        )
    };
    assert!(rules(&table("0.01%")).is_empty());
    assert_eq!(rules(&table("0.00%")), ["failures-rounded-away"]);
}

#[test]
fn a_missed_fixed_rate_is_reported() {
    let page = |rate: &str| {
        format!(
            "# A\n\n- Load: fixed (RPS=1000)\n\n| Metric | Value |\n|---|---|\n| Requests/sec | {rate} |\n| p95 latency | 12 ms |\n"
        )
    };
    assert!(rules(&page("998.20")).is_empty());
    assert_eq!(rules(&page("588.50")), ["generator-saturated"]);
}
