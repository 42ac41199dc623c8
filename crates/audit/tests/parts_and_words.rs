//! Totals next to a table of their parts, repeated rows with one odd figure, and changes in words.
//! The values are made up.

use plimsoll_audit::{Level, audit};

fn rules(text: &str) -> Vec<&'static str> {
    let audited = audit("x.md", text).unwrap();
    let found = audited.findings.into_iter();
    let loud = found.filter(|finding| finding.level > Level::Note);
    loud.map(|finding| finding.rule).collect()
}

/// Checks that exactly one rule, or none, reports each page.
fn judge(cases: &[(String, Option<&str>)]) {
    for (text, expected) in cases {
        let found = rules(text);
        let expected: Vec<&str> = expected.iter().copied().collect();
        assert_eq!(found, expected, "{text}");
    }
}

/// All requests in one table, and two endpoints in another one. The second endpoint has half of the
/// requests.
fn endpoints(p95: &str, mean: &str, slow: &str, count: &str) -> String {
    format!(
        "# Results\n\n| Metric | Value |\n|---|---|\n| Total Requests | {count} |\n| Average Latency | {mean} |\n| 50th Percentile | 12 ms |\n| 95th Percentile | {p95} |\n| 99th Percentile | 95 ms |\n| Max Latency | 120 ms |\n\n**Breakdown per Endpoint:**\n\n| Endpoint | Requests | Avg (ms) | Max (ms) |\n|---|---|---|---|\n| /list | 900 | 8 | 40 |\n| /find | 300 | 14 | 60 |\n| /buy | 1200 | {slow} | 120 |\n"
    )
}

#[test]
fn the_parts_must_be_able_to_form_the_whole() {
    judge(&[
        (endpoints("70 ms", "19 ms", "28", "2400"), None),
        // With a p95 of 14 ms, any 1200 requests have a mean of at most 24 ms.
        (
            endpoints("14 ms", "19 ms", "28", "2400"),
            Some("percentile-disorder"),
        ),
        (
            endpoints("70 ms", "31 ms", "28", "2400"),
            Some("total-mismatch"),
        ),
        (
            endpoints("70 ms", "19 ms", "28", "2200"),
            Some("total-mismatch"),
        ),
        // The table may leave out endpoints.
        (endpoints("70 ms", "19 ms", "28", "2600"), None),
    ]);
    let shares = |whole: &str, third: &str| {
        format!(
            "# Results\n\n| Metric | Value |\n|---|---|\n| Requests per second | 41 |\n| Success Rate | {whole} |\n| p95 | 52 ms |\n\nBreakdown by endpoint:\n\n| Endpoint | Avg (ms) | Success Rate |\n|---|---|---|\n| /list | 8 | 100% |\n| /find | 14 | 96% |\n| /buy | 21 | {third} |\n"
        )
    };
    judge(&[
        (shares("92%", "97%"), Some("total-mismatch")),
        (shares("97%", "97%"), None),
        (shares("92%", "88%"), None),
    ]);
}

#[test]
fn a_repeated_row_has_no_figure_of_another_row() {
    let page = |p95: &str, rate: &str| {
        format!(
            "# Results\n\n| Users | Mean | p95 | Error rate | Throughput (RPS) |\n|---|---|---|---|---|\n| 10 | 45 ms | 120 ms | 0.11% | 220 |\n| 100 | 182 ms | 651 ms | 0.24% | 548 |\n| 200 | 455 ms | 1210 ms | 2.13% | 438 |\n\n## Summary\n\nAt the usual load:\n\n- Mean: 182 ms\n- p95: {p95}\n- Error rate: 0.24%\n- Throughput: {rate} RPS\n"
        )
    };
    judge(&[
        (page("651 ms", "548"), None),
        (page("1210 ms", "548"), Some("stale-prose")),
        // This may be another run.
        (page("1210 ms", "438"), None),
        (page("700 ms", "548"), None),
    ]);
}

#[test]
fn a_limit_or_a_range_holds_for_every_row() {
    let page = |last: &str, sentence: &str| {
        format!(
            "# Results\n\n## Near\n\n| Path | p99 | backend cores |\n|---|---|---|\n| /a | 12 ms | 0.76 |\n| /b | 14 ms | 0.81 |\n| /c | 25 ms | 0.95 |\n\n## Far\n\n| Path | p99 | backend cores |\n|---|---|---|\n| /a | 19 ms | 0.88 |\n| /b | {last} |\n\n## Summary\n\n{sentence}\n"
        )
    };
    judge(&[
        (page("21 ms | 0.80", "The p99 is ≤ 25 ms throughout."), None),
        (
            page("59 ms | 0.80", "The p99 is ≤ 25 ms throughout."),
            Some("objective-contradicted"),
        ),
        (
            page("59 ms | 0.80", "The p99 is ≤ 25 ms in most runs."),
            None,
        ),
        (
            page(
                "21 ms | 0.57",
                "The backend used 0.76–0.95 cores regardless of the load.",
            ),
            Some("objective-contradicted"),
        ),
        (
            page(
                "21 ms | 0.80",
                "The backend used 0.76–0.95 cores regardless of the load.",
            ),
            None,
        ),
        // The sentence does not name the column by both ends.
        (
            page(
                "21 ms | 0.57",
                "The backend used 0.7–0.9 cores regardless of the load.",
            ),
            None,
        ),
    ]);
}

#[test]
fn changes_in_words_fit_the_figures() {
    let page = |text: &str| {
        format!("# Results\n\n| Users | p95 |\n|---|---|\n| 10 | 120 ms |\n\n{text}\n")
    };
    for (text, expected) in [
        (
            "The p95 doubles from 30 ms to 48 ms.",
            Some("ratio-misstated"),
        ),
        ("The p95 nearly doubles from 30 ms to 52 ms.", None),
        ("The p95 doubles from 30 ms to 61 ms.", None),
        (
            "The p95 doubled from 30 ms to 48 ms while the rate stayed.",
            Some("ratio-misstated"),
        ),
        ("The mean increased slightly from 30 ms to 33 ms.", None),
        (
            "A slight increase of the mean from 30 ms to 70 ms.",
            Some("ratio-misstated"),
        ),
        (
            "- **Before**: 211 ms average\n- **After**: 692 ms average\n- **Note**: Slight increase at a higher load",
            Some("ratio-misstated"),
        ),
        (
            "- **Before**: 211 ms average\n- **After**: 92 ms average\n- **Improvement**: 56% faster",
            None,
        ),
        (
            "- **Before**: 211 ms average\n- **After**: 92 ms average\n- **Improvement**: 76% faster",
            Some("ratio-misstated"),
        ),
    ] {
        judge(&[(page(text), expected)]);
    }
}

#[test]
fn a_quoted_figure_is_that_of_the_named_row() {
    let servers = |text: &str| {
        format!(
            "# Results\n\n| Server | Requests/sec | p99 |\n|---|---|---|\n| Alpha | 52,317 | 11.4 ms |\n| Beta | 41,122 | 17.2 ms |\n| Gamma | 38,451 | 19.8 ms |\n\n{text}\n"
        )
    };
    for (text, expected) in [
        ("Alpha has a p99 of 11.4 ms.", None),
        ("Alpha has a p99 of 12.9 ms.", Some("stale-prose")),
        ("Alpha has a p99 of about 12.9 ms.", None),
        ("Before the change, Alpha had a p99 of 12.9 ms.", None),
        (
            "In comparison with Beta, Alpha delivers 27% more throughput.",
            None,
        ),
        (
            "In comparison with Beta, Alpha delivers 90% more throughput.",
            Some("ratio-misstated"),
        ),
        ("Our benchmarks show 52,317 req/s.", None),
        ("Our benchmarks show 69,000 req/s.", Some("stale-prose")),
        ("Our benchmarks show a combined rate of 69,000 req/s.", None),
    ] {
        judge(&[(servers(text), expected)]);
    }
    let versions = |title: &str| {
        format!(
            "# {title}\n\n| Latency | Before | After |\n|---|---|---|\n| p50 | 5.31 ms | 1.02 ms |\n| p99 | 975 ms | 2.59 ms |\n"
        )
    };
    let goals = |title: &str| {
        format!(
            "# {title}\n\n| Latency | Goal | Before | After |\n|---|---|---|---|\n| p50 | 5 ms | 5.31 ms | 1.02 ms |\n| p99 | 20 ms | 975 ms | 2.59 ms |\n"
        )
    };
    judge(&[
        (
            goals("Reducing the tail from 1016ms to 2.59ms"),
            Some("stale-prose"),
        ),
        (goals("Reducing the tail from 975ms to 2.59ms"), None),
        (versions("Reducing the tail from 975ms to 2.59ms"), None),
        (
            versions("Reducing the tail from 1016ms to 2.59ms"),
            Some("stale-prose"),
        ),
    ]);
}

#[test]
fn a_share_within_a_limit_fits_the_percentiles() {
    let page = |text: &str| {
        format!(
            "# Results\n\n| Server | p50 | p95 | p99 |\n|---|---|---|---|\n| Alpha | 11 ms | 48 ms | 95 ms |\n| Beta | 14 ms | 62 ms | 99 ms |\n\n{text}\n"
        )
    };
    for (text, expected) in [
        ("95% of the requests took less than 65 ms.", None),
        (
            "95% of the requests took less than 40 ms.",
            Some("stale-prose"),
        ),
        // This is true for Alpha.
        ("95% of the requests took less than 50 ms.", None),
        (
            "With Beta, 95% of the requests took less than 50 ms.",
            Some("stale-prose"),
        ),
        ("Only 5% of all requests took more than 12 ms.", None),
        (
            "Only 5% of all requests took more than 8 ms.",
            Some("stale-prose"),
        ),
        (
            "20% of all requests took more than 70 ms.",
            Some("stale-prose"),
        ),
        ("95% of the requests should take less than 40 ms.", None),
    ] {
        judge(&[(page(text), expected)]);
    }
}
