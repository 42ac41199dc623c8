//! Correct outputs that look like errors, each next to a similar output that is an error. The
//! values are made up.

use plimsoll_audit::{Level, audit};

fn has(text: &str, rule: &str) -> bool {
    let audited = audit("x.md", text).unwrap();
    let mut found = audited
        .findings
        .iter()
        .filter(|finding| finding.level > Level::Note);
    found.any(|finding| finding.rule == rule)
}

/// Locust computes percentiles from times rounded to two digits, but the maximum from exact times.
#[test]
fn rounded_locust_percentiles_may_exceed_the_maximum() {
    let found = |max: &str, top: &str| {
        let page = format!(
            "\
```
 Name                # reqs      # fails  |     Avg     Min     Max  Median  |   req/s failures/s
--------------------------------------------------------------------------------------------------
 GET /list            40000     0(0.00%)  |      12       4     {max}      10  |  400.00    0.00
--------------------------------------------------------------------------------------------------
 Aggregated           40000     0(0.00%)  |      12       4     {max}      10  |  400.00    0.00

Response time percentiles (approximated)
 Type     Name             50%    66%    75%    80%    90%    95%    98%    99%  99.9%   100% # reqs
--------|-------------|-------|------|------|------|------|------|------|------|------|------|------|
 None     Aggregated        10     12     13     14     17     21     33     45    {top}    {top}  40000
```
"
        );
        has(&page, "percentile-disorder")
    };
    assert!(!found("236", "240"));
    assert!(!found("1249", "1300"));
    assert!(found("236", "290"));
}

/// hey records at most a million statuses and times, but its rate and its mean cover all requests.
#[test]
fn hey_keeps_a_million_responses() {
    let page = |kept: &str| {
        format!(
            "\
```
$ hey -n 1500000 -c 50 http://192.0.2.7/list

Summary:
  Total:        375.0000 secs
  Slowest:      0.2400 secs
  Fastest:      0.0020 secs
  Average:      0.0125 secs
  Requests/sec: 4000.0000

Response time histogram:
  0.002 [1]      |
  0.120 [999990] |■■■■
  0.240 [9]      |

Latency distribution:
  50% in 0.0120 secs
  95% in 0.0200 secs
  99% in 0.0250 secs

Status code distribution:
  [200] {kept} responses
```
"
        )
    };
    for rule in ["failures-left-out", "declared-vs-counted", "total-mismatch"] {
        assert!(!has(&page("1000000"), rule), "{rule}");
    }
    assert!(has(&page("900000"), "failures-left-out"));
}

/// A maximum of three seconds is a timeout only if as many requests failed as took that long.
#[test]
fn one_failure_does_not_explain_a_slow_hundredth() {
    let found = |failed: &str| {
        let page = format!(
            "\
```
Concurrency Level:      20
Time taken for tests:   60.000 seconds
Complete requests:      30000
Failed requests:        {failed}
   (Connect: 0, Receive: {failed}, Length: 0, Exceptions: 0)
Requests per second:    500.00 [#/sec] (mean)
Time per request:       40.000 [ms] (mean)
Time per request:       2.000 [ms] (mean, across all concurrent requests)

Connection Times (ms)
              min  mean[+/-sd] median   max
Connect:        0   30 200.2      0    3001
Processing:     1    8  20.0      6     400
Waiting:        1    8  20.0      6     399
Total:          1   40 210.0      6    3020

Percentage of the requests served within a certain time (ms)
  50%      6
  66%      7
  75%      8
  80%      8
  90%     10
  95%     12
  98%     20
  99%   3004
 100%   3020 (longest request)
```
"
        );
        has(&page, "timeout-as-percentile")
    };
    assert!(!found("2"));
    assert!(found("400"));
}

fn smoke(check: &str, mark: &str, text: &str) -> String {
    format!(
        "\
# Smoke test

{text}

```
  checks_total.......: 400     10.0/s
  checks_succeeded...: 100.00% 400 out of 400
  checks_failed......: 0.00%   0 out of 400

  {mark} {check}

  HTTP
  http_req_duration....: avg=11.5ms min=6.5ms med=10.5ms max=70.5ms p(90)=12.5ms p(95)=13.5ms
  http_req_failed......: 50.00% 200 out of 400
  http_reqs............: 400     10.0/s
```
"
    )
}

/// A check that accepts refusals, or a sentence to that effect, explains failed requests without failed
/// checks.
#[test]
fn expected_refusals_need_no_failed_check() {
    let found =
        |check: &str, mark: &str, text: &str| has(&smoke(check, mark, text), "vacuous-check");
    assert!(found("the response is complete", "✓", "It ran."));
    assert!(!found("is 200 or 401", "✓", "It ran."));
    // k6 prints words on terminals that cannot display the marks.
    assert!(!found("the status is not 5xx", "PASS", "It ran."));
    let says = "The script accepts a `401` without a login.";
    assert!(!found("the response is complete", "✓", says));
    let says = "An unexpected 401 is a fault.";
    assert!(found("the response is complete", "✓", says));
}

/// A summary without `http_reqs` does not show how many requests an iteration made.
#[test]
fn iterations_are_not_the_samples_of_requests() {
    let found = |counter: &str| {
        let page = format!(
            "\
```
checks_succeeded...: 100.00% 640 out of 640
http_req_duration..: avg=90.5ms  min=4.5ms  max=310.5ms  p(95)=260.5ms
{counter}
```
"
        );
        has(&page, "percentile-undersampled")
    };
    assert!(!found("iterations.........: 80 complete"));
    assert!(found("http_reqs..........: 80  8.0/s"));
    assert!(found("http_req_failed....: 0.00% 0 out of 80"));
    assert!(!found("http_req_failed....: 0.00% 0 out of 8000"));
}

/// A paragraph ends where an output without a code fence begins: the figures of the output are not
/// claims.
#[test]
fn text_above_an_output_without_a_fence_is_not_its_output() {
    let found = |text: &str| {
        let page = format!(
            "\
# Settings

{text}
% kubectl logs -l app=load
Requests      [total, rate, throughput]         6000, 100.02, 100.01
Duration      [total, attack, wait]             59.994s, 59.99s, 4.057ms
Latencies     [min, mean, 50, 90, 95, 99, max]  2.748ms, 4.051ms, 3.912ms, 4.917ms, 5.833ms, 7.142ms, 12.995ms
Bytes In      [total, mean]                     600000, 100.00
Success       [ratio]                           100.00%
Status Codes  [code:count]                      200:6000

# Next
"
        );
        has(&page, "stale-prose")
    };
    assert!(!found("Still some jitter, in all three zones:"));
    assert!(found("Still some jitter, with a median of 8.217ms:"));
}

/// Additional users at the same rate only wait if the latency grows as much as their number.
#[test]
fn a_much_higher_latency_is_not_caused_by_users() {
    let found = |mean: &str, users: &str| {
        let run = |users: &str, mean: &str| {
            format!(
                "\
```
Running 20s test @ http://192.0.2.7/list
  2 threads and {users} connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency   {mean}    9.00ms    1.90s    80.10%
    Req/Sec     1.02k    20.00     1.50k    70.20%
  40000 requests in 20.00s, 1.10MB read
Requests/sec:   2000.00
Transfer/sec:     56.00KB
```

"
            )
        };
        let page = format!("{}{}", run("20", "10.00ms"), run(users, mean));
        has(&page, "saturated-closed-loop")
    };
    assert!(found("40.00ms", "80"));
    assert!(!found("400.00ms", "80"));
}

/// Two different counts in one output are reported only once.
#[test]
fn damaged_outputs_are_not_used_in_calculations() {
    let page = "\
```
Running 20s test @ http://192.0.2.7/list
  2 threads and 20 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency    10.00ms    9.00ms 190.00ms   80.10%
  20000 requests in 20.00s, 1.10MB read
  40000 requests in 20.00s, 2.20MB read
Requests/sec:   2000.00
Transfer/sec:    112.64KB
```
";
    assert!(has(page, "torn-block"));
    assert!(!has(page, "unit-mismatch"));
}
