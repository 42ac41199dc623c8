//! Counts in sentences, and commands that are not of the output below them. The values were made up
//! for the tests.

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
fn a_number_for_each_run_is_compared_with_the_runs() {
    let found = |sentence| {
        let page = ab(sentence, "ab -n 2000 -c 4 http://192.0.2.7/list");
        has(&page, "declared-vs-counted")
    };
    assert!(found("We made 20,000 calls for each concurrency level."));
    assert!(!found("We made 2,000 calls for each concurrency level."));
    // Plans and other runs are no claims about this one.
    assert!(!found("It should take 20,000 calls for each run."));
    assert!(!found(
        "Before, we made 20,000 calls for each concurrency level."
    ));
    assert!(!found("The cache has room for 20,000 calls."));
}

/// The command has another number of users: its number of requests says nothing about this output.
#[test]
fn a_command_for_other_users_is_of_another_run() {
    let found = |command| has(&ab("", command), "declared-vs-counted");
    assert!(found("ab -n 9000 -c 4 http://192.0.2.7/list"));
    assert!(!found("ab -n 9000 -c 50 http://192.0.2.7/list"));
}

#[test]
fn a_sum_is_compared_with_the_failures() {
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
