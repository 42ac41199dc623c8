//! Contradictions in short pages and in unchanged output of tools, as a first-time user wrote them.
//! The values are made up.

use plimsoll_audit::{Audit, Level, audit, formats};

fn loud(text: &str) -> Vec<plimsoll_audit::Finding> {
    let found = audit("x.md", text).unwrap().findings.into_iter();
    found
        .filter(|finding| finding.level > Level::Note)
        .collect()
}

/// The arithmetic of the findings of a rule.
fn arithmetic(text: &str, rule: &str) -> Vec<String> {
    let found = loud(text).into_iter();
    found
        .filter(|finding| finding.rule == rule)
        .map(|finding| finding.arithmetic)
        .collect()
}

fn summary(audited: Audit) -> String {
    let text = formats::text(&[audited]);
    text.lines().last().unwrap_or_default().to_owned()
}

#[test]
fn percentiles_in_the_wrong_order_are_found_whatever_their_last_digit() {
    let row = |p50: &str, p95: &str, p99: &str| {
        let page = format!(
            "# Results\n\n| run | p50 (ms) | p95 (ms) | p99 (ms) | RPS |\n|---|---|---|---|---|\n| A | {p50} | {p95} | {p99} | 1000 |\n| B | 5 | 20 | 30 | 5000 |\n"
        );
        arithmetic(&page, "percentile-disorder")
    };
    let found = row("12", "10", "30");
    assert_eq!(
        found,
        ["p50 (ms) is at most p95 (ms) by definition, but 12 ms > 10 ms"]
    );
    assert_eq!(row("20", "10", "30").len(), 1);
    assert_eq!(row("480", "470", "900").len(), 1);
    assert_eq!(row("100", "90", "300").len(), 1);
    assert_eq!(row("10", "12", "30").len(), 0);
    // 480 may be 475 rounded to tens, and 12 may be 12.4 without decimals.
    assert_eq!(row("480", "475", "900").len(), 0);
    assert_eq!(row("12.4", "12", "30").len(), 0);
    // Differences of percentiles may be in any order.
    assert_eq!(row("+12", "+10", "+30").len(), 0);
    // The units may be in the cells.
    let cells = "| tool | p50 | p95 | p99 |\n|---|---|---|---|\n| A | 12 ms | 10 ms | 30 ms |\n";
    assert_eq!(arithmetic(cells, "percentile-disorder").len(), 1);
}

#[test]
fn every_violation_of_a_row_is_named() {
    let page = "# Results\n\n| | p50 (ms) | p95 (ms) | p99 (ms) | mean (ms) | max (ms) |\n|---|---|---|---|---|---|\n| A | 12 | 10 | 30 | 45 | 29 |\n";
    let found = arithmetic(page, "percentile-disorder");
    assert_eq!(found.len(), 1, "{found:?}");
    for part in ["12 ms > 10 ms", "30 ms > 29 ms", "45 ms > 29 ms"] {
        assert!(found[0].contains(part), "{part}: {found:?}");
    }
}

#[test]
fn every_violation_of_an_output_is_named() {
    let page = "```\nRunning 1m test @ http://example.com/\n  2 threads and 100 connections\n  Thread Stats   Avg      Stdev     Max   +/- Stdev\n    Latency    20.00ms   2.00ms  15.00ms   90.00%\n    Req/Sec     5.00k   100.00     6.00k    70.00%\n  Latency Distribution\n     50%   12.00ms\n     75%   11.00ms\n     90%   14.00ms\n     99%   19.00ms\n  600000 requests in 1.00m, 100.00MB read\nRequests/sec:  10000.00\nTransfer/sec:      1.67MB\n```\n";
    let found = arithmetic(page, "percentile-disorder");
    assert_eq!(found.len(), 1, "{found:?}");
    for part in ["at most p75 11.00ms", "at most max 15.00ms; mean 20.00ms"] {
        assert!(found[0].contains(part), "{part}: {found:?}");
    }
}

#[test]
fn json_of_iperf3_names_its_server() {
    let page = r#"{"start": {"connecting_to": {"host": "127.0.0.1", "port": 5201}}, "end": {
"sum_sent": {"seconds": 10.0, "bytes": 1250000000, "bits_per_second": 1000000000},
"sum_received": {"seconds": 10.0, "bytes": 1250000000, "bits_per_second": 1000000000}}}"#;
    let found = audit("x.json", page).unwrap().findings;
    assert!(found.iter().any(|finding| finding.rule == "co-located"));
}

const LIST: &str = "Results: 100 users, 60 seconds.\n\n- Requests: 1,000,000\n- Throughput: 5,000 requests per second\n- Duration: 60 s\n- p50: 20 ms\n- p95: 10 ms\n- Errors: 0\n- Success rate: 93%\n";

#[test]
fn a_list_without_a_heading_is_checked() {
    let order = arithmetic(LIST, "percentile-disorder");
    assert_eq!(
        order,
        ["p50 is at most p95 by definition, but 20 ms > 10 ms"]
    );
    let sums = arithmetic(LIST, "total-mismatch").join("\n");
    assert!(sums.contains("1,000,000 ÷ 60 s = 16666.7/s"), "{sums}");
    assert!(sums.contains("these counts give 100 %, not 93%"), "{sums}");
    let right = LIST
        .replace("5,000 requests", "16,667 requests")
        .replace("p50: 20", "p50: 8")
        .replace("93%", "100%");
    assert!(loud(&right).is_empty(), "{:?}", loud(&right));
}

#[test]
fn the_summary_says_what_was_read() {
    let list = summary(audit("x.md", LIST).unwrap());
    assert!(list.ends_with(" in 1 list"), "{list}");
    let table = "# A\n\n| run | p50 (ms) | RPS |\n|---|---|---|\n| A | 12 | 10 |\n";
    let table = summary(audit("x.md", table).unwrap());
    assert!(table.ends_with(" in 1 table"), "{table}");
}

#[test]
fn printed_products_have_units() {
    let page = "# Results\n\n| | mean (ms) | RPS |\n|---|---|---|\n| A (10 users) | 45 | 1000 |\n";
    let found = arithmetic(page, "littles-law-gap");
    assert_eq!(
        found,
        ["1000/s × 45 ms = 45 requests in flight, but 10 users have at most 10"]
    );
}

/// A `--summary-export` of k6 with one check.
fn export(fails: u32) -> String {
    let trend =
        r#"{"avg": 0.56, "min": 0.09, "med": 0.29, "max": 13.4, "p(90)": 1.1, "p(95)": 2.2}"#;
    format!(
        r#"{{"metrics": {{"http_req_duration": {trend}, "iteration_duration": {trend},
"checks": {{"passes": 2676, "fails": 297, "value": 0.9}},
"http_req_failed": {{"passes": 297, "fails": 2676, "value": 0.0999}},
"http_reqs": {{"count": 2973, "rate": 2956.553}}, "iterations": {{"count": 2973, "rate": 2956.553}}}},
"root_group": {{"name": "", "groups": {{}}, "checks": {{
"ok": {{"name": "ok", "passes": 2676, "fails": {fails}}}}}}}}}"#
    )
}

#[test]
fn a_check_with_failures_is_a_failed_check() {
    assert_eq!(
        arithmetic(&export(297), "total-mismatch"),
        [] as [String; 0]
    );
    assert_eq!(arithmetic(&export(0), "total-mismatch").len(), 1);
}

#[test]
fn requests_and_iterations_of_one_run_imply_one_duration() {
    let page = |rate: &str| {
        format!(
            "     http_req_duration..............: avg=5ms min=1ms med=4ms max=9ms p(90)=6ms p(95)=7ms\n     http_reqs......................: 100 20.0/s\n     iterations.....................: 100 {rate}/s\n"
        )
    };
    let found = arithmetic(&page("10.0"), "total-mismatch");
    assert_eq!(
        found,
        ["100 ÷ 20.0/s = 5 s, but 100 ÷ 10.0/s = 10 s: one run has one duration"]
    );
    assert!(arithmetic(&page("20.0"), "total-mismatch").is_empty());
}

#[test]
fn more_failures_than_requests_are_explained() {
    let page = |failed: u32| {
        format!(
            "Concurrency Level:      10\nTime taken for tests:   1.000 seconds\nComplete requests:      100\nFailed requests:        {failed}\nTotal transferred:      10000 bytes\nRequests per second:    100.00 [#/sec] (mean)\nTime per request:       100.000 [ms] (mean)\nTime per request:       10.000 [ms] (mean, across all concurrent requests)\n"
        )
    };
    let found = arithmetic(&page(120), "total-mismatch");
    assert_eq!(found.len(), 1);
    assert!(found[0].starts_with("120 > 100"), "{found:?}");
    assert!(arithmetic(&page(20), "total-mismatch").is_empty());
}

#[test]
fn a_quotient_has_the_unit_of_the_printed_rate() {
    let page = "```\nRunning 1m test @ http://example.com/\n  2 threads and 100 connections\n  Thread Stats   Avg      Stdev     Max   +/- Stdev\n    Latency    10.00ms   2.00ms  35.00ms   90.00%\n    Req/Sec     2.50k   100.00     3.00k    70.00%\n  600000 requests in 1.00m, 100.00MB read\nRequests/sec:  10000.00\nTransfer/sec:      5.00MB\n```\n";
    assert_eq!(
        arithmetic(page, "unit-mismatch"),
        ["100.00MB ÷ 60 s = 1.667 MB/s, 0.33 times the printed value"]
    );
}

#[test]
fn a_share_is_at_most_all() {
    let found = |sentence: &str| {
        let page = format!(
            "# Results\n\n{sentence}\n\n| run | p50 (ms) | RPS |\n|---|---|---|\n| A | 12 | 10 |\n"
        );
        arithmetic(&page, "ratio-misstated")
    };
    assert_eq!(found("The error rate was 120 %."), ["120 % > 100 %"]);
    assert_eq!(
        found("100,000 of 90,000 requests succeeded."),
        ["100,000 > 90,000"]
    );
    for right in [
        "The error rate was 12 %.",
        "The error rate was 120 % of the baseline's.",
        "The error rate was 120 % higher than before.",
        "90,000 of 100,000 requests succeeded.",
        "The success rate was 100 %.",
    ] {
        assert!(found(right).is_empty(), "{right}");
    }
    let table = "# A\n\n| run | RPS | Error rate (%) |\n|---|---|---|\n| A | 12 | 120 |\n";
    assert_eq!(arithmetic(table, "total-mismatch"), ["120 % > 100 %"]);
}
