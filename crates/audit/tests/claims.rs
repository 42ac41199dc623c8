//! Counts in sentences, and commands that do not belong to the output below them. The values are made up.

use plimsoll_audit::{Level, audit};

fn has(text: &str, rule: &str) -> bool {
    let audited = audit("x.md", text).unwrap();
    let mut found = audited
        .findings
        .iter()
        .filter(|finding| finding.level > Level::Note);
    found.any(|finding| finding.rule == rule)
}

fn ab(sentence: &str, command: &str) -> String {
    format!(
        "\
{sentence}

```
$ {command}

Concurrency Level:      4
Time taken for tests:   12.500 seconds
Complete requests:      2000
Failed requests:        0
Requests per second:    160.00 [#/sec] (mean)
Time per request:       25.000 [ms] (mean)
Time per request:       6.250 [ms] (mean, across all concurrent requests)
```
"
    )
}

#[test]
fn numbers_per_run_are_compared_with_the_runs() {
    let found = |sentence| {
        let page = ab(sentence, "ab -n 2000 -c 4 http://192.0.2.7/list");
        has(&page, "declared-vs-counted")
    };
    assert!(found("We made 20,000 calls for each concurrency level."));
    assert!(!found("We made 2,000 calls for each concurrency level."));
    // Sentences about plans or other runs do not claim anything about this run.
    assert!(!found("It should take 20,000 calls for each run."));
    assert!(!found(
        "Before, we made 20,000 calls for each concurrency level."
    ));
    assert!(!found("The cache has room for 20,000 calls."));
}

/// The command has another number of users, so its number of requests does not apply to this output.
#[test]
fn commands_with_other_users_belong_to_another_run() {
    let found = |command| has(&ab("", command), "declared-vs-counted");
    assert!(found("ab -n 9000 -c 4 http://192.0.2.7/list"));
    assert!(!found("ab -n 9000 -c 50 http://192.0.2.7/list"));
}

#[test]
fn sums_are_compared_with_the_failures() {
    let found = |sentence: &str| {
        let page = format!(
            "\
```
Running 20s test @ http://192.0.2.7/list
  2 threads and 64 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency   301.20ms  150.00ms   1.98s    80.10%
    Req/Sec   102.10     20.00   150.00     70.20%
  4100 requests in 20.00s, 1.10MB read
  Socket errors: connect 0, read 0, write 0, timeout 210
Requests/sec:    205.00
Transfer/sec:     56.00KB
```

{sentence}
"
        );
        has(&page, "stale-prose")
    };
    assert!(found("The log had more than these 4100 + 200 requests."));
    assert!(!found("The log had these 4100 + 210 requests."));
    assert!(!found("The log had 4100 + 9000 requests."));
    assert!(!found("The page has 800 + 200 rows."));
}
fn vegeta(label: &str, first: &str) -> String {
    format!(
        "\
{label}

{first}
Requests      [total, rate, throughput]  900, 30.03, 29.90
Duration      [total, attack, wait]      30.1s, 29.97s, 130ms
Latencies     [mean, 50, 95, 99, max]    140ms, 131ms, 190ms, 260ms, 410ms
Success       [ratio]                    100.00%
Status Codes  [code:count]               200:900
Error Set:
"
    )
}

#[test]
fn the_rate_above_an_output_is_compared_with_it() {
    let found = |label| has(&vegeta(label, ""), "label-mismatch");
    assert!(found("Rate: 3"));
    assert!(!found("Rate: 30"));
    assert!(!found("Success rate: 99"));
}

#[test]
fn a_repeated_line_of_statuses_counts_once() {
    let page = vegeta("", "Status Codes  [code:count]               200:900");
    assert!(!has(&page, "total-mismatch"));
}

fn wrk(title: &str, command: &str, requests: &str, errors: &str) -> String {
    format!(
        "\
# {title}

```
{command}
Running 20s test @ http://192.0.2.7/list
  2 threads and 64 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency    30.12ms   15.00ms   0.19s    80.10%
    Req/Sec   102.10     20.00   150.00     70.20%
  {requests}, 1.10MB read
  {errors}
```
"
    )
}

#[test]
fn a_title_may_name_wrk2() {
    let none = "Requests/sec:    205.00";
    let found = |title| {
        has(
            &wrk(title, "", "4100 requests in 20.00s", none),
            "littles-law-gap",
        )
    };
    assert!(found("Results of wrk"));
    assert!(!found("How to read wrk2"));
}

#[test]
fn a_run_that_ends_early_or_never_is_reported() {
    let none = "Requests/sec:    205.00";
    let found = |requests| has(&wrk("x", "", requests, none), "declared-vs-counted");
    assert!(!found("4100 requests in 20.00s"));
    assert!(found("1025 requests in 5.00s"));
    assert!(found("4100 requests in 307445734.12m"));
}

#[test]
fn sockets_that_fail_without_any_response_are_reported() {
    let errors = "Socket errors: connect 0, read 77, write 0, timeout 0";
    let page = wrk("x", "", "0 requests in 20.00s", errors);
    assert!(has(&page, "failures-left-out"));
    assert!(!has(&page, "percentile-undersampled"));
}

#[test]
fn all_status_classes_of_bombardier_count() {
    let page = "\
```
Statistics        Avg      Stdev        Max
  Reqs/sec      2100.00     300.00    2600.00
  Latency        3.60ms    20.00ms   900.00ms
  HTTP codes:
    1xx - 0, 2xx - 12, 3xx - 0, 4xx - 0, 5xx - 21000
    others - 0
  Throughput:   510.00KB/s
```
";
    assert!(has(page, "failures-as-work") || has(page, "non-success-as-success"));
}

#[test]
fn autocannon_may_limit_the_rate_of_a_connection() {
    let page = |limit: &str| {
        format!(
            "\
$ autocannon -c 1 {limit} http://192.0.2.7
Running 10s test @ http://192.0.2.7
1 connections

Stat         Avg     Stdev  Max
Latency (ms) 240.4   50.36  296.58
Req/Sec      1       0.45   2

10 requests in 10s, 15.8 kB read
"
        )
    };
    assert!(has(&page(""), "littles-law-gap"));
    assert!(!has(&page("-r 1"), "littles-law-gap"));
}

/// A spelled-out unit counts only next to the name of a column.
#[test]
fn times_with_a_unit_in_full_are_compared() {
    let found = |sentence: &str| {
        let page = format!(
            "\
{sentence}

```
Summary:
  Success rate: 100.00%
  Total:        30.0000 secs
  Slowest:      3.4069 secs
  Fastest:      0.0008 secs
  Average:      0.8086 secs
  Requests/sec: 100.0000

Status code distribution:
  [200] 3000 responses
```
"
        );
        has(&page, "stale-prose")
    };
    assert!(found("The fastest request took 0.00008 seconds."));
    assert!(!found("The fastest request took 0.0008 seconds."));
    assert!(!found("The average is 0.81 seconds."));
    assert!(found("The average is 0.91 seconds."));
    // The sentence is about something else.
    assert!(!found("The build took 12.34 seconds."));
}
