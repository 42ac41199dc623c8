//! Reports of runs: their content, their size, and that rendering is deterministic.

mod support;

use plimsoll_report::run::RunReport;
use plimsoll_report::{Judged, Report};
use plimsoll_results::fail_on::{Condition, Failures};
use plimsoll_results::record::Record;
use plimsoll_testkit::schema::faults;
use serde_json::Value;
use support::runs;

const PAGE_BYTES: usize = 600_000;
/// A step's summary may have 1 MiB.
const SUMMARY_BYTES: usize = 200_000;

#[test]
fn the_first_screen_answers_without_a_question() {
    let record = runs::open(30, 1.0);
    let text = RunReport::of(&record).markdown();
    let (first, _) = text.split_once("## Response time").expect("a section");
    for part in [
        "GET http://127.0.0.1:8080/",
        "**suspect**: client: send lag p99 12 ms",
        "199.0 successful requests/s: 6000 requests in 30 s.",
        "Response time: median 2.",
        "30 of 6000 requests failed** (0.500 %): status 503 (30) and connect: connection refused (2)",
        "7 iterations were dropped",
        "1 of 2 thresholds missed**: http\\_req\\_response\\_time p(99)\\<1 (measured 8.12 ms)",
        "1 of 2 checks failed**: body has a price (9 of 6000)",
        "Example CPU 9000",
        "plimsoll 0.1.0",
    ] {
        assert!(first.contains(part), "{part}\n{first}");
    }
    // The percentile of the record itself.
    let p95 = record
        .end
        .as_ref()
        .and_then(|end| end.trends["http_req_response_time"].histogram());
    let p95 = plimsoll_plots::number::short(p95.expect("times").quantile(0.95));
    assert!(first.contains(&format!("p95 {p95} ms")), "{p95}\n{first}");
}

#[test]
fn unknown_facts_are_not_shown() {
    let text = RunReport::of(&runs::unanswered()).markdown();
    for part in [
        "**invalid**: server: no request got a response",
        "No request got a response",
        "600 of 600 requests failed",
        "Not judged",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(
        !text.contains("NaN") && !text.contains("inf") && !text.contains("Percentiles"),
        "{text}"
    );
    let killed = RunReport::of(&runs::killed()).markdown();
    assert!(
        killed.contains("**killed**") && killed.contains("1000 requests"),
        "{killed}"
    );
    // A run of one second has too few values for its percentiles, but a mean.
    let mut short = runs::open(1, 1.0);
    for trends in [
        &mut short.seconds[0].trends,
        &mut short.end.as_mut().expect("an end").trends,
    ] {
        let mut few = plimsoll_stats::Histogram::new();
        few.record(3.0);
        few.record(5.0);
        let few = plimsoll_results::distribution::Distribution::of(&few);
        trends.insert("http_req_response_time".to_owned(), few);
    }
    let text = RunReport::of(&short).markdown();
    assert!(
        text.contains("Response time: mean 4.00 ms, longest 5.00 ms"),
        "{text}"
    );
}

#[test]
fn short_times_and_missed_thresholds_have_their_units() {
    let mut run = runs::open(1, 1.0);
    let end = run.end.as_mut().expect("an end");
    end.duration_seconds = 0.031;
    run.seconds[0].lasted = Some(0.031);
    let report = RunReport::of(&run);
    let text = report.markdown();
    let measured = format!("{} ms", plimsoll_plots::number::short(8.125));
    for part in [
        "200 requests in 31.0 ms",
        &format!("(measured {measured})"),
        &format!("| {measured} |"),
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(report.junit(&[]).contains(&format!("measured {measured}")));
}

#[test]
fn names_that_a_report_leaves_out_are_counted() {
    let mut run = runs::large();
    let end = run.end.as_mut().expect("an end");
    end.names.truncate(200);
    let text = RunReport::of(&run).markdown();
    assert!(
        text.contains("100 more names are not shown here. A report as JSON has them."),
        "{text}"
    );
    let end = run.end.as_mut().expect("an end");
    let mut others = end.names[0].clone();
    (others.name, others.method) = (String::new(), String::new());
    end.names.push(others);
    let text = RunReport::of(&run).markdown();
    let left_out = "101 more names are not shown here. A report as JSON has them. The row “others” counts the requests with still other names together: only the first 200 names of a run are counted separately.";
    assert!(text.contains(left_out), "{text}");
    assert!(text.contains("| others |"), "{text}");
}

#[test]
fn reports_are_the_same_each_time_and_after_reading_the_record_again() {
    for record in [
        runs::open(30, 1.0),
        runs::unanswered(),
        runs::killed(),
        runs::hostile(),
    ] {
        let mut bytes = Vec::new();
        let mut writer =
            plimsoll_results::record::Writer::begin(&mut bytes, &record.header).expect("memory");
        for second in &record.seconds {
            writer.second(second).expect("memory");
        }
        if let Some(end) = &record.end {
            writer.end(end).expect("memory");
        }
        let read = plimsoll_results::record::read(bytes.as_slice()).expect("the same record");
        let of = |record: &Record| {
            let report = RunReport::of(record);
            [
                report.html(),
                report.markdown(),
                report.summary(),
                report.json().to_string(),
                report.junit(&[]),
            ]
        };
        assert!(of(&record) == of(&read));
    }
}

#[test]
fn reports_stay_within_their_budgets() {
    let large = runs::large();
    let report = RunReport::of(&large);
    let page = report.html();
    assert!(page.len() <= PAGE_BYTES, "{} bytes", page.len());
    assert!(
        page.contains("2900 more are not shown here") && page.contains("The record has the rest")
    );
    assert!(
        report.summary().len() <= SUMMARY_BYTES,
        "{}",
        report.summary().len()
    );
    let (a, b) = (runs::large(), runs::large());
    let comparison = runs::comparison(&a, &b);
    let pair = RunReport::pair(&a, &b, &comparison).html();
    assert!(pair.len() <= PAGE_BYTES, "{} bytes", pair.len());
}

#[test]
fn two_runs_are_compared() {
    let (a, b) = (runs::open(30, 1.0), runs::open(30, 1.6));
    let comparison = runs::comparison(&a, &b);
    let text = RunReport::pair(&a, &b, &comparison).markdown();
    for part in [
        "**p95 of B is worse**: +",
        "No difference in rate",
        "**A**: ",
        "**B**: ",
        "Doubt: A is suspect",
        "A: Thresholds",
        "B: Thresholds",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn changes_of_the_load_are_marked_on_every_plot_over_time() {
    let mut record = runs::open(30, 1.0);
    let end = record.end.as_mut().expect("an end");
    end.marks = vec![
        runs::mark(7.25, "agent 1 (b) was lost: its process ended"),
        runs::mark(9.0, "other agents took over the load of agent 1 (b)"),
    ];
    let report = RunReport::of(&record);
    let page = report.html();
    let listed = "1: at 7 s, agent 1 (b) was lost: its process ended; 2: at 9 s, other agents took over the load of agent 1 (b).";
    let plots = page.split("<svg class=\"plot\"").skip(1);
    let plots: Vec<&str> = plots
        .map(|plot| plot.split("</svg>").next().unwrap_or(""))
        .collect();
    let over_time = plots
        .iter()
        .filter(|plot| plot.contains(">seconds of measurement<"));
    assert!(over_time.clone().count() >= 5, "{}", plots.len());
    for plot in over_time {
        let lines = plot.matches("sbad d4").count();
        assert!(lines == 2 || lines == 4, "{lines} lines: {plot}");
    }
    // Users, send lag, generator, latency over time, every request.
    assert!(page.matches(&format!("Dashed lines: {listed}")).count() >= 5);
    assert!(page.contains("\"marks\":[7.25,9.0]"));
    let text = report.markdown();
    assert!(
        text.contains(&format!("Changes of the load: {}", &listed[..30])),
        "{text}"
    );
    let schema: Value =
        serde_json::from_str(include_str!("../../../docs/schema/run-report-1.json")).expect("JSON");
    assert_eq!(report.json()["runs"][0]["marks"][1]["at_seconds"], 9.0);
    assert!(faults(&schema, &report.json()).is_empty());
    // Laid end to end, the second run begins after the first.
    let pair = RunReport::pair(&record, &record, &runs::comparison(&record, &record)).html();
    assert!(pair.contains("\"marks\":[7.25,9.0,37.25,39.0]"));
    assert!(pair.contains("3: B, at 7 s"));
    assert!(
        !RunReport::of(&runs::open(30, 1.0))
            .html()
            .contains("sbad d4")
    );
}

#[test]
fn json_follows_its_schema() {
    let schema: Value =
        serde_json::from_str(include_str!("../../../docs/schema/run-report-1.json")).expect("JSON");
    let (a, b) = (runs::open(30, 1.0), runs::open(30, 1.6));
    let comparison = runs::comparison(&a, &b);
    let killed = runs::killed();
    for report in [
        RunReport::of(&a),
        RunReport::of(&killed),
        RunReport::of(&runs::unanswered()),
        RunReport::pair(&a, &b, &comparison),
    ] {
        let faults = faults(&schema, &report.json());
        assert!(faults.is_empty(), "{faults:#?}");
    }
}

fn judged() -> Vec<Judged> {
    let failures = |found: &[&str], open: &[&str]| Failures {
        found: found.iter().map(|text| (*text).to_owned()).collect(),
        open: open.iter().map(|text| (*text).to_owned()).collect(),
    };
    vec![
        (Condition::Invalid, failures(&[], &[])),
        (
            Condition::Objective,
            failures(&["the run misses p(99)<1"], &[]),
        ),
        (
            Condition::Regression,
            failures(&[], &["too short: 50 %\nsee above"]),
        ),
    ]
}

#[test]
fn annotations_name_what_failed() {
    let record = runs::open(30, 1.0);
    let lines = RunReport::of(&record).annotations(&judged());
    let has = |level: &str, part: &str| {
        let start = format!("::{level} title=");
        assert!(
            lines
                .iter()
                .any(|line| line.starts_with(&start) && line.contains(part)),
            "{level} {part}: {lines:#?}"
        );
    };
    has("warning", "::Suspect: client: send lag p99 12 ms");
    has("error", "::Missed: http_req_response_time p(99)<1");
    has(
        "warning",
        "::The check body has a price failed 9 of 6000 times",
    );
    has("error", "--fail-on objective::the run misses p(99)<1");
    has(
        "warning",
        "--fail-on regression was not judged::too short: 50 %25%0Asee above",
    );
    has("notice", "requests/s: 6000 requests");
    assert!(lines.iter().all(|line| !line.contains('\n')));
}

/// Python reads the files as CI systems do: with an XML parser, against Jenkins' schema.
#[test]
fn junit_files_follow_the_schema() {
    let directory = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("junit");
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).expect("a directory below target");
    let (a, b) = (runs::open(30, 1.0), runs::open(30, 1.6));
    let comparison = runs::comparison(&a, &b);
    for (name, text) in [
        ("open", RunReport::of(&a).junit(&judged())),
        ("unanswered", RunReport::of(&runs::unanswered()).junit(&[])),
        ("hostile", RunReport::of(&runs::hostile()).junit(&judged())),
        (
            "pair",
            RunReport::pair(&a, &b, &comparison).junit(&judged()),
        ),
    ] {
        std::fs::write(directory.join(format!("{name}.xml")), text).expect("a file below target");
    }
    support::junit::check(&directory);
    let open = std::fs::read_to_string(directory.join("open.xml")).expect("written above");
    assert!(
        open.contains("tests=\"8\" failures=\"3\" errors=\"0\" skipped=\"2\""),
        "{open}"
    );
}
