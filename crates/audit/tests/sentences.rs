//! Sentences, lists and tables of a page, compared with its outputs or with their own figures. The
//! values are made up.

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

const OHA: &str = "\
```
Summary:
  Success rate: 100.00%
  Total:        30.0000 secs
  Slowest:      0.4069 secs
  Fastest:      0.0108 secs
  Average:      0.0486 secs
  Requests/sec: 412.5000

Response time distribution:
  50.00% in 0.0412 secs
  95.00% in 0.0977 secs
  99.00% in 0.1518 secs

Status code distribution:
  [200] 12375 responses
```
";

/// A section with one output and a sentence below it.
fn below(text: &str) -> String {
    format!("# Results\n\n{OHA}\n{text}\n")
}

#[test]
fn a_named_value_is_compared_with_the_output() {
    for (text, wrong) in [
        ("- **Average latency**: 48.6 ms", false),
        ("- **Average latency**: ~50 ms", false),
        ("- **Average latency**: 84 ms", true),
        ("- P99: 152 ms", false),
        ("- P99: 215 ms", true),
        ("- Requests/sec: 412.5", false),
        ("- Requests/sec: 640", true),
        ("- Throughput: 0.4k", false),
        ("- Total requests: 12,375", false),
        // Dots and commas may group thousands.
        ("- Total requests: 12.375", false),
        // Other languages.
        ("- **Среднее время ответа**: 48,6 мс", false),
        ("- **Среднее время ответа**: 91,3 мс", true),
        ("- 平均レイテンシ: 91.3 ms", true),
        ("- Latencia media: 91,3 ms", true),
        (
            "| Metric | Value |\n|---|---|\n| Mean latency | 91.3 ms |",
            true,
        ),
        (
            "| Metric | Value |\n|---|---|\n| Mean latency | 48.6 ms |",
            false,
        ),
        // Limits, ranges, changes and times of something else are not results.
        ("- Target latency (average): 84 ms", false),
        ("- Average latency: 70-90 ms", false),
        ("- Average latency: 84.2 ms → 48.6 ms", false),
        ("- Average query time: 84 ms", false),
        ("- Average build time: 84 ms", false),
        // The heading refers to another run.
        ("## Before\n\n- Average latency: 84 ms", false),
    ] {
        assert_eq!(has(&below(text), "stale-prose"), wrong, "{text}");
    }
    // With two outputs in the section, the subject is uncertain.
    let two = format!("{}\n{OHA}", below("- Average latency: 84 ms"));
    assert!(!has(&two, "stale-prose"));
}

#[test]
fn a_share_of_errors_is_compared_with_the_statuses() {
    let page = |text: &str| {
        below(text).replace(
            "[200] 12375 responses",
            "[200] 11000 responses\n  [503] 1375 responses",
        )
    };
    assert!(has(&page("- Error rate: 0.5 %"), "stale-prose"));
    assert!(!has(&page("- Error rate: 11.1 %"), "stale-prose"));
    assert!(has(&page("Ni una queja: sin errores."), "errors-denied"));
    assert!(!has(&below("Ni una queja: sin errores."), "errors-denied"));
}

#[test]
fn an_inequality_may_be_false() {
    for (text, wrong) in [
        ("- p95: 97.7ms < 100ms ✅", false),
        ("- p95: 97.7ms < 90ms ✅", true),
        ("- p95: 97.7ms < 90ms", true),
        ("- p95: 97.7ms < 90ms ❌", false),
        ("- p95: 97.7ms > 90ms", false),
        ("- 412 req/s ≥ 500 req/s ✓", true),
        // A table in any language with one limit, one figure and one mark.
        (
            "| Metrik | Değer | Sınır | Durum |\n|---|---|---|---|\n| p95 | 97.7 ms | < 90 ms | ✓ |",
            true,
        ),
        (
            "| Metrik | Sınır | Değer | Durum |\n|---|---|---|---|\n| p95 | < 90 ms | 97.7 ms | ✓ |",
            true,
        ),
        (
            "| Metrik | Değer | Sınır | Durum |\n|---|---|---|---|\n| p95 | 97.7 ms | < 100 ms | ✓ |",
            false,
        ),
        (
            "| Metrik | Değer | Sınır | Durum |\n|---|---|---|---|\n| p95 | 97.7 ms | < 90 ms | ✗ |",
            false,
        ),
        (
            "| Métrica | Objetivo | Real |\n|---|---|---|\n| p95 | < 90 ms | ~97.7ms ✅ |",
            true,
        ),
        // Without a mark, the figure may belong to an earlier run.
        (
            "| Metric | Old | Plan |\n|---|---|---|\n| p95 | 97.7 ms | < 90 ms |",
            false,
        ),
    ] {
        assert_eq!(has(&below(text), "objective-contradicted"), wrong, "{text}");
    }
}

#[test]
fn a_limit_marked_as_met_is_compared_with_every_output() {
    for (text, wrong) in [
        ("- ✅ P95 < 500ms", false),
        ("- ✅ P95 < 50ms", true),
        ("- ❌ P95 < 50ms", false),
        ("- P95 < 50ms", false),
        ("- ✅ Error rate < 1%", false),
        ("- ✅ 吞吐量 > 500 req/s", true),
        ("- ✅ 吞吐量 > 100 req/s", false),
        ("It has a sub-50 ms p99.", true),
        ("It has a sub-200 ms p99.", false),
        ("It should have a sub-50 ms p99.", false),
    ] {
        assert_eq!(has(&below(text), "objective-contradicted"), wrong, "{text}");
    }
    let failing = below("- ✅ Error rate < 1%").replace(
        "[200] 12375 responses",
        "[200] 11000 responses\n  [503] 1375 responses",
    );
    assert!(has(&failing, "objective-contradicted"));
}

#[test]
fn contradictory_figures_in_a_sentence_are_reported() {
    for (text, rule) in [
        (
            "A run takes about 20 minutes (2m ramp-up + 6m steady + 1m ramp-down).",
            Some("total-mismatch"),
        ),
        (
            "A run takes about 9 minutes (2m ramp-up + 6m steady + 1m ramp-down).",
            None,
        ),
        // Two runs of nine minutes each.
        (
            "Both take 18 minutes in all (2m ramp-up + 6m steady + 1m ramp-down).",
            None,
        ),
        ("There are 3 + 4 + 5 = 12 services.", None),
        ("There are 3 + 4 + 5 = 14 services.", Some("total-mismatch")),
        ("That is 50 users × 20 = 1,000 requests.", None),
        (
            "That is 50 users × 20 = 900 requests.",
            Some("ratio-misstated"),
        ),
        // The units are seconds and milliseconds.
        ("The share is 30 s ÷ 500 = 60 ms.", None),
        ("We made 9000 requests in 30 s (300 req/s).", None),
        (
            "We made 9000 requests in 30 s (450 req/s).",
            Some("ratio-misstated"),
        ),
        (
            "We made 9000 requests in 30 s with a peak of 450 req/s.",
            None,
        ),
    ] {
        let found = rules(&below(text));
        assert_eq!(
            found
                .iter()
                .find(|found| { ["total-mismatch", "ratio-misstated"].contains(found) }),
            rule.as_ref(),
            "{text}: {found:?}"
        );
    }
}

fn ab(command: &str, port: &str) -> String {
    format!(
        "\
```
$ {command}

Server Hostname:        127.0.0.1
Server Port:            {port}

Document Path:          /list

Concurrency Level:      4
Time taken for tests:   12.500 seconds
Complete requests:      2000
Failed requests:        0
Requests per second:    160.00 [#/sec] (mean)
Time per request:       25.000 [ms] (mean)
```
"
    )
}

#[test]
fn commands_with_another_port_belong_to_another_run() {
    let found = |command, port| has(&ab(command, port), "label-mismatch");
    assert!(found("ab -n 2000 -c 4 http://localhost:8080/list", "8081"));
    assert!(!found("ab -n 2000 -c 4 http://localhost:8081/list", "8081"));
    assert!(!found(
        "ab -n 2000 -c 4 http://localhost:$PORT/list",
        "8081"
    ));
    // The name may resolve to a different address.
    assert!(!found("ab -n 2000 -c 4 http://gateway:8080/list", "8081"));
}

fn wrk(text: &str, rate: &str) -> String {
    format!(
        "\
```
Running 20s test @ http://192.0.2.7/list
  2 threads and 64 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency    30.12ms   15.00ms 190.00ms   80.10%
    Req/Sec     1.02k    20.00     1.50k    70.20%
  42500 requests in 20.00s, 1.10MB read
Requests/sec:   {rate}
Transfer/sec:     56.00KB
```

{text}
"
    )
}

#[test]
fn rates_directly_below_an_output_are_checked() {
    let found = |text| has(&wrk(text, "2125.00"), "stale-prose");
    assert!(!found("2100 requests per second"));
    assert!(!found("2.125 peticiones por segundo"));
    assert!(found("1400 peticiones por segundo"));
    // The sentence is about something else.
    assert!(!found(
        "1400 requests per second is what the other team needs."
    ));
}

#[test]
fn a_number_of_requests_above_the_outputs_is_compared_with_them() {
    let found = |text: &str| {
        let page = format!("# Cache\n\n{text}\n\n{}", wrk("", "2125.00"));
        has(&page, "declared-vs-counted")
    };
    assert!(found("Generate 300 requests and look at the log:"));
    assert!(!found("Generate 42,500 requests and look at the log:"));
    assert!(!found(
        "Generate 300 requests per second and look at the log:"
    ));
    assert!(!found("Send 300 requests to warm up the cache first."));
    assert!(!found("The cache can make 300 requests cheap."));
}

#[test]
fn claims_of_better_throughput_are_checked() {
    let page = |text: &str| {
        format!(
            "# One node\n\n## With threads\n\n{}\n## With events\n\n{}\n{text}\n",
            wrk("", "2125.00"),
            wrk("", "2125.00")
                .replace("2125.00", "3150.00")
                .replace("42500", "63000")
                .replace("30.12ms", "20.33ms")
        )
    };
    let found = |text| has(&page(text), "comparison-reversed");
    assert!(found("With threads has a better throughput."));
    assert!(found("With threads has a lower latency, and is simple."));
    assert!(!found(
        "With events has a lower latency and a higher throughput."
    ));
    assert!(!found("With threads should have better throughput."));
}

#[test]
fn durations_in_sentences_are_compared_with_the_output_below() {
    let found = |text: &str| {
        let page = format!("# Basic usage\n\n{text}\n\n{}", wrk("", "2125.00"));
        rules(&page)
    };
    assert!(found("This runs a benchmark for 90 seconds.").contains(&"declared-vs-counted"));
    assert!(!found("This runs a benchmark for 20 seconds.").contains(&"declared-vs-counted"));
    assert!(!found("The tests can run for 90 seconds.").contains(&"declared-vs-counted"));
    let sentence = "It runs a benchmark, keeping 400 HTTP connections open.";
    assert!(found(sentence).contains(&"stale-prose"));
    let sentence = "It runs a benchmark, keeping 64 HTTP connections open.";
    assert!(!found(sentence).contains(&"stale-prose"));
}

#[test]
fn a_number_of_failures_is_compared_with_the_output() {
    let page = |text: &str| {
        below(text).replace(
            "[200] 12375 responses",
            "[200] 11000 responses\n  [503] 1375 responses",
        )
    };
    assert!(has(&page("In the end, 38 requests failed."), "stale-prose"));
    assert!(!has(
        &page("In the end, 1,375 requests failed."),
        "stale-prose"
    ));
    assert!(!has(
        &page("At most 38 requests should fail: 38 errors."),
        "stale-prose"
    ));
}

/// Copies of one output, the second of which was changed.
#[test]
fn a_changed_copy_is_reported() {
    let two = |second: String| {
        let page = format!("# A\n\n{}\n# B\n\n{second}", wrk("", "2126.37"));
        has(&page, "copied-block")
    };
    let changed = wrk("", "2126.37")
        .replace("30.12ms", "29.87ms")
        .replace("190.00ms", "123.45ms");
    assert!(!two(changed), "one equal rate is not a copy");
    let oha = |mean: &str, slowest: &str| OHA.replace("0.0486", mean).replace("0.4069", slowest);
    let page = |second: &str| format!("# A\n\n{}\n# B\n\n{second}", oha("0.0486", "0.4069"));
    let copy = oha("0.0512", "0.4711").replace("412.5000", "412.5123");
    let first = page(&copy).replacen("412.5000", "412.5123", 1);
    assert!(!has(&first, "copied-block"));
    let precise = |text: &str| {
        text.replace("0.0412", "0.14123")
            .replace("0.0977", "0.29771")
            .replace("0.1518", "0.31518")
            .replace("0.0486", "0.15486")
    };
    let first = precise(OHA);
    let second = first.replace("0.15486", "0.15512");
    assert!(has(
        &format!("# A\n\n{first}\n# B\n\n{second}"),
        "copied-block"
    ));
}
