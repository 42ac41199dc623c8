//! Samples that real receivers got equal the printed figures: Prometheus, InfluxDB and StatsD.

mod plimsoll;
mod received_run;
#[path = "statsd/server.rs"]
mod statsd;

use plimsoll_testground::{InfluxDb, Prometheus};
use received_run::{BUCKET, ITERATIONS, Run, assert_equal};
use serde_json::Value;
use statsd::StatsD;

/// The number of iterations of a run for StatsD. All datagrams fit into the receiver's buffer, even if it gets no time
/// to read.
const FEW: u32 = 200;
/// The only value that a query returns.
#[track_caller]
fn in_prometheus(prometheus: &Prometheus, query: &str) -> f64 {
    let response = prometheus.query(query);
    let response: Value = serde_json::from_str(&response).unwrap();
    let result = &response["data"]["result"];
    assert_eq!(
        result.as_array().map(Vec::len),
        Some(1),
        "{query}: {response}"
    );
    let value = result[0]["value"][1].as_str().unwrap();
    value.parse().unwrap()
}

#[test]
fn prometheus_receives_the_printed_figures() {
    let prometheus = Prometheus::start();
    let url = prometheus.write_url();
    let run = Run::with(
        "experimental-prometheus-rw",
        &[("K6_PROMETHEUS_RW_SERVER_URL", &url)],
    );
    let value = |query: &str| in_prometheus(&prometheus, query);
    let all = f64::from(ITERATIONS);
    assert_eq!(run.server.requests() as f64, all);
    assert_equal(value("k6_http_reqs_total"), all);
    assert_equal(
        value("sum(k6_data_received_total)"),
        run.printed("data_received", "count"),
    );
    assert_equal(value("k6_half_total"), all / 2.0);
    assert_equal(value("k6_level"), -7.0);
    assert_equal(value("k6_checks_rate"), 1.0);
    assert_equal(value("k6_quarter_rate"), 0.25);
    for metric in ["http_req_duration", "iteration_duration"] {
        let count = value(&format!("histogram_count(k6_{metric}_seconds)"));
        assert_equal(count, all);
        let sum = value(&format!("histogram_sum(k6_{metric}_seconds)"));
        assert_equal(sum * 1e3, run.printed(metric, "avg") * all);
    }
    let labels = r#"{place="here",scenario="default"}"#;
    assert_equal(value(&format!("histogram_sum(k6_size{labels})")), 500_500.0);
    for (quantile, figure) in [("0.5", "med"), ("0.95", "p(95)"), ("0.99", "p(99)")] {
        let found = value(&format!("histogram_quantile({quantile}, k6_size)"));
        let ratio = found / run.printed("size", figure);
        assert!(
            (1.0 / BUCKET..BUCKET).contains(&ratio),
            "{figure}: {found} is {ratio} times the printed one"
        );
    }
    assert_equal(
        value(r#"count(k6_http_reqs_total{kind="first, second=2",status="200",method="GET"})"#),
        1.0,
    );
}

#[test]
fn prometheus_gets_the_requested_trend_figures() {
    let prometheus = Prometheus::start();
    let argument = format!("experimental-prometheus-rw={}", prometheus.write_url());
    let figures = "count,sum,min,max,avg,med,p(95),p(99)";
    let run = Run::with(&argument, &[("K6_PROMETHEUS_RW_TREND_STATS", figures)]);
    for figure in ["count", "min", "max", "avg", "med", "p(95)", "p(99)"] {
        let suffix = figure.replace(['(', ')'], "");
        let size = in_prometheus(&prometheus, &format!("k6_size_{suffix}"));
        assert_equal(size, run.printed("size", figure));
        let metric = format!("k6_http_req_duration_{suffix}");
        let unit = if figure == "count" { 1.0 } else { 1e3 };
        let duration = in_prometheus(&prometheus, &metric) * unit;
        assert_equal(duration, run.printed("http_req_duration", figure));
    }
    assert_equal(in_prometheus(&prometheus, "k6_size_sum"), 500_500.0);
}

#[test]
fn influxdb_receives_the_printed_figures() {
    let influxdb = InfluxDb::start();
    let run = Run::with(&format!("influxdb={}/load tests", influxdb.url()), &[]);
    let values = |statement: &str| -> Vec<Value> {
        let response = influxdb.query("load tests", statement);
        let response: Value = serde_json::from_str(&response).unwrap();
        let rows = &response["results"][0]["series"][0]["values"];
        let row = rows[0].as_array();
        // The first column is the time.
        row.unwrap_or_else(|| panic!("{statement}: {response}"))[1..].to_vec()
    };
    let all = f64::from(ITERATIONS);
    assert_eq!(run.server.requests() as f64, all);
    for (metric, sum) in [
        ("http_reqs", all),
        ("iterations", all),
        ("half", all / 2.0),
        ("checks", all),
        ("quarter", all / 4.0),
        ("size", 500_500.0),
        ("level", -7.0 * all),
        ("data_sent", run.printed("data_sent", "count")),
    ] {
        let found = values(&format!("SELECT COUNT(value), SUM(value) FROM {metric}"));
        if metric != "data_sent" {
            assert_eq!(found[0].as_f64(), Some(all), "{metric}");
        }
        assert_equal(found[1].as_f64().unwrap(), sum);
    }
    let found =
        values("SELECT COUNT(value), MEAN(value), MIN(value), MAX(value) FROM http_req_duration");
    for (found, figure) in found.iter().zip(["count", "avg", "min", "max"]) {
        let printed = run.printed("http_req_duration", figure);
        assert_equal(found.as_f64().unwrap(), printed);
    }
    // Tags with special characters, and a tag that is stored as a field.
    let tagged = values("SELECT COUNT(value) FROM http_reqs WHERE kind = 'first, second=2'");
    assert_eq!(tagged[0].as_f64(), Some(all));
    let fields = values("SELECT url, vu, iter FROM http_reqs WHERE \"name\" =~ /a,b=c/ LIMIT 1");
    let url = fields[0].as_str().unwrap();
    assert!(
        url.ends_with("/a,b=c d") || url.ends_with("/a,b=c%20d"),
        "{url}"
    );
}

#[test]
fn statsd_receives_the_printed_figures() {
    let statsd = StatsD::start();
    let run = Run::of(FEW, &format!("statsd={}", statsd.address()), &[]);
    let all = f64::from(FEW);
    let counters = statsd.report("counters");
    let counter = |name: &str| counters[name].as_f64().unwrap_or_else(|| panic!("{name}"));
    assert_eq!(counter("statsd.bad_lines_seen"), 0.0);
    for (name, expected) in [
        ("k6.http_reqs", all),
        ("k6.iterations", all),
        ("k6.half", all / 2.0),
        ("k6.checks.pass", all),
        ("k6.quarter.pass", all / 4.0),
        ("k6.quarter.fail", all * 0.75),
        ("k6.data_received", run.printed("data_received", "count")),
    ] {
        assert_equal(counter(name), expected);
    }
    assert!(counters.get("k6.checks.fail").is_none());
    assert_eq!(statsd.report("gauges")["k6.level"].as_f64(), Some(-7.0));
    let timers = statsd.report("timers");
    let mut sizes: Vec<f64> = serde_json::from_value(timers["k6.size"].clone()).unwrap();
    sizes.sort_by(f64::total_cmp);
    let numbers: Vec<f64> = (1..=FEW).map(f64::from).collect();
    assert!(sizes == numbers, "{} sizes: {sizes:?}", sizes.len());
    let durations: Vec<f64> =
        serde_json::from_value(timers["k6.http_req_duration"].clone()).unwrap();
    assert_eq!(durations.len() as f64, all);
    assert_equal(
        durations.iter().sum::<f64>() / all,
        run.printed("http_req_duration", "avg"),
    );
}

#[test]
fn statsd_has_tags_if_requested() {
    let statsd = StatsD::start();
    let address = statsd.address().to_string();
    let variables = [
        ("K6_STATSD_ADDR", address.as_str()),
        ("K6_STATSD_ENABLE_TAGS", "true"),
        ("K6_STATSD_NAMESPACE", "load."),
    ];
    Run::of(FEW, "statsd", &variables);
    let counters = statsd.report("counters");
    let names: Vec<&String> = counters.as_object().unwrap().keys().collect();
    let requests = names
        .iter()
        .find(|name| name.starts_with("load.http_reqs;"));
    let name = requests.unwrap_or_else(|| panic!("{names:?}"));
    for tag in [";status=200", ";method=GET", ";kind=first"] {
        assert!(name.contains(tag), "{name}");
    }
    assert!(!name.contains(";url="), "{name}");
    assert_eq!(counters[*name].as_f64(), Some(f64::from(FEW)));
}
