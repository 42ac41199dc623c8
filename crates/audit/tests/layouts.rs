//! Output of wrk2 and oha, checked value by value, in layouts of other versions than the recorded
//! ones: later calibration lines of wrk2, and oha's text with seconds. The values are made up.

use plimsoll_audit::{Audit, Level, audit, formats};
use serde_json::Value;

fn read(text: &str) -> (Audit, Value) {
    let audit = audit("x", text).unwrap();
    let again = plimsoll_audit::audit("x", text).unwrap();
    let json = serde_json::from_str(&formats::json(&[again])).unwrap();
    (audit, json)
}

/// The value in a column of a trend, in seconds.
#[track_caller]
fn figure(json: &Value, column: &str) -> f64 {
    json["blocks"][0]["trends"][0]["figures"][column]["value"]
        .as_f64()
        .unwrap_or_else(|| panic!("no {column} in {json:#}"))
}

const WRK2: &str = "\
$ wrk -t2 -c50 -d1m -R4000 --latency http://10.0.0.1/
Running 1m test @ http://10.0.0.1/
  2 threads and 50 connections
  Thread calibration: mean lat.: 1.211ms, rate sampling interval: 10ms
  Thread calibration: mean lat.: 1.307ms, rate sampling interval: 10ms
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     1.31ms  702.00us  21.15ms   81.30%
    Req/Sec     2.11k   171.60     3.33k    77.16%
  Latency Distribution (HdrHistogram - Recorded Latency)
 50.000%    1.22ms
 75.000%    1.61ms
 90.000%    2.05ms
 99.000%    3.77ms
 99.900%    8.12ms
 99.990%   15.46ms
 99.999%   20.27ms
100.000%   21.17ms

  Detailed Percentile spectrum:
       Value   Percentile   TotalCount 1/(1-Percentile)

       0.110     0.000000            2         1.00
      21.167     1.000000       199004          inf
#[Mean    =        1.307, StdDeviation   =        0.702]
#[Max     =       21.152, Total count    =       199004]
----------------------------------------------------------
  239411 requests in 1.00m, 24.43MB read
Requests/sec:   3990.19
Transfer/sec:    416.93KB
";

#[test]
fn wrk2_is_read() {
    let (found, json) = read(WRK2);
    let block = &json["blocks"][0];
    assert_eq!(
        (block["tool"].as_str(), block["model"].as_str()),
        (Some("wrk2"), Some("open"))
    );
    assert!((figure(&json, "p99") - 3.77e-3).abs() < 1e-9);
    assert!((figure(&json, "p99.99") - 15.46e-3).abs() < 1e-9);
    assert_eq!(block["figures"]["asked_rate"]["value"], 4000.0);
    let loud: Vec<_> = found
        .findings
        .iter()
        .filter(|finding| finding.level > Level::Note)
        .collect();
    assert!(loud.is_empty(), "{loud:#?}");
    // The requested rate was not achieved.
    let starved = WRK2.replace("-R4000", "-R8000");
    let rules: Vec<&str> = read(&starved)
        .0
        .findings
        .iter()
        .map(|finding| finding.rule)
        .collect();
    assert!(rules.contains(&"generator-saturated"), "{rules:?}");
}

const OHA: &str = "\
Summary:
  Success rate:\t100.00%
  Total:\t10.0031 sec
  Slowest:\t0.0204 sec
  Fastest:\t0.0051 sec
  Average:\t0.0053 sec
  Requests/sec:\t375.8835

  Total data:\t264.38 KiB
  Size/request:\t72 B
  Size/sec:\t26.43 KiB

Response time histogram:
  0.005 sec [1]    |
  0.007 sec [3700] |■■■■■■■■■■■■■■■■
  0.020 sec [59]   |

Response time distribution:
  10.00% in 0.0052 sec
  25.00% in 0.0052 sec
  50.00% in 0.0053 sec
  75.00% in 0.0053 sec
  90.00% in 0.0054 sec
  95.00% in 0.0056 sec
  99.00% in 0.0072 sec
  99.90% in 0.0121 sec
  99.99% in 0.0204 sec


Details (average, fastest, slowest)
  DNS+dialup:\t0.0003 sec, 0.0003 sec, 0.0004 sec
  DNS-lookup:\t0.0000 sec, 0.0000 sec, 0.0000 sec

Status code distribution:
  [200] 3760 responses

Error distribution:
  [2] aborted due to deadline
";

#[test]
fn oha_is_read() {
    let (found, json) = read(OHA);
    assert_eq!(json["blocks"][0]["tool"], "oha");
    assert_eq!(json["blocks"][0]["figures"]["requests"]["value"], 3760.0);
    assert_eq!(figure(&json, "p99"), 0.0072);
    let loud: Vec<_> = found
        .findings
        .iter()
        .filter(|finding| finding.level > Level::Note)
        .collect();
    assert!(loud.is_empty(), "{loud:#?}");
    let rules: Vec<&str> = found.findings.iter().map(|finding| finding.rule).collect();
    assert_eq!(rules, ["percentile-undersampled"], "99.9 % of 3760");
    // oha counts any response as a success.
    let (absent, _) = read(&OHA.replace("[200] 3760", "[404] 3760"));
    let rules: Vec<&str> = absent.findings.iter().map(|finding| finding.rule).collect();
    assert!(rules.contains(&"non-success-as-success"), "{rules:?}");
}

#[test]
fn ohas_json_is_read() {
    let text = r#"{"summary":{"successRate":1.0,"total":10.0,"slowest":0.02,"fastest":0.005,"average":0.0053,
        "requestsPerSec":376.0,"totalData":270720,"sizePerRequest":72,"sizePerSec":27072.0},
        "responseTimeHistogram":{"0.005":1,"0.02":3759},
        "latencyPercentiles":{"p10":0.0052,"p50":0.0053,"p95":0.0056,"p99":0.0072,"p99.9":0.0121},
        "statusCodeDistribution":{"200":3760},"errorDistribution":{}}"#;
    let (found, json) = read(text);
    assert_eq!(json["blocks"][0]["layout"], "oha JSON");
    assert_eq!(figure(&json, "p95"), 0.0056);
    assert!(
        found
            .findings
            .iter()
            .all(|finding| finding.level == Level::Note)
    );
}

/// The recordings of the actual tools, checked value by value.
#[test]
fn recordings_of_both_are_read() {
    let recorded = |name: &str| {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded");
        read(&std::fs::read_to_string(path.join(name)).unwrap()).1
    };
    let json = recorded("clean/wrk2_uncorrected.txt");
    assert_eq!(json["blocks"][0]["tool"], "wrk2");
    // The corrected distribution is the main one, not the one that omits delays.
    assert_eq!(figure(&json, "p99"), 0.01052);
    assert_eq!(json["blocks"][0]["figures"]["requests"]["value"], 60_031.0);
    let undersampled = json["findings"].as_array().unwrap().iter().any(|finding| {
        let arithmetic = finding["arithmetic"].as_str().unwrap_or_default();
        arithmetic.contains("39500 × (1 − 0.9999) = 3.95")
    });
    assert!(undersampled, "{:#}", json["findings"]);
    let json = recorded("clean/oha.txt");
    assert_eq!(json["blocks"][0]["layout"], "oha text");
    assert!((figure(&json, "p95") - 0.007_827_1).abs() < 1e-9);
    assert!((figure(&json, "max") - 0.021_642_9).abs() < 1e-9);
    assert_eq!(json["blocks"][0]["figures"]["requests"]["value"], 2_214.0);
    let json = recorded("clean/oha.json");
    assert_eq!(json["blocks"][0]["layout"], "oha JSON");
    assert_eq!(figure(&json, "p99"), 0.023_352_25);
}

/// bombardier prints its settings, so no command is needed.
#[test]
fn the_first_line_of_bombardier_has_its_settings() {
    let page = |header: &str| {
        format!(
            "\
```
{header}
Done!
Statistics        Avg      Stdev        Max
  Reqs/sec      4000.00     200.00    5000.00
  Latency       20.00ms     1.14ms   116.01ms
  HTTP codes:
    1xx - 0, 2xx - 40000, 3xx - 0, 4xx - 0, 5xx - 0
    others - 0
  Throughput:   663.97KB/s
```
"
        )
    };
    let audit = audit(
        "x.md",
        &page("Bombarding http://192.0.2.7:8080/ for 10s using 80 connection(s)"),
    )
    .unwrap();
    let block = &audit.blocks[0];
    assert_eq!(block.users.as_ref().unwrap().value, 80.0);
    assert_eq!(block.declared.as_ref().unwrap().value, 10.0);
    let audit = plimsoll_audit::audit(
        "x.md",
        &page("Bombarding http://192.0.2.7:8080/ with 40000 request(s) using 80 connection(s)"),
    )
    .unwrap();
    let block = &audit.blocks[0];
    assert_eq!(block.requested_count.as_ref().unwrap().value, 40_000.0);
    assert!(block.declared.is_none());
}
