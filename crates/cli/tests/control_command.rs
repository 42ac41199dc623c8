//! Controls a run from another process, with the commands and with k6's REST API.

mod plimsoll;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use plimsoll::{plimsoll, plimsoll_with_messages, printed_address};
use plimsoll_testkit::program::{Ended, Running};
use serde_json::{Value, json};

const SCRIPT: &str = "
    import { sleep } from 'k6';
    export const options = {
        teardownTimeout: __ENV.BROKEN ? '100ms' : '60s',
        scenarios: { only: { executor: 'externally-controlled', vus: 1, maxVUs: 5, duration: '60s' } },
    };
    export function setup() {
        if (__ENV.BROKEN) throw new Error('no database');
        console.log('setup');
        return { from: 'setup' };
    }
    export default function (data) {
        if (__ITER == 0) console.log(`user ${JSON.stringify(data)}`);
        sleep(0.01);
    }
    export function teardown(data) {
        if (__ENV.BROKEN) sleep(60);
        console.log(`teardown ${JSON.stringify(data)}`);
    }
";

/// A run of the script that waits to be started.
fn paused(flags: &[&str]) -> (SocketAddr, Running) {
    let arguments = [
        "run",
        "--paused",
        "--log-format=raw",
        "--address=127.0.0.1:0",
    ];
    let mut run = plimsoll_with_messages(&arguments)
        .args(flags)
        .arg("-")
        .input(SCRIPT)
        .start();
    (printed_address(&mut run), run)
}

fn command(address: SocketAddr, arguments: &[&str]) -> Ended {
    let ended = plimsoll(arguments)
        .arg("--address")
        .arg(address.to_string());
    ended.run()
}

/// Runs a command until its output contains this part.
fn wait_for(address: SocketAddr, name: &str, part: &str) {
    let give_up = Instant::now() + Duration::from_secs(60);
    loop {
        let ended = command(address, &[name]);
        if ended.stdout.contains(part) {
            return;
        }
        assert!(Instant::now() < give_up, "no {part}: {ended:?}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// The status and the body of the response.
fn call(address: SocketAddr, method: &str, path: &str, body: &str) -> (String, String) {
    let mut stream = TcpStream::connect(address).expect("a connection");
    let length = body.len();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\nContent-Length: {length}\r\n\r\n{body}"
    )
    .expect("a request");
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("a response");
    let (headers, body) = text.split_once("\r\n\r\n").expect("headers");
    let status = headers.split(' ').nth(1).expect("a status");
    (status.to_owned(), body.to_owned())
}

/// The document for this setup data, as k6 returns it.
fn setup_data(data: Option<Value>) -> Value {
    let attributes = match data {
        Some(data) => json!({ "data": data }),
        None => json!({}),
    };
    json!({ "data": { "type": "setupData", "id": "default", "attributes": attributes } })
}

#[test]
fn commands_show_pause_scale_and_stop_a_run() {
    let (address, run) = paused(&[]);
    wait_for(address, "status", "status: paused before the start\n");
    let resumed = command(address, &["resume"]);
    assert_eq!(resumed.status, Some(0), "{}", resumed.stderr);
    wait_for(address, "status", "vus: 1\n");
    let scaled = command(address, &["scale", "-u", "3", "--json"]);
    let scaled: Value = serde_json::from_str(&scaled.stdout).expect("JSON");
    assert_eq!(scaled["attributes"]["vus-max"], 5);
    wait_for(address, "status", "vus: 3\n");
    assert_eq!(command(address, &["pause"]).status, Some(0));
    wait_for(address, "status", "vus: 0\n");
    let again = command(address, &["pause"]);
    assert_eq!(again.status, Some(0), "{}", again.stderr);
    let refused = command(address, &["scale", "-u", "9"]);
    assert_ne!(refused.status, Some(0));
    assert!(refused.stderr.contains("maxVUs, 5"), "{}", refused.stderr);
    wait_for(address, "stats", "iterations: count=");
    assert_eq!(command(address, &["stop"]).status, Some(0));
    let ended = run.wait();
    assert_eq!(ended.status, Some(103), "{}", ended.stdout);
    assert!(ended.stdout.contains("teardown {\"from\":\"setup\"}"));
}

#[test]
fn setup_and_teardown_are_run_and_their_data_changed() {
    let (address, run) = paused(&["--no-setup"]);
    let setup = |method: &str, body: &str| {
        let (status, body) = call(address, method, "/v1/setup", body);
        let body: Value = serde_json::from_str(&body).expect("JSON");
        (status, body)
    };
    let none = ("200".to_owned(), setup_data(None));
    let ok = |data: Value| ("200".to_owned(), setup_data(Some(data)));
    assert_eq!(setup("GET", ""), none);
    assert_eq!(
        setup("POST", ""),
        ok(json!({ "from": "setup" })),
        "although the run does not call it"
    );
    assert_eq!(
        setup("PUT", "{\"from\": \"outside\"}"),
        ok(json!({ "from": "outside" }))
    );
    let (status, body) = setup("PUT", "{from: 1}");
    assert_eq!(status, "400");
    assert_eq!(body["errors"][0]["title"], "Error parsing request body");
    let detail = body["errors"][0]["detail"].as_str().expect("a text");
    assert!(detail.starts_with("the body is not JSON: "), "{detail}");
    assert_eq!(setup("GET", ""), ok(json!({ "from": "outside" })));

    assert_eq!(command(address, &["resume"]).status, Some(0));
    wait_for(address, "status", "vus: 1\n");
    let ended = call(address, "POST", "/v1/teardown", "");
    assert_eq!(ended, ("200".to_owned(), String::new()));
    assert_eq!(setup("PUT", "null"), ok(Value::Null));
    assert_eq!(setup("PUT", ""), none);
    assert_eq!(setup("PUT", "[2]"), ok(json!([2])));
    assert_eq!(command(address, &["stop"]).status, Some(0));
    let output = run.wait().stdout;
    let logged: Vec<&str> = output
        .lines()
        .filter(|line| {
            ["setup", "user", "teardown"]
                .iter()
                .any(|word| line.starts_with(word))
        })
        .collect();
    assert_eq!(
        logged,
        [
            "setup",
            "user {\"from\":\"outside\"}",
            "teardown {\"from\":\"outside\"}",
            "teardown [2]",
        ],
        "{output}"
    );
}

#[test]
fn a_failed_setup_or_teardown_is_explained_and_the_run_continues() {
    let (address, run) = paused(&["--no-setup", "--no-teardown", "-e", "BROKEN=1"]);
    let detail = |path: &str| {
        let (status, body) = call(address, "POST", path, "");
        assert_eq!(status, "500", "{body}");
        let body: Value = serde_json::from_str(&body).expect("JSON");
        body["errors"][0]["detail"]
            .as_str()
            .expect("a text")
            .to_owned()
    };
    let failed = detail("/v1/setup");
    assert!(failed.starts_with("Error: no database"), "{failed}");
    let failed = detail("/v1/teardown");
    assert_eq!(failed, "teardown() execution timed out after 100ms");
    assert_eq!(command(address, &["resume"]).status, Some(0));
    wait_for(address, "status", "vus: 1\n");
    assert_eq!(command(address, &["stop"]).status, Some(0));
    assert_eq!(run.wait().status, Some(103));
}
