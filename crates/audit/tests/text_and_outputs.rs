//! Rows, lists and sentences that repeat the figures of an output with one error. The values were made up for
//! the tests.

use plimsoll_audit::{Level, audit};

fn found(text: &str) -> Vec<(&'static str, String)> {
    let audited = audit("x.md", text).unwrap();
    let found = audited.findings.into_iter();
    let loud = found.filter(|finding| finding.level > Level::Note);
    loud.map(|finding| (finding.rule, format!("{} {}", finding.evidence, finding.arithmetic)))
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
fn a_cell_is_compared_with_the_output_of_its_row() {
    let item = "| /item | 21.47ms | 2981.62 | 1.57MB/s |";
    for (list, wrong) in [
        ("| /list | 30.12ms | 2126.35 | 1.12MB/s |", false),
        // Rounded.
        ("| /list | 30 ms | 2126.35 | 1.1MB/s |", false),
        ("| /list | 30.12ms | 2,126.35 | 3112.00KB/s |", true),
        ("| /list | 301.2ms | 2126.35 | 1.12MB/s |", true),
        // The transfer of the other row was copied.
        ("| /list | 30.12ms | 2126.35 | 1.57MB/s |", true),
        // None of the figures is on the page: another run.
        ("| /list | 44.10ms | 1450.08 | 0.76MB/s |", false),
        // Only the mean is of this output, and two cells are not.
        ("| /list | 30.12ms | 1450.08 | 0.76MB/s |", false),
    ] {
        let text = page_of_rows(list, item);
        assert_eq!(has(&text, "stale-prose"), wrong, "{list}: {:?}", found(&text));
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
fn a_success_rate_next_to_an_output_with_failures() {
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
fn an_advantage_is_computed_from_the_two_outputs() {
    for (text, wrong) in [
        ("With signals has a 5% throughput advantage.", false),
        ("With signals has a 4.9% throughput advantage.", false),
        ("With signals has a 5.2% throughput advantage.", true),
        ("`with signals` shows a 12% higher throughput.", true),
        ("With signals has about 5% more throughput.", false),
        ("With signals could have a 12% throughput advantage.", false),
        ("With signals has a 12% throughput advantage than with threads.", false),
    ] {
        let text = pair(text);
        let has = has(&text, "ratio-misstated");
        assert_eq!(has, wrong, "{text}: {:?}", found(&text));
    }
}

#[test]
fn a_time_in_another_language_is_that_of_the_output_below() {
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
fn a_command_for_another_time_is_of_another_run() {
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
    let text = page("80s").replace("Running 20s", "Running 1m").replace(
        "42527 requests in 20.00s",
        "170108 requests in 80.00s",
    );
    assert!(!has(&text, "declared-vs-counted"), "{:?}", found(&text));
}

#[test]
fn data_per_second_has_the_unit_of_the_output() {
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
        // The size of a response.
        ("each response has 1.12 KB", false),
        ("it reads 8.4 KB per second", false),
    ] {
        let text = page(text);
        let has = has(&text, "unit-mismatch");
        assert_eq!(has, wrong, "{text}: {:?}", found(&text));
    }
}

#[test]
fn a_column_may_be_named_behind_its_figure() {
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
fn a_time_directly_below_an_output_is_one_of_its_times() {
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
fn a_rate_with_the_name_of_the_tool_is_that_of_its_output() {
    let page = |text: &str| {
        format!(
            "# A fast server\n\n{text}\n\n## Test\n\n{}",
            wrk("/list", "30.12ms", "2126.35", "1.12MB")
        )
    };
    for (text, wrong) in [
        ("It serves 2.6K requests per second, measured with wrk.", true),
        ("It serves 2.1K requests per second, measured with wrk.", false),
        // Another program may have measured it.
        ("It serves 2.6K requests per second.", false),
        ("wrk should show 2.6K requests per second.", false),
    ] {
        let text = page(text);
        let has = has(&text, "stale-prose");
        assert_eq!(has, wrong, "{text}: {:?}", found(&text));
    }
}

#[test]
fn stages_add_up_to_the_stated_time() {
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
fn the_requests_of_a_user_are_those_of_an_iteration() {
    let page = |requests: u32| {
        format!(
            "# Rooms\n\n## Flow\n\nEach VU runs these steps in order:\n1. `GET /health` - is it up\n2. `GET /rooms?day=1` - free rooms\n3. `POST /bookings` - book one\n\n## Result\n\n{}",
            k6_run(requests)
        )
    };
    assert!(has(&page(2000), "declared-vs-counted"), "{:?}", found(&page(2000)));
    assert!(!has(&page(3000), "declared-vs-counted"));
    // Redirects.
    assert!(!has(&page(4000), "declared-vs-counted"));
}

#[test]
fn a_title_further_out_names_the_rate() {
    let page = |title: &str, option: &str| {
        format!(
            "# Test\n\n### {title}\n\n```bash\nhey -z 60s -q {option} -c 50 http://192.0.2.7/jobs\n```\n\n**Result:**\n```\nLatency distribution:\n  50% in 0.0059 secs\n  95% in 0.0068 secs\n  99% in 0.0073 secs\n\nStatus code distribution:\n  [202] 498120 responses\n```\n"
        )
    };
    let label = "label-mismatch";
    assert!(has(&page("Steady load: 200 req/s for 60s", "200"), label));
    assert!(!has(&page("Steady load: 10000 req/s for 60s", "200"), label));
    assert!(!has(&page("Steady load", "200"), label));
}

#[test]
fn autocannon_s_tables_may_be_html() {
    let page = "\
# Broker

Running 30s test @ http://192.0.2.7:8080/publish
20 connections with 10 pipelining factor

<table> <tr><th>Stat</th><th>2.5%</th><th>50%</th><th>97.5%</th><th>99%</th><th>Avg</th><th>Stdev</th><th>Max</th></tr> <tr><td><b>Latency</b></td><td>9 ms</td><td>18 ms</td><td>60 ms</td><td>75 ms</td><td><b>21.25 ms</b></td><td>10.9 ms</td><td>134 ms</td></tr> </table>

<table> <tr><th>Stat</th><th>1%</th><th>2.5%</th><th>50%</th><th>97.5%</th><th>Avg</th><th>Stdev</th><th>Min</th></tr> <tr><td><b>Req/Sec</b></td><td>4,224</td><td>4,224</td><td>9,343</td><td>12,119</td><td><b>9,315.5</b></td><td>1,103.26</td><td>4,224</td></tr> </table>

279k requests in 30.04s, 120 MB read.
";
    let audited = audit("x.md", page).unwrap();
    let [block] = &audited.blocks[..] else {
        panic!("{:?}", audited.blocks);
    };
    assert_eq!(block.rate.as_ref().unwrap().value, 9315.5);
    assert_eq!(block.streams.as_ref().unwrap().value, 10.0);
    let latency = block.latency().unwrap();
    assert!((latency.at(0.99).unwrap().value - 0.075).abs() < 1e-9);
    assert!((latency.mean.as_ref().unwrap().value - 0.02125).abs() < 1e-9);
    assert_eq!(block.requests.as_ref().unwrap().value, 279_000.0);
}

#[test]
fn the_requests_of_an_output_are_those_of_its_phases() {
    let page = |last: &str| {
        format!(
            "```\nSending at 500 req/sec for 5s\nSending at 2500 req/sec for 10s\nSending at {last} req/sec for 5s\n{}",
            wrk("/list", "30.12ms", "2126.35", "1.12MB").trim_start_matches("```\n")
        )
    };
    let rule = "declared-vs-counted";
    // 2500 + 25000 + 15000 are 42500.
    assert!(!has(&page("3000"), rule), "{:?}", found(&page("3000")));
    assert!(has(&page("9000"), rule), "{:?}", found(&page("9000")));
}

#[test]
fn what_was_met_is_compared_with_every_output() {
    let page = |heading: &str, item: &str| {
        format!(
            "# Test\n\n## {heading}\n\n1. {item}\n\n## Result\n\n{}",
            wrk("/list", "30.12ms", "2126.35", "1.12MB")
        )
    };
    let rule = "objective-contradicted";
    assert!(has(&page("Criteria that were met", "5,000 RPS"), rule));
    assert!(has(&page("Criteria that were met", "Stable for 10 minutes"), rule));
    assert!(!has(&page("Criteria that were met", "2,000 RPS"), rule));
    assert!(!has(&page("Criteria", "5,000 RPS"), rule));
}

#[test]
fn blanks_may_group_thousands_in_k6_s_output() {
    let page = "\
```
running (9m00.0s), 000/300 VUs, 47 832 complete and 0 interrupted iterations

  http_req_duration........: avg=287ms    min=11ms     med=198ms  max=3.42s  p(95)=918ms   p(99)=1.42s
  http_req_failed..........: 0.41% ✓ 588   ✗ 142 920
  http_reqs................: 143 508 265.8/s
  iteration_duration.......: avg=2.51s    min=1.18s    med=2.42s  max=8.91s  p(95)=4.18s
  iterations...............: 47 832  88.6/s
  checks...................: 99.58% ✓ 285 244 ✗ 1 196
  vus......................: 100 300
```
";
    let audited = audit("x.md", page).unwrap();
    let [block] = &audited.blocks[..] else {
        panic!("{:?}", audited.blocks);
    };
    assert_eq!(block.requests.as_ref().unwrap().value, 143_508.0);
    assert_eq!(block.rate.as_ref().unwrap().value, 265.8);
    assert_eq!(block.iterations.as_ref().unwrap().value, 47_832.0);
    let failed = block.failures.as_ref().unwrap();
    assert_eq!((failed.failed, failed.passed), (588.0, 142_920.0));
    let checks = block.checks.as_ref().unwrap();
    assert_eq!((checks.failed, checks.passed), (1196.0, 285_244.0));
}

#[test]
fn parts_of_a_summary_of_hey_are_read() {
    let head = "# Gate\n\n```\nSummary:\n  Total:        1.2500 secs\n  Requests/sec: 40.00\n\n";
    let statuses = "Status code distribution:\n  [200]  6 responses\n  [429]  44 responses\n\n";
    let latency = "Latency distribution:\n  50% in 0.0866 secs\n  90% in 0.2600 secs\n";
    for page in [
        format!("{head}{statuses}{latency}```\n"),
        format!("# Gate\n\n```\n{latency}\n{statuses}```\n"),
    ] {
        let audited = audit("x.md", &page).unwrap();
        let [block] = &audited.blocks[..] else {
            panic!("{page} {:?}", audited.blocks);
        };
        assert_eq!(block.requests.as_ref().unwrap().value, 50.0, "{page}");
        assert!(block.latency().unwrap().at(0.9).is_some(), "{page}");
    }
}

#[test]
fn remarks_behind_ab_s_rows_are_not_read() {
    let page = "\
```
ab -n 2000 -c 100 http://192.0.2.7:9501/lock

Server Hostname:        192.0.2.7 # the host
Server Port:            9501 # its port

Document Path:          /lock #the path

Concurrency Level:      100 #users
Time taken for tests:   2.000 seconds #in all
Complete requests:      2000 #as requested
Failed requests:        0 #none
Requests per second:    1000.00 [#/sec] (mean) # per second
Time per request:       100.000 [ms] (mean)
```
";
    let audited = audit("x.md", page).unwrap();
    let block = &audited.blocks[0];
    assert_eq!(block.target.as_deref(), Some("http://192.0.2.7:9501/lock"));
    assert_eq!(block.rate.as_ref().unwrap().value, 1000.0);
    assert!(!has(page, "label-mismatch"), "{:?}", found(page));
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
