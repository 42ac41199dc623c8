//! Requests that the server refuses to process are sent again: every command counts them, shows them and judges them.
//!
//! One user makes the requests one after the other, so the server's third, sixth and each further third stream is
//! refused, and the next stream carries the same request.

mod plimsoll;

use std::fs;

use plimsoll::plimsoll;
use plimsoll_testkit::logged_server::{Behavior, LoggedServer};
use serde_json::Value;

/// Requests of each run, and how many of them the server refuses once.
const REQUESTS: u64 = 10;
const SENT_AGAIN: u64 = 4;

const REASON: &str =
    "4 of 10 requests were sent again after the server closed their connection or refused them";

/// Checks that the server received each request, and the refused ones twice.
#[track_caller]
fn assert_logged(server: &LoggedServer) {
    let log = server.settled_log();
    assert_eq!(log.entries.len() as u64, REQUESTS + SENT_AGAIN, "{log:?}");
    assert_eq!(log.failed(|_| true), SENT_AGAIN, "{log:?}");
}

/// Checks what `--json` printed.
#[track_caller]
fn assert_printed(result: &Value) {
    assert_eq!(result["requests"], REQUESTS, "{result}");
    assert_eq!(result["failed"], 0, "{result}");
    assert_eq!(result["requests_resent"], SENT_AGAIN, "{result}");
    assert_judged(&result["generator"]);
}

/// Checks the end of a record.
#[track_caller]
fn assert_recorded(record: &str) {
    let end: Value = serde_json::from_str(record.lines().last().unwrap_or_default()).unwrap();
    assert_eq!(end["requests_resent"], SENT_AGAIN, "{end}");
    assert_judged(&end["generator"]);
}

#[track_caller]
fn assert_judged(generator: &Value) {
    assert_ne!(generator["verdict"], "valid", "{generator}");
    let is_named = |reason: &Value| {
        // A record's reason is a list of cause and text.
        let (cause, text) = match reason {
            Value::Array(parts) => (&parts[0], &parts[1]),
            _ => (&reason["cause"], &reason["text"]),
        };
        *cause == "server" && text.as_str().is_some_and(|text| text.starts_with(REASON))
    };
    let reasons = generator["reasons"].as_array().expect("reasons");
    assert!(reasons.iter().any(is_named), "{generator}");
}

/// Runs `command` as text and as JSON, each time against a server that refuses every third stream.
fn check(command: impl Fn(&LoggedServer) -> Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let run = |more: &[&str]| {
        let server = LoggedServer::start(Behavior::RefuseStream(3)).unwrap();
        let arguments = command(&server);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let ended = plimsoll(&[&arguments, more].concat()).run();
        assert_logged(&server);
        ended
    };
    let ended = run(&[]);
    assert!(ended.stdout.contains(REASON), "{ended:?}");
    let line = format!("{SENT_AGAIN} after the server closed their connection or refused them");
    let is_shown = |text: &str| text.trim_start().starts_with("sent again") && text.contains(&line);
    assert!(ended.stdout.lines().any(is_shown), "{ended:?}");

    let record = folder.path().join("record.jsonl");
    let ended = run(&["--json", "--record", &record.to_string_lossy()]);
    assert_printed(
        &serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("no JSON: {ended:?}")),
    );
    assert_recorded(&fs::read_to_string(&record).unwrap());
}

const PROTO: &str = "syntax = \"proto3\"; package again; message M { string text = 1; } \
                     service S { rpc Echo(M) returns (M); }";

#[test]
fn http2_requests() {
    check(|server| {
        // The port for gRPC speaks HTTP/2, and responds to any path.
        let url = format!("http://{}/", server.grpc_address());
        ["http", "--h2c", "-c", "1", "-n", "10", &url]
            .map(str::to_owned)
            .to_vec()
    });
}

#[test]
fn grpc_calls() {
    let folder = tempfile::tempdir().unwrap();
    let proto = folder.path().join("again.proto");
    fs::write(&proto, PROTO).unwrap();
    check(|server| {
        let (proto, address) = (proto.to_string_lossy(), server.grpc_address());
        [
            "grpc",
            "--plaintext",
            "--proto",
            &*proto,
            "-c",
            "1",
            "-n",
            "10",
            "--data",
            "{\"text\":\"hello\"}",
            &address,
            "again.S/Echo",
        ]
        .map(str::to_owned)
        .to_vec()
    });
}

#[test]
fn grpc_calls_of_scripts() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("script.js");
    fs::write(folder.path().join("again.proto"), PROTO).unwrap();
    fs::write(
        &script,
        "import grpc from 'k6/net/grpc';
        import { check } from 'k6';
        const client = new grpc.Client();
        client.load(['.'], 'again.proto');
        export const options = { vus: 1, iterations: 10 };
        export default function () {
            if (__ITER === 0) client.connect(__ENV.TARGET, { plaintext: true });
            const response = client.invoke('again.S/Echo', { text: 'hello' });
            check(response, { 'status is OK': (r) => r.status === grpc.StatusOK });
        }",
    )
    .unwrap();
    let (record, export) = (
        folder.path().join("record.jsonl"),
        folder.path().join("summary.json"),
    );
    let server = LoggedServer::start(Behavior::RefuseStream(3)).unwrap();
    let ended = plimsoll(&["run", "-e", &format!("TARGET={}", server.grpc_address())])
        .arg("--record")
        .arg(&record)
        .arg("--summary-export")
        .arg(&export)
        .arg(&script)
        .run();
    assert_eq!(ended.status, Some(0), "{ended:?}");
    assert_logged(&server);
    assert!(ended.stdout.contains(REASON), "{ended:?}");
    let line = format!(
        "requests sent again, after the server closed their connection or refused them: {SENT_AGAIN}"
    );
    assert!(ended.stdout.contains(&line), "{ended:?}");
    assert_recorded(&fs::read_to_string(&record).unwrap());
    // A call that was sent again is one call, and one sample.
    let export: Value = serde_json::from_slice(&fs::read(&export).unwrap()).unwrap();
    assert_eq!(export["metrics"]["checks"]["passes"], REQUESTS, "{export}");
    assert_eq!(export["metrics"]["checks"]["fails"], 0, "{export}");
}
