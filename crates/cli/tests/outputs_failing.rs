//! Receivers that do not work. They are reported, the time that they cost is bounded, and the samples that they lose
//! are counted.

mod plimsoll;

use std::fs;
use std::time::{Duration, Instant};

use plimsoll::plimsoll;
use plimsoll_testkit::peers::{Peer, Play};
use plimsoll_testkit::ports;
use plimsoll_testkit::program::Ended;

const SCRIPT: &str = "
import { sleep } from 'k6';
import { Trend } from 'k6/metrics';
const trend = new Trend('my_trend');
export const options = { iterations: 20, vus: 2 };
export default function () { trend.add(1); sleep(0.01); }
";

fn run(outputs: &[&str], variables: &[(&str, &str)], script: &str) -> (Ended, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("script.js"), script).unwrap();
    let mut arguments = vec!["run", "--quiet", "--out", "json=samples.json"];
    for output in outputs {
        arguments.extend(["--out", output]);
    }
    arguments.push("script.js");
    let mut program = plimsoll(&arguments).inside(folder.path());
    for (name, value) in variables {
        program = program.env(name, value);
    }
    (program.run(), folder)
}

/// The number of samples that the run recorded.
fn samples(folder: &tempfile::TempDir) -> usize {
    let samples = fs::read_to_string(folder.path().join("samples.json")).unwrap();
    let is_sample = |line: &&str| line.contains(r#""type":"Point""#);
    samples.lines().filter(is_sample).count()
}

#[test]
fn an_unreachable_receiver_is_reported_at_the_start_and_the_end() {
    let address = ports::closed();
    let influxdb = format!("influxdb=http://{address}/k6");
    let prometheus = format!("experimental-prometheus-rw=http://{address}/api/v1/write");
    let otlp = format!("opentelemetry={address}");
    let variables = [("K6_OTEL_GRPC_EXPORTER_INSECURE", "true")];
    let (ended, folder) = run(&[&influxdb, &prometheus, &otlp], &variables, SCRIPT);
    assert_eq!(ended.status, Some(255), "{}", ended.stderr);
    assert!(ended.stdout.contains("iterations"), "{}", ended.stdout);
    let warnings = ended.stderr.matches("cannot connect").count();
    assert_eq!(warnings, 3, "{}", ended.stderr);
    let lost = format!("{} samples are not in it", samples(&folder));
    assert!(ended.stderr.contains(&lost), "{lost}: {}", ended.stderr);
    let missing = ended.stderr.matches("the last values are missing there");
    assert_eq!(missing.count(), 2, "{}", ended.stderr);
}

#[test]
fn a_silent_receiver_delays_the_end_for_a_limited_time() {
    let stalled = Peer::start(Play::stall());
    let influxdb = format!("influxdb={}/k6", stalled.url());
    let began = Instant::now();
    let (ended, folder) = run(&[&influxdb], &[], SCRIPT);
    // 10 s for the waiting requests, and 5 s for a request that began before.
    assert!(began.elapsed() < Duration::from_secs(40), "{began:?}");
    assert_eq!(ended.status, Some(255), "{}", ended.stderr);
    assert!(!ended.stderr.contains("cannot connect"), "{}", ended.stderr);
    let lost = format!("{} samples are not in it", samples(&folder));
    assert!(ended.stderr.contains(&lost), "{lost}: {}", ended.stderr);
}

#[test]
fn samples_for_a_receiver_that_is_too_slow_are_dropped_and_counted() {
    let stalled = Peer::start(Play::stall());
    let influxdb = format!("influxdb={}/k6", stalled.url());
    let script = "
        import { Counter } from 'k6/metrics';
        const counter = new Counter('my_counter');
        export const options = { scenarios: { s: { executor: 'constant-vus', vus: 2, duration: '2s' } } };
        export default function () { for (let i = 0; i < 10; i++) counter.add(1); }
    ";
    // A request every 10 ms, which is more than may wait for a receiver.
    let (ended, folder) = run(
        &[&influxdb],
        &[("K6_INFLUXDB_PUSH_INTERVAL", "10ms")],
        script,
    );
    assert_eq!(ended.status, Some(255), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("it was slower than the run"),
        "{}",
        ended.stderr
    );
    let lost = format!("{} samples are not in it", samples(&folder));
    assert!(ended.stderr.contains(&lost), "{lost}: {}", ended.stderr);
}

#[test]
fn requests_are_sent_again_only_if_that_can_help() {
    let response = |status: &str| {
        let text = format!("HTTP/1.1 {status}\r\nContent-Length: 4\r\n\r\nnot ");
        Peer::start(Play::Respond(text.into_bytes()))
    };
    for (peer, status, requests) in [
        (response("400 Bad Request"), "400 not", 1),
        (response("503 Service Unavailable"), "503 not", 3),
    ] {
        let prometheus = format!("experimental-prometheus-rw={}/write", peer.url());
        let (ended, _folder) = run(&[&prometheus], &[], SCRIPT);
        assert_eq!(ended.status, Some(255), "{}", ended.stderr);
        assert!(
            ended.stderr.contains("1 of 1 requests failed"),
            "{}",
            ended.stderr
        );
        assert!(ended.stderr.contains(status), "{}", ended.stderr);
        assert_eq!(peer.requests(), requests, "{status}");
    }
}

#[test]
fn invalid_settings_are_named_before_the_run() {
    for (output, name, value, message) in [
        ("influxdb=http://x:y", "K6_X", "", "influxdb"),
        (
            "influxdb",
            "K6_INFLUXDB_PRECISION",
            "day",
            "K6_INFLUXDB_PRECISION=day",
        ),
        ("statsd=localhost", "K6_X", "", "use HOST:PORT"),
        (
            "experimental-prometheus-rw",
            "K6_PROMETHEUS_RW_TREND_STATS",
            "p(200)",
            "p(200)",
        ),
    ] {
        let (ended, folder) = run(&[output], &[(name, value)], SCRIPT);
        assert_ne!(ended.status, Some(0));
        assert!(
            ended.stderr.contains(message),
            "{message}: {}",
            ended.stderr
        );
        assert!(!folder.path().join("samples.json").exists());
    }
}
