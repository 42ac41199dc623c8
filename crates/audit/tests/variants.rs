//! Outputs that authors changed or shortened, and runs in which most requests failed. The values
//! are made up.

use plimsoll_audit::{Audit, Level, audit, formats};
use serde_json::Value;

fn read(text: &str) -> (Audit, Value) {
    let audited = audit("x.md", text).unwrap();
    let json = formats::json(&[audit("x.md", text).unwrap()]);
    (audited, serde_json::from_str(&json).unwrap())
}

fn rules(audit: &Audit, above: Level) -> Vec<&'static str> {
    let found = audit.findings.iter().filter(|found| found.level > above);
    found.map(|finding| finding.rule).collect()
}

#[track_caller]
fn mean(json: &Value, block: usize) -> f64 {
    json["blocks"][block]["trends"][0]["figures"]["mean"]["value"]
        .as_f64()
        .unwrap_or_else(|| panic!("no mean in {json:#}"))
}

#[test]
fn autocannon_tables_may_be_markdown() {
    let (_, json) = read(
        "\
| Stat    | 2.5%   | 50%    | 97.5%  | 99%    | Avg      | Stdev   | Max     |
|---------|--------|--------|--------|--------|----------|---------|---------|
| Latency | 180 ms | 230 ms | 310 ms | 420 ms | 241.5 ms | 37.1 ms | 1290 ms |

| Stat    | 1%     | 2.5%   | 50%    | 97.5%  | Avg    | Stdev  | Min    |
|---------|--------|--------|--------|--------|--------|--------|--------|
| Req/Sec | 19,800 | 19,800 | 20,703 | 20,911 | 20,655 | 402.20 | 19,789 |

207k requests in 10.02s, 40.1 MB read
",
    );
    assert_eq!(json["blocks"][0]["tool"], "autocannon");
    assert!((mean(&json, 0) - 0.2415).abs() < 1e-9);
    assert_eq!(
        json["blocks"][0]["figures"]["rate"]["value"], 20_655.0,
        "{json:#}"
    );
}

#[test]
fn k6_metrics_without_a_colon_are_read() {
    let (audit, json) = read(
        "\
```
// size 10
    http_req_duration...................... avg=22.5ms min=4ms med=22ms max=90ms p(90)=25ms p(95)=27ms
    http_req_failed.........................: 0.00%  0 out of 9000
    http_reqs...............................: 9000  300.0/s
// size 20
    http_req_duration.......................: avg=44.5ms min=8ms med=44ms max=99ms p(90)=48ms p(95)=49ms
    http_req_failed.........................: 0.00%  0 out of 6000
    http_reqs...............................: 6000  200.0/s
```
",
    );
    assert_eq!(json["blocks"].as_array().unwrap().len(), 2);
    assert!((mean(&json, 0) - 0.0225).abs() < 1e-9);
    assert!(!rules(&audit, Level::Note).contains(&"total-mismatch"));
}

/// Boom, the predecessor of hey.
#[test]
fn hey_times_may_end_with_a_dot() {
    let (_, json) = read(
        "\
    Summary:
      Total:        8.2500 secs.
      Slowest:      0.1403 secs.
      Fastest:      0.0154 secs.
      Average:      0.0410 secs.
      Requests/sec: **606.0606**
      Total Data Received:  5000000 bytes.
      Response Size per Request:    **1000** bytes.

    Status code distribution:
      [200] 5000 responses
",
    );
    assert_eq!(json["blocks"][0]["tool"], "hey");
    assert!((mean(&json, 0) - 0.041).abs() < 1e-9);
}

#[test]
fn terminal_keys_do_not_split_a_block() {
    let (audit, _) = read(
        "\
^CRequests      [total, rate, throughput]  6000, 100.02, 100.01
Duration      [total, attack, wait]      59.992s, 59.991s, 1.464ms
Latencies     [mean, 50, 95, 99, max]  1.215ms, 1.2ms, 1.463ms, 1.629ms, 13.007ms
Bytes In      [total, mean]              949961, 158.33
Bytes Out     [total, mean]              0, 0.00
Success       [ratio]                    100.00%
Status Codes  [code:count]               200:6000
Error Set:
",
    );
    assert!(!rules(&audit, Level::Note).contains(&"torn-block"));
}

fn timed_out(min: &str, mean: &str) -> Audit {
    read(&format!(
        "\
Requests      [total, rate, throughput]  6000, 100.02, 0.00
Duration      [total, attack, wait]      1m30s, 59.99s, 30.001s
Latencies     [min, mean, 50, 90, 95, 99, max]  {min}, {mean}, {mean}, 30.001s, 30.001s, 30.001s, 30.021s
Bytes In      [total, mean]              0, 0.00
Bytes Out     [total, mean]              0, 0.00
Success       [ratio]                    0.00%
Status Codes  [code:count]               0:6000
Error Set:
context deadline exceeded
"
    ))
    .0
}

#[test]
fn a_timeout_of_all_requests_is_not_a_queue() {
    let found = timed_out("30s", "30.001s");
    assert!(!rules(&found, Level::Note).contains(&"overdriven"));
    let advice = found
        .findings
        .iter()
        .find(|finding| finding.rule == "non-success-as-success")
        .map(|finding| finding.advice.clone());
    assert!(advice.is_some_and(|advice| advice.contains("is reachable")));
    // A queue that grows from nothing is real.
    let found = timed_out("12ms", "15.1s");
    assert!(rules(&found, Level::Note).contains(&"overdriven"));
}

/// The server closes the connection after each response.
#[test]
fn one_read_error_per_request_loses_no_request() {
    let wrk = |read: u32| {
        format!(
            "\
Running 30s test @ http://10.0.0.1:5555
  2 threads and 200 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     8.04ms   82.04ms   1.67s    98.41%
    Req/Sec    28.71k     1.13k   29.92k    88.17%
  1714134 requests in 30.06s, 143.86MB read
  Socket errors: connect 0, read {read}, write 0, timeout 0
Requests/sec:  57023.75
Transfer/sec:      4.79MB
"
        )
    };
    let left_out = |text: &str| rules(&read(text).0, Level::Note).contains(&"failures-left-out");
    assert!(!left_out(&wrk(1_714_131)));
    assert!(left_out(&wrk(400_000)));
}

#[test]
fn more_iterations_in_flight_than_users_are_reported() {
    let k6 = |rate: &str| {
        format!(
            "\
http_req_duration..............: avg=150ms    min=50ms   med=120ms   max=2s      p(90)=250ms   p(95)=350ms
http_reqs......................: 10000  {rate}/s
iteration_duration.............: avg=6s       min=5s     med=6s      max=8s      p(90)=7s      p(95)=7.5s
iterations.....................: 10000  {rate}/s
vus............................: 100    min=0       max=100
vus_max........................: 100    min=100     max=100
"
        )
    };
    let found = |text: &str| rules(&read(text).0, Level::Note).contains(&"littles-law-gap");
    assert!(found(&k6("166.666667")));
    assert!(!found(&k6("16.4")));
}

#[test]
fn responses_of_failed_requests_are_not_compared() {
    let vegeta = |bytes: u32, good: u32| {
        format!(
            "\
Requests      [total, rate, throughput]  1920, 8.00, 7.90
Duration      [total, attack, wait]      4m0s, 4m0s, 51.8ms
Latencies     [mean, 50, 95, 99, max]  51.3ms, 51.1ms, 55.1ms, 60.2ms, 78.4ms
Bytes In      [total, mean]              {bytes}, 0.00
Bytes Out     [total, mean]              0, 0.00
Success       [ratio]                    {:.2}%
Status Codes  [code:count]               200:{good}  502:{}
Error Set:
",
            f64::from(good) / 19.2,
            1920 - good
        )
    };
    let page = |first: String, second: String| {
        format!("# 8 per second\n```\n{first}```\n# 15 per second\n```\n{second}```\n")
    };
    let unlike = |text: &str| rules(&read(text).0, Level::Note).contains(&"unlike-questions");
    assert!(!unlike(&page(
        vegeta(36_000_000, 1920),
        vegeta(18_000_000, 960)
    )));
    assert!(unlike(&page(
        vegeta(36_000_000, 1920),
        vegeta(18_000_000, 1920)
    )));
}

/// h2load includes requests without a response in the number of completed ones.
#[test]
fn errors_of_h2load_have_no_status() {
    let h2load = |errored: u32| {
        format!(
            "\
finished in 10.00s, 971.00 req/s, 77.10KB/s
requests: 9942 total, 9942 started, 9942 done, 9012 succeeded, 930 failed, {errored} errored, 0 timeout
status codes: 9012 2xx, 0 3xx, 699 4xx, 0 5xx
traffic: 754.00KB (772096) total, 432.00KB (442368) headers (space savings 57.56%), 154.00KB (157696) data
                     min         max         mean         sd        +/- sd
time for request:      158us     17.80ms       946us       481us    81.73%
"
        )
    };
    let wrong = |text: &str| rules(&read(text).0, Level::Note).contains(&"total-mismatch");
    assert!(!wrong(&h2load(231)));
    assert!(wrong(&h2load(0)));
}

#[test]
fn a_sentence_that_quotes_ab_is_not_a_result() {
    let (_, json) = read(
        "\
- `Complete requests: 250` and `Failed requests: 0` on both endpoints.

```text
Concurrency Level:      10
Time taken for tests:   0.145 seconds
Complete requests:      250
Failed requests:        0
Requests per second:    1724.14 [#/sec] (mean)
```
",
    );
    assert_eq!(json["blocks"].as_array().unwrap().len(), 1);
}

#[test]
fn thresholds_of_k6_are_not_a_result() {
    let (_, json) = read(
        "\
http_req_duration..............: avg=320ms    min=120ms    med=290ms    max=4.5s  p(90)=620ms  p(95)=980ms
http_req_failed................: 0.12%   ✓ 4     ✗ 3296
http_reqs......................: 3300    11.0/s

THRESHOLDS
http_req_duration.............: p(95)<1000 — PASS
http_req_failed...............: rate<0.01  — PASS
",
    );
    assert_eq!(json["blocks"].as_array().unwrap().len(), 1);
}

fn of_one_thousand(requests: &str, rate: &str, latency: &str) -> String {
    format!(
        "\
Running 10s test @ http://192.0.2.30
  2 threads and 1000 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency    {latency}   42.47ms 874.96ms   98.43%
    Req/Sec   550.55      1.36k    5.70k    93.10%
  {requests} requests in 10.10s, 573.56KB read
Requests/sec:    {rate}
Transfer/sec:     56.78KB
"
    )
}

/// 1910 requests of 1000 users are fewer than two turns per user, yet nearly all users were idle.
#[test]
fn idle_users_are_reported_even_with_few_turns() {
    let found = |text: &str| rules(&read(text).0, Level::Note).contains(&"littles-law-gap");
    assert!(found(&of_one_thousand("1910", "189.10", "14.82ms")));
    // At 4 s each, 760 requests in flight are not a contradiction: the last turns were interrupted.
    assert!(!found(&of_one_thousand("1910", "189.10", "4.02s")));
}

/// A comment in a file without code fences looks like a heading.
#[test]
fn a_comment_may_divide_the_output_of_ab() {
    let (audit, json) = read(
        "\
# about the server
Server Hostname:        192.0.2.7
Document Path:          /list

Concurrency Level:      400
Time taken for tests:   8.000 seconds
Complete requests:      800
Failed requests:        0
Requests per second:    100.00 [#/sec] (mean)
Time per request:       4000.000 [ms] (mean)
Time per request:       10.000 [ms] (mean, across all concurrent requests)

# how the time was spent
Connection Times (ms)
              min  mean[+/-sd] median   max
Connect:        0   20   4.6     20      29
Processing:    51 1700 925.2   1643    3228
",
    );
    assert_eq!(audit.blocks.len(), 1, "{json:#}");
    assert!(rules(&audit, Level::Note).contains(&"inverse-rate-as-latency"));
}

/// The first and the last bar have the unit of two lines above.
#[test]
fn the_unit_of_a_ghz_histogram_is_derived_from_its_ends() {
    let run = |service: &str, slowest: &str| {
        format!(
            "\
### {service}

```
Summary:
  Count:	20000
  Total:	20.00 s
  Slowest:	{slowest}
  Fastest:	2.00 ms
  Average:	78.00 ms
  Requests/sec:	1000.00

Response time histogram:
  2.000 [1]	|
  1200.000 [19919]	|∎∎∎∎
  2400.000 [0]	|
  3600.000 [0]	|
  4800.000 [0]	|
  6000.000 [80]	|

Latency distribution:
  50 % in 50.00 ms
  90 % in 60.00 ms
  99 % in 100.00 ms

Status code distribution:
  [OK]	20000 responses
```
"
        )
    };
    let command = "```\n$ ghz --insecure -z 20s -c 80 --call a.B/C 192.0.2.7:50051\n```\n\n";
    let page = format!(
        "{command}{}{}",
        run("One", "6.00 s"),
        run("Other", "6.00 s")
    );
    let (audit, json) = read(&page);
    let tails = rules(&audit, Level::Note);
    let tails = tails
        .iter()
        .filter(|rule| **rule == "connection-setup-tail");
    // The command belongs to both runs: each took the requested time and kept its users busy.
    assert_eq!(tails.count(), 2, "{json:#}");
    let (audit, _) = read(&format!("{command}{}", run("One", "9.00 s")));
    assert!(!rules(&audit, Level::Note).contains(&"connection-setup-tail"));
}

/// The command belongs only to the first run: the second one had another number of requests.
#[test]
fn a_command_does_not_apply_to_a_different_run() {
    let run = |total: &str, count: u32| {
        format!(
            "\
## {count} calls

```
Summary:
  Count:	{count}
  Total:	{total}
  Slowest:	90.00 ms
  Fastest:	2.00 ms
  Average:	40.00 ms
  Requests/sec:	2000.00
```
"
        )
    };
    let (_, json) = read(&format!(
        "`ghz --insecure -n 20000 -c 80 --call a.B/C 192.0.2.7:50051`\n\n{}{}",
        run("10.00 s", 20_000),
        run("30.00 s", 60_000)
    ));
    assert_eq!(json["blocks"][0]["figures"]["users"]["value"], 80.0);
    assert!(json["blocks"][1]["figures"]["users"].is_null(), "{json:#}");
}

/// Web page converters write a backslash before each special character.
#[test]
fn characters_may_be_escaped() {
    let (_, json) = read(
        "\
# Result

http\\_req\\_duration..............: avg=22.5ms min=4ms med=22ms max=90ms p\\(90\\)=25ms p\\(95\\)=27ms

http\\_reqs......................: 9000 300.0/s
",
    );
    assert_eq!(json["blocks"][0]["tool"], "k6", "{json:#}");
    assert!((mean(&json, 0) - 0.0225).abs() < 1e-9);
}

/// A run of fewer than ten requests has no steady state.
#[test]
fn findings_about_few_requests_are_notes() {
    let page = |count: u32, total: f64| {
        format!(
            "\
```
$ hey -n {count} -c 1 http://192.0.2.7/

Summary:
  Total:	{total:.4} secs
  Slowest:	6.0000 secs
  Fastest:	0.0100 secs
  Average:	{:.4} secs
  Requests/sec:	{:.4}

Latency distribution:
  50% in 0.0100 secs
  90% in 0.0200 secs

Status code distribution:
  [200]	{count} responses
```
",
            (total - 1.0) / f64::from(count),
            f64::from(count) / total
        )
    };
    let loud = |text: &str| rules(&read(text).0, Level::Note).contains(&"startup-dominates");
    assert!(loud(&page(100, 9.0)));
    assert!(!loud(&page(9, 9.0)));
}

/// hey's times for the phases of a request have a heading with a colon.
#[test]
fn the_details_of_hey_are_read() {
    let (audit, json) = read(
        "\
Summary:
  Total:        10.0000 secs
  Slowest:      0.1403 secs
  Fastest:      0.0154 secs
  Average:      0.0410 secs
  Requests/sec: 100.0000

Details (average, fastest, slowest):
  DNS+dialup:   0.0000 secs, 0.0154 secs, 0.1403 secs
  resp read:    0.0001 secs, -0.0002 secs, 0.0196 secs

Status code distribution:
  [200] 1000 responses
",
    );
    assert_eq!(
        json["blocks"][0]["trends"][2]["name"], "resp read",
        "{json:#}"
    );
    assert!(rules(&audit, Level::Note).contains(&"negative-duration"));
}

/// Only wrk2 has an option for the rate, whatever the name of the executable.
#[test]
fn a_rate_in_the_command_makes_it_wrk2() {
    let (_, json) = read(
        "\
```
$ wrk -t2 -c20 -d20s --rate 2000 http://192.0.2.7/list
Running 20s test @ http://192.0.2.7/list
  2 threads and 20 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency    10.00ms    9.00ms 190.00ms   80.10%
  40000 requests in 20.00s, 1.10MB read
Requests/sec:   2000.00
Transfer/sec:     56.32KB
```
",
    );
    assert_eq!(json["blocks"][0]["tool"], "wrk2", "{json:#}");
}

/// Without a request count, more requests in flight than users are still impossible.
#[test]
fn too_many_requests_in_flight_need_no_count() {
    let found = |mean: &str| {
        let (audit, _) = read(&format!(
            "\
Running 10s test @ http://192.0.2.7/list
100 connections

┌─────────┬────────┬────────┬─────────┬─────────┬────────┬────────┬─────────┐
│ Stat    │ 2.5%   │ 50%    │ 97.5%   │ 99%     │ Avg    │ Stdev  │ Max     │
├─────────┼────────┼────────┼─────────┼─────────┼────────┼────────┼─────────┤
│ Latency │ 10 ms  │ 22 ms  │ 116 ms  │ 159 ms  │ {mean} │ 21 ms  │ 900 ms  │
└─────────┴────────┴────────┴─────────┴─────────┴────────┴────────┴─────────┘
┌───────────┬─────────┬─────────┬─────────┬─────────┬─────────┬────────┬─────────┐
│ Stat      │ 1%      │ 2.5%    │ 50%     │ 97.5%   │ Avg     │ Stdev  │ Min     │
├───────────┼─────────┼─────────┼─────────┼─────────┼─────────┼────────┼─────────┤
│ Req/Sec   │ 4,620   │ 4,620   │ 4,636   │ 4,703   │ 4,650   │ 32.22  │ 4,619   │
└───────────┴─────────┴─────────┴─────────┴─────────┴─────────┴────────┴─────────┘
"
        ));
        rules(&audit, Level::Note).contains(&"littles-law-gap")
    };
    assert!(!found("21 ms"));
    assert!(found("38 ms"));
}
