//! Compares every figure that the load commands print and record with the server's log.
//!
//! There is one row per behavior of a server. Every load command runs it over both kernel interfaces. Counts must be
//! equal. The server's own log bounds the times: a client cannot have measured less than the time for which the server
//! held a request, nor more than the time in which the server's connections were busy. So a slow machine affects both
//! sides equally.
//!
//! `LIE_DETECTOR_TABLE=FILE cargo test -p plimsoll --test lie_detector` writes the figures as a Markdown table.

#[path = "lie_detector/checks.rs"]
mod checks;
#[path = "lie_detector/commands.rs"]
mod commands;
mod plimsoll;
#[path = "lie_detector/reported.rs"]
mod reported;
#[path = "lie_detector/table.rs"]
mod table;

use std::time::Duration;

use commands::{COMMANDS, Command, Io};
use plimsoll_testkit::logged_server::{Behavior, LoggedServer};

/// A behavior of a server, and the expected results of clients.
pub struct Row {
    pub name: &'static str,
    pub behavior: Behavior,
    /// The number of requests of each run. For WebSocket, the number of messages.
    pub requests: u64,
    /// Time limit of a request.
    pub timeout: &'static str,
    /// Whether the behavior makes requests fail.
    pub fails: bool,
    /// Requests per second in an open model. `None` for a closed model.
    pub rate: Option<u64>,
}

const LONG: &str = "30s";

const ROWS: &[Row] = &[
    row("prompt", Behavior::Prompt, 60),
    row(
        "delay of 20 ms",
        Behavior::Delay(Duration::from_millis(20)),
        60,
    ),
    row(
        "stall of 30 ms in every 40 ms",
        Behavior::Stall {
            every: Duration::from_millis(40),
            length: Duration::from_millis(30),
        },
        60,
    ),
    row("rate cap of 100/s", Behavior::RateCap(100), 60),
    row("flood of 100 kB per response", Behavior::Flood(100_000), 30),
    failing("every 5th fails", Behavior::Fail(5), 60),
    failing("every 7th connection dropped", Behavior::Drop(7), 60),
    failing("every 7th connection reset", Behavior::Reset(7), 60),
    failing("every 3rd stream refused", Behavior::RefuseStream(3), 60),
    Row {
        name: "no response at all",
        behavior: Behavior::Silent,
        requests: 6,
        timeout: "500ms",
        fails: true,
        rate: None,
    },
    failing("refused connections", Behavior::Refuse, 12),
    at_rate("prompt, 200/s for 2 s", Behavior::Prompt, 200),
    at_rate(
        "delay of 300 ms, 20/s for 2 s",
        Behavior::Delay(Duration::from_millis(300)),
        20,
    ),
];

/// The duration of the rows with a rate, in seconds.
pub const RATE_SECONDS: u64 = 2;

const fn at_rate(name: &'static str, behavior: Behavior, rate: u64) -> Row {
    Row {
        rate: Some(rate),
        ..row(name, behavior, rate * RATE_SECONDS)
    }
}

const fn row(name: &'static str, behavior: Behavior, requests: u64) -> Row {
    Row {
        name,
        behavior,
        requests,
        timeout: LONG,
        fails: false,
        rate: None,
    }
}

const fn failing(name: &'static str, behavior: Behavior, requests: u64) -> Row {
    Row {
        fails: true,
        ..row(name, behavior, requests)
    }
}

/// Runs `command` with every row. If there are contradictions, fails with a list of them.
fn detect(command: &Command, io: Io) {
    let rows = ROWS.iter().filter(|row| command.applies(row));
    let (at_rate, closed): (Vec<_>, Vec<_>) = rows.partition(|row| row.rate.is_some());
    let mut lies: Vec<String> = closed
        .into_iter()
        .flat_map(|row| lies_of(command, row, io))
        .collect();
    // These commands take long but use little processor time, so they run in parallel.
    std::thread::scope(|scope| {
        let runs: Vec<_> = at_rate
            .into_iter()
            .map(|row| scope.spawn(move || lies_of(command, row, io)))
            .collect();
        for run in runs {
            lies.extend(run.join().expect("a row that can be run"));
        }
    });
    assert!(lies.is_empty(), "{} lies:\n{}", lies.len(), lies.join("\n"));
}

/// Lists the wrong figures of one run of `command`.
fn lies_of(command: &Command, row: &Row, io: Io) -> Vec<String> {
    let server = LoggedServer::start(row.behavior).expect("a server");
    let run = command.run(row, io, &server);
    let log = server.settled_log();
    table::add(command, io, row, &run, &log);
    let found = checks::lies(command, row, &run, &log);
    let of = format!("{} --io {}, {}", command.name, io.name(), row.name);
    found
        .into_iter()
        .map(|lie| format!("{of}: {lie}"))
        .collect()
}

fn detect_named(name: &str, io: Io) {
    let command = COMMANDS.iter().find(|command| command.name == name);
    detect(command.expect("a command"), io);
}

macro_rules! detectors {
    ($($test:ident: $name:literal, $io:expr;)*) => {
        $(#[test] fn $test() { detect_named($name, $io); })*

        #[test]
        fn every_command_has_a_test_for_both_interfaces() {
            let tested = [$(($name, $io)),*];
            for command in COMMANDS {
                for io in [Io::Epoll, Io::Uring] {
                    assert!(tested.contains(&(command.name, io)), "{} {io:?}", command.name);
                }
            }
        }
    };
}

detectors! {
    http_epoll: "http", Io::Epoll;
    http_uring: "http", Io::Uring;
    http_text_epoll: "http, text", Io::Epoll;
    http_text_uring: "http, text", Io::Uring;
    attack_epoll: "attack", Io::Epoll;
    attack_uring: "attack", Io::Uring;
    grpc_epoll: "grpc", Io::Epoll;
    grpc_uring: "grpc", Io::Uring;
    grpc_streams_epoll: "grpc, streams", Io::Epoll;
    grpc_streams_uring: "grpc, streams", Io::Uring;
    run_http_epoll: "run, HTTP", Io::Epoll;
    run_http_uring: "run, HTTP", Io::Uring;
    run_grpc_epoll: "run, gRPC", Io::Epoll;
    run_grpc_uring: "run, gRPC", Io::Uring;
    run_grpc_streams_epoll: "run, gRPC streams", Io::Epoll;
    run_grpc_streams_uring: "run, gRPC streams", Io::Uring;
    run_websocket_epoll: "run, WebSocket", Io::Epoll;
    run_websocket_uring: "run, WebSocket", Io::Uring;
}
