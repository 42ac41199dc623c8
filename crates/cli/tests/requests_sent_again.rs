//! Requests that the server refuses to process are sent again. Every command counts, shows and judges them.
//!
//! One user sends the requests one after another, so the stream after a refused one carries the same request.

mod plimsoll;
#[path = "../../http/tests/peer/quic.rs"]
#[allow(dead_code)] // This test uses only one of the module's servers.
mod quic;
#[path = "../../http/tests/peer/secure.rs"]
mod secure;

use std::fs;
use std::sync::mpsc;
use std::thread;

use plimsoll::plimsoll;
use plimsoll_testkit::logged_server::{Behavior, LoggedServer};
use plimsoll_testkit::program::Ended;
use secure::{acceptor, identity};
use serde_json::Value;

/// The number of requests of each run.
const REQUESTS: u64 = 10;
/// How many of them are refused once, if the server refuses every third stream.
const SENT_AGAIN: u64 = 4;

/// The reason in the verdict.
fn reason(sent_again: u64) -> String {
    format!(
        "{sent_again} of {REQUESTS} requests were sent again after the server closed their connection or refused them"
    )
}

/// Checks that the server received each request, and each refused request twice.
#[track_caller]
fn assert_logged(server: &LoggedServer) {
    let log = server.settled_log();
    assert_eq!(log.entries.len() as u64, REQUESTS + SENT_AGAIN, "{log:?}");
    assert_eq!(log.failed(|_| true), SENT_AGAIN, "{log:?}");
}

/// Checks the output of `--json`.
#[track_caller]
fn assert_printed(result: &Value, sent_again: u64) {
    assert_eq!(result["requests"], REQUESTS, "{result}");
    assert_eq!(result["failed"], 0, "{result}");
    assert_eq!(result["requests_resent"], sent_again, "{result}");
    assert_judged(&result["generator"], sent_again);
}

/// Checks the last line of a record.
#[track_caller]
fn assert_recorded(record: &str, sent_again: u64) {
    let end: Value = serde_json::from_str(record.lines().last().unwrap_or_default()).unwrap();
    assert_eq!(end["requests_resent"], sent_again, "{end}");
    assert_judged(&end["generator"], sent_again);
}

#[track_caller]
fn assert_judged(generator: &Value, sent_again: u64) {
    let expected = reason(sent_again);
    assert_ne!(generator["verdict"], "valid", "{generator}");
    let is_named = |reason: &Value| {
        // In a record, a reason is a list of cause and text.
        let (cause, text) = match reason {
            Value::Array(parts) => (&parts[0], &parts[1]),
            _ => (&reason["cause"], &reason["text"]),
        };
        *cause == "server"
            && text
                .as_str()
                .is_some_and(|text| text.starts_with(&expected))
    };
    let reasons = generator["reasons"].as_array().expect("reasons");
    assert!(reasons.iter().any(is_named), "{generator}");
}

/// Runs `command` as text and as JSON, each time with a server that refuses every third stream.
fn check(command: impl Fn(&LoggedServer) -> Vec<String>) {
    let run = |more: &[&str]| {
        let server = LoggedServer::start(Behavior::RefuseStream(3)).unwrap();
        let arguments = command(&server);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let ended = plimsoll(&[&arguments, more].concat()).run();
        assert_logged(&server);
        ended
    };
    assert_outputs(run, SENT_AGAIN);
}

/// Checks the text, the JSON and the record of a command.
fn assert_outputs(run: impl Fn(&[&str]) -> Ended, sent_again: u64) {
    let ended = run(&[]);
    assert!(ended.stdout.contains(&reason(sent_again)), "{ended:?}");
    let line = format!("{sent_again} after the server closed their connection or refused them");
    let is_shown = |text: &str| text.trim_start().starts_with("sent again") && text.contains(&line);
    assert!(ended.stdout.lines().any(is_shown), "{ended:?}");

    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("record.jsonl");
    let ended = run(&["--json", "--record", &record.to_string_lossy()]);
    let result = serde_json::from_str(&ended.stdout);
    let result = result.unwrap_or_else(|_| panic!("no JSON: {ended:?}"));
    assert_printed(&result, sent_again);
    assert_recorded(&fs::read_to_string(&record).unwrap(), sent_again);
}

const PROTO: &str = "syntax = \"proto3\"; package again; message M { string text = 1; } \
                     service S { rpc Echo(M) returns (M); rpc Chat(stream M) returns (stream M); }";

#[test]
fn http2_requests() {
    check(|server| {
        // The gRPC port serves HTTP/2, and responds to any path.
        let url = format!("http://{}/", server.grpc_address());
        ["http", "--h2c", "-c", "1", "-n", "10", &url]
            .map(str::to_owned)
            .to_vec()
    });
}

/// The server rejects every second request, so each request after the first is sent twice.
#[test]
fn http3_requests() {
    let folder = tempfile::tempdir().unwrap();
    let certificate = folder.path().join("server.pem");
    let server = identity(&["127.0.0.1"]);
    fs::write(&certificate, &server.certificate_pem).unwrap();
    let run = |more: &[&str]| {
        let acceptor = acceptor(&server, &["h3"]);
        let (sender, receiver) = mpsc::channel();
        thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build_local(Default::default())
                .unwrap();
            runtime.block_on(async {
                sender.send(quic::serve(&acceptor).0).unwrap();
                std::future::pending::<()>().await;
            });
        });
        let url = format!("https://{}/rejected", receiver.recv().unwrap());
        plimsoll(&[&["http", "--h3", "-c", "1", "-n", "10", &url], more].concat())
            .env("SSL_CERT_FILE", &certificate)
            .run()
    };
    assert_outputs(run, REQUESTS - 1);
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

/// Runs a script whose iterations call the server with `client`. Returns its exported summary.
fn run_script(iteration: &str, server: &LoggedServer) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("script.js");
    fs::write(folder.path().join("again.proto"), PROTO).unwrap();
    let start = "import grpc from 'k6/net/grpc';
        import { check } from 'k6';
        const client = new grpc.Client();
        client.load(['.'], 'again.proto');
        export const options = { vus: 1, iterations: 10 };
        export default function () {
            if (__ITER === 0) client.connect(__ENV.TARGET, { plaintext: true });";
    fs::write(&script, format!("{start}\n{iteration}\n}}")).unwrap();
    let (record, export) = (
        folder.path().join("record.jsonl"),
        folder.path().join("summary.json"),
    );
    let ended = plimsoll(&["run", "-e", &format!("TARGET={}", server.grpc_address())])
        .arg("--record")
        .arg(&record)
        .arg("--summary-export")
        .arg(&export)
        .arg(&script)
        .run();
    assert_eq!(ended.status, Some(0), "{ended:?}");
    assert_logged(server);
    assert!(ended.stdout.contains(&reason(SENT_AGAIN)), "{ended:?}");
    let line = format!(
        "requests sent again, after the server closed their connection or refused them: {SENT_AGAIN}"
    );
    assert!(ended.stdout.contains(&line), "{ended:?}");
    assert_recorded(&fs::read_to_string(&record).unwrap(), SENT_AGAIN);
    // A call that was sent again counts as one call, and one sample.
    let export: Value = serde_json::from_slice(&fs::read(&export).unwrap()).unwrap();
    assert_eq!(export["metrics"]["checks"]["passes"], REQUESTS, "{export}");
    assert_eq!(export["metrics"]["checks"]["fails"], 0, "{export}");
    export
}

#[test]
fn grpc_calls_of_scripts() {
    let server = LoggedServer::start(Behavior::RefuseStream(3)).unwrap();
    run_script(
        "const response = client.invoke('again.S/Echo', { text: 'hello' });
        check(response, { 'status is OK': (r) => r.status === grpc.StatusOK });",
        &server,
    );
}

/// The messages of a refused stream are sent again, in the same order.
#[test]
fn grpc_streams_of_scripts() {
    let server = LoggedServer::start(Behavior::RefuseStream(3)).unwrap();
    let export = run_script(
        "const stream = new grpc.Stream(client, 'again.S/Chat');
        const heard = [];
        stream.on('data', (message) => heard.push(message.text));
        stream.on('error', (error) => heard.push(error.message));
        stream.on('end', () => check(heard, { 'all are returned': () => heard.join() === 'first,second' }));
        stream.write({ text: 'first' });
        stream.write({ text: 'second' });
        stream.end();",
        &server,
    );
    let count = |name: &str| export["metrics"][name]["count"].as_u64();
    assert_eq!(count("grpc_streams"), Some(REQUESTS), "{export}");
    assert_eq!(
        count("grpc_streams_msgs_sent"),
        Some(2 * REQUESTS),
        "{export}"
    );
    assert_eq!(
        count("grpc_streams_msgs_received"),
        Some(2 * REQUESTS),
        "{export}"
    );
    // The server refuses a stream once its first message has arrived.
    let log = server.settled_log();
    assert_eq!(log.messages_received, 2 * REQUESTS + SENT_AGAIN, "{log:?}");
}
