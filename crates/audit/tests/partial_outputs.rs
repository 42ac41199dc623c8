//! Outputs that an author or a program changed: HTML, grouped digits, remarks, and single parts.
//! The values are made up.

use plimsoll_audit::audit;

#[test]
fn autocannon_tables_may_be_html() {
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
fn spaces_may_group_thousands_in_k6_output() {
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
fn remarks_after_ab_rows_are_ignored() {
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
    let found = audit("x.md", page).unwrap().findings;
    assert!(found.iter().all(|finding| finding.rule != "label-mismatch"));
}

#[test]
fn a_row_of_the_request_alone_is_a_result() {
    let row = |mean: &str| {
        format!(
            "     http_req_duration..............: avg={mean}  min=119.51ms med=138.23ms max=421.28ms p(90)=230.15ms p(95)=247.55ms\n"
        )
    };
    let page = format!(
        "# Two ways\n\n```\nwith:\n{}without:\n{}```\n",
        row("170.1ms"),
        row("181.4ms")
    );
    assert_eq!(audit("x.md", &page).unwrap().blocks.len(), 2);
    // This page explains one row of its output.
    let page = format!(
        "# Test\n\n```\n{}     http_reqs......................: 2000    103.30/s\n```\n\n## The row\n\n```\n{}```\n",
        row("170.1ms"),
        row("170.1ms")
    );
    assert_eq!(audit("x.md", &page).unwrap().blocks.len(), 1);
}

#[test]
fn a_run_of_wrk_without_its_line_breaks_is_read() {
    let rows = [
        "./wrk -t2 -c80 -d20s http://192.0.2.7:8080/list?name=",
        "Running 20s test @ http://192.0.2.7:8080/list?name=",
        "2 threads and 80 connections",
        "Thread Stats Avg Stdev Max +/- Stdev",
        "Latency 31.20ms 5.10ms 92.33ms 71.40%",
        "Req/Sec 1.27k 51.50 1.41k 70.00%",
        "Latency Distribution 50% 30.10ms 75% 33.90ms 90% 38.40ms 99% 60.20ms",
        "51280 requests in 20.03s, 9.31MB read",
        "Socket errors: connect 0, read 0, write 0, timeout 6",
        "Requests/sec: 2560.16",
        "Transfer/sec: 475.95KB",
    ];
    let page = format!(
        "# Tuning\n\nThe default:\n\n[root@localhost]# {}\n",
        rows.join(" ")
    );
    let audited = audit("x.md", &page).unwrap();
    let [block] = &audited.blocks[..] else {
        panic!("{:?}", audited.blocks);
    };
    assert_eq!(block.users.as_ref().unwrap().value, 80.0);
    assert_eq!(block.requests.as_ref().unwrap().value, 51280.0);
    assert_eq!(block.rate.as_ref().unwrap().value, 2560.16);
    assert_eq!(block.sockets.unwrap().timeout, 6.0);
    let latency = block.latency().unwrap();
    assert_eq!(latency.mean.as_ref().unwrap().text, "31.20ms");
    assert_eq!(latency.at(0.99).unwrap().text, "60.20ms");
}

#[test]
fn a_quoted_row_is_not_a_separate_result() {
    let row = "     http_req_duration..............: avg=98ms     min=12ms   med=72ms  max=8.3s   p(90)=195ms  p(95)=285ms\n";
    for (quoted, results) in [("30000, 500.0/s", 1), ("31000, 516.6/s", 2)] {
        let page = format!(
            "# Reading\n\n```\n{row}     http_reqs......................: 30000  500.0/s\n```\n\nWhat to see:\n- `http_reqs: {quoted}` — the rate\n- `http_req_duration: med=72ms, p(95)=285ms` — the tail\n"
        );
        let audited = audit("x.md", &page).unwrap();
        assert_eq!(audited.blocks.len(), results, "{quoted}");
    }
}

#[test]
fn ab_output_without_a_unit_is_read() {
    let list = |name: &str, rate: &str, time: &str| {
        format!(
            "  - {name}\n\n    Requests per second: {rate} (mean)  \n    Time per request: {time} ms (mean)  \n\n"
        )
    };
    let page = format!(
        "# Two servers\n\n{}{}",
        list("One", "1204.10", "83.050"),
        list("Two", "1502.75", "66.545")
    );
    let audited = audit("x.md", &page).unwrap();
    let rates: Vec<f64> = audited
        .blocks
        .iter()
        .filter_map(|block| Some(block.rate.as_ref()?.value))
        .collect();
    assert_eq!(rates, [1204.10, 1502.75]);
}
