//! Rows, lists and sentences that repeat the figures of an output with one error. The values are made up.

use plimsoll_audit::{Level, audit};

fn found(text: &str) -> Vec<(&'static str, String)> {
    let audited = audit("x.md", text).unwrap();
    let found = audited.findings.into_iter();
    let loud = found.filter(|finding| finding.level > Level::Note);
    loud.map(|finding| {
        (
            finding.rule,
            format!("{} {}", finding.evidence, finding.arithmetic),
        )
    })
    .collect()
}

fn has(text: &str, rule: &str) -> bool {
    found(text).iter().any(|(name, _)| *name == rule)
}

fn wrk(path: &str, mean: &str, rate: &str, transfer: &str) -> String {
    format!(
        "\
```
Running 20s test @ http://192.0.2.7{path}
  2 threads and 64 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency    {mean}   15.00ms 190.00ms   80.10%
    Req/Sec     1.02k    20.00     1.50k    70.20%
  42527 requests in 20.00s, 22.49MB read
Requests/sec:   {rate}
Transfer/sec:      {transfer}
```
"
    )
}

fn page_of_rows(list: &str, item: &str) -> String {
    format!(
        "# Endpoints\n\n| Endpoint | Mean latency | RPS | Transfer |\n|---|---|---|---|\n{list}\n{item}\n\n## List\n\n{}\n## Item\n\n{}",
        wrk("/list", "30.12ms", "2126.35", "1.12MB"),
        wrk("/item", "21.47ms", "2981.62", "1.57MB"),
    )
}

#[test]
fn cells_are_compared_with_the_output_of_their_row() {
    let item = "| /item | 21.47ms | 2981.62 | 1.57MB/s |";
    for (list, wrong) in [
        ("| /list | 30.12ms | 2126.35 | 1.12MB/s |", false),
        // The figures are rounded.
        ("| /list | 30 ms | 2126.35 | 1.1MB/s |", false),
        ("| /list | 30.12ms | 2,126.35 | 3112.00KB/s |", true),
        ("| /list | 301.2ms | 2126.35 | 1.12MB/s |", true),
        // The transfer was copied from the other row.
        ("| /list | 30.12ms | 2126.35 | 1.57MB/s |", true),
        // None of the figures is on the page, so the row describes another run.
        ("| /list | 44.10ms | 1450.08 | 0.76MB/s |", false),
        // Only the mean belongs to this output. The other two cells do not.
        ("| /list | 30.12ms | 1450.08 | 0.76MB/s |", false),
    ] {
        let text = page_of_rows(list, item);
        assert_eq!(
            has(&text, "stale-prose"),
            wrong,
            "{list}: {:?}",
            found(&text)
        );
    }
}

#[test]
fn a_table_of_limits_is_not_compared() {
    let page = page_of_rows("| /list | 301.2ms | 2126.35 | 1.12MB/s |", "")
        .replace("Mean latency", "Target latency");
    assert!(!has(&page, "stale-prose"), "{:?}", found(&page));
}

const CHECKS: &str = "\
```
  █ TOTAL RESULTS

    checks_total.......: 4000   199.874301/s
    checks_succeeded...: 81.25% 3250 out of 4000
    checks_failed......: 18.75% 750 out of 4000

    ✗ joined the room
      ↳  62% — ✓ 1250 / ✗ 750
    ✓ got a message

    EXECUTION
    iteration_duration.............: avg=119.37ms min=2.12ms med=88.41ms max=431.02ms p(90)=201.11ms p(95)=263.48ms
    iterations.....................: 2000  99.937151/s
    vus............................: 12    min=12       max=12
    vus_max........................: 12    min=12       max=12
```
";

#[test]
fn a_share_of_passed_checks_is_compared_with_the_output() {
    let page = |share: &str| {
        format!(
            "# Chat\n\n## Summary\n\n| Figure | Avg | Max |\n|---|---|---|\n| Iteration | 119.37ms | 431.02ms |\n| Checks passed | {share} | — |\n\n## Raw\n\n{CHECKS}"
        )
    };
    assert!(has(&page("100.00%"), "stale-prose"));
    assert!(!has(&page("81.25%"), "stale-prose"));
    assert!(!has(&page("81%"), "stale-prose"));
}

#[test]
fn success_rates_are_compared_with_failures() {
    let page = |text: &str| {
        format!(
            "# Gate\n\n```\nSummary:\n  Total:\t5.0000 secs\n  Slowest:\t0.1042 secs\n  Fastest:\t0.0031 secs\n  Average:\t0.0237 secs\n  Requests/sec:\t400.0000\n\nStatus code distribution:\n  [200]\t1900 responses\n  [503]\t100 responses\n```\n\n- Success rate: {text}\n"
        )
    };
    assert!(has(&page("99.8%"), "stale-prose"));
    assert!(!has(&page("95%"), "stale-prose"));
}

fn pair(text: &str) -> String {
    format!(
        "# Two loops\n\n## with polling\n\n{}\n## with signals\n\n{}\n## Conclusion\n\n{text}\n",
        wrk("/list", "30.12ms", "2126.35", "1.12MB"),
        wrk("/list", "28.77ms", "2231.90", "1.18MB").replace("42527", "44638"),
    )
}

#[test]
fn claimed_advantages_are_recalculated() {
    for (text, wrong) in [
        ("With signals has a 5% throughput advantage.", false),
        ("With signals has a 4.9% throughput advantage.", false),
        ("With signals has a 5.2% throughput advantage.", true),
        ("`with signals` shows a 12% higher throughput.", true),
        ("With signals has about 5% more throughput.", false),
        ("With signals could have a 12% throughput advantage.", false),
        (
            "With signals has a 12% throughput advantage than with threads.",
            false,
        ),
    ] {
        let text = pair(text);
        let has = has(&text, "ratio-misstated");
        assert_eq!(has, wrong, "{text}: {:?}", found(&text));
    }
}

#[test]
fn durations_in_other_languages_are_checked() {
    let page = |text: &str| {
        format!(
            "# Test\n\n{text}\n\n{}",
            wrk("/list", "30.12ms", "2126.35", "1.12MB")
        )
    };
    for (text, wrong) in [
        ("使用 4 线程 压测 90s", true),
        ("使用 4 线程 压测 20s", false),
        ("La prueba se ejecuta durante 2 minutos.", true),
        ("Нагрузка подаётся в течение 20 секунд.", false),
        ("이 부하 테스트 90초", true),
    ] {
        let text = page(text);
        let has = has(&text, "declared-vs-counted");
        assert_eq!(has, wrong, "{text}: {:?}", found(&text));
    }
}

#[test]
fn commands_with_another_duration_belong_to_another_run() {
    let page = |option: &str| {
        wrk("/list", "30.12ms", "2126.35", "1.12MB").replace(
            "Running",
            &format!("$ wrk -t2 -c64 -d{option} http://192.0.2.7/list\nRunning"),
        )
    };
    for (option, wrong) in [("20s", false), ("20S", false), ("20", false), ("60S", true)] {
        let text = page(option);
        let has = has(&text, "declared-vs-counted");
        assert_eq!(has, wrong, "{text}: {:?}", found(&text));
    }
    // wrk prints whole minutes.
    let text = page("80s")
        .replace("Running 20s", "Running 1m")
        .replace("42527 requests in 20.00s", "170108 requests in 80.00s");
    assert!(!has(&text, "declared-vs-counted"), "{:?}", found(&text));
}

#[test]
fn data_rates_with_a_wrong_unit_are_reported() {
    let page = |text: &str| {
        format!(
            "# Test\n\n{}\n- {text}\n",
            wrk("/list", "30.12ms", "2126.35", "1.12MB")
        )
    };
    for (text, wrong) in [
        ("it reads 1.1 KB per second", true),
        ("平均每秒读取数据 1.12kb", true),
        ("it reads 1.1 MB per second", false),
        ("it reads 1.12MB/s", false),
        // This is the size of a response.
        ("each response has 1.12 KB", false),
        ("it reads 8.4 KB per second", false),
    ] {
        let text = page(text);
        let has = has(&text, "unit-mismatch");
        assert_eq!(has, wrong, "{text}: {:?}", found(&text));
    }
}

#[test]
fn a_column_name_may_follow_its_figure() {
    let page = |text: &str| {
        format!(
            "# Test\n\n{}\n- {text}\n",
            wrk("/list", "30.12ms", "2126.35", "1.12MB")
        )
    };
    for (text, wrong) in [
        ("**Latency**: 30.12ms (p50 latency)", true),
        ("**Latency**: 30.12ms (mean)", false),
        ("**Latency**: 30.12ms (average over all)", false),
        ("**Longest**: 190.00ms (p99)", true),
        ("**Longest**: 190.00ms (maximum)", false),
    ] {
        let text = page(text);
        let has = has(&text, "percentile-misquoted");
        assert_eq!(has, wrong, "{text}: {:?}", found(&text));
    }
}

#[test]
fn times_directly_below_an_output_are_checked() {
    let page = |text: &str| {
        format!(
            "# Test\n\n{}\n{text}\n",
            wrk("/list", "30.12ms", "2126.35", "1.12MB")
        )
    };
    for (text, wrong) in [
        ("On average, each request takes about 1020ms.", true),
        ("On average, each request takes about 30ms.", false),
        ("A request took 190 ms at most.", false),
        ("A request could take 1020 ms.", false),
    ] {
        let text = page(text);
        let has = has(&text, "stale-prose");
        assert_eq!(has, wrong, "{text}: {:?}", found(&text));
    }
}

#[test]
fn rates_with_the_name_of_a_tool_are_checked() {
    let page = |text: &str| {
        format!(
            "# A fast server\n\n{text}\n\n## Test\n\n{}",
            wrk("/list", "30.12ms", "2126.35", "1.12MB")
        )
    };
    for (text, wrong) in [
        (
            "It serves 2.6K requests per second, measured with wrk.",
            true,
        ),
        (
            "It serves 2.1K requests per second, measured with wrk.",
            false,
        ),
        // Another program may have measured this rate.
        ("It serves 2.6K requests per second.", false),
        ("wrk should show 2.6K requests per second.", false),
    ] {
        let text = page(text);
        let has = has(&text, "stale-prose");
        assert_eq!(has, wrong, "{text}: {:?}", found(&text));
    }
}

#[test]
fn stages_must_add_up_to_the_stated_duration() {
    let page = |total: &str, last: &str| {
        format!(
            "# Test\n\n**Duration:** {total}  \n**Stages:**\n- Up to 50 users (2 min)\n- Hold 50 users (5 min)\n- Down to 0 users ({last})\n\n{}",
            wrk("/list", "30.12ms", "2126.35", "1.12MB")
        )
    };
    assert!(has(&page("12 minutes", "3 min"), "total-mismatch"));
    assert!(!has(&page("10 minutes", "3 min"), "total-mismatch"));
    assert!(!has(&page("10 minutes", "fast"), "total-mismatch"));
    assert!(!has(&page("10 minutes", "180 s"), "total-mismatch"));
}

fn k6_run(requests: u32) -> String {
    format!(
        "\
```
    checks_total.......: 2000   16.58/s
    checks_succeeded...: 100.00% 2000 out of 2000
    checks_failed......: 0.00%   0 out of 2000

    ✓ has a body

    HTTP
    http_req_duration..............: avg=61.94ms min=2.72ms med=18.86ms max=397.48ms p(90)=117.39ms p(95)=165.56ms
    http_req_failed................: 0.00%  0 out of {requests}
    http_reqs......................: {requests}   {}/s

    EXECUTION
    iteration_duration.............: avg=1.24s   min=1.01s  med=1.17s   max=1.73s    p(90)=1.5s     p(95)=1.59s
    iterations.....................: 1000   8.29/s
    vus............................: 1      min=1         max=20
    vus_max........................: 20     min=20        max=20
```
",
        f64::from(requests) / 120.6
    )
}

#[test]
fn requests_per_user_are_compared_with_requests_per_iteration() {
    let page = |requests: u32| {
        format!(
            "# Rooms\n\n## Flow\n\nEach VU runs these steps in order:\n1. `GET /health` - is it up\n2. `GET /rooms?day=1` - free rooms\n3. `POST /bookings` - book one\n\n## Result\n\n{}",
            k6_run(requests)
        )
    };
    assert!(
        has(&page(2000), "declared-vs-counted"),
        "{:?}",
        found(&page(2000))
    );
    assert!(!has(&page(3000), "declared-vs-counted"));
    // The additional requests may be redirects.
    assert!(!has(&page(4000), "declared-vs-counted"));
}

#[test]
fn an_outer_title_may_state_the_rate() {
    let page = |title: &str, option: &str| {
        format!(
            "# Test\n\n### {title}\n\n```bash\nhey -z 60s -q {option} -c 50 http://192.0.2.7/jobs\n```\n\n**Result:**\n```\nLatency distribution:\n  50% in 0.0059 secs\n  95% in 0.0068 secs\n  99% in 0.0073 secs\n\nStatus code distribution:\n  [202] 498120 responses\n```\n"
        )
    };
    let label = "label-mismatch";
    assert!(has(&page("Steady load: 200 req/s for 60s", "200"), label));
    assert!(!has(
        &page("Steady load: 10000 req/s for 60s", "200"),
        label
    ));
    assert!(!has(&page("Steady load", "200"), label));
}

#[test]
fn phases_must_add_up_to_the_requests_of_the_output() {
    let page = |last: &str| {
        format!(
            "```\nSending at 500 req/sec for 5s\nSending at 2500 req/sec for 10s\nSending at {last} req/sec for 5s\n{}",
            wrk("/list", "30.12ms", "2126.35", "1.12MB").trim_start_matches("```\n")
        )
    };
    let rule = "declared-vs-counted";
    // 2500 + 25000 + 15000 = 42500.
    assert!(!has(&page("3000"), rule), "{:?}", found(&page("3000")));
    assert!(has(&page("9000"), rule), "{:?}", found(&page("9000")));
}

#[test]
fn criteria_marked_as_met_are_compared_with_every_output() {
    let page = |heading: &str, item: &str| {
        format!(
            "# Test\n\n## {heading}\n\n1. {item}\n\n## Result\n\n{}",
            wrk("/list", "30.12ms", "2126.35", "1.12MB")
        )
    };
    let rule = "objective-contradicted";
    assert!(has(&page("Criteria that were met", "5,000 RPS"), rule));
    assert!(has(
        &page("Criteria that were met", "Stable for 10 minutes"),
        rule
    ));
    assert!(!has(&page("Criteria that were met", "2,000 RPS"), rule));
    assert!(!has(&page("Criteria", "5,000 RPS"), rule));
}

#[test]
fn a_run_that_was_cut_short_is_reported() {
    let page = |time: &str| {
        format!(
            "```\n$ hey -z {time} http://192.0.2.7/\n\nSummary:\n  Total:\t60.0773 secs\n  Slowest:\t0.2389 secs\n  Fastest:\t0.0088 secs\n  Average:\t0.0359 secs\n  Requests/sec:\t1170.0767\n\nStatus code distribution:\n  [200]\t70290 responses\n```\n"
        )
    };
    let rule = "declared-vs-counted";
    assert!(has(&page("300s"), rule));
    assert!(!has(&page("60s"), rule));
    assert!(!has(&page("1m"), rule));
}

#[test]
fn failed_checks_must_be_marked() {
    let page = |mark: &str| {
        format!(
            "```\n     ✓ status is 200\n     {mark} has a body\n\n     checks.........................: 99.50% ✓ 29850 ✗ 150\n     http_req_duration..............: avg=45ms   min=10ms  med=40ms  max=200ms p(90)=80ms  p(95)=95ms\n     http_reqs......................: 15000  500/s\n```\n"
        )
    };
    assert!(has(&page("✓"), "total-mismatch"));
    assert!(!has(&page("✗"), "total-mismatch"));
}

const K6: &str = "\
```
     http_req_duration..............: avg=7.53s    min=12.39ms med=7.65s   max=17.08s   p(90)=12.96s   p(95)=14.7s
     http_req_failed................: 0.00%   0 out of 2000
     http_req_receiving.............: avg=48.96ms  min=24µs    med=11.12ms max=633.83ms p(90)=143.41ms p(95)=196.59ms
     http_reqs......................: 2000    103.30/s
```
";

#[test]
fn a_percentile_of_a_phase_is_not_that_of_the_request() {
    let page = |text: &str| format!("# Test\n\n{K6}\n{text}\n");
    for (text, wrong) in [
        ("The p95 is 196ms, which is good.", true),
        ("P95가 196ms 인 나쁘지 않은 성능을 보였다.", true),
        ("The p95 of receiving is 196ms.", false),
        ("The p95 is 14.7s.", false),
        ("The p95 is 305ms on another machine.", false),
    ] {
        let text = page(text);
        let has = has(&text, "percentile-misquoted");
        assert_eq!(has, wrong, "{text}: {:?}", found(&text));
    }
}

#[test]
fn a_negative_time_is_found_outside_of_a_summary() {
    let page = |least: &str| {
        format!(
            "# Test\n\n{K6}\n## A bug\n\n```\nlogin_duration: avg=218ms  max=3.48s\n   min={least}\n```\n"
        )
    };
    assert!(has(&page("-519000000ns"), "negative-duration"));
    assert!(!has(&page("519000000ns"), "negative-duration"));
}

#[test]
fn expressions_with_brackets_are_recalculated() {
    let page = |text: &str| format!("# Test\n\n{K6}\n```text\n{text}\n```\n");
    let rule = "ratio-misstated";
    assert!(
        has(
            &page("A is faster by 100 % - ((300/400) * 100 %) = 33 %"),
            rule
        ) || has(&page("100 % - ((300/400) * 100 %) = 33 %"), rule)
    );
    assert!(!has(&page("100 % - ((300/400) * 100 %) = 25 %"), rule));
    assert!(!has(
        &page("mean = (71.5 + 74.7 + 883.8) ms / 3 = 343.3 ms"),
        rule
    ));
}

#[test]
fn jmeter_names_the_users_that_started() {
    let page = |users: &str| {
        format!(
            "# Orders\n\n**Inputs:** {users} users within 10 seconds.\n\n```\nsummary +    284 in 00:00:10 =   28.4/s Avg:  5173 Min:   372 Max:  9820 Err:     0 (0.00%) Active: 1020 Started: 1303 Finished: 283\nsummary +    873 in 00:00:30 =   29.1/s Avg: 24499 Min:  9855 Max: 39072 Err:     0 (0.00%) Active: 147 Started: 1303 Finished: 1156\nsummary =   1157 in 00:00:40 =   28.9/s Avg: 19755 Min:   372 Max: 39072 Err:     0 (0.00%)\n```\n"
        )
    };
    let rule = "declared-vs-counted";
    assert!(has(&page("10,000"), rule), "{:?}", found(&page("10,000")));
    assert!(!has(&page("1303"), rule));
}

#[test]
fn a_run_of_one_command_that_ended_early() {
    let run = |count: &str, rate: &str| {
        format!(
            "```\nType     Name      # reqs      # fails |    Avg     Min     Max    Med |   req/s  failures/s\n--------|---------|-------|-------------|-------|-------|-------|-------|--------|-----------\n         Aggregated    {count}     0(0.00%) |   2537     445    6095   2400 |    {rate}        0.00\n```\n"
        )
    };
    let page = |second: String| {
        format!(
            "# Model\n\n```\nlocust --headless -u 10 --run-time 1m -f x.py -H https://model.example.com\n```\n\n## Short\n\n{}\n## Long\n\n{second}",
            run("206", "3.46")
        )
    };
    let rule = "declared-vs-counted";
    assert!(has(&page(run("86", "1.78")), rule));
    assert!(!has(&page(run("106", "1.78")), rule));
}

#[test]
fn wrong_remarks_on_the_inverse_rate_are_reported() {
    let page = |remark: &str| {
        format!(
            "```\nab -n 2000 -c 20 http://192.0.2.7/\n\nConcurrency Level:      20\nTime taken for tests:   32.943 seconds\nComplete requests:      2000\nFailed requests:        0\nRequests per second:    60.71 [#/sec] (mean)\nTime per request:       329.432 [ms] (mean)\nTime per request:       16.472 [ms] (mean, across all concurrent requests) {remark}\n```\n"
        )
    };
    let rule = "inverse-rate-as-latency";
    assert!(has(&page("# the time of the server"), rule));
    assert!(has(&page("#服务端处理请求的时间"), rule));
    assert!(!has(&page("# time of the server / concurrency"), rule));
    assert!(!has(&page("# 1 divided by the rate"), rule));
}

#[test]
fn changes_after_an_arrow_are_recalculated() {
    for (line, wrong) in [
        ("P95: 142.5ms -> 71.2ms (-50%)", false),
        ("P95: 142.5ms -> 71.2ms (-43%)", true),
        ("P95: **142.5ms** → **71.2ms** (**-43%**)", true),
        ("Rate: 8,210/s → 10,940/s (+33%)", false),
        ("Rate: 8,210/s → 10,940/s (+21%)", true),
        // The increase in speed, a factor, a share of the first figure, and a rounded value.
        ("P95: 142.5ms -> 71.2ms (100% faster)", false),
        ("P95: 142.5ms -> 71.2ms (2x faster)", false),
        ("P95: 142.5ms -> 71.2ms (4x faster)", true),
        ("P95: 142.5ms -> 28.5ms (20%)", false),
        ("P95: 142.5ms -> 71.2ms (about 45%)", false),
        // The figures have different units.
        ("P95: 142.5ms -> 910/s (-43%)", false),
    ] {
        let text = format!("# Changes\n\n- {line}\n\n# Run\n\n{}", k6_run(2000));
        let got = found(&text);
        assert_eq!(has(&text, "ratio-misstated"), wrong, "{line}: {got:?}");
    }
}

#[test]
fn wrk_connections_cover_all_threads() {
    for (line, wrong) in [
        ("Each thread opens 64 connections.", true),
        ("We use 64 connections per thread.", true),
        ("这里我们使用 2 个线程，每个线程负责 64 个请求。", true),
        ("Each thread opens 32 connections.", false),
        ("We use 2 threads and 64 connections.", false),
        (
            "If each thread had 64 connections, it would be slower.",
            false,
        ),
    ] {
        let text = format!(
            "# Run\n\n{line}\n\n{}",
            wrk("/", "30.12ms", "2126.35", "1.12MB")
        );
        let got = found(&text);
        assert_eq!(has(&text, "declared-vs-counted"), wrong, "{line}: {got:?}");
    }
}

#[test]
fn stages_with_more_users_than_allocated_are_reported() {
    for (users, wrong) in [(20, false), (30, true), (10, false)] {
        let text = format!(
            "# Stages\n\n| Stage | Time | Users |\n|---|---|---|\n| Warm-up | 10s | 0 → 5 |\n| Ramp | 20s | 5 → {users} |\n| End | 10s | {users} → 0 |\n\n{}",
            k6_run(2000)
        );
        let got = found(&text);
        assert_eq!(has(&text, "declared-vs-counted"), wrong, "{users}: {got:?}");
    }
}

#[test]
fn the_heading_above_a_part_of_ab_counts_its_requests() {
    for (heading, failed, wrong) in [
        ("Heavy (4000 requests, 80 clients)", 3120, true),
        ("Heavy (4000 requests, 80 clients)", 0, false),
        // The number does not cover a whole run.
        ("Heavy, 4000 requests of 8000 requests", 3120, false),
        ("Heavy", 3120, false),
    ] {
        let text = format!(
            "# Stress\n\n## {heading}\n\n```\nRequests per second:    510.20 [#/sec] (mean)\nTime per request:       156.801 [ms] (mean)\n  95%    240\nFailed requests:        {failed}\n```\n"
        );
        let got = found(&text);
        assert_eq!(has(&text, "failures-as-work"), wrong, "{heading}: {got:?}");
    }
}
