//! The layouts of gcannon and zrk, and the result files that HttpArena, ann-benchmarks and
//! the-benchmarker publish, checked value by value. The values are made up.

use plimsoll_audit::{Audit, Level, audit, formats};
use serde_json::Value;

fn read(text: &str) -> (Audit, Value) {
    let audited = audit("x", text).unwrap();
    let json = formats::json(&[audit("x", text).unwrap()]);
    (audited, serde_json::from_str(&json).unwrap())
}

#[track_caller]
fn figure(json: &Value, block: usize, column: &str) -> f64 {
    json["blocks"][block]["trends"][0]["figures"][column]["value"]
        .as_f64()
        .unwrap_or_else(|| panic!("no {column} in {json:#}"))
}

#[track_caller]
fn value(json: &Value, block: usize, name: &str) -> f64 {
    json["blocks"][block]["figures"][name]["value"]
        .as_f64()
        .unwrap_or_else(|| panic!("no {name} in {json:#}"))
}

/// The rules with a finding above a note, in line order.
fn loud_rules(audit: &Audit) -> Vec<&'static str> {
    let loud = audit.findings.iter().filter(|f| f.level > Level::Note);
    loud.map(|finding| finding.rule).collect()
}

const GCANNON: &str = "\
gcannon — io_uring HTTP load generator
  Target:    10.0.0.7:8080/json
  Threads:   4
  Conns:     64 (16/thread)
  Pipeline:  8
  Req/conn:  unlimited (keep-alive)
  Expected:  200
  Duration:  10s

  Thread Stats   Avg      p50      p90      p99    p99.9
    Latency   0.98ms   0.91ms   1.70ms   3.10ms   4.20ms

  5120410 requests in 10.00s, 5120004 responses
  Throughput: 512.00K req/s
  Bandwidth:  40.20MB/s
  Status codes: 2xx=5120004, 3xx=0, 4xx=0, 5xx=0
  Latency samples: 5120004 / 5120004 responses (100.0%)
  Reconnects: 0
";

#[test]
fn gcannon_is_read() {
    let (audit, json) = read(GCANNON);
    assert_eq!(json["blocks"].as_array().unwrap().len(), 1);
    assert_eq!(json["blocks"][0]["tool"], "gcannon");
    assert!((figure(&json, 0, "mean") - 0.98e-3).abs() < 1e-9);
    assert!((figure(&json, 0, "p99.9") - 4.2e-3).abs() < 1e-9);
    assert!((value(&json, 0, "rate") - 512e3).abs() < 1.0);
    assert!((value(&json, 0, "users") - 64.0).abs() < 1e-9);
    // 512000/s × 0.98 ms = 502 requests in flight of 64 × 8.
    assert_eq!(loud_rules(&audit), Vec::<&str>::new());
}

#[test]
fn gcannon_with_more_statuses_than_responses() {
    let text = GCANNON.replace("2xx=5120004", "2xx=5125004");
    assert_eq!(loud_rules(&read(&text).0), ["total-mismatch"]);
    let text = GCANNON.replace("5120410 requests", "5820410 requests");
    assert_eq!(loud_rules(&read(&text).0), ["failures-left-out"]);
    let text = GCANNON.replace("in 10.00s", "in 20.00s");
    assert!(loud_rules(&read(&text).0).contains(&"declared-vs-counted"));
}

#[test]
fn gcannon_in_json_is_read() {
    let (audit, json) = read(
        r#"{"target":"10.0.0.7:8080/","mode":"http","connections":64,"threads":4,"pipeline_depth":1,
"duration_sec":10,"elapsed_sec":10.001,"requests":640064,"responses":640000,"rps":63993.6,
"latency_us":{"avg":998,"p50":950,"p90":1400,"p99":2100,"p999":5100,"samples":640000},
"status":{"2xx":640000,"3xx":0,"4xx":0,"5xx":0,"other":0},"errors":{"connect":0,"read":0,"timeout":0}}"#,
    );
    assert_eq!(json["blocks"][0]["layout"], "gcannon JSON");
    assert!((figure(&json, 0, "p99.9") - 5.1e-3).abs() < 1e-9);
    assert!((value(&json, 0, "elapsed") - 10.001).abs() < 1e-9);
    assert_eq!(loud_rules(&audit), Vec::<&str>::new());
}

#[test]
fn zrk_is_read_in_both_layouts() {
    let (audit, json) = read(
        "Running 10s test @ http://10.0.0.7:8080/\n  10 connections, target rate 200 req/s\n\n  \
         Latency (corrected for coordinated omission)\n    50%    5.31ms\n    99%    6.86ms\n    \
         max    11.07ms\n\n  2001 requests in 10.01s, 2.16MiB read\nRequests/sec: 199.90\n\
         Transfer/sec: 221.00KiB\n",
    );
    assert_eq!(json["blocks"].as_array().unwrap().len(), 1, "{json:#}");
    assert_eq!(json["blocks"][0]["tool"], "zrk");
    assert_eq!(json["blocks"][0]["model"], "open");
    assert!((figure(&json, 0, "max") - 11.07e-3).abs() < 1e-9);
    assert!((value(&json, 0, "asked_rate") - 200.0).abs() < 1e-9);
    assert_eq!(loud_rules(&audit), Vec::<&str>::new());
    let (audit, json) = read(
        "$ zrk -c 32 -d 10s --closed http://10.0.0.7:8080/\n\n  \
         310000 requests in 10.00s, 4.1MiB read  ·  31000 req/s  ·  420KiB/s\n  \
         latency (closed-loop round-trip)\n    p50    1.00ms\n    p99    2.10ms\n    max    9.80ms\n",
    );
    assert_eq!(json["blocks"][0]["model"], "closed");
    assert!((value(&json, 0, "users") - 32.0).abs() < 1e-9);
    assert!((value(&json, 0, "rate") - 31000.0).abs() < 1e-9);
    assert!((figure(&json, 0, "p99") - 2.1e-3).abs() < 1e-9);
    assert_eq!(loud_rules(&audit), Vec::<&str>::new());
}

#[test]
fn zrk_in_json_names_the_end_of_a_ramp() {
    let text = r#"{"target":{"url":"http://10.0.0.7:8080/"},
"config":{"connections":50,"streams":1,"duration_s":20.0,"closed":false,"target_rate":100,"target_rate_end":1000},
"duration_s":20.0,"requests":9000,"achieved_rate":860.0,"target_rate":100,"target_rate_end":1000,
"latency_us":{"min":106,"mean":422.0,"max":13991,"p50":251,"p99":1913},
"status_codes":{"1xx":0,"2xx":9000,"3xx":0,"4xx":0,"5xx":0},
"errors":{"connect":0,"read":0,"write":0,"timeout":0,"deadline":0,"non_2xx_3xx":0}}"#;
    let (audit, json) = read(text);
    assert!((figure(&json, 0, "median") - 251e-6).abs() < 1e-12);
    assert_eq!(loud_rules(&audit), ["ramp-end-as-rate"]);
    // The average is 9000 ÷ 20 s.
    assert_eq!(
        loud_rules(&read(&text.replace("860.0", "450.0")).0),
        Vec::<&str>::new()
    );
    // At a constant rate, 9000 requests in 20 s contradict 860/s.
    let constant = text.replace("\"target_rate_end\":1000", "\"target_rate_end\":100");
    assert!(loud_rules(&read(&constant).0).contains(&"declared-vs-counted"));
}

const ARENA: &str = r#"{
  "framework": "example",
  "results": {
    "baseline-512": {
      "framework": "example",
      "rps": 100000,
      "avg_latency": "5.10ms",
      "p99_latency": "9.80ms",
      "connections": 512,
      "duration": "5s",
      "pipeline": 1,
      "bandwidth": "15.95MB/s",
      "status_2xx": 500100,
      "status_4xx": 0
    },
    "latency-10k-1024": {
      "framework": "example",
      "rps": 9990,
      "avg_latency": "451.7us",
      "p99_latency": "6746.0us",
      "p99_9_latency": "38576.0us",
      "connections": 1024,
      "duration": "20s",
      "status_2xx": 199800,
      "target_rate": 10000
    },
    "baseline-h3-64": {
      "framework": "example",
      "rps": 600000,
      "avg_latency": "5.9ms",
      "connections": 64,
      "duration": "5s",
      "pipeline": 1,
      "status_2xx": 3000000
    }
  }
}"#;

#[test]
fn the_files_of_httparena_are_read() {
    let (audit, json) = read(ARENA);
    assert_eq!(json["blocks"].as_array().unwrap().len(), 3);
    assert_eq!(json["blocks"][0]["tool"], "HttpArena");
    assert_eq!(loud_rules(&audit), Vec::<&str>::new());
    let (audit, _) = read(&ARENA.replace("500100", "1000200"));
    assert_eq!(loud_rules(&audit), ["declared-vs-counted"]);
    let (audit, _) = read(
        &ARENA
            .replace("\"rps\": 9990", "\"rps\": 3592")
            .replace("199800", "71840"),
    );
    assert_eq!(loud_rules(&audit), ["generator-saturated"]);
    // The file of one profile is an array.
    let profile = r#"[
  {
    "framework": "one",
    "rps": 1240,
    "avg_latency": "2.83ms",
    "connections": 64,
    "duration": "5s",
    "status_2xx": 6200
  },
  {
    "framework": "two",
    "rps": 2240,
    "avg_latency": "28.3ms",
    "connections": 64,
    "duration": "5s",
    "status_2xx": 11200
  }
]"#;
    let (audit, json) = read(profile);
    assert_eq!(json["blocks"].as_array().unwrap().len(), 2);
    // 1240/s × 2.83 ms = 3.5 requests in flight on 64 connections.
    assert_eq!(loud_rules(&audit), ["littles-law-gap"]);
}

#[test]
fn csv_files_of_ann_benchmarks_are_read() {
    let csv = "algorithm,parameters,count,k-nn,qps,p50,p95,p99,p999,build,dataset\n\
               hnsw,\"hnsw(M=16, ef=40)\",10,0.981,2500.0,0.38,0.52,0.71,1.2,40.1,glove-100\n\
               annoy,\"annoy(\"\"a\"\", 5)\",10,0.7,1000.0,0.9,1.5,2.1,3.0,9.5,glove-100\n\
               too,short\n";
    let (audit, json) = read(csv);
    assert_eq!(json["blocks"].as_array().unwrap().len(), 2);
    assert_eq!(json["blocks"][0]["titles"][2], "hnsw(M=16, ef=40)");
    assert!((figure(&json, 0, "mean") - 0.4e-3).abs() < 1e-9);
    assert!((figure(&json, 1, "p99") - 2.1e-3).abs() < 1e-9);
    assert_eq!(loud_rules(&audit), Vec::<&str>::new());
    // Half of the queries took 0.9 ms, so the rate is at most 2200/s.
    let (audit, _) = read(&csv.replace(",1000.0,", ",4000.0,"));
    assert_eq!(loud_rules(&audit), ["percentile-disorder"]);
}

/// A file of the-benchmarker with three systems at one concurrency level.
fn benchmarker(factor: f64) -> String {
    let mut metrics = Vec::new();
    for system in 1..=3 {
        let average = 100_000.0 * f64::from(system);
        for (label, value) in [
            ("total_requests", average * 15.0),
            ("duration_ms", 15_000_000.0),
            ("total_requests_per_s", factor * average),
            ("average_latency", 500.0),
        ] {
            metrics.push(format!(
                "{{\"level\":64,\"label\":\"{label}\",\"value\":{value},\"framework_id\":{system}}}"
            ));
        }
    }
    format!("{{\"metrics\":[\n{}\n]}}", metrics.join(",\n"))
}

#[test]
fn the_benchmarkers_rates_are_compared_with_its_counts() {
    assert!(!loud_rules(&read(&benchmarker(1.0)).0).contains(&"ramp-end-as-rate"));
    let (audit, _) = read(&benchmarker(1.7));
    let ramp = loud_rules(&audit)
        .iter()
        .filter(|rule| **rule == "ramp-end-as-rate")
        .count();
    assert_eq!(ramp, 1);
}

#[test]
fn a_number_of_requests_in_the_text_is_compared_with_the_block() {
    let page = |loud_rules: &str| {
        format!(
            "# A\n\n- Total requests: {loud_rules}\n\n```\nSummary:\n  Total:\t10.0000 secs\n  \
             Slowest:\t0.0586 secs\n  Fastest:\t0.0124 secs\n  Average:\t0.0156 secs\n  \
             Requests/sec:\t3162.3\n\nStatus code distribution:\n  [200]\t31623 responses\n```\n"
        )
    };
    assert_eq!(loud_rules(&read(&page("31,623")).0), Vec::<&str>::new());
    assert_eq!(loud_rules(&read(&page("31.6k")).0), Vec::<&str>::new());
    assert_eq!(loud_rules(&read(&page("5,000")).0), ["declared-vs-counted"]);
}

/// A gap between two quantiles with about as many samples above it as there are connections.
#[test]
fn slow_first_requests_show_between_quantiles() {
    let text = "Running 30s test @ http://10.0.0.7/\n  2 threads and 100 connections\n  \
                Thread Stats   Avg      Stdev     Max   +/- Stdev\n    \
                Latency     9.90ms   20.00ms 980.00ms   99.00%\n  Latency Distribution\n     \
                50%    9.00ms\n     75%   10.00ms\n     90%   12.00ms\n     99%   15.00ms\n  \
                9000 requests in 30.00s, 1.50MB read\nRequests/sec:    300.00\n";
    let (audit, _) = read(text);
    let note = audit
        .findings
        .iter()
        .find(|finding| finding.rule == "connection-setup-tail");
    assert_eq!(
        note.map(|note| note.level),
        Some(Level::Note),
        "{:#?}",
        audit.findings
    );
    let steady = text.replace("980.00ms", "18.00ms");
    let (audit, _) = read(&steady);
    assert!(
        audit
            .findings
            .iter()
            .all(|f| f.rule != "connection-setup-tail")
    );
}

/// If metrics are column names, each row is a result.
#[test]
fn tables_with_metrics_as_columns_are_read() {
    let (_, json) = read(
        "# A\n\n| system | http_reqs | http_req_duration avg | http_req_duration p(95) |\n\
         |---|---|---|---|\n| one | 6000 | 1.2ms | 3.4ms |\n| two | 7000 | 1.1ms | 2.9ms |\n",
    );
    assert_eq!(json["blocks"].as_array().unwrap().len(), 2, "{json:#}");
    assert_eq!(json["blocks"][1]["titles"][1], "two");
    assert!((figure(&json, 1, "p95") - 2.9e-3).abs() < 1e-9);
    assert!((value(&json, 0, "requests") - 6000.0).abs() < 1e-9);
}
