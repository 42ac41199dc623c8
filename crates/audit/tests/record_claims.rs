//! Copied rows, ranks, winners, counts in words, headings and identities of records. The values are
//! made up.

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

fn page(table: &str, text: &str) -> String {
    format!("# Results\n\n{table}\n{text}\n")
}

#[test]
fn rows_with_the_same_measurements_are_copies() {
    let table = |label: &str, p50: &str, p99: &str| {
        page(
            &format!(
                "| Store | p50 (ms) | p95 (ms) | p99 (ms) |\n|---|---|---|---|\n| Alpha | 12.41 | 30.27 | 44.83 |\n| {label} | {p50} | 30.27 | {p99} |\n| Gamma | 15.12 | 35.61 | 52.96 |\n| Delta | 18.33 | 37.14 | 61.25 |\n"
            ),
            "",
        )
    };
    judge(&[
        (table("Beta", "12.41", "44.83"), Some("copied-block")),
        (table("Beta", "13.07", "44.83"), None),
        // The labels name the same thing, or a selection of the others.
        (table("Alpha", "12.41", "44.83"), None),
        (table("Alpha (again)", "12.41", "44.83"), None),
        (table("Best", "12.41", "44.83"), None),
    ]);
    // Round figures may be equal by chance.
    let round =
        "| Store | p50 (ms) | p99 (ms) |\n|---|---|---|\n| Alpha | 10 | 40 |\n| Beta | 10 | 40 |\n";
    judge(&[(page(round, ""), None)]);
}

#[test]
fn claimed_ranks_are_checked() {
    let table = |second: &str, p99: &str| {
        page(
            &format!(
                "| Rank | Server | Requests/sec | p99 (ms) |\n|---|---|---|---|\n| 1 | Alpha | 52,300 | 11 |\n| 2 | Beta | {second} | {p99} |\n| 3 | Gamma | 47,900 | 14 |\n| 4 | Delta | 21,000 | 29 |\n"
            ),
            "",
        )
    };
    judge(&[
        (table("49,100", "12"), None),
        (table("41,100", "17"), Some("comparison-reversed")),
        // The table may rank by the latency, or by another column that is in order.
        (table("41,100", "12"), None),
    ]);
    let servers = "| Server | Requests/sec |\n|---|---|\n| Alpha | 52,300 |\n| Beta | 41,100 |\n| Gamma | 47,900 |\n";
    for (sentence, expected) in [
        ("Gamma comes second.", None),
        ("Beta takes second place.", Some("comparison-reversed")),
        ("Beta is the second slowest.", Some("comparison-reversed")),
        ("Beta is last.", None),
        ("Ranking: Alpha > Gamma > Beta.", None),
        (
            "Ranking: Beta > Alpha > Gamma.",
            Some("comparison-reversed"),
        ),
        ("Alpha is the fastest, followed by Gamma and Beta.", None),
        (
            "Alpha is the fastest, followed by Beta and Gamma.",
            Some("comparison-reversed"),
        ),
        ("From fastest to slowest: Alpha, Gamma, Beta.", None),
        (
            "From fastest to slowest: Beta, Gamma, Alpha.",
            Some("comparison-reversed"),
        ),
        ("Beta should take second place.", None),
    ] {
        judge(&[(page(servers, sentence), expected)]);
    }
    let list = |first: &str, last: &str| {
        page(
            servers,
            &format!(
                "## Ranking by throughput\n\n1. **{first}** - stable\n2. **Gamma** - new\n3. **{last}** - old\n"
            ),
        )
    };
    judge(&[
        (list("Alpha", "Beta"), None),
        (list("Beta", "Alpha"), Some("comparison-reversed")),
    ]);
}

#[test]
fn a_winner_without_the_best_figure_is_reported() {
    let table = |winner: &str, text: &str| {
        page(
            &format!(
                "| Test | Alpha (ms) | Beta (ms) | Winner |\n|---|---|---|---|\n| read | 4.1 | 3.2 | Beta |\n| write | 8.8 | 9.9 | {winner} |\n| scan | 7.4 | 9.1 | Alpha |\n"
            ),
            text,
        )
    };
    judge(&[
        (table("Alpha", ""), None),
        (table("Beta", ""), Some("comparison-reversed")),
        (table("tie", ""), None),
        (table("Alpha", "Alpha wins two of three tests."), None),
        (
            table("Alpha", "Alpha wins three of three tests."),
            Some("total-mismatch"),
        ),
        (table("Alpha", "Alpha wins 3 of 7 tests."), None),
    ]);
}

#[test]
fn verdicts_are_counted() {
    let table = "| Goal | Measured p95 | Status |\n|---|---|---|\n| read | 21 ms | ✅ |\n| write | 48 ms | ❌ |\n| scan | 30 ms | ✅ |\n";
    judge(&[
        (page(table, "Two of three goals were met."), None),
        (
            page(table, "3 of 3 goals were met."),
            Some("total-mismatch"),
        ),
        (
            page(table, "All goals were met."),
            Some("objective-contradicted"),
        ),
        (page(table, "Not all goals were met."), None),
    ]);
}

#[test]
fn claims_about_all_records_are_checked() {
    let table = "| Endpoint | Mean | p95 | Errors |\n|---|---|---|---|\n| /a | 12 ms | 40 ms | 0 |\n| /b | 31 ms | 118 ms | 7 |\n";
    for (sentence, expected) in [
        ("All endpoints have a p95 below 150 ms.", None),
        (
            "All endpoints have a p95 below 100 ms.",
            Some("objective-contradicted"),
        ),
        (
            "All endpoints answered in under 20 ms.",
            Some("objective-contradicted"),
        ),
        ("All endpoints answered in under 50 ms.", None),
        (
            "The p95 stayed below 100 ms.",
            Some("objective-contradicted"),
        ),
        ("The p95 never exceeded 120 ms.", None),
        ("All endpoints should have a p95 below 100 ms.", None),
        ("All requests to /a have a p95 below 50 ms.", None),
        ("There were no errors.", Some("errors-denied")),
        ("/a had no errors.", None),
        ("There were no errors at 10 users.", None),
    ] {
        judge(&[(page(table, sentence), expected)]);
    }
}

#[test]
fn more_requests_in_flight_than_users_are_reported() {
    let table = |users: &str, mean: &str| {
        page(
            &format!(
                "| Users | Mean (ms) | Requests/sec |\n|---|---|---|\n| {users} | {mean} | 2,400 |\n"
            ),
            "",
        )
    };
    judge(&[
        (table("100", "41"), None),
        (table("20", "41"), Some("littles-law-gap")),
        (table("100", "4"), None),
    ]);
    let pipelined = table("20", "41").replace("# Results", "# Results with pipelining");
    judge(&[(pipelined, None)]);
}

#[test]
fn the_mean_is_within_its_percentiles() {
    let table = |mean: &str, max: &str| {
        page(
            &format!(
                "| Run | Mean (ms) | p50 (ms) | p95 (ms) | Max (ms) |\n|---|---|---|---|---|\n| 1 | {mean} | 40 | 90 | {max} |\n"
            ),
            "",
        )
    };
    judge(&[
        (table("45", "300"), None),
        (table("12", "300"), Some("percentile-disorder")),
        (table("95", "120"), Some("percentile-disorder")),
        (table("95", "2000"), None),
    ]);
}

#[test]
fn inconsistent_counts_of_a_record_are_reported() {
    let table = |passed: &str| {
        page(
            &format!(
                "| Run | Requests | Passed | Failed | p95 |\n|---|---|---|---|---|\n| 1 | 5,000 | {passed} | 40 | 90 ms |\n"
            ),
            "",
        )
    };
    judge(&[
        (table("4,960"), None),
        (table("4,900"), Some("total-mismatch")),
    ]);
    let list = |all: &str| {
        format!(
            "# Run\n\n| p95 |\n|---|\n\n- Users: 50\n- Requests per user: 20\n- Total requests: {all}\n- p95: 12 ms\n\n| Name | p95 |\n|---|---|\n| a | 12 ms |\n"
        )
    };
    judge(&[
        (list("1,000"), None),
        (list("1,500"), Some("declared-vs-counted")),
    ]);
}

#[test]
fn products_in_rows_are_checked() {
    let table = |last: &str| {
        page(
            &format!(
                "| Size | Time (s) | Rate (req/s) | Requests |\n|---|---|---|---|\n| a | 10.0 | 120.0 | 1200 |\n| b | 20.0 | 155.0 | 3100 |\n| c | 30.0 | 171.0 | 5130 |\n| d | 40.0 | 183.0 | {last} |\n"
            ),
            "",
        )
    };
    judge(&[
        (table("7320"), None),
        (table("6400"), Some("total-mismatch")),
    ]);
    let sums = |last: &str| {
        page(
            &format!(
                "| Size | Read (ms) | Write (ms) | Both (ms) |\n|---|---|---|---|\n| a | 11.2 | 20.1 | 31.3 |\n| b | 14.9 | 25.5 | 40.4 |\n| c | 18.3 | 31.7 | 50.0 |\n| d | 22.8 | 44.4 | {last} |\n"
            ),
            "",
        )
    };
    judge(&[(sums("67.2"), None), (sums("76.2"), Some("total-mismatch"))]);
}

#[test]
fn the_last_row_is_the_sum_or_the_mean() {
    let table = |label: &str, last: &str| {
        page(
            &format!(
                "| Step | Mean time (ms) |\n|---|---|\n| a | 100 |\n| b | 300 |\n| c | 500 |\n| {label} | {last} |\n"
            ),
            "",
        )
    };
    judge(&[
        (table("Average", "300"), None),
        (table("Average", "550"), Some("total-mismatch")),
        (table("Total", "900"), None),
    ]);
}

#[test]
fn headings_are_compared_with_the_run_below() {
    let below = |heading: &str| {
        format!(
            "# Page\n\n## {heading}\n\n| Run | Users | Requests/sec | p95 |\n|---|---|---|---|\n| a | 50 | 1,210 | 31 ms |\n| b | 50 | 1,530 | 29 ms |\n"
        )
    };
    for (heading, expected) in [
        ("50 users", None),
        ("200 users", Some("label-mismatch")),
        ("Up to 200 users", None),
        ("1,530 req/s with b", None),
        ("2,940 req/s with b", Some("stale-prose")),
        ("Target: 2,940 req/s", None),
    ] {
        judge(&[(below(heading), expected)]);
    }
}

#[test]
fn figures_quoted_under_another_name_are_reported() {
    let table = "| Server | Mean | p95 | p99 | Requests/sec |\n|---|---|---|---|---|\n| Alpha | 12.4 ms | 31.7 ms | 48.2 ms | 18,345 |\n| Beta | 15.8 ms | 35.1 ms | 52.9 ms | 15,211 |\n";
    for (sentence, expected) in [
        ("Alpha has a p95 of 31.7 ms.", None),
        ("Alpha has a p95 of 48.2 ms.", Some("percentile-misquoted")),
        ("Alpha has a p95 of 31.7 s.", Some("unit-mismatch")),
        ("The p95 target is 48.2 ms.", None),
        ("Alpha reached 18,345 req/s.", None),
        ("Beta reached 18,345 req/s.", Some("stale-prose")),
        ("Beta reached 18,345 req/s less than Alpha.", None),
    ] {
        judge(&[(page(table, sentence), expected)]);
    }
}

#[test]
fn changes_between_two_figures_are_checked() {
    let table = "| Build | p95 (ms) | Requests/sec |\n|---|---|---|\n| old | 80 | 1,000 |\n| new | 50 | 1,500 |\n";
    for (sentence, expected) in [
        ("Throughput increased by 50%.", None),
        ("Throughput increased by 80%.", Some("ratio-misstated")),
        ("The new one has 1.6x lower latency.", None),
        ("The new one has 4x lower latency.", Some("ratio-misstated")),
        ("Memory dropped by 80%.", None),
        ("It is 38% faster (80 ms → 50 ms).", None),
        ("It is 70% faster (80 ms → 50 ms).", Some("ratio-misstated")),
        ("It went 1,000 vs 1,500 req/s (50% more).", None),
        (
            "It went 1,000 vs 1,500 req/s (90% more).",
            Some("ratio-misstated"),
        ),
    ] {
        judge(&[(page(table, sentence), expected)]);
    }
}

#[test]
fn the_result_of_a_calculation_may_be_on_the_next_line() {
    let table = "| Run | p95 |\n|---|---|\n| a | 12 ms |\n";
    judge(&[
        (
            page(table, "```\n4 workers × 250 req/s\n= 1000 req/s\n```"),
            None,
        ),
        (
            page(table, "```\n4 workers × 250 req/s\n= 1600 req/s\n```"),
            Some("ratio-misstated"),
        ),
        (page(table, "```js\n4 * 250\n= 1600\n```"), None),
    ]);
}

#[test]
fn counts_must_equal_rate_times_duration() {
    let table = "| Run | p95 |\n|---|---|\n| a | 12 ms |\n";
    for (sentence, expected) in [
        (
            "We sent 100 req/s for 5 minutes, 30,000 requests in all.",
            None,
        ),
        (
            "We sent 100 req/s for 5 minutes, 18,000 requests in all.",
            Some("ratio-misstated"),
        ),
        (
            "We sent 30,000 requests over 5 minutes at 100 requests per second.",
            None,
        ),
        (
            "We sent 30,000 requests over 5 minutes at 250 requests per second.",
            Some("ratio-misstated"),
        ),
        (
            "We sent 30,000 requests over 5 minutes, with a peak of 250 rps.",
            None,
        ),
    ] {
        judge(&[(page(table, sentence), expected)]);
    }
}

#[test]
fn totals_must_match_their_rows() {
    let table = "| Step | Requests | Success rate (%) | p95 |\n|---|---|---|---|\n| a | 400 | 99.0 | 12 ms |\n| b | 300 | 98.0 | 14 ms |\n| c | 300 | 97.0 | 19 ms |\n";
    for (sentence, expected) in [
        ("All 1,000 requests were sent.", None),
        ("All 1,100 requests were sent.", Some("total-mismatch")),
        ("All 400 requests were sent.", None),
        ("Total requests: 1,200\nOverall success rate: 82.0%", None),
        (
            "Total requests: 1,200\nOverall success rate: 72.0%",
            Some("total-mismatch"),
        ),
    ] {
        judge(&[(page(table, sentence), expected)]);
    }
    let rates = "| Server | RPS |\n|---|---|\n| Alpha | 18,345 |\n| Beta | 15,211 |\n";
    judge(&[
        (page(rates, "It beats Beta's 15,211 RPS."), None),
        (
            page(rates, "It beats Beta's 18,345 RPS."),
            Some("stale-prose"),
        ),
    ]);
}
