//! `--record`: the seconds add up to the totals, and the file survives if its writer is killed.

mod plimsoll;

use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::time::{Duration, Instant};

use plimsoll::plimsoll;
use plimsoll_results::record::{self, Record};
use plimsoll_testkit::logged_server::{Behavior, LoggedServer};
use plimsoll_testkit::peers::{Peer, Play};
use plimsoll_testkit::program::Signal;
use serde_json::Value;

fn read(path: &Path) -> Record {
    let file = File::open(path).expect("a record");
    record::read(BufReader::new(file)).unwrap_or_else(|error| panic!("{error}"))
}

/// Checks every line against the published schema for its kind.
fn follows_the_schema(path: &Path) {
    let schema: Value =
        serde_json::from_str(include_str!("../../../docs/schema/record-1.json")).expect("JSON");
    let text = std::fs::read_to_string(path).expect("a record");
    let last = text.lines().count() - 1;
    for (number, line) in text.lines().enumerate() {
        let line: Value = serde_json::from_str(line).expect("JSON");
        let kind = match number {
            0 => "header",
            _ if number == last => "end",
            _ => "second",
        };
        // Select the schema of this kind, because validating against all three gives no useful explanation.
        let mut whole = schema.clone();
        let object = whole.as_object_mut().expect("a schema");
        object.remove("anyOf");
        object.insert("$ref".to_owned(), format!("#/$defs/{kind}").into());
        let faults = plimsoll_testkit::schema::faults(&whole, &line);
        assert!(faults.is_empty(), "{kind}: {faults:#?}");
        assert!(plimsoll_testkit::schema::faults(&schema, &line).is_empty());
    }
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a plain name")
}

/// The sums over all seconds: of a counter, and of a trend's count.
fn sums(record: &Record, counter: &str, trend: &str) -> (f64, u64) {
    let seconds = || record.seconds.iter().chain(&record.tail);
    (
        seconds()
            .filter_map(|second| second.counters.get(counter))
            .sum(),
        seconds()
            .filter_map(|second| second.trends.get(trend))
            .map(|trend| trend.count)
            .sum(),
    )
}

#[test]
fn the_seconds_of_an_open_run_add_up_to_its_end() {
    let server = Peer::start(Play::ok("hello"));
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("run.jsonl");
    let url = server.url();
    let mut flags = vec![
        "http",
        "-r",
        "200",
        "-d",
        // The remainder is too short for a separate second.
        "3060ms",
        "-c",
        "20",
        "--record",
        text(&file),
    ];
    flags.extend(["-H", "Authorization: Bearer abc", &url]);
    let ended = plimsoll(&flags).run();
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    follows_the_schema(&file);
    let record = read(&file);
    assert_eq!(
        (record.header.kind.as_str(), record.header.model.as_str()),
        ("http", "open")
    );
    assert!(
        record
            .header
            .command
            .contains(&"Authorization: ***".to_owned())
    );
    assert!(
        !std::fs::read_to_string(&file)
            .expect("text")
            .contains("abc")
    );
    assert!(!record.header.environment.fingerprint.is_empty());
    assert!(record.header.started.ends_with('Z'));
    let numbers: Vec<u64> = record.seconds.iter().map(|second| second.second).collect();
    assert!(
        numbers.len() >= 3 && (0..).zip(&numbers).all(|(at, number)| at == *number),
        "{numbers:?}"
    );
    let end = record.end.as_ref().expect("an end");
    assert_eq!(end.aborted, None);
    let lengths = record.seconds.iter().map(|one| one.lasted.unwrap_or(1.0));
    let length: f64 = lengths.sum();
    assert!((length - 3.06).abs() < 0.001, "{length} s of load");
    assert!(end.duration_seconds >= length);
    let (requests, times) = sums(&record, "http_reqs", "http_req_response_time");
    assert_eq!(requests, end.counters["http_reqs"]);
    assert_eq!(times, end.trends["http_req_response_time"].count);
    assert_eq!(end.statuses["200"] as f64, requests);
    assert_eq!(end.protocols["HTTP/1.1"] as f64, requests);
    assert!(requests >= 300.0, "{requests}");
    // Merging the histograms of the seconds yields the run's histogram.
    let mut merged = plimsoll_stats::Histogram::new();
    for second in record.seconds.iter().chain(&record.tail) {
        if let Some(trend) = second.trends.get("http_req_duration") {
            merged.merge(&trend.histogram().expect("sound"));
        }
    }
    let whole = end.trends["http_req_duration"].histogram().expect("sound");
    assert_eq!(merged.on_paper(), whole.on_paper());
    let cpu: f64 = record
        .seconds
        .iter()
        .chain(&record.tail)
        .map(|second| second.generator_cpu_seconds)
        .sum();
    assert!(cpu > 0.0 && cpu <= end.generator.cpu_seconds, "{cpu}");
}

/// A record of an open model with a server of constant speed, from an undisturbed run. No iteration started so late
/// that it counts in another second, and none took more than 1.5 times the shortest.
fn undisturbed(flags: &[&str], file: &Path) -> Record {
    let mut lags = Vec::new();
    for _ in 0..10 {
        let ended = plimsoll(&[flags, &["--record", text(file)]].concat()).run();
        assert_eq!(ended.status, Some(0), "{}", ended.stderr);
        let record = read(file);
        let end = record.end.as_ref().expect("an end");
        let lag = end.trends["iteration_send_lag"].max;
        let durations = &end.trends["iteration_duration"];
        let is_even = durations.max < 1.5 * durations.min;
        if lag < 100.0 && is_even && !end.counters.contains_key("dropped_iterations") {
            return record;
        }
        lags.push((lag, durations.min, durations.max));
    }
    panic!("every run was disturbed: ms of (lag, shortest, longest iteration) were {lags:?}");
}

#[test]
fn an_open_model_has_its_rate_in_every_second_and_its_iterations_in_flight() {
    let server = Peer::start(Play::slow(Duration::from_millis(75)));
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("run.jsonl");
    let script = folder.path().join("script.js");
    std::fs::write(
        &script,
        "import http from 'k6/http';
         export const options = { scenarios: { s: {
           executor: 'constant-arrival-rate', rate: 200, timeUnit: '1s', duration: '2s',
           preAllocatedVUs: 60 } } };
         export default function () { http.get(__ENV.BASE); }",
    )
    .expect("written");
    let (url, base) = (server.url(), format!("BASE={}", server.url()));
    let rate_of = |record: &Record| {
        let run = plimsoll_results::figures::RunFigures::of(record, 0).expect("figures");
        let figure = plimsoll_results::figures::find("rate").expect("a figure");
        run.value(figure).expect("a rate")
    };
    for (flags, rate, seconds) in [
        (
            &["http", "-r", "20", "-d", "2s", "-c", "60", &url][..],
            20.0,
            2,
        ),
        (
            &["http", "-r", "200", "-d", "3s", "-c", "60", &url],
            200.0,
            3,
        ),
        (&["run", "-e", &base, text(&script)], 200.0, 2),
    ] {
        let record = undisturbed(flags, &file);
        follows_the_schema(&file);
        assert_eq!(record.seconds.len(), seconds, "{flags:?}");
        for second in &record.seconds {
            assert_eq!(second.lasted, None);
            assert_eq!(second.counters["http_reqs"], rate, "{flags:?}");
            assert_eq!(second.counters["iterations"], rate, "{flags:?}");
            let times = &second.trends["http_req_response_time"];
            assert_eq!(times.count as f64, rate, "{flags:?}");
        }
        assert_eq!(rate_of(&record), rate, "{flags:?}");
        // By Little's law, this number of iterations is in flight, given the mean duration.
        let end = record.end_without(1).expect("an end");
        let mean = end.trends["iteration_duration"].mean() / 1e3;
        assert!(mean >= 0.075, "{mean}");
        let whole = &record.seconds[1..];
        let sum: f64 = whole.iter().map(|second| second.in_flight).sum();
        let in_flight = sum / whole.len() as f64;
        let by_law = rate * mean;
        assert!(
            (in_flight / by_law - 1.0).abs() < 0.05,
            "{in_flight} in flight, and {by_law} by Little's law: {flags:?}"
        );
    }
}

#[test]
fn a_long_iteration_counts_in_the_second_of_its_start() {
    let server = Peer::start(Play::slow(Duration::from_millis(1_600)));
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("run.jsonl");
    let script = folder.path().join("script.js");
    std::fs::write(
        &script,
        "import http from 'k6/http';
         export const options = { scenarios: { s: {
           executor: 'constant-arrival-rate', rate: 10, timeUnit: '1s', duration: '2s',
           preAllocatedVUs: 40 } } };
         export default function () { http.get(__ENV.BASE); }",
    )
    .expect("written");
    let base = format!("BASE={}", server.url());
    let record = undisturbed(&["run", "-e", &base, text(&script)], &file);
    follows_the_schema(&file);
    let lines = std::fs::read_to_string(&file).expect("text");
    assert!(lines.contains("\"late\":true"), "{lines}");
    let counts: Vec<f64> = record
        .seconds
        .iter()
        .map(|second| second.counters["http_reqs"])
        .collect();
    assert_eq!(counts, [10.0, 10.0]);
    assert!(record.seconds.iter().all(|second| !second.late));
    // No requests start during the drain, so it does not belong to the load.
    assert!(record.tail.iter().all(|second| second.after_load));
    let (requests, _) = sums(&record, "http_reqs", "http_req_duration");
    assert_eq!(requests, record.end.expect("an end").counters["http_reqs"]);
}

#[test]
fn a_scripts_record_adds_setup_at_the_end_and_names_its_files() {
    let server = Peer::start(Play::ok("hello"));
    let folder = tempfile::tempdir().expect("a folder");
    let script = folder.path().join("script.js");
    let data = folder.path().join("data.txt");
    std::fs::write(&data, "one").expect("written");
    std::fs::write(
        &script,
        "import http from 'k6/http';
         import { check, sleep } from 'k6';
         const data = open('./data.txt');
         export const options = { vus: 2, duration: '2s', thresholds: { checks: ['rate>0.5'] } };
         export function setup() { for (let i = 0; i < 5; i++) http.get(__ENV.BASE); }
         export default function () {
           check(http.get(__ENV.BASE), { answered: (r) => r.status === 200 });
           sleep(0.05);
         }",
    )
    .expect("written");
    let base = format!("BASE={}", server.url());
    let recorded = |name: &str, more: &[&str]| {
        let file = folder.path().join(name);
        let flags = [
            &[
                "run",
                "--quiet",
                "--record",
                text(&file),
                "-e",
                &base,
                text(&script),
            ],
            more,
        ]
        .concat();
        let ended = plimsoll(&flags).run();
        assert_eq!(ended.status, Some(0), "{}", ended.stderr);
        follows_the_schema(&file);
        read(&file)
    };
    let record = recorded("a.jsonl", &["-e", "API_TOKEN=abc"]);
    assert_eq!(
        (record.header.kind.as_str(), record.header.model.as_str()),
        ("run", "closed")
    );
    assert_eq!(record.header.configuration["env"]["API_TOKEN"], "***");
    assert_eq!(
        record.header.configuration["files"],
        serde_json::json!(["script.js", "data.txt"])
    );
    let end = record.end.as_ref().expect("an end");
    let (requests, _) = sums(&record, "http_reqs", "http_req_duration");
    assert_eq!(requests + 5.0, end.counters["http_reqs"]);
    assert_eq!(end.checks["answered"].0 as f64, requests);
    assert_eq!(
        end.thresholds,
        [("checks".to_owned(), "rate>0.5".to_owned(), true)]
    );
    assert!(record.seconds.iter().any(|second| second.users == 2));
    let memory = end.generator.user_memory.as_ref().expect("memory");
    assert_eq!((memory.users, memory.connections), (2, 2));
    assert!(
        memory.heap_bytes + memory.image_bytes > 20_000,
        "{memory:?}"
    );
    assert!(memory.buffer_bytes > 0, "{memory:?}");
    let ended = plimsoll(&[
        "run",
        "--verbose",
        "-u",
        "1",
        "--iterations",
        "1",
        "-e",
        &base,
        text(&script),
    ])
    .run();
    let shown = "memory of the virtual users (1, of which ";
    assert!(ended.stderr.contains(shown), "{}", ended.stderr);
    // A different secret does not change the configuration. A different file or option does.
    let other = recorded(
        "b.jsonl",
        &["-e", "API_TOKEN=abcd", "--iterations", "1", "-u", "1"],
    );
    assert_eq!(other.header.model, "work");
    let again = recorded(
        "c.jsonl",
        &["-e", "API_TOKEN=x", "--iterations", "1", "-u", "1"],
    );
    assert_eq!(
        other.header.configuration_hash,
        again.header.configuration_hash
    );
    assert_ne!(
        other.header.configuration_hash,
        record.header.configuration_hash
    );
    std::fs::write(&data, "two").expect("written");
    let changed = recorded(
        "d.jsonl",
        &["-e", "API_TOKEN=x", "--iterations", "1", "-u", "1"],
    );
    assert_ne!(
        changed.header.configuration_hash,
        again.header.configuration_hash
    );
}

#[test]
fn a_killed_run_keeps_its_seconds() {
    let server = Peer::start(Play::ok("hello"));
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("run.jsonl");
    let flags = [
        "http",
        "-c",
        "2",
        "-d",
        "50s",
        "--record",
        text(&file),
        &server.url(),
    ];
    let running = plimsoll(&flags).start();
    let waiting_since = Instant::now();
    // Only complete lines, because the last one may be half written.
    let lines = || std::fs::read_to_string(&file).map_or(0, |text| text.matches('\n').count());
    while lines() < 3 {
        assert!(
            waiting_since.elapsed() < Duration::from_secs(40),
            "no second was written"
        );
        std::thread::sleep(Duration::from_millis(50));
    }
    running.signal(Signal::KILL);
    running.wait();
    let record = read(&file);
    assert!(record.seconds.len() >= 2 && record.end.is_none());
    assert!(record.seconds[0].counters["http_reqs"] > 0.0);
}

#[test]
fn an_unwritable_record_is_reported_before_the_run() {
    let ended = plimsoll(&[
        "http",
        "--record",
        "/nonexistent/run.jsonl",
        "http://127.0.0.1:9/",
    ])
    .run();
    assert_eq!(ended.status, Some(104));
    assert!(
        ended.stderr.contains("--record /nonexistent/run.jsonl")
            && ended.stderr.contains("directory"),
        "{}",
        ended.stderr
    );
}

#[test]
fn a_run_ends_once_its_figure_is_precise_enough() {
    // The server takes most of the time, so a busy machine changes the figure little.
    let delay = Behavior::Delay(Duration::from_millis(50));
    let server = LoggedServer::start(delay).expect("a free port");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.jsonl");
    let load = [
        "-r",
        "50",
        "-d",
        "50s",
        "--until",
        "p50 ±50%",
        "--record",
        text(&path),
    ];
    let url = server.http_url();
    let words = [&["http"][..], &load, &[&url]].concat();
    let began = Instant::now();
    let ended = plimsoll(&words).run();
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("p50 ±50% is reached after "),
        "{}",
        ended.stderr
    );
    assert!(
        began.elapsed() < Duration::from_secs(48),
        "{:?}",
        began.elapsed()
    );
    follows_the_schema(&path);
    let end = read(&path).end.expect("an end");
    assert_eq!(end.aborted, None);
    assert!(
        (10.0..49.0).contains(&end.duration_seconds),
        "{}",
        end.duration_seconds
    );
}

#[test]
fn an_invalid_precision_is_refused_with_an_example() {
    let refused = plimsoll(&["http", "--until", "p99", "http://localhost:1"]).run();
    assert_eq!(refused.status, Some(104), "{}", refused.stderr);
    assert!(refused.stderr.contains("\"p99 ±5%\""), "{}", refused.stderr);
}
