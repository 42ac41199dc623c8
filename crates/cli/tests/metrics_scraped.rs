//! The metrics that Prometheus scrapes from the live page's address equal the printed ones.

mod plimsoll;

use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use plimsoll_testground::Prometheus;
use plimsoll_testkit::peers::{Peer, Play};
use serde_json::Value;

/// The values of the trends are 1, 2, 3 … 200.
const SCRIPT: &str = r"
import exec from 'k6/execution';
import http from 'k6/http';
import { check } from 'k6';
import { Gauge, Trend } from 'k6/metrics';

const size = new Trend('size');
const wait = new Trend('wait', true);
const level = new Gauge('level');
export const options = { vus: 2, iterations: 200, thresholds: { size: ['p(95)<100'], wait: ['max<=200'] } };

export default function () {
  const number = exec.scenario.iterationInTest + 1;
  const response = http.get(`${__ENV.SERVER}/${number % 2}`, { tags: { name: `page ${number % 2}` } });
  check(response, { 'is the second': () => number % 2 === 0 });
  size.add(number);
  wait.add(number);
  level.add(-7);
}
";

/// Longer than any wait in this test, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A process that is killed at the end of the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs the script. Returns the page's address after the run; the process then lingers.
fn run(server: &Peer, folder: &std::path::Path) -> (Running, SocketAddr) {
    std::fs::write(folder.join("script.js"), SCRIPT).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_plimsoll"))
        .args(["run", "--quiet", "--linger", "--web=0", "-e"])
        .arg(format!("SERVER={}", server.url()))
        .arg("script.js")
        .current_dir(folder)
        .env("HOME", "/nonexistent")
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let running = Running(child);
    let mut find = |text: &str| {
        let mut lines = lines.by_ref().map_while(Result::ok);
        let found = lines.find(|line| line.contains(text));
        found.unwrap_or_else(|| panic!("no line with {text:?}"))
    };
    let line = find("live page: http://");
    let (_, address) = line.split_once("http://").unwrap();
    let address = address.trim_end_matches('/').parse().unwrap();
    find("lingering");
    // The process must not block on a full pipe.
    thread::spawn(move || lines.map_while(Result::ok).count());
    (running, address)
}

/// The text at `/metrics`.
fn metrics(address: SocketAddr) -> String {
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    write!(stream, "GET /metrics HTTP/1.1\r\nHost: {address}\r\n\r\n").unwrap();
    let response = std::io::read_to_string(stream).unwrap();
    let (headers, body) = response.split_once("\r\n\r\n").unwrap();
    assert!(headers.starts_with("HTTP/1.1 200 "), "{headers}");
    assert!(headers.contains("text/plain; version=0.0.4"), "{headers}");
    body.to_owned()
}

#[test]
fn prometheus_scrapes_the_figures_of_a_run() {
    let server = Peer::start(Play::ok("hello"));
    let folder = tempfile::tempdir().unwrap();
    let (_running, address) = run(&server, folder.path());

    let mut promtool = Command::new("promtool")
        .args(["check", "metrics"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("this test needs promtool: apt-get install prometheus");
    let mut input = promtool.stdin.take().unwrap();
    input.write_all(metrics(address).as_bytes()).unwrap();
    drop(input);
    let checked = promtool.wait_with_output().unwrap();
    let problems = String::from_utf8_lossy(&checked.stderr);
    assert!(checked.status.success(), "promtool: {problems}");

    let prometheus = Prometheus::scraping(address);
    let find = |query: &str| -> Option<f64> {
        let response = prometheus.query(query);
        let response: Value = serde_json::from_str(&response).unwrap();
        let result = response["data"]["result"].as_array()?;
        assert!(result.len() < 2, "{query}: {response}");
        result.first()?["value"][1].as_str()?.parse().ok()
    };
    let end = Instant::now() + PATIENCE;
    while find("k6_iterations_total").is_none() {
        assert!(Instant::now() < end, "Prometheus has scraped nothing");
        thread::sleep(Duration::from_millis(100));
    }
    for (query, expected) in [
        ("k6_iterations_total", 200.0),
        ("k6_http_reqs_total", 200.0),
        ("k6_checks_rate", 0.5),
        ("k6_level", -7.0),
        ("k6_size_count", 200.0),
        ("k6_size_sum", 20_100.0),
        ("k6_size{quantile='1'}", 200.0),
        // Interpolated between the values at ranks 190 and 191.
        ("k6_size{quantile='0.95'}", 190.05),
        ("k6_wait_seconds{quantile='0.5'}", 0.1005),
        ("k6_http_req_duration_seconds_count", 200.0),
        ("plimsoll_requests_total{name='page 1',method='GET'}", 100.0),
        ("sum(plimsoll_requests_total)", 200.0),
        ("sum(plimsoll_requests_failed_total)", 0.0),
        ("plimsoll_responses_total{status='200'}", 200.0),
        ("plimsoll_threshold_met{metric='size'}", 0.0),
        ("plimsoll_threshold_met{metric='wait'}", 1.0),
    ] {
        let found = find(query).unwrap_or_else(|| panic!("{query} has no value"));
        let is_equal = (found - expected).abs() < 1e-9 * expected.abs().max(1.0);
        assert!(is_equal, "{query}: {found} instead of {expected}");
    }
    assert_eq!(server.requests(), 200);
}
