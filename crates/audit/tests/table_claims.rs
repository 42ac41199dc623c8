//! Claims about all rows of a table, copied columns and groups, totals of mixed requests, and figures
//! under the wrong name. The values are made up.

use plimsoll_audit::{Level, audit};

fn rules(text: &str) -> Vec<&'static str> {
    let audited = audit("x.md", text).unwrap();
    let found = audited.findings.into_iter();
    let loud = found.filter(|finding| finding.level > Level::Note);
    loud.map(|finding| finding.rule).collect()
}

fn has(text: &str, rule: &str) -> bool {
    rules(text).contains(&rule)
}

#[test]
fn two_percentiles_differ_in_some_row() {
    let table = |last: &str| {
        format!(
            "# Runs\n\n| Run | p95 (ms) | p99 (ms) | Requests |\n|---|---|---|---|\n| a | 61.37 | 61.37 | 9,120 |\n| b | 84.52 | 84.52 | 8,455 |\n| c | 97.16 | {last} | 7,012 |\n"
        )
    };
    assert!(has(&table("97.16"), "copied-block"));
    assert!(!has(&table("99.81"), "copied-block"));
    // With 20 requests, both percentiles may be the same one.
    let few = table("97.16")
        .replace(",120", "")
        .replace("8,455", "20")
        .replace("7,012", "20");
    assert!(!has(&few, "copied-block"), "{few}");
}

#[test]
fn groups_of_rows_are_not_equal() {
    let rows = |name: &str, rates: [&str; 3]| -> String {
        rates
            .iter()
            .zip([1, 4, 8])
            .map(|(rate, batch)| format!("| {name} | {batch} | {rate} |\n"))
            .collect()
    };
    let page = |second: [&str; 3]| {
        format!(
            "# Formats\n\n| Format | Batch | Requests/sec |\n|---|---|---|\n{}{}",
            rows("wide", ["118.42", "239.71", "377.18"]),
            rows("narrow", second)
        )
    };
    assert!(has(&page(["118.42", "239.71", "377.18"]), "copied-block"));
    assert!(!has(&page(["118.42", "241.06", "379.55"]), "copied-block"));
}

#[test]
fn a_total_has_the_mean_of_its_requests() {
    let page = |mean: &str, p99: &str| {
        format!(
            "# Endpoints\n\n| Endpoint | Requests | Avg (ms) | P50 (ms) | P99 (ms) |\n|---|---|---|---|---|\n| /fast | 900 | 10 | 9 | 30 |\n| /slow | 100 | 2,000 | 1,900 | 3,000 |\n| **Total** | **1,000** | {mean} | 10 | {p99} |\n"
        )
    };
    assert!(rules(&page("209", "2,800")).is_empty());
    assert!(has(&page("40", "2,800"), "total-mismatch"));
    // A twentieth of all requests took longer than the p99.
    assert!(has(&page("209", "120"), "percentile-disorder"));
    let left_out = page("40", "2,800").replace("| /slow | 100 | 2,000 | 1,900 | 3,000 |\n", "");
    assert!(!has(&left_out, "total-mismatch"), "{left_out}");
}

#[test]
fn a_drawn_table_is_a_table() {
    let page = |total: &str| {
        format!(
            "# Endpoints\n\n```\nLabel      Samples  Avg(ms)  Throughput\n──────────────────────────────────────\nLog in     490      152      2.5/sec\nHome page  482      224      2.5/sec\nReports    478      189      2.4/sec\n──────────────────────────────────────\nTOTAL      {total}    188      7.4/sec\n```\n\nThe average latency is 188 ms at 7.4 req/s.\n\n| Metric | Value |\n|---|---|\n| Throughput | 7.4 req/s |\n| Avg latency | 188 ms |\n"
        )
    };
    assert!(has(&page("1,950"), "total-mismatch"));
    assert!(!has(&page("1,450"), "total-mismatch"));
}

#[test]
fn a_row_does_not_begin_in_the_middle() {
    let page = |row: &str| {
        format!(
            "# Servers\n\n| Server | Rate | Max | P50 | P75 | P99 |\n|---|---|---|---|---|---|\n| Alpha | 9,120/s | 51.5 ms | 18.1 ms | 19.1 ms | 22.8 ms |\n{row}| Gamma | 8,400/s | 48.9 ms | 13.6 ms | 14.5 ms | 17.3 ms |\n| Delta | 7,300/s | 23.7 ms | 9.1 ms | 9.4 ms | 10.2 ms |\n"
        )
    };
    let orphan_rows = "| Beta | 8,900/s | 44.1 ms | | | |\n| 13.7 ms | 14.4 ms | 17.2 ms | | | |\n";
    assert!(has(&page(orphan_rows), "label-mismatch"));
    let whole = "| Beta | 8,900/s | 44.1 ms | 13.7 ms | 14.4 ms | 17.2 ms |\n";
    assert!(!has(&page(whole), "label-mismatch"));
}

#[test]
fn a_figure_has_the_name_of_its_column() {
    let page = |sentence: &str| {
        format!(
            "# Caches\n\n| Radius | p95 (ms) | Precision | Recall |\n|---|---|---|---|\n| one | 41 | 0.981 | 99.1% |\n| three | 43 | 0.985 | 99.2% |\n\n{sentence}\n"
        )
    };
    assert!(has(
        &page("The wide one has 99.2% precision."),
        "percentile-misquoted"
    ));
    assert!(!has(
        &page("The wide one has 98.5% precision."),
        "percentile-misquoted"
    ));
    assert!(!has(
        &page("The wide one has 99.2% recall."),
        "percentile-misquoted"
    ));
    assert!(has(
        &page("Hits are nearly perfect (99%+ precision)."),
        "objective-contradicted"
    ));
    assert!(!has(
        &page("Hits are nearly perfect (98%+ precision)."),
        "objective-contradicted"
    ));
}

#[test]
fn one_row_contradicts_a_claim_about_all() {
    let page = |sentence: &str| {
        format!(
            "# Protocols\n\n| Method | Near | Far |\n|---|---|---|\n| Alpha add | 0.8 ms | 140 ms |\n| Beta add | 2.6 ms | 290 ms |\n| Alpha image | 9.9 ms | 190 ms |\n| Beta image | 4.9 ms | 1200 ms |\n\nThe p95 was measured, too.\n\n| Run | p95 |\n|---|---|\n| one | 12 ms |\n\n{sentence}\n"
        )
    };
    assert!(has(
        &page("Alpha consistently outperforms Beta in all scenarios."),
        "comparison-reversed"
    ));
    assert!(!has(
        &page("Alpha outperforms Beta in most scenarios."),
        "comparison-reversed"
    ));
    let changes = |sentence: &str| {
        format!(
            "# Trends\n\n| Endpoint | Old | New | Change |\n|---|---|---|---|\n| /a | 21 ms | 4 ms | -81% |\n| /b | 29 ms | 8 ms | -72% |\n| /c | 697 ms | 1,290 ms | +85% |\n\n{sentence}\n"
        )
    };
    assert!(has(
        &changes("The latency improved across the board."),
        "comparison-reversed"
    ));
    assert!(!has(
        &changes("The latency improved for two of three endpoints."),
        "comparison-reversed"
    ));
}

#[test]
fn a_range_of_all_percentiles_has_all_of_them() {
    let page = |range: &str| {
        format!(
            "# Before and after\n\nResponse times improved by {range}% across all percentiles.\n\n| Metric | Before | After | Improvement |\n|---|---|---|---|\n| Median latency | 0.74 ms | 0.65 ms | 12% faster |\n| p95 latency | 3.77 ms | 2.56 ms | 32% faster |\n"
        )
    };
    assert!(has(&page("24-34"), "ratio-misstated"));
    assert!(!has(&page("12-32"), "ratio-misstated"));
}

#[test]
fn a_range_of_results_meets_its_limit() {
    let page = |line: &str| {
        format!(
            "# Goals\n\n- Throughput: 1,850 req/s\n- Avg latency: 61 ms\n- p99: 104 ms\n\n- {line}\n"
        )
    };
    for (line, expected) in [
        ("✅ Error rate < 0.1%: **achieved** (0-2%)", true),
        ("✅ Error rate < 0.1%: **achieved** (0-0.05%)", false),
        ("✅ Latency < 200ms: **met** (61-148ms)", false),
        (
            "✅ Throughput > 500 req/s: **exceeded** (400-1,900 req/s)",
            true,
        ),
        (
            "✅ Connections 200-500: **reached** (100-300 in tests)",
            true,
        ),
        ("❌ Error rate < 0.1%: missed (0-2%)", false),
    ] {
        assert_eq!(
            has(&page(line), "objective-contradicted"),
            expected,
            "{line}"
        );
    }
}

#[test]
fn lists_without_colons_are_read() {
    let page = |max: &str| {
        format!("# Test\n\n- Average: 1674 MS\n- p95 540\n- Min 134 MS\n- Max {max} MS\n")
    };
    assert!(has(&page("1510"), "percentile-disorder"));
    assert!(!has(&page("2510"), "percentile-disorder"));
}

#[test]
fn users_without_pauses_are_busy() {
    let page = |rate: &str, remark: &str| {
        format!(
            "# Journey\n\nThe test had 5 concurrent users.\n\n| Metric | Value |\n|---|---|\n| Avg Response Time | 70.1 ms |\n| Throughput | {rate} req/s |\n\n| # | Finding |\n|---|---|\n| 1 | {remark} |\n"
        )
    };
    let denied =
        "The users send their requests back-to-back and make as many requests as they can.";
    assert!(has(&page("3.76", denied), "littles-law-gap"));
    assert!(!has(&page("70.2", denied), "littles-law-gap"));
    assert!(!has(
        &page(
            "3.76",
            "The users pause for a second after each of their requests."
        ),
        "littles-law-gap"
    ));
}

#[test]
fn one_row_of_a_closed_loop_is_idle() {
    let page = |latency: &str| {
        format!(
            "# Servers\n\nMeasured with `wrk` (4 threads, 100 connections, 30s):\n\n| Server | Requests/sec | Transfer/sec | Latency |\n|---|---|---|---|\n| Alpha | 83,261 | 19.85 MB/s | 1.12ms |\n| Beta | 1,014 | 320.70 KB/s | {latency} |\n"
        )
    };
    assert!(has(&page("2.02ms"), "littles-law-gap"));
    assert!(!has(&page("98.2ms"), "littles-law-gap"));
}

#[test]
fn pipelined_requests_count() {
    let page = |depth: u32| {
        format!(
            "# Runs\n\n**Connections**: 256\n**Duration**: 30 seconds\n**Pipelining**: {depth}\n\n| Server | RPS (req/sec) | Avg Latency (ms) |\n|---|---|---|\n| Alpha | 30137.39 | 1305.68 ms |\n| Beta | 2440.59 | 529.09 ms |\n"
        )
    };
    assert!(has(&page(10), "littles-law-gap"));
    assert!(!has(&page(200), "littles-law-gap"));
}

#[test]
fn data_and_time_give_data_per_second() {
    let page = |rate: &str| {
        format!(
            "# Siege\n\n- Elapsed time: 60.0 secs\n- Data transferred: 480.0 MB\n- Throughput: {rate} MB/sec\n- Avg latency: 12 ms\n- p99: 40 ms\n"
        )
    };
    assert!(has(&page("2.50"), "total-mismatch"));
    assert!(!has(&page("8.00"), "total-mismatch"));
}

#[test]
fn the_total_of_a_page_is_a_sum_of_its_tables() {
    let table = |rows: [u32; 2]| {
        format!(
            "| Endpoint | Requests | Avg (ms) |\n|---|---|---|\n| /a | {} | 10 |\n| /b | {} | 10 |\n| Total | {} | 10 |\n\n",
            rows[0],
            rows[1],
            rows[0] + rows[1]
        )
    };
    let page = |total: &str| {
        format!(
            "# Report\n\n- Total requests: {total}\n- Avg latency: 10 ms\n\n## One\n\n{}## Two\n\n{}## Three\n\n{}",
            table([900, 1_000]),
            table([2_245, 2_470]),
            table([5_000, 6_627])
        )
    };
    assert!(has(&page("15,847"), "total-mismatch"));
    for total in ["18,242", "16,342", "11,627", "25,000"] {
        assert!(!has(&page(total), "total-mismatch"), "{total}");
    }
}

#[test]
fn two_rates_are_those_of_the_two_outputs() {
    let output = |rate: &str, requests: u32| {
        format!(
            "```\nRunning 10s test @ http://192.0.2.1/\n  2 threads and 10 connections\n  Thread Stats   Avg      Stdev     Max   +/- Stdev\n    Latency    12.01ms    2.98ms  52.11ms   62.40%\n    Req/Sec    55.54      9.63    80.00     68.93%\n  {requests} requests in 10.00s, 1.81MB read\nRequests/sec:    {rate}\nTransfer/sec:    184.27KB\n```\n\n"
        )
    };
    let page = |claimed: &str| {
        format!(
            "# Patch\n\nThis takes the result from ~80 rps to ~{claimed} rps.\n\nBefore:\n\n{}After:\n\n{}",
            output("83.10", 831),
            output("831.27", 8313)
        )
    };
    assert!(has(&page("600"), "stale-prose"));
    assert!(!has(&page("800"), "stale-prose"));
}

#[test]
fn a_request_is_within_its_iteration() {
    let page = |max: &str| {
        format!(
            "```\n    http_req_duration..............: avg=12.35ms min=5.24ms med=11.92ms max=139.34ms p(90)=16.09ms p(95)=17.53ms\n    http_req_failed................: 0.00%  0 out of 24062\n    http_reqs......................: 24062  798.513743/s\n    iteration_duration.............: avg=12.45ms min=5.35ms med=12.07ms max={max} p(90)=16.23ms p(95)=17.68ms\n    iterations.....................: 24062  798.513743/s\n    vus............................: 10     min=10         max=10\n    vus_max........................: 10     min=10         max=10\n\nrunning (0m30.1s), 00/10 VUs, 24062 complete and 0 interrupted iterations\n```\n"
        )
    };
    assert!(has(&page("64.71ms"), "impossible-minimum"));
    assert!(!has(&page("139.51ms"), "impossible-minimum"));
}

#[test]
fn wrk_opens_the_same_number_of_connections_in_each_thread() {
    let page = |threads: u32| {
        format!(
            "```\nRunning 10s test @ http://192.0.2.1/\n  {threads} threads and 50 connections\n  Thread Stats   Avg      Stdev     Max   +/- Stdev\n    Latency   342.48us  326.68us  20.21ms   93.21%\n    Req/Sec     5.88k     2.37k   12.17k    61.26%\n  1179612 requests in 10.10s, 289.12MB read\nRequests/sec: 116806.23\nTransfer/sec:     28.63MB\n```\n"
        )
    };
    // 20 threads open two connections each, and 40 of them are busy.
    assert!(!has(&page(20), "littles-law-gap"));
    assert!(has(&page(10), "littles-law-gap"));
}
