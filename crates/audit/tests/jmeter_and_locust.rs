//! The summaries of JMeter and Locust, in the layouts of their documentation. The values are made up.

use plimsoll_audit::{Audit, Level, audit, formats};
use serde_json::Value;

fn read(text: &str) -> (Audit, Value) {
    let audited = audit("x.md", text).unwrap();
    let json = formats::json(&[audit("x.md", text).unwrap()]);
    (audited, serde_json::from_str(&json).unwrap())
}

fn loud(audit: &Audit) -> Vec<&'static str> {
    let found = audit.findings.iter();
    found
        .filter(|found| found.level > Level::Note)
        .map(|found| found.rule)
        .collect()
}

#[track_caller]
fn is(figure: &Value, expected: f64) {
    let value = figure["value"].as_f64().unwrap_or(f64::NAN);
    assert!((value - expected).abs() < 1e-9, "{figure:#}");
}

const RUN: &str = "\
Creating summariser <summary>
Starting standalone test @ 2024 May 4 10:00:00 UTC (1714816800000)
summary +   6000 in 00:00:20 =  300.0/s Avg:    31 Min:    12 Max:   134 Err:     0 (0.00%) Active: 50 Started: 50 Finished: 0
summary +   9300 in 00:00:30 =  310.0/s Avg:    33 Min:    11 Max:   223 Err:    93 (1.00%) Active: 50 Started: 50 Finished: 0
summary =  15300 in 00:00:50 =  306.0/s Avg:    32 Min:    11 Max:   223 Err:    93 (0.61%)
Tidying up ...    @ 2024 May 4 10:00:50 UTC (1714816850000)
";

#[test]
fn the_total_of_jmeter_is_the_result() {
    let (audit, json) = read(RUN);
    assert_eq!(json["blocks"].as_array().unwrap().len(), 1);
    let block = &json["blocks"][0];
    assert_eq!(block["tool"], "jmeter");
    is(&block["figures"]["requests"], 15_300.0);
    is(&block["figures"]["rate"], 306.0);
    is(&block["trends"][0]["figures"]["max"], 0.223);
    assert_eq!(loud(&audit), ["failures-as-work"]);
}

#[test]
fn each_run_of_jmeter_is_a_result() {
    let (audit, json) = read(
        "\
```
Run #1:
summary =   4000 in  20.2s =  198.0/s Avg:   123 Min:    10 Max:   807 Err:     0 (0.00%)

Run #2:
summary =   5200 in  20.0s =  260.0/s Avg:    99 Min:    11 Max:   693 Err:     0 (0.00%)
```
",
    );
    assert_eq!(json["blocks"].as_array().unwrap().len(), 2, "{json:#}");
    assert!(loud(&audit).is_empty(), "{:?}", loud(&audit));
}

/// A name of several words, lines of a log file, and a run that ended within its first interval.
#[test]
fn intervals_of_jmeter_are_added_if_there_is_no_total() {
    let (_, json) = read(
        "\
2016/01/27 00:15:30 INFO  - jmeter.reporters.Summariser: Generate Summary Results +   100 in    10s =   10.0/s Avg:    20 Min:     2 Max:    90 Err:     0 (0.00%) Active: 5 Started: 5 Finished: 0
2016/01/27 00:16:00 INFO  - jmeter.reporters.Summariser: Generate Summary Results +   300 in    30s =   10.0/s Avg:    40 Min:     1 Max:    80 Err:     0 (0.00%) Active: 5 Started: 5 Finished: 0
",
    );
    let block = &json["blocks"][0];
    is(&block["figures"]["requests"], 400.0);
    is(&block["trends"][0]["figures"]["mean"], 0.035);
    is(&block["trends"][0]["figures"]["min"], 0.001);
}

#[test]
fn jmeter_rates_must_equal_count_divided_by_time() {
    let (audit, _) = read(&RUN.replace("306.0/s", "406.0/s"));
    assert!(loud(&audit).contains(&"declared-vs-counted"));
    let (audit, _) = read(&RUN.replace("(0.61%)", "(0.16%)"));
    assert!(loud(&audit).contains(&"total-mismatch"));
}

const TABLE: &str = "\
```
$ locust -f locustfile.py --headless -u 40 -r 10 -t 1m --host http://192.0.2.9:8000
Type     Name                  # reqs      # fails |    Avg     Min     Max    Med |   req/s  failures/s
--------|-------------------|-------|-------------|-------|-------|-------|-------|--------|-----------
GET      /list of items          800     8(1.00%) |     52      12     790     48 |   13.33        0.13
POST     /cart                   400     0(0.00%) |    101      40     910     90 |    6.67        0.00
--------|-------------------|-------|-------------|-------|-------|-------|-------|--------|-----------
         Aggregated             1200     8(0.67%) |     68      12     910     55 |   20.00        0.13

Response time percentiles (approximated)
Type     Name                     50%    66%    75%    80%    90%    95%    98%    99%  99.9% 99.99%   100% # reqs
--------|----------------------|--------|------|------|------|------|------|------|------|------|------|------|------
GET      /list of items            48     60     70     81     90    110    300    400    790    790    790    800
POST     /cart                     90     99    110    120    140    190    320    500    910    910    910    400
--------|----------------------|--------|------|------|------|------|------|------|------|------|------|------|------
         Aggregated                55     71     83     90    110    150    310    480    900    910    910   1200
```
";

#[test]
fn the_total_row_of_locust_is_the_result() {
    let (audit, json) = read(TABLE);
    assert_eq!(json["blocks"].as_array().unwrap().len(), 1, "{json:#}");
    let block = &json["blocks"][0];
    assert_eq!(block["tool"], "locust");
    is(&block["figures"]["requests"], 1200.0);
    is(&block["figures"]["users"], 40.0);
    let figures = &block["trends"][0]["figures"];
    is(&figures["mean"], 0.068);
    is(&figures["p95"], 0.15);
    assert_eq!(loud(&audit), ["failures-as-work"]);
}

/// Before version 1, the totals row had no times, and the percentile table began with the number.
#[test]
fn old_tables_of_locust_are_read() {
    let (_, json) = read(
        "\
 Name                       # reqs      # fails     Avg     Min     Max  |  Median   req/s
--------------------------------------------------------------------------------------------
 GET /                         540     0(0.00%)      31      17      96  |      28    9.00
--------------------------------------------------------------------------------------------
 Total                         540     0(0.00%)                                       9.00

Percentage of the requests completed within given times
 Name                       # reqs    50%    66%    75%    80%    90%    95%    98%    99%   100%
--------------------------------------------------------------------------------------------
 GET /                         540     28     30     36     37     49     62     69     72     96
--------------------------------------------------------------------------------------------
 Total                         540     28     30     36     37     49     62     69     72     96
",
    );
    let block = &json["blocks"][0];
    is(&block["figures"]["rate"], 9.0);
    is(&block["trends"][0]["figures"]["mean"], 0.031);
    is(&block["trends"][0]["figures"]["p99"], 0.072);
}

/// The table that Locust prints at the start contains no requests.
#[test]
fn a_table_without_requests_is_not_a_result() {
    let text = "\
Type     Name     # reqs      # fails |    Avg     Min     Max    Med |   req/s  failures/s
--------|--------|-------|-------------|-------|-------|-------|-------|--------|-----------
         Aggregated    0     0(0.00%) |      0       0       0      0 |    0.00        0.00
";
    assert!(audit("x.md", text).is_err());
    let (_, json) = read(&format!("{text}\n{TABLE}"));
    assert_eq!(json["blocks"].as_array().unwrap().len(), 1, "{json:#}");
}

/// The mean of all requests is the mean of the rows weighted by their numbers of requests.
#[test]
fn the_mean_of_locust_rows_must_match_the_total() {
    let found = |mean: &str, rows: &str| {
        let page = format!(
            "\
 Name            # reqs    # fails |  Avg    Min    Max  Med | req/s  failures/s
---------------------------------------------------------------------------------
 GET  /list        3000      0(0%) |   20      4    210   14 | 30.0       0.0
 POST /list        {rows}      0(0%) |   80      5    410   52 | 10.0       0.0
---------------------------------------------------------------------------------
 Aggregated        4000      0(0%) |   {mean}      4    410   20 | 40.0       0.0
"
        );
        let audited = audit("x.txt", &page).unwrap();
        let mut found = audited.findings.iter();
        found.any(|finding| finding.rule == "total-mismatch" && finding.line == 6)
    };
    assert!(!found("35", "1000"));
    assert!(found("48", "1000"));
    // A row is missing.
    assert!(!found("48", " 900"));
}
