//! Runs against a server that never responds are invalid, have no rate, and report the cause.

mod plimsoll;

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;

use plimsoll::plimsoll;
use plimsoll_testkit::logged_server::{Behavior, LoggedServer};
use serde_json::Value;

/// Nothing listens there.
const CLOSED: &str = "127.0.0.1:1";
const REFUSED: &str = "connection refused: is the server running";

fn result(arguments: &[&str]) -> (Option<i32>, Value) {
    let ended = plimsoll(arguments).run();
    let result = serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("{ended:?}"));
    (ended.status, result)
}

fn first_reason(result: &Value) -> (&str, &str) {
    let reason = &result["generator"]["reasons"][0];
    (
        reason["cause"].as_str().unwrap_or_default(),
        reason["text"].as_str().unwrap_or_default(),
    )
}

#[test]
fn http_to_a_closed_port_is_invalid_and_has_no_rate() {
    let url = format!("http://{CLOSED}/");
    let (status, result) = result(&["http", "-n", "20", "--json", &url]);
    assert_eq!(status, Some(1));
    assert_eq!(result["requests"], 20);
    assert_eq!(result["requests_per_second"], Value::Null, "{result}");
    assert_eq!(result["generator"]["verdict"], "invalid", "{result}");
    let (cause, text) = first_reason(&result);
    assert_eq!(cause, "server");
    assert!(text.contains(REFUSED), "{text}");

    let ended = plimsoll(&["http", "-n", "20", &url]).run();
    assert_eq!(ended.status, Some(1));
    assert!(ended.stdout.contains("invalid"), "{}", ended.stdout);
    assert!(ended.stdout.contains(REFUSED), "{}", ended.stdout);
    assert!(!ended.stdout.contains("requests/s"), "{}", ended.stdout);
}

#[test]
fn a_name_that_does_not_resolve_counts_against_the_client() {
    let (_, result) = result(&[
        "http",
        "-n",
        "2",
        "-c",
        "1",
        "--json",
        "http://nobody.invalid/",
    ]);
    assert_eq!(result["generator"]["verdict"], "invalid", "{result}");
    assert_eq!(first_reason(&result).0, "client", "{result}");
    assert_eq!(result["requests_per_second"], Value::Null, "{result}");
}

#[test]
fn an_attack_on_a_closed_port_is_invalid() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("t"), format!("GET http://{CLOSED}/\n")).unwrap();
    let arguments = ["attack", "--json", "-targets=t", "-rate=20", "-duration=1s"];
    let ended = plimsoll(&arguments).inside(folder.path()).run();
    let result: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(result["generator"]["verdict"], "invalid", "{result}");
    assert_eq!(result["requests_per_second"], Value::Null, "{result}");
    let printed = result["generator"]["reasons"].to_string();
    assert!(printed.contains(REFUSED), "{printed}");
}

#[test]
fn grpc_calls_to_a_closed_port_are_invalid() {
    let folder = tempfile::tempdir().unwrap();
    let proto = "syntax = \"proto3\"; package a; message M {} service B { rpc C(M) returns (M); }";
    fs::write(folder.path().join("a.proto"), proto).unwrap();
    let arguments = [
        "grpc",
        "--plaintext",
        "--proto",
        "a.proto",
        "-n",
        "4",
        "--json",
        CLOSED,
        "a.B/C",
    ];
    let ended = plimsoll(&arguments).inside(folder.path()).run();
    let result: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(result["generator"]["verdict"], "invalid", "{result}");
    assert_eq!(result["requests_per_second"], Value::Null, "{result}");
    assert_eq!(result["protocols"], serde_json::json!({}), "{result}");
    assert!(
        first_reason(&result).1.contains("is the server running"),
        "{result}"
    );

    let ended = plimsoll(&["grpc", "--plaintext", CLOSED, "a.B/C"]).run();
    assert!(
        ended.stderr.contains("is the server running"),
        "{}",
        ended.stderr
    );
}

#[test]
fn a_script_whose_requests_get_no_response_is_invalid() {
    let folder = tempfile::tempdir().unwrap();
    let script = format!(
        "import http from 'k6/http'; export default () => {{ http.get('http://{CLOSED}/'); }};"
    );
    fs::write(folder.path().join("script.js"), script).unwrap();
    let ended = plimsoll(&[
        "run",
        "--quiet",
        "-i",
        "3",
        "--record",
        "r.jsonl",
        "script.js",
    ])
    .inside(folder.path())
    .run();
    // As in k6, failed requests do not fail a run.
    assert_eq!(ended.status, Some(0), "{ended:?}");
    assert!(ended.stdout.contains("invalid"), "{}", ended.stdout);
    assert!(ended.stdout.contains(REFUSED), "{}", ended.stdout);
    let record = fs::read_to_string(folder.path().join("r.jsonl")).unwrap();
    assert!(record.contains("\"verdict\":\"invalid\""), "{record}");
}

#[test]
fn a_server_that_accepts_and_is_silent_makes_the_run_invalid() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let (status, cut_off) = result(&["http", "-c", "2", "-d", "300ms", "--json", &url]);
    assert_eq!(status, Some(1));
    assert_eq!(cut_off["generator"]["verdict"], "invalid", "{cut_off}");
    assert_eq!(cut_off["requests_per_second"], Value::Null, "{cut_off}");
    // Connections and bytes of requests without a response are counted.
    assert_eq!(cut_off["connections_opened"], 2, "{cut_off}");
    assert!(cut_off["bytes_sent"].as_u64() > Some(0), "{cut_off}");
    let arguments = ["http", "-n", "2", "--timeout", "300ms", "--json", &url];
    let (_, timed_out) = result(&arguments);
    assert_eq!(timed_out["generator"]["verdict"], "invalid", "{timed_out}");
    let text = first_reason(&timed_out).1;
    assert!(text.contains("did not respond in time"), "{text}");
}

/// The record's verdict, its first reason and its complete last line, after a run of `script`.
fn recorded(script: &str, more: &[&str]) -> (String, String, Value) {
    let folder = tempfile::tempdir().unwrap();
    let proto = "syntax = \"proto3\"; package a; message M {} service B { rpc C(M) returns (M); }";
    fs::write(folder.path().join("a.proto"), proto).unwrap();
    fs::write(folder.path().join("script.js"), script).unwrap();
    let arguments = ["run", "--quiet", "--record", "r.jsonl", "script.js"];
    let ended = plimsoll(&[&arguments, more].concat())
        .inside(folder.path())
        .run();
    let record = fs::read_to_string(folder.path().join("r.jsonl")).unwrap();
    let end: Value = serde_json::from_str(record.lines().last().unwrap()).unwrap();
    let verdict = end["generator"]["verdict"].as_str().unwrap().to_owned();
    assert!(ended.stdout.contains(&verdict), "{}", ended.stdout);
    let reason = end["generator"]["reasons"][0][1].as_str().unwrap();
    (verdict, reason.to_owned(), end)
}

const GRPC_SCRIPT: &str = "import grpc from 'k6/net/grpc';
    const client = new grpc.Client();
    client.load(['.'], 'a.proto');
    export default () => {
        client.connect(__ENV.TARGET, { plaintext: true, timeout: '2s' });
        client.invoke('a.B/C', {}, { timeout: '200ms' });
        client.close();
    };";

/// The address of an HTTP/2 server whose settings are the last data that it sends (RFC 9113, section 3.4).
fn silent_after_settings() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        let mut open = Vec::new();
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            stream.write_all(&[0, 0, 0, 4, 0, 0, 0, 0, 0]).unwrap();
            open.push(stream);
        }
    });
    address.to_string()
}

#[test]
fn connections_and_bytes_of_interrupted_grpc_calls_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let proto = "syntax = \"proto3\"; package a; message M {} service B { rpc C(M) returns (M); }";
    fs::write(folder.path().join("a.proto"), proto).unwrap();
    let address = silent_after_settings();
    let arguments = "grpc --plaintext --proto a.proto -d 300ms --json".split(' ');
    for (flags, connections) in [(vec!["-c", "2"], 2), (vec!["-c", "1", "-u", "5"], 1)] {
        let arguments: Vec<&str> = arguments.clone().chain(flags).collect();
        let ended = plimsoll(&arguments)
            .args([&*address, "a.B/C"])
            .inside(folder.path())
            .run();
        let result: Value =
            serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("{ended:?}"));
        assert_eq!(result["connections_opened"], connections, "{result}");
        assert!(result["bytes_sent"].as_u64() > Some(0), "{result}");
    }
}

#[test]
fn grpc_calls_of_a_script_without_a_response_are_invalid() {
    let target = format!("TARGET={}", silent_after_settings());
    let (verdict, reason, end) = recorded(GRPC_SCRIPT, &["-i", "3", "-e", &target]);
    assert_eq!(verdict, "invalid");
    assert!(reason.contains("none of 3 requests"), "{reason}");
    assert!(reason.contains("did not respond in time"), "{reason}");
    assert_eq!(end["statuses"]["DeadlineExceeded"], 3, "{end}");
    assert_eq!(
        end["rates"]["grpc_req_failed"],
        serde_json::json!([3, 3]),
        "{end}"
    );
    assert_eq!(end["trends"]["grpc_req_total"], Value::Null, "{end}");
    assert_eq!(end["connections_opened"], 3, "{end}");
}

#[test]
fn a_script_that_cannot_connect_over_grpc_is_invalid() {
    let target = format!("TARGET={CLOSED}");
    let (verdict, reason, end) = recorded(GRPC_SCRIPT, &["-i", "3", "-e", &target]);
    assert_eq!(verdict, "invalid");
    assert!(reason.contains("none of 3 requests"), "{reason}");
    assert!(reason.contains("is the server running"), "{reason}");
    assert_eq!(end["connections_opened"], 0, "{end}");
}

#[test]
fn a_websocket_handshake_without_a_response_makes_the_run_invalid() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let target = format!("TARGET=ws://{}/", listener.local_addr().unwrap());
    let script = "import { WebSocket } from 'k6/websockets';
        export default () => {
            const socket = new WebSocket(__ENV.TARGET);
            setTimeout(() => socket.close(), 200);
        };";
    let cut_off = ["-d", "1s", "-u", "1", "-e", &target];
    let (verdict, ..) = recorded(script, &cut_off);
    assert_eq!(verdict, "invalid");
    drop(listener);
    let (verdict, reason, _) = recorded(script, &["-i", "3", "-e", &target]);
    assert_eq!(verdict, "invalid");
    assert!(reason.contains("none of 3 requests"), "{reason}");
    assert!(reason.contains(REFUSED), "{reason}");
}

#[test]
fn a_websocket_script_that_only_sends_is_suspect() {
    let server = LoggedServer::start(Behavior::Silent).unwrap();
    let target = format!("TARGET={}", server.websocket_url());
    let script = "import { WebSocket } from 'k6/websockets';
        export default () => {
            const socket = new WebSocket(__ENV.TARGET);
            socket.onopen = () => {
                socket.send('one');
                socket.send('two');
                socket.close();
            };
        };";
    let (verdict, reason, _) = recorded(script, &["-i", "3", "-e", &target]);
    assert_eq!(verdict, "suspect", "{reason}");
    assert!(reason.contains("after 6 were sent"), "{reason}");
}

#[test]
fn a_probe_of_a_closed_port_asks_whether_the_server_runs() {
    let ended = plimsoll(&["probe", CLOSED]).run();
    assert_eq!(ended.status, Some(255));
    assert!(ended.stderr.contains(REFUSED), "{}", ended.stderr);
}

#[test]
fn decimal_rates_and_rates_per_minute_are_exact() {
    let url = format!("http://{CLOSED}/");
    for (rate, scheduled) in [("10.5", 42), ("600/m", 40)] {
        let (_, result) = result(&["http", "-r", rate, "-d", "4s", "--json", &url]);
        let requests = result["requests"].as_u64();
        // On a busy machine, the last start may be too late.
        let expected = [Some(scheduled), Some(scheduled - 1)];
        assert!(expected.contains(&requests), "{rate}: {result}");
    }
}

#[test]
fn a_run_without_responses_reports_this_and_folds_its_log() {
    let folder = tempfile::tempdir().unwrap();
    let script = format!(
        "import http from 'k6/http'; import {{ sleep }} from 'k6';
        export default () => {{ http.get('http://{CLOSED}/' + __ITER); sleep(0.02); }};"
    );
    fs::write(folder.path().join("script.js"), script).unwrap();
    let flags = ["run", "--quiet", "-u", "2", "-d", "5s"];
    let of = |more: &[&str]| {
        let ended = plimsoll(&flags).args(more).arg("script.js");
        ended.inside(folder.path()).run().stderr
    };
    let stderr = of(&[]);
    // On a busy machine, the check may be later than 3 s.
    let counts = ["3s", "4s", "5s"].map(|time| {
        let text = format!("no response yet after {time}: ");
        stderr.matches(&text).count()
    });
    assert_eq!(counts.iter().sum::<usize>(), 1, "{stderr}");
    assert!(stderr.contains("requests failed. "), "{stderr}");
    assert!(stderr.contains("is the server running"), "{stderr}");
    let failed = stderr.matches("msg=\"Request Failed\"").count();
    assert_eq!(failed, 10, "{stderr}");
    assert!(
        stderr.contains("more like this: Request Failed"),
        "{stderr}"
    );

    // A program that reads the log receives every line.
    let stderr = of(&["--log-format", "json"]);
    assert!(stderr.matches("Request Failed").count() > 50, "{stderr}");
    assert!(!stderr.contains("more like this"), "{stderr}");
}

#[test]
fn users_that_wait_for_a_silent_server_are_reported() {
    let server = LoggedServer::start(Behavior::Silent).unwrap();
    let ended = plimsoll(&["http", "-u", "3", "-d", "5s", &server.http_url()]).run();
    // The message is due with the figures of the third second, which are late on a busy machine.
    let text = ["3s", "4s", "5s"].map(|time| format!("no response yet after {time}: 3 users wait"));
    let found = text.iter().any(|text| ended.stderr.contains(text));
    assert!(found, "{ended:?}");
    // Slow responses count as responses.
    let slow = Behavior::Delay(std::time::Duration::from_secs(1));
    let server = LoggedServer::start(slow).unwrap();
    let ended = plimsoll(&["http", "-u", "1", "-d", "5s", &server.http_url()]).run();
    assert!(!ended.stderr.contains("no response"), "{ended:?}");
}

#[test]
fn requests_that_hang_until_the_end_are_failures() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    // Never responds on each fifth connection. Each has one request.
    thread::spawn(move || {
        let mut open = Vec::new();
        for (number, stream) in listener.incoming().enumerate() {
            let mut stream = stream.unwrap();
            if number % 5 == 4 {
                open.push(stream);
                continue;
            }
            thread::spawn(move || {
                let mut request = [0; 1024];
                let _ = stream.read(&mut request);
                let head = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
                let _ = stream.write_all(head.as_bytes());
            });
        }
    });
    let ended = plimsoll(&["http", "--rate", "20", "-d", "1s", "--json", &url]).run();
    assert_eq!(ended.status, Some(1), "{}", ended.stderr);
    let result: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(
        (&result["requests"], &result["failed"]),
        (&20.into(), &4.into()),
        "{result:#}"
    );
    assert_eq!(result["response_time"]["count"], 16, "{result:#}");
    assert_eq!(result["failed_time"]["count"], 4, "{result:#}");
    let error = &result["errors"][0];
    assert_eq!(error["text"], "no response when the run ended", "{error}");
}
