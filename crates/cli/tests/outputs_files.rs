//! The contents of output files, as independent readers see them, equal the printed figures.

mod file_readers;
mod plimsoll;
mod received_run;

use file_readers::read;
use received_run::{ITERATIONS, Run, assert_equal};
use serde_json::Value;

#[test]
fn a_histogram_log_contains_the_printed_figures() {
    let run = Run::with("hdrhistogram=times.hlog", &[]);
    let log = read(&run.folder.path().join("times.hlog"));
    assert_eq!(run.server.requests(), ITERATIONS as usize);
    let tags: Vec<&String> = log.as_object().unwrap().keys().collect();
    for tag in [
        "http_req_blocked",
        "http_req_connecting",
        "http_req_duration",
        "http_req_receiving",
        "http_req_sending",
        "http_req_tls_handshaking",
        "http_req_waiting",
        "iteration_duration",
        "wait",
    ] {
        assert!(tags.iter().any(|known| *known == tag), "{tag}: {tags:?}");
        assert_eq!(log[tag]["all"]["count"], ITERATIONS, "{tag}");
    }
    // `size` is not a time.
    assert_eq!(tags.len(), 9, "{tags:?}");
    let close = |tag: &str, name: &str, figure: &str| {
        let received = log[tag]["all"][name].as_f64().unwrap() / 1e6;
        let ratio = received / run.printed(tag, figure);
        // Values have three significant digits, and the rank of a percentile may differ by one.
        assert!((0.99..1.01).contains(&ratio), "{tag}, {name}: {received}");
    };
    for tag in ["wait", "http_req_duration", "iteration_duration"] {
        close(tag, "min", "min");
        close(tag, "max", "max");
        close(tag, "mean", "avg");
    }
    close("wait", "median", "med");
    close("wait", "p95", "p(95)");
    close("wait", "p99", "p(99)");
    let starts: Vec<f64> = serde_json::from_value(log["wait"]["starts"].clone()).unwrap();
    assert!(starts.is_sorted(), "{starts:?}");
    let year_2020 = 1_577_836_800_000.0;
    assert!(starts[0] > year_2020, "{starts:?}");
}

fn rows<'a>(file: &'a Value, metric: &str) -> Vec<&'a Value> {
    let rows = file.as_array().unwrap().iter();
    rows.filter(|row| row["metric"] == metric).collect()
}

fn sum(rows: &[&Value], column: &str) -> f64 {
    rows.iter().map(|row| row[column].as_f64().unwrap()).sum()
}

#[test]
fn a_parquet_file_contains_the_printed_figures() {
    let run = Run::with("parquet=windows.parquet", &[]);
    let file = read(&run.folder.path().join("windows.parquet"));
    let all = f64::from(ITERATIONS);
    assert_eq!(run.server.requests(), ITERATIONS as usize);
    for (metric, count, expected) in [
        ("http_reqs", all, all),
        ("half", all, all / 2.0),
        ("quarter", all, all / 4.0),
        ("size", all, 500_500.0),
        ("data_sent", all, run.printed("data_sent", "count")),
    ] {
        let rows = rows(&file, metric);
        assert_eq!(rows.iter().filter(|row| row["count"] == 0).count(), 0);
        if metric != "data_sent" {
            assert_equal(sum(&rows, "count"), count);
        }
        assert_equal(sum(&rows, "sum"), expected);
    }
    let durations = rows(&file, "http_req_duration");
    assert_equal(
        sum(&durations, "sum"),
        run.printed("http_req_duration", "avg") * all,
    );
    let max = durations.iter().map(|row| row["max"].as_f64().unwrap());
    assert_equal(
        max.fold(0.0, f64::max),
        run.printed("http_req_duration", "max"),
    );
    for row in &durations {
        assert_eq!(row["type"], "trend");
        assert!(row["last"].is_null());
        let figures = ["min", "p50", "p90", "p95", "p99", "p999", "max"];
        let figures = figures.map(|figure| row[figure].as_f64().unwrap());
        assert!(figures.is_sorted(), "{figures:?}");
        let tags: Value = serde_json::from_str(row["tags"].as_str().unwrap()).unwrap();
        assert_eq!(tags["kind"], "first, second=2");
        // The reader converts timestamps to dates.
        assert!(row["time"].as_str().unwrap().starts_with("20"), "{row}");
    }
    let level = rows(&file, "level");
    assert_eq!(level[0]["last"], -7);
    assert!(level[0]["p50"].is_null());
}

#[test]
fn a_parquet_file_of_samples_is_complete() {
    let run = Run::with("parquet-samples=samples.parquet", &[]);
    let file = read(&run.folder.path().join("samples.parquet"));
    let mut sizes: Vec<f64> = rows(&file, "size")
        .iter()
        .map(|row| row["value"].as_f64().unwrap())
        .collect();
    sizes.sort_by(f64::total_cmp);
    let numbers: Vec<f64> = (1..=ITERATIONS).map(f64::from).collect();
    assert!(sizes == numbers, "{} sizes", sizes.len());
    let durations = rows(&file, "http_req_duration");
    assert_eq!(durations.len(), ITERATIONS as usize);
    assert_equal(
        sum(&durations, "value"),
        run.printed("http_req_duration", "avg") * f64::from(ITERATIONS),
    );
}
