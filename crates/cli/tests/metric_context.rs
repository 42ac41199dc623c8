//! `--features async-metric-context` with real connections: requests, WebSockets, gRPC streams and groups around them.

mod plimsoll;

use std::collections::BTreeMap;
use std::fs;

use plimsoll::{RUN, plimsoll};
use plimsoll_testkit::cases::suite::Server;
use serde_json::Value;

const SCRIPT: &str = r#"
import { check, group } from 'k6';
import exec from 'k6/execution';
import grpc from 'k6/net/grpc';
import http from 'k6/http';
import { Counter } from 'k6/metrics';
import { WebSocket } from 'k6/websockets';

const seen = new Counter('seen');
const client = new grpc.Client();
client.load([__ENV.CERTS], 'cases.proto');
const ADDRESS = __ENV.BASE.slice('http://'.length);

const request = () => group('request', async () => {
  const response = await http.asyncRequest('GET', `${__ENV.BASE}/delay/0.02`);
  check(response, { arrived: (r) => r.status === 200 });
  http.get(`${__ENV.BASE}/get`);
  seen.add(1, { at: 'request' });
});

const socket = () => group('socket', () => new Promise((resolve) => {
  const socket = new WebSocket(`${__ENV.BASE.replace('http', 'ws')}/ws/echo`);
  socket.onopen = () => socket.send('text');
  socket.addEventListener('message', async () => {
    exec.vu.metrics.tags.changed = 'yes';
    await null;
    seen.add(1, { at: 'message' });
    socket.close();
  });
  socket.onclose = () => { seen.add(1, { at: 'close' }); resolve(); };
}));

const stream = () => group('stream', () => new Promise((resolve) => {
  client.connect(ADDRESS, { plaintext: true });
  const stream = new grpc.Stream(client, 'cases.Cases/Count');
  stream.on('data', () => seen.add(1, { at: 'data' }));
  exec.vu.metrics.tags.late = 'yes';
  stream.on('end', () => { seen.add(1, { at: 'end' }); resolve(); });
  stream.write({ value: 1 });
  stream.end();
}));

export default async function () {
  await Promise.all([request(), socket()]);
  await stream();
  seen.add(1, { at: 'last' });
}
"#;

/// The samples of a metric, as the tags in `shown`, each with its number.
fn samples(out: &str, metric: &str, shown: &[&str]) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    for line in out.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        if line["type"] != "Point" || line["metric"] != metric {
            continue;
        }
        let text = |name: &&str| Some(format!("{name}={}", line["data"]["tags"][*name].as_str()?));
        let tags: Vec<String> = shown.iter().filter_map(text).collect();
        *found.entry(tags.join(" ")).or_default() += 1;
    }
    found
}

fn expected<const N: usize>(lines: [&str; N]) -> BTreeMap<String, usize> {
    lines.map(|line| (line.to_owned(), 1)).into()
}

#[test]
fn groups_follow_requests_sockets_and_streams() {
    let server = Server::start().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("samples.json");
    let mut program = plimsoll(&RUN)
        .args(["--features", "async-metric-context", "--out"])
        .arg(format!("json={}", out.display()));
    for (name, value) in &server.addresses.variables {
        program = program.args(["-e", &format!("{name}={value}")]);
    }
    let ended = program.arg("-").input(SCRIPT).run();
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    assert_eq!(ended.stderr, "");
    let out = fs::read_to_string(out).unwrap();
    assert_eq!(
        samples(&out, "seen", &["at", "group", "changed", "late"]),
        expected([
            "at=request group=::request",
            "at=message group=::socket changed=yes",
            "at=close group=::socket",
            "at=data group=::stream",
            "at=end group=::stream late=yes",
            "at=last group=",
        ])
    );
    assert_eq!(
        samples(&out, "http_reqs", &["group"]),
        BTreeMap::from([("group=::request".to_owned(), 2)])
    );
    assert_eq!(
        samples(&out, "checks", &["check", "group"]),
        expected(["check=arrived group=::request"])
    );
    assert_eq!(
        samples(&out, "ws_sessions", &["group"]),
        expected(["group=::socket"])
    );
    assert_eq!(
        samples(&out, "group_duration", &["group", "changed", "late"]),
        expected(["group=::request", "group=::socket", "group=::stream"])
    );
    assert_eq!(
        samples(&out, "iterations", &["group", "changed", "late"]),
        expected(["group="])
    );
}
