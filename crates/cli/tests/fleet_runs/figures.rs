//! Checks that a fleet's results equal those of a single process.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use plimsoll_testkit::peers::{Peer, Play};
use serde_json::Value;

use super::{EVERYTHING, PATIENCE, run, values, wait_until};
use crate::plimsoll::plimsoll;

pub fn a_fleet_gives_the_figures_of_one_process() {
    let service = Peer::start(Play::ok("hello"));
    let state = tempfile::tempdir().unwrap();
    let ended = run(
        EVERYTHING,
        &service.url(),
        &["--fleet", "local:4", "--json"],
    )
    .env("XDG_STATE_HOME", state.path())
    .run();
    // Agents store results only until the coordinator has them.
    let kept = fs::read_dir(state.path().join("plimsoll/fleet/spool")).unwrap();
    assert_eq!(kept.count(), 0);
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    assert!(
        ended
            .stderr
            .contains("fleet: complete: every sample of 4 agents, once"),
        "{}",
        ended.stderr
    );
    // The iterations of the open model, setup and teardown.
    assert_eq!(service.requests(), 102);
    let text = values(&ended, "iterations").to_string();
    assert!(text.contains("148"), "{text}");
    // Every iteration of the whole test ran exactly once: 0 to 99.
    let numbers = values(&ended, "numbers").to_string();
    assert!(
        numbers.contains("99") && numbers.contains("49.5"),
        "{numbers}"
    );
    assert!(
        ended.stderr.contains("agent 3 (local-003): part 3/4:1"),
        "{}",
        ended.stderr
    );
}

/// The parts of a load without a script send as many requests in total as a single process.
pub fn loads_without_a_script_are_divided() {
    let service = Peer::start(Play::ok("hello"));
    let folder = tempfile::tempdir().unwrap();
    let body = folder.path().join("body");
    fs::write(&body, "from a file").unwrap();
    let body = format!("@{}", body.display());
    let ended = plimsoll(&[
        "http", "--fleet", "local:3", "--json", "-n", "300", "-u", "6",
    ])
    .args(["-b", &body, &service.url()])
    .run();
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    assert!(
        ended
            .stderr
            .contains("fleet: complete: every sample of 3 agents"),
        "{}",
        ended.stderr
    );
    assert_eq!(service.requests(), 300);
    let result: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(result["requests"], 300, "{}", ended.stdout);
    // An open model, and an attack whose target list is only on this machine.
    let targets = folder.path().join("targets");
    fs::write(
        &targets,
        format!("GET {0}/one\nGET {0}/two\n", service.url()),
    )
    .unwrap();
    let ended = plimsoll(&[
        "attack",
        "--fleet",
        "local:2",
        "--json",
        "-rate",
        "50",
        "-duration",
        "2s",
    ])
    .args(["-targets", targets.to_str().unwrap()])
    .run();
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    assert!(ended.stderr.contains("fleet: complete"), "{}", ended.stderr);
    assert_eq!(service.requests(), 400);
}

/// The end of a run's record.
fn end_of(record: &Path) -> Value {
    let text = fs::read_to_string(record).unwrap();
    serde_json::from_str(text.lines().last().unwrap()).unwrap()
}

/// Every bucket of a trend in the record equals that of a single process with the same samples.
pub fn merged_histograms_are_those_of_one_process() {
    let script = "
        import exec from 'k6/execution';
        import { Trend } from 'k6/metrics';
        const numbers = new Trend('numbers');
        export const options = { scenarios: { all: {
            executor: 'shared-iterations', vus: 8, iterations: 6000,
        } } };
        // Values of many orders of magnitude, each once.
        export default function () { numbers.add(1.0013 ** (exec.scenario.iterationInTest + 1)); }
    ";
    let folder = tempfile::tempdir().unwrap();
    let quantiles = "p(0.1),p(1),p(50),p(95),p(99.99),min,max,count";
    let measured = |name: &str, flags: &[&str]| {
        let record = folder.path().join(name);
        let ended = run(script, "", flags)
            .args(["--json", "--summary-trend-stats", quantiles])
            .args(["--record", record.to_str().unwrap()])
            .run();
        assert_eq!(ended.status, Some(0), "{}", ended.stderr);
        let trend = end_of(&record)["trends"]["numbers"].clone();
        (trend, values(&ended, "numbers"))
    };
    let (one, printed) = measured("one", &[]);
    let buckets = one["buckets"].as_array().unwrap();
    assert!(buckets.len() > 3_000, "{} buckets", buckets.len());
    let (many, printed_of_many) = measured("many", &["--fleet", "local:4"]);
    for key in ["count", "min", "max", "buckets"] {
        assert!(one[key] == many[key], "{key} differs");
    }
    assert_eq!(printed, printed_of_many);
}

/// Outputs receive each sample of each agent exactly once.
pub fn outputs_get_every_sample() {
    let service = Peer::start(Play::ok("hello"));
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).display().to_string();
    let (json, csv) = (file("samples.json"), file("samples.csv"));
    let ended = run(
        EVERYTHING,
        &service.url(),
        &["--fleet", "local:3", "--json"],
    )
    .args([
        "--out",
        &format!("json={json}"),
        "--out",
        &format!("csv={csv}"),
    ])
    .run();
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    assert!(ended.stderr.contains("fleet: complete"), "{}", ended.stderr);
    let text = fs::read_to_string(json).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    let points: Vec<Value> = lines
        .filter(|line: &Value| line["type"] == "Point")
        .collect();
    let of = |metric: &str| -> Vec<&Value> {
        let points = points.iter().filter(|point| point["metric"] == metric);
        points.map(|point| &point["data"]).collect()
    };
    // The samples of the open model, setup and teardown.
    assert_eq!(of("http_reqs").len(), 102);
    let scenarios = of("http_reqs")
        .into_iter()
        .filter(|point| point["tags"]["scenario"] == "open");
    assert_eq!(scenarios.count(), 100);
    assert_eq!(of("mine").len(), 48);
    let numbers = of("numbers")
        .into_iter()
        .map(|point| point["value"].as_u64().unwrap());
    assert_eq!(numbers.collect::<BTreeSet<_>>(), (0..100).collect());
    // The coordinator counts these.
    assert!(!of("vus").is_empty());
    let rows = fs::read_to_string(csv).unwrap();
    let rows = rows.lines().filter(|row| row.starts_with("http_reqs,"));
    assert_eq!(rows.count(), 102);
}

/// The same check for loads without a script. One output is a file, the other a server.
pub fn outputs_get_every_request_of_a_load_without_a_script() {
    let service = Peer::start(Play::ok("hello"));
    let folder = tempfile::tempdir().unwrap();
    let targets = folder.path().join("targets");
    fs::write(&targets, format!("GET {}/a\n", service.url())).unwrap();
    let statsd = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = statsd.local_addr().unwrap();
    statsd
        .set_read_timeout(Some(Duration::from_millis(500)))
        .unwrap();
    let url = service.url();
    let targets = targets.display().to_string();
    let mut before = 0;
    for command in [
        &["http", "-c", "6", "--rate", "60", "-d", "2s", &url][..],
        &[
            "attack",
            "-rate",
            "60",
            "-duration",
            "2s",
            "-targets",
            &targets,
        ],
    ] {
        let has_ended = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let counted = scope.spawn(|| requests_received(&statsd, &has_ended));
            let json = folder.path().join(format!("{}.json", command[0]));
            let ended = plimsoll(command)
                .args(["--fleet", "local:3", "--json"])
                .args(["--out", &format!("json={}", json.display())])
                .args(["--out", &format!("statsd={address}")])
                .run();
            has_ended.store(true, Ordering::SeqCst);
            assert_eq!(ended.status, Some(0), "{}", ended.stderr);
            assert!(ended.stderr.contains("fleet: complete"), "{}", ended.stderr);
            let served = service.requests() - before;
            before += served;
            assert_eq!(served, 120);
            assert_eq!(counted.join().unwrap(), served as f64);
            let text = fs::read_to_string(json).unwrap();
            let points = text.lines().map(|line| serde_json::from_str(line).unwrap());
            let requests: Vec<Value> = points
                .filter(|line: &Value| line["type"] == "Point" && line["metric"] == "http_reqs")
                .collect();
            assert_eq!(requests.len(), served);
            assert!(
                requests
                    .iter()
                    .all(|request| request["data"]["tags"]["status"] == "200")
            );
        });
    }
}

/// The sum of the request counts that arrive in StatsD datagrams.
fn requests_received(statsd: &UdpSocket, has_ended: &AtomicBool) -> f64 {
    let (mut buffer, mut sum, started) = (vec![0; 65_536], 0.0, Instant::now());
    loop {
        let is_last = has_ended.load(Ordering::SeqCst) || started.elapsed() > PATIENCE;
        match statsd.recv(&mut buffer) {
            Ok(length) => {
                let text = String::from_utf8_lossy(&buffer[..length]);
                let counts = text.lines().filter_map(|line| {
                    let (value, _) = line.strip_prefix("k6.http_reqs:")?.split_once('|')?;
                    value.parse::<f64>().ok()
                });
                sum += counts.sum::<f64>();
            }
            Err(_) if is_last => return sum,
            Err(_) => {}
        }
    }
}

/// Thresholds use the totals of all agents. No single agent reaches this threshold.
pub fn a_threshold_on_the_sums_aborts_the_run() {
    let script = "
        import { sleep } from 'k6';
        import { Counter } from 'k6/metrics';
        const mine = new Counter('mine');
        export const options = {
            scenarios: { each: { executor: 'per-vu-iterations', vus: 4, iterations: 1, maxDuration: '50s' } },
            thresholds: { mine: [{ threshold: 'count<4', abortOnFail: true }] },
        };
        export default function () { mine.add(1); sleep(50); }
    ";
    let ended = run(script, "", &["--fleet", "local:2"]).run();
    assert_eq!(ended.status, Some(99), "{}", ended.stderr);
    assert!(ended.stderr.contains("fleet: complete"), "{}", ended.stderr);
}

/// The live page shows totals during the run.
pub fn the_live_page_shows_the_sums() {
    let service = Peer::start(Play::ok("hello"));
    let port = plimsoll_testkit::ports::closed().port();
    let http = plimsoll(&["http", "--fleet", "local:2", "--rate", "40", "-d", "5s"])
        .args([format!("--web={port}"), service.url()])
        .start();
    let address = SocketAddr::from(([127, 0, 0, 1], port));
    let requests = || -> Option<f64> {
        let mut stream = TcpStream::connect(address).ok()?;
        write!(stream, "GET /metrics HTTP/1.1\r\nHost: {address}\r\n\r\n").ok()?;
        let response = std::io::read_to_string(stream).ok()?;
        let mut lines = response.lines();
        lines.find_map(|line| line.strip_prefix("k6_http_reqs_total ")?.parse().ok())
    };
    // A single agent has only half of them.
    wait_until(|| requests().is_some_and(|requests| requests > 120.0));
    let ended = http.wait();
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    assert_eq!(service.requests(), 200);
}

pub fn secrets_reach_agents_and_not_their_files() {
    let folder = tempfile::tempdir().unwrap();
    let script = "
        import secrets from 'k6/secrets';
        import { check } from 'k6';
        export async function setup() {
            return { word: await secrets.get('word') };
        }
        export default function ({ word }) {
            if (word !== 'hush') throw new Error('no secret');
            check(word, { [`${word} was said`]: () => true });
            console.log(`log: ${word}`);
        }
    ";
    let file = folder.path().join("secrets");
    fs::write(&file, "word=hush\n").unwrap();
    let export = folder.path().join("summary.json");
    let ended = run(script, "", &["--fleet", "local:2", "-u", "2", "-i", "4"])
        .args(["--secret-source", &format!("file={}", file.display())])
        .args(["--summary-export", &export.display().to_string()])
        .run();
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    assert!(!ended.stderr.contains("no secret"), "{}", ended.stderr);
    // Only the first agent has read the secret, and no output of the others shows it.
    let summary = fs::read_to_string(export).unwrap();
    for shown in [&ended.stderr, &ended.stdout, &summary] {
        assert!(!shown.contains("hush"), "{shown}");
    }
    assert_eq!(
        ended.stderr.matches("log: ***SECRET_REDACTED***").count(),
        4
    );
    assert!(
        summary.contains("***SECRET_REDACTED*** was said"),
        "{summary}"
    );
    assert!(ended.stderr.contains("fleet: complete"), "{}", ended.stderr);
}
