//! Every command that generates load serves the live page.

mod plimsoll;

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;

use plimsoll::{plimsoll_with_messages, printed_address};
use plimsoll_testkit::cases::suite::Server;
use plimsoll_testkit::peers::{Peer, Play};
use plimsoll_testkit::program::Program;
use serde_json::Value;

/// The last state that this program sends to a viewer of the page, and the program's exit status.
fn last_state(program: Program) -> (Value, Option<i32>) {
    let mut running = program.start();
    let page = printed_address(&mut running);
    let mut stream = TcpStream::connect(page).expect("a connection");
    write!(stream, "GET /events HTTP/1.1\r\nHost: {page}\r\n\r\n").expect("a request");
    let lines = BufReader::new(stream).lines().map_while(Result::ok);
    let states = lines.filter_map(|line| {
        let event: Value = serde_json::from_str(line.strip_prefix("data: ")?).ok()?;
        Some(event["state"].clone())
    });
    let last = states.last().expect("a state");
    (last, running.wait().status)
}

/// A command with a page.
fn command(arguments: &[&str]) -> Program {
    let (first, rest) = arguments.split_first().expect("a command");
    plimsoll_with_messages(&[first, "--web=0"]).args(rest)
}

/// The last state of the page after a run with 100 requests.
#[track_caller]
fn state_of_100_requests(program: Program) -> Value {
    let (state, status) = last_state(program);
    assert_eq!(status, Some(0), "{state}");
    assert_eq!(state["ended"], "completed", "{state}");
    assert_eq!(state["requests"], 100, "{state}");
    assert_eq!(state["iterations"]["offered"], 100, "{state}");
    assert!(state["latency"]["p99"].is_number(), "{state}");
    assert_eq!(state["verdict"]["is_final"], true, "{state}");
    state
}

#[test]
fn the_page_of_a_url_shows_its_requests() {
    let server = Peer::start(Play::ok("hello"));
    state_of_100_requests(command(&["http", "-r", "50", "-d", "2s", &server.url()]));
}

#[test]
fn the_page_of_an_attack_shows_its_requests() {
    let server = Peer::start(Play::ok("hello"));
    let program = command(&["attack", "-rate=50", "-duration=2s", "-output=/dev/null"]);
    state_of_100_requests(program.input(format!("GET {}\n", server.url())));
}

#[test]
fn the_page_of_grpc_calls_shows_them() {
    let server = Server::start().expect("a server");
    let mut variables = server.addresses.variables.iter();
    let base = variables.find(|(name, _)| name == "BASE").expect("one");
    let address = base.1.trim_start_matches("http://");
    let state = state_of_100_requests(command(&[
        "grpc",
        "--plaintext",
        "-r",
        "50",
        "-d",
        "2s",
        address,
        "cases.Cases/EchoWord",
    ]));
    assert_eq!(state["statuses"][0]["text"], "OK", "{state}");
}

#[test]
fn the_page_of_a_script_shows_its_checks_and_thresholds() {
    let server = Peer::start(Play::ok("hello"));
    let script = format!(
        "
        import http from 'k6/http';
        import {{ check }} from 'k6';
        export const options = {{
            thresholds: {{ http_req_duration: ['p(95)<60000'] }},
            scenarios: {{ open: {{
                executor: 'constant-arrival-rate', rate: 50, duration: '2s', preAllocatedVUs: 50,
            }} }},
        }};
        export default function () {{
            check(http.get('{}'), {{ 'has a status': (r) => r.status === 200 }});
        }}
        ",
        server.url()
    );
    let state = state_of_100_requests(command(&["run", "-"]).input(script));
    assert_eq!(state["checks"][0]["passes"], 100, "{state}");
    assert_eq!(state["thresholds"][0]["ok"], true, "{state}");
    assert!(state["thresholds"][0]["margin"].is_number(), "{state}");
}

#[test]
fn the_page_of_a_search_shows_its_trials_and_its_result() {
    let server = Peer::start(Play::ok("hello"));
    let (state, _) = last_state(command(&[
        "find",
        "--objective",
        "p95<10s",
        "--start",
        "20",
        "--most",
        "20",
        "--repeats",
        "1",
        "--trials",
        "1",
        "--trial",
        "2s",
        "--warm-up",
        "0s",
        "--soak",
        "1s",
        "--",
        "http",
        &server.url(),
    ]));
    assert!(state["ended"].is_string(), "{state}");
    let trials = state["steps"]["rows"].as_array().expect("trials");
    assert!(!trials.is_empty(), "{state}");
    let result = state["steps"]["result"].as_array().expect("lines");
    assert!(!result.is_empty(), "{state}");
}

#[test]
fn only_iterations_with_a_schedule_are_compared_with_the_offered_ones() {
    let script = "
        import { sleep } from 'k6';
        export const options = { scenarios: {
            closed: { executor: 'constant-vus', vus: 2, duration: '2s', exec: 'fast' },
            open: {
                executor: 'constant-arrival-rate', rate: 10, duration: '2s', preAllocatedVUs: 1,
                maxVUs: 1, exec: 'slow', gracefulStop: '5s',
            },
        } };
        export function fast() { sleep(0.01); }
        export function slow() { sleep(1.5); }
    ";
    let (state, status) = last_state(command(&["run", "-"]).input(script));
    assert_eq!(status, Some(0), "{state}");
    let iterations = &state["iterations"];
    let number = |key: &str| iterations[key].as_u64().expect("a number");
    assert_eq!(number("offered"), 20, "{state}");
    assert_eq!(
        number("scheduled_started") + number("dropped"),
        20,
        "{state}"
    );
    assert_eq!(
        number("scheduled_finished"),
        number("scheduled_started"),
        "{state}"
    );
    assert!(
        number("started") > 20 + number("scheduled_started"),
        "{state}"
    );
}
