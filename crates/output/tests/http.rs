//! The result of a load on one URL as JSON and as text, and the live view.

mod support;

use std::time::Duration;

use plimsoll_output::fixed_work::FixedWork;
use plimsoll_output::http_result::{Generator, HttpResult};
use plimsoll_output::live::{
    self, GeneratorLoad, LiveFigures, LiveThreshold, LiveView, Offered, Quantiles, Traffic,
};
use plimsoll_output::{Paint, http_text};
use plimsoll_samples::WatchSettings;
use plimsoll_testkit::schema::faults;
use plimsoll_units::Bytes;
use plimsoll_verdict::{Cause, Level, Reason, Verdict};
use serde_json::Value;
use support::run::run;

const SCHEMA: &str = include_str!("../../../docs/schema/http-result-1.json");

fn schema() -> Value {
    serde_json::from_str(SCHEMA).expect("the schema is JSON")
}

fn generator(level: Level) -> Generator {
    let text = "busiest core at 43 %".to_owned();
    Generator {
        cpu: Duration::from_millis(1_234),
        peak_rss: Bytes(12_345_678),
        verdict: Verdict {
            level,
            reasons: vec![Reason {
                cause: Cause::Client,
                text,
            }],
            disturbed: false,
        },
    }
}

fn result(responses: u32, refused: u32, lag: Option<Duration>) -> HttpResult {
    let run = run(responses, refused, lag, WatchSettings::default());
    HttpResult::new(&run.summary, &generator(Level::Valid))
}

fn json(result: &HttpResult) -> Value {
    serde_json::to_value(result).expect("results can be written as JSON")
}

#[test]
fn results_follow_the_schema() {
    let lag = Some(Duration::from_micros(150));
    for result in [
        result(0, 0, None),
        result(100, 0, None),
        result(100, 7, lag),
        result(0, 3, lag),
    ] {
        let faults = faults(&schema(), &json(&result));
        assert!(faults.is_empty(), "{faults:#?}\n{}", json(&result));
    }
}

#[test]
fn violations_of_the_schema_are_reported() {
    let good = json(&result(100, 7, None));
    let broken = |pointer: &str, value: Value| {
        let mut broken = good.clone();
        *broken.pointer_mut(pointer).expect("an existing part") = value;
        faults(&schema(), &broken).len()
    };
    assert_eq!(broken("/requests", 1.5.into()), 1);
    assert_eq!(broken("/service_time/p99", "1ms".into()), 1);
    assert_eq!(broken("/generator/verdict", "fine".into()), 1);
    assert_eq!(broken("/errors/0/code", (-1).into()), 1);
    let mut without = good.clone();
    without
        .as_object_mut()
        .and_then(|object| object.shift_remove("failed"));
    assert_eq!(faults(&schema(), &without), ["$: \"failed\" is missing"]);
}

fn one_call() -> FixedWork {
    FixedWork::of(&plimsoll_samples::ScenarioWork {
        scenario: "http".to_owned(),
        workers: 1,
        loops: plimsoll_samples::Loops::Each(1),
        iterations: 1,
        done: plimsoll_samples::Work::default(),
    })
}

#[test]
fn every_key_is_described() {
    let keys = |value: &Value| {
        value
            .as_object()
            .map(|object| object.keys().cloned().collect::<Vec<_>>())
    };
    let mut whole = result(1, 0, None);
    whole.fixed_work = Some(one_call());
    assert_eq!(keys(&json(&whole)), keys(&schema()["properties"]));
    let faults = faults(&schema(), &json(&whole));
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn results_of_grpc_follow_their_schema_and_every_key_is_described() {
    let schema: Value =
        serde_json::from_str(include_str!("../../../docs/schema/grpc-result-1.json"))
            .expect("the schema is JSON");
    for (responses, refused) in [(0, 0), (100, 7)] {
        let run = run(responses, refused, None, WatchSettings::default());
        let mut whole = HttpResult::of_grpc(&run.summary, &generator(Level::Valid));
        whole.fixed_work = Some(one_call());
        let mut result = json(&whole);
        // The result is from an HTTP run; replace its statuses.
        result["status_codes"] = serde_json::json!({"OK": 90, "Unavailable": 10, "Code(42)": 1});
        let faults = faults(&schema, &result);
        assert!(faults.is_empty(), "{faults:#?}\n{result}");
        let keys = |value: &Value| -> Vec<String> {
            let object = value.as_object();
            object.map_or_else(Vec::new, |object| object.keys().cloned().collect())
        };
        assert_eq!(keys(&result), keys(&schema["properties"]));
    }
}

#[test]
fn failed_requests_are_reported_separately() {
    let result = result(100, 7, Some(Duration::from_micros(150)));
    assert_eq!((result.requests, result.failed), (107, 17));
    assert_eq!(result.requests_per_second, Some(107.0));
    assert_eq!((result.bytes_sent, result.bytes_received), (7_100, 22_000));
    let served = result.service_time.expect("some requests succeeded");
    // Excludes refused connections and responses with status 404.
    assert_eq!((served.count, served.min, served.max), (90, 1.0, 99.0));
    assert_eq!(result.failed_time.map(|failed| failed.count), Some(17));
    let lag = result.send_lag.expect("an open model");
    assert!((lag.p50 - 0.15).abs() < 0.001, "{lag:?}");
    let statuses = [("200".to_owned(), 90), ("404".to_owned(), 10)];
    assert_eq!(result.status_codes, statuses.into());
    assert_eq!(result.protocol.as_deref(), Some("HTTP/1.1"));
    assert_eq!(result.errors.len(), 1);
    assert_eq!(result.errors[0].count, 7);
}

#[test]
fn a_closed_model_has_no_response_time() {
    let result = result(10, 0, None);
    assert_eq!(
        (result.response_time, result.send_lag, result.failed),
        (None, None, 1)
    );
}

#[test]
fn text_of_an_open_model() {
    let text = http_text::render(
        "http://127.0.0.1:8080/ at 107/s for 1s",
        &result(100, 7, Some(Duration::from_micros(150))),
        Paint::OFF,
        None,
    );
    let expected = "
  http://127.0.0.1:8080/ at 107/s for 1s

";
    assert!(text.starts_with(expected), "{text}");
    support::expect("http_open.txt", &text);
}

#[test]
fn text_of_a_closed_model_without_responses() {
    support::expect(
        "http_refused.txt",
        &http_text::render("GET", &result(0, 3, None), Paint::OFF, None),
    );
    support::expect(
        "http_nothing.txt",
        &http_text::render("GET", &result(0, 0, None), Paint::ON, None),
    );
}

#[test]
fn on_a_narrow_terminal_every_figure_is_whole() {
    let result = result(100, 7, Some(Duration::from_micros(150)));
    let render = |columns| http_text::render("GET http://h/", &result, Paint::OFF, columns);
    let whole = render(None);
    let words: Vec<&str> = whole.split_whitespace().collect();
    for columns in [39, 59, 79, 99, 129] {
        let text = render(Some(columns));
        for row in text.lines() {
            assert!(row.chars().count() <= columns, "{columns}: {row}");
        }
        let narrow: Vec<&str> = text.split_whitespace().collect();
        for word in &words {
            assert!(narrow.contains(word), "{columns}: {word} in {text}");
        }
    }
}

#[test]
fn control_characters_from_servers_are_escaped() {
    let mut result = result(0, 3, None);
    result.errors[0].text = "bad\x1b[2J\nnews".to_owned();
    let text = http_text::render("GET", &result, Paint::OFF, None);
    assert!(text.contains("bad?[2J?news"), "{text}");
}

fn view() -> LiveView {
    let quantiles = |millis: [u64; 4]| {
        let [p50, p95, p99, max] = millis.map(Duration::from_millis);
        Some(Quantiles { p50, p95, p99, max })
    };
    let traffic = |per_second, total| Traffic { per_second, total };
    let threshold = |text: &str, is_met| LiveThreshold {
        text: text.to_owned(),
        is_met,
    };
    LiveView {
        title: "http://127.0.0.1:8080/ with 100 connections for 10s".to_owned(),
        elapsed: Duration::from_millis(3_512),
        duration: Some(Duration::from_secs(10)),
        done: 0.3512,
        figures: Some(LiveFigures {
            total: 700_000,
            failed: 35,
            rates: vec![200_000.0, 100_000.0, 210_512.4],
            average_rate: 199_316.6,
            offered_rate: Some(210_000.0),
            latest: quantiles([1, 2, 3, 10]),
            overall: quantiles([1, 2, 4, 1_500]),
            latency_metric: "http_req_response_time",
            users: (97, 100),
            in_flight: 96.53,
            agents: (4, 1),
            received: traffic(25_300_000.0, 84_000_000),
            sent: traffic(13_700_000.0, 45_500_000),
            offered: Some(Offered {
                offered: 735_000,
                started: 700_002,
                dropped: 34_998,
            }),
            checks: (1_399_900, 100),
            thresholds: vec![
                threshold("http_req_failed rate<0.01 (measured 0.00005)", true),
                threshold("http_req_duration p(99)<3 (measured 4)", false),
            ],
            statuses: vec![("200".to_owned(), 699_965), ("503".to_owned(), 30)],
            errors: vec![("dial: connection refused".to_owned(), 5)],
            generator: GeneratorLoad {
                workers: vec![0.95, 0.5],
                send_lag: Some(Duration::from_micros(12)),
                rss: Bytes(12_345_678),
            },
            verdict: Some((
                Level::Suspect,
                vec!["core 0 is at 95 %: latencies are partly this machine's".to_owned()],
            )),
            ..LiveFigures::default()
        }),
    }
}

/// Each number must stay in one row with its unit.
const WHOLE: [&str; 13] = [
    "210512 now",
    "199317 on average",
    "35 of 700000 requests",
    "p95 2ms",
    "p99 4ms",
    "97 (100 initialized),",
    "1 lost",
    "95.23% started",
    "34998 dropped",
    "received 25 MB/s",
    "99.99% passed",
    "503 30",
    "p99 12µs",
];

#[test]
fn at_every_width_the_live_view_has_every_figure_whole() {
    for columns in [39, 59, 79, 99, 129, 199] {
        let text = live::lines(&view(), columns, Paint::OFF).join("\n");
        for figure in WHOLE {
            assert!(text.contains(figure), "{columns}: {figure} in\n{text}");
        }
    }
}

#[test]
fn the_live_view() {
    support::expect(
        "live.txt",
        &live::lines(&view(), 120, Paint::OFF).join("\n"),
    );
    support::expect(
        "live_colors.txt",
        &live::lines(&view(), 120, Paint::ON).join("\n"),
    );
}

#[test]
fn the_live_view_never_wraps() {
    let mut view = view();
    let figures = view.figures.as_mut().expect("figures");
    figures.errors = vec![(format!("\x1b[2Jbad\nnews{}", "!".repeat(300)), 1)];
    for columns in [0, 1, 10, 40, 60, 80, 100, 200] {
        for line in live::lines(&view, columns, Paint::OFF) {
            assert!(line.chars().count() <= columns, "{columns} columns: {line}");
            assert!(!line.contains(char::is_control), "{line:?}");
        }
    }
}

#[test]
fn without_figures_the_live_view_is_progress() {
    let lines = live::lines(&LiveView::default(), 80, Paint::OFF);
    assert_eq!(lines.len(), 3, "{lines:#?}");
    assert!(lines[2].contains("0%"), "{lines:#?}");
    let view = LiveView {
        figures: Some(LiveFigures::default()),
        ..LiveView::default()
    };
    let lines = live::lines(&view, 80, Paint::OFF);
    assert!(lines[3].contains("0.0 now"), "{lines:#?}");
}
