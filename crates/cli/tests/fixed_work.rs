//! Fixed amounts of work in scripts: makespan, calls over every protocol, and payload.

mod plimsoll;

use std::fs;
use std::io;
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use plimsoll::plimsoll;
use plimsoll_testkit::cases::suite::Server;
use plimsoll_testkit::peers::{Peer, Play};
use plimsoll_testkit::program::Ended;
use serde_json::Value;

/// Runs `script` with these addresses. Returns how it exited, and the part of the summary about fixed work.
fn run(script: &str, variables: &[(String, String)], flags: &[&str]) -> (Ended, Value) {
    let folder = tempfile::tempdir().unwrap();
    let given: Vec<_> = variables
        .iter()
        .flat_map(|(name, value)| ["-e".to_owned(), format!("{name}={value}")])
        .collect();
    let given: Vec<_> = given.iter().map(String::as_str).collect();
    let ended = plimsoll(&["run", "--quiet", "--summary-export", "summary.json"])
        .args(&given)
        .args(flags)
        .arg("-")
        .input(script)
        .inside(folder.path())
        .run();
    let summary = fs::read_to_string(folder.path().join("summary.json")).unwrap_or_default();
    let summary: Value = serde_json::from_str(&summary).unwrap_or_default();
    (ended, summary["plimsoll"]["fixed_work"].clone())
}

fn url(peer: &Peer) -> Vec<(String, String)> {
    vec![("URL".to_owned(), peer.url())]
}

fn number(work: &Value, key: &str) -> f64 {
    work[key].as_f64().unwrap_or(f64::NAN)
}

#[test]
fn each_scenario_reports_its_work() {
    let server = Peer::start(Play::ok("hello"));
    let script = "
        import http from 'k6/http';
        import { sleep } from 'k6';
        export const options = { scenarios: {
            each: { executor: 'per-vu-iterations', vus: 4, iterations: 5 },
            shared: { executor: 'shared-iterations', vus: 2, iterations: 7, exec: 'shared' },
            timed: { executor: 'constant-vus', vus: 1, duration: '1s', exec: 'timed' },
        } };
        export default function () { http.post(__ENV.URL, '123'); http.get(__ENV.URL); }
        export function shared() { sleep(0.05); }
        export function timed() { sleep(0.1); http.get(__ENV.URL); }
    ";
    let (ended, work) = run(script, &url(&server), &[]);
    assert_eq!(ended.status, Some(0), "{ended:?}");
    let each = &work["each"];
    for (key, wanted) in [
        ("workers", 4),
        ("loops", 5),
        ("iterations_wanted", 20),
        ("iterations", 20),
        ("calls", 40),
        ("failed_calls", 0),
        ("payload_bytes", 20 * 3 + 40 * 5),
        ("payload_bytes_sent", 20 * 3),
        ("payload_bytes_received", 40 * 5),
    ] {
        assert_eq!(each[key], wanted, "{key}: {each}");
    }
    let megabytes = 260.0 / 1e6 / number(each, "makespan_seconds");
    assert!((number(each, "megabytes_per_second") / megabytes - 1.0).abs() < 1e-9);
    assert!((number(each, "megabits_per_second") / megabytes / 8.0 - 1.0).abs() < 1e-9);
    let shared = &work["shared"];
    assert_eq!(
        (&shared["iterations"], &shared["calls"]),
        (&7.into(), &0.into())
    );
    // There are seven pauses of 50 ms for two users, so one user makes four of them.
    assert!(number(shared, "makespan_seconds") >= 0.2, "{shared}");
    assert_eq!(shared["loops"], Value::Null);
    assert_eq!(work["timed"], Value::Null);
    for part in [
        "work of each: 20 iterations (4 users × 5), 40 calls\n",
        "work of shared: 7 iterations (shared by 2 users)\n",
        "makespan of each: ",
        "payload of each: ",
        " Mbit/s: 60 B sent and 200 B received\n",
    ] {
        assert!(ended.stdout.contains(part), "{part}: {}", ended.stdout);
    }
    assert!(
        !ended.stdout.contains("payload of shared"),
        "{}",
        ended.stdout
    );
}

#[test]
fn failed_calls_do_not_count_as_throughput_nor_one_iteration_as_work() {
    let server = Peer::start(Play::truncated_body());
    let script = "
        import http from 'k6/http';
        export default function () { http.post(__ENV.URL, '123'); }
    ";
    let (ended, work) = run(script, &url(&server), &["--vus", "2", "--iterations", "6"]);
    assert_eq!(ended.status, Some(0), "{ended:?}");
    let work = &work["default"];
    assert_eq!(
        (&work["calls"], &work["failed_calls"]),
        (&6.into(), &6.into())
    );
    assert_eq!(work["payload_bytes"], 0);
    let printed = "0 B sent and 0 B received, without 6 failed calls";
    assert!(ended.stdout.contains(printed), "{}", ended.stdout);
    let (ended, _) = run(script, &url(&server), &[]);
    assert!(!ended.stdout.contains("makespan"), "{}", ended.stdout);
}

#[test]
fn unfinished_work_is_reported() {
    let server = Peer::start(Play::ok("hello"));
    let script = "
        import http from 'k6/http';
        import { sleep } from 'k6';
        export const options = { scenarios: { default: {
            executor: 'per-vu-iterations', vus: 1, iterations: 1000, maxDuration: '1s', gracefulStop: '0s',
        } } };
        export default function () { http.get(__ENV.URL); sleep(0.4); }
    ";
    let (ended, work) = run(script, &url(&server), &[]);
    assert_eq!(ended.status, Some(0), "{ended:?}");
    let work = &work["default"];
    assert!(work["iterations"].as_u64() < Some(5), "{work}");
    // The calls of the interrupted iteration had completed.
    assert!(
        work["calls"].as_u64() >= work["iterations"].as_u64(),
        "{work}"
    );
    assert!(number(work, "makespan_seconds") >= 0.9, "{work}");
    let printed = " of 1000 iterations (1 user × 1000)";
    assert!(ended.stdout.contains(printed), "{}", ended.stdout);
}

#[test]
fn messages_of_every_wire_are_payload() {
    let server = Server::start().unwrap();
    // A Word with a string of five letters has seven bytes.
    let script = "
        import grpc from 'k6/net/grpc';
        import ws from 'k6/ws';
        import { WebSocket } from 'k6/websockets';
        const at = __ENV.BASE.slice('http://'.length);
        const socket = __ENV.BASE.replace('http', 'ws') + '/ws/echo';
        const scenario = (exec) => ({ executor: 'per-vu-iterations', vus: 2, iterations: 2, exec });
        export const options = { scenarios: {
            unary: scenario('unary'), stream: scenario('stream'), blocking: scenario('blocking'), evented: scenario('evented'),
        } };
        const client = new grpc.Client();
        export function unary() {
            client.connect(at, { plaintext: true, reflect: true });
            client.invoke('cases.Cases/EchoWord', { text: 'hello' });
            client.invoke('cases.Cases/Fail', { code: 5 });
            client.close();
        }
        export function stream() {
            client.connect(at, { plaintext: true, reflect: true });
            const stream = new grpc.Stream(client, 'cases.Cases/Chat');
            stream.on('end', () => client.close());
            stream.write({ text: 'hello' });
            stream.write({ text: 'hello' });
            stream.end();
        }
        export function blocking() {
            ws.connect(socket, {}, (s) => {
                s.on('open', () => s.send('four'));
                s.on('message', () => s.close());
            });
        }
        export function evented() {
            const s = new WebSocket(socket);
            s.onopen = () => s.send(new Uint8Array(6).buffer);
            s.onmessage = () => s.close();
        }
    ";
    let (ended, work) = run(script, &server.addresses.variables, &[]);
    assert_eq!(ended.status, Some(0), "{ended:?}");
    for (scenario, calls, failed, sent, received) in [
        ("unary", 8, 4, 4 * 7, 4 * 7),
        ("stream", 4, 0, 8 * 7, 8 * 7),
        ("blocking", 4, 0, 4 * 4, 4 * 4),
        ("evented", 4, 0, 4 * 6, 4 * 6),
    ] {
        let printed = &work[scenario];
        let text = format!("{scenario}: {printed}\n{}", ended.stderr);
        assert_eq!(printed["calls"], calls, "{text}");
        assert_eq!(printed["failed_calls"], failed, "{text}");
        assert_eq!(printed["payload_bytes_sent"], sent, "{text}");
        assert_eq!(printed["payload_bytes_received"], received, "{text}");
    }
}

/// The duration of a call covers only the wire. Its total also includes opening the connection, once.
#[test]
fn grpc_calls_of_scripts_have_both_latencies() {
    let server = Server::start().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let script = "
        import grpc from 'k6/net/grpc';
        const client = new grpc.Client();
        export const options = { vus: 1, iterations: 3, summaryTrendStats: ['count', 'avg'] };
        export default function () {
            client.connect(__ENV.BASE.slice('http://'.length), { plaintext: true, reflect: true });
            client.invoke('cases.Cases/EchoWord', { text: 'hello' });
            client.invoke('cases.Cases/EchoWord', { text: 'hello' });
            client.close();
        }
        export function handleSummary(data) {
            const values = (name) => data.metrics[name] && data.metrics[name].values;
            const both = [values('grpc_req_duration'), values('grpc_req_total')];
            return { 'both.json': JSON.stringify(both) };
        }";
    let base = server.addresses.variables.iter();
    let base = base.clone().find(|(name, _)| name == "BASE").unwrap();
    let ended = plimsoll(&["run", "--quiet", "--record", "run.jsonl", "-e"])
        .args([&format!("BASE={}", base.1), "-"])
        .input(script)
        .inside(folder.path())
        .run();
    assert_eq!(ended.status, Some(0), "{ended:?}");
    let record = fs::read_to_string(folder.path().join("run.jsonl")).unwrap();
    let end: Value = serde_json::from_str(record.lines().last().unwrap()).unwrap();
    let (wire, total) = (
        &end["trends"]["grpc_req_duration"],
        &end["trends"]["grpc_req_total"],
    );
    assert_eq!(
        (&wire["count"], &total["count"]),
        (&6.into(), &6.into()),
        "{end}"
    );
    assert!(number(total, "sum") > number(wire, "sum"), "{end}");
    // Not a script-visible metric, because scripts see the same metrics as in k6.
    let both = fs::read_to_string(folder.path().join("both.json")).unwrap();
    let both: Value = serde_json::from_str(&both).unwrap();
    assert_eq!((&both[0]["count"], &both[1]), (&6.into(), &Value::Null));
}

/// A script's `connect()` waits for the server's HTTP/2 settings, so the total time of the first call includes them.
#[test]
fn the_total_time_of_a_grpc_call_includes_the_wait_for_late_settings() {
    const LATE: Duration = Duration::from_millis(400);
    let server = Server::start().unwrap();
    let base = server.addresses.variables.iter();
    let base = base.clone().find(|(name, _)| name == "BASE").unwrap();
    let upstream = base.1.trim_start_matches("http://").to_owned();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        let (client, _) = listener.accept().unwrap();
        let server = TcpStream::connect(upstream).unwrap();
        let (mut from_client, mut to_server) =
            (client.try_clone().unwrap(), server.try_clone().unwrap());
        thread::spawn(move || io::copy(&mut from_client, &mut to_server));
        // The server sends its settings first.
        thread::sleep(LATE);
        let (mut from_server, mut to_client) = (server, client);
        let _ = io::copy(&mut from_server, &mut to_client);
    });
    let script = "
        import grpc from 'k6/net/grpc';
        const client = new grpc.Client();
        export const options = { vus: 1, iterations: 1 };
        export default function () {
            client.connect(__ENV.ADDRESS, { plaintext: true, reflect: true });
            client.invoke('cases.Cases/EchoWord', { text: 'hello' });
            client.invoke('cases.Cases/EchoWord', { text: 'hello' });
            client.close();
        }";
    let folder = tempfile::tempdir().unwrap();
    let ended = plimsoll(&["run", "--quiet", "--record", "run.jsonl", "-e"])
        .args([&format!("ADDRESS={address}"), "-"])
        .input(script)
        .inside(folder.path())
        .run();
    assert_eq!(ended.status, Some(0), "{ended:?}");
    let record = fs::read_to_string(folder.path().join("run.jsonl")).unwrap();
    let end: Value = serde_json::from_str(record.lines().last().unwrap()).unwrap();
    let of = |name: &str, key: &str| number(&end["trends"][name], key);
    let late = LATE.as_secs_f64() * 1e3;
    assert!(of("grpc_req_total", "max") >= late, "{end}");
    assert!(of("grpc_req_total", "min") < late, "{end}");
    assert!(of("grpc_req_duration", "max") < late, "{end}");
}
