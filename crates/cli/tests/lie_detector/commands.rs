//! The load commands, and how to run each of them against a server.

use std::time::{Duration, Instant};

use plimsoll_testkit::logged_server::LoggedServer;
use plimsoll_testkit::program::Ended;
use tempfile::TempDir;

use super::plimsoll::plimsoll;
use super::reported::{self, Reported};
use super::{RATE_SECONDS, Row};

/// A kernel interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Io {
    Epoll,
    Uring,
}

impl Io {
    pub fn name(self) -> &'static str {
        match self {
            Io::Epoll => "epoll",
            Io::Uring => "uring",
        }
    }
}

/// The protocol of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    Http,
    Grpc,
    WebSocket,
}

/// A variant of a load command.
pub struct Command {
    pub name: &'static str,
    pub protocol: Protocol,
    /// Whether each user sends its next request right after the response to the previous one, so that connections are
    /// always busy.
    pub is_closed: bool,
    run: RunOnce,
}

/// Runs a command once, with these additional flags.
type RunOnce = fn(&Row, &LoggedServer, &Files, &[&str]) -> (Ended, Vec<Reported>);

/// The results of one run.
pub struct Run {
    /// The figures of each output. They must agree with the server, and so with each other.
    pub reported: Vec<Reported>,
    /// The run time of the process. No figure can be longer.
    pub wall: Duration,
    pub ended: Ended,
}

/// The number of users, which is also the number of connections.
pub const USERS: u64 = 3;

pub const COMMANDS: &[Command] = &[
    Command {
        name: "http",
        protocol: Protocol::Http,
        is_closed: true,
        run: http_json,
    },
    Command {
        name: "http, text",
        protocol: Protocol::Http,
        is_closed: true,
        run: http_text,
    },
    Command {
        name: "attack",
        protocol: Protocol::Http,
        is_closed: false,
        run: attack,
    },
    Command {
        name: "grpc",
        protocol: Protocol::Grpc,
        is_closed: true,
        run: grpc,
    },
    Command {
        name: "grpc, streams",
        protocol: Protocol::Grpc,
        is_closed: true,
        run: grpc_streams,
    },
    Command {
        name: "run, HTTP",
        protocol: Protocol::Http,
        is_closed: true,
        run: |row, server, files, io| {
            script(include_str!("http.js"), &server.http_url(), row, files, io)
        },
    },
    Command {
        name: "run, gRPC",
        protocol: Protocol::Grpc,
        is_closed: true,
        run: |row, server, files, io| {
            script(
                include_str!("grpc.js"),
                &server.grpc_address(),
                row,
                files,
                io,
            )
        },
    },
    Command {
        name: "run, gRPC streams",
        protocol: Protocol::Grpc,
        is_closed: true,
        run: |row, server, files, io| {
            script(
                include_str!("grpc_stream.js"),
                &server.grpc_address(),
                row,
                files,
                io,
            )
        },
    },
    Command {
        name: "run, WebSocket",
        protocol: Protocol::WebSocket,
        is_closed: true,
        run: |row, server, files, io| {
            script(
                include_str!("websocket.js"),
                &server.websocket_url(),
                row,
                files,
                io,
            )
        },
    },
];

impl Command {
    /// WebSocket has no failed responses. Only HTTP/2, which the gRPC commands use, has streams.
    pub fn applies(&self, row: &Row) -> bool {
        use plimsoll_testkit::logged_server::Behavior::{Fail, RefuseStream};
        match row.behavior {
            Fail(_) => self.protocol != Protocol::WebSocket,
            RefuseStream(_) => self.protocol == Protocol::Grpc,
            _ => true,
        }
    }

    pub fn run(&self, row: &Row, io: Io, server: &LoggedServer) -> Run {
        let files = Files::new();
        let started = Instant::now();
        let (ended, reported) = (self.run)(row, server, &files, &["--io", io.name()]);
        Run {
            reported,
            wall: started.elapsed(),
            ended,
        }
    }
}

/// The files of one run.
pub struct Files(TempDir);

impl Files {
    fn new() -> Files {
        Files(tempfile::tempdir().expect("a folder"))
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_string_lossy().into_owned()
    }

    fn write(&self, name: &str, text: &str) -> String {
        let path = self.path(name);
        std::fs::write(&path, text).expect("a file");
        path
    }
}

fn start(arguments: &[&str], io: &[&str], record: &str) -> plimsoll_testkit::program::Program {
    plimsoll(&[arguments, &["--record", record], io].concat())
}

/// The load flags of a row. The arguments are the names of the flags for total and rate. An open model has enough users
/// to start everything on time.
fn load(row: &Row, total: &str, rate: &str) -> Vec<String> {
    let flags = match row.rate {
        None => [
            total.to_owned(),
            row.requests.to_string(),
            "-c".to_owned(),
            USERS.to_string(),
        ],
        Some(per_second) => [
            rate.to_owned(),
            per_second.to_string(),
            "--duration".to_owned(),
            format!("{RATE_SECONDS}s"),
        ],
    };
    flags.to_vec()
}

fn http(row: &Row, server: &LoggedServer, files: &Files, more: &[&str]) -> Ended {
    let url = server.http_url();
    let load = load(row, "-n", "-r");
    let load: Vec<&str> = load.iter().map(String::as_str).collect();
    let arguments = [&["http", "--timeout", row.timeout, &url], &load[..]].concat();
    start(&arguments, more, &files.path("record.jsonl")).run()
}

fn http_json(
    row: &Row,
    server: &LoggedServer,
    files: &Files,
    io: &[&str],
) -> (Ended, Vec<Reported>) {
    let ended = http(row, server, files, &[io, &["--json"]].concat());
    let reports = vec![
        reported::of_json(&ended.stdout),
        reported::of_record(&files.path("record.jsonl"), "http_reqs"),
    ];
    (ended, reports)
}

fn http_text(
    row: &Row,
    server: &LoggedServer,
    files: &Files,
    io: &[&str],
) -> (Ended, Vec<Reported>) {
    let ended = http(row, server, files, io);
    let reports = vec![reported::of_text(&ended.stdout)];
    (ended, reports)
}

/// The flags of an open model. Rows without a rate last 600 ms.
fn attack(row: &Row, server: &LoggedServer, files: &Files, io: &[&str]) -> (Ended, Vec<Reported>) {
    let (rate, duration) = match row.rate {
        None => (format!("{}/600ms", row.requests), "600ms".to_owned()),
        Some(rate) => (rate.to_string(), format!("{RATE_SECONDS}s")),
    };
    let results = files.path("results.bin");
    let arguments = [
        "attack",
        "--rate",
        &rate,
        "--duration",
        &duration,
        "--timeout",
        row.timeout,
        "--json",
        "--output",
        &results,
    ];
    let target = format!("GET {}\n", server.http_url());
    let record = files.path("record.jsonl");
    let ended = start(&arguments, io, &record).input(target).run();
    let report = plimsoll(&["vegeta", "report", "-type=json", &results]).run();
    let reports = vec![
        reported::of_json(&ended.stdout),
        reported::of_record(&record, "http_reqs"),
        reported::of_vegeta(&report.stdout),
    ];
    (ended, reports)
}

const PROTO: &str = "syntax = \"proto3\"; package lie; message M { string text = 1; } \
                     service S { rpc Echo(M) returns (M); rpc Chat(stream M) returns (stream M); }";

fn grpc(row: &Row, server: &LoggedServer, files: &Files, io: &[&str]) -> (Ended, Vec<Reported>) {
    grpc_calls(row, server, files, &[io, &["lie.S/Echo"]].concat())
}

/// Sends all messages of a call without waiting for responses.
fn grpc_streams(
    row: &Row,
    server: &LoggedServer,
    files: &Files,
    io: &[&str],
) -> (Ended, Vec<Reported>) {
    let more = [io, &["lie.S/Chat", "--stream-call-count", "3"]].concat();
    let (ended, mut reports) = grpc_calls(row, server, files, &more);
    if row.fails {
        // The server stops reading at the message at which a call fails.
        for reported in &mut reports {
            (reported.messages_sent, reported.messages_received) = (None, None);
        }
    }
    (ended, reports)
}

fn grpc_calls(
    row: &Row,
    server: &LoggedServer,
    files: &Files,
    more: &[&str],
) -> (Ended, Vec<Reported>) {
    let proto = files.write("lie.proto", PROTO);
    let address = server.grpc_address();
    let load = load(row, "-n", "--rate");
    let load: Vec<&str> = load.iter().map(String::as_str).collect();
    let arguments = [
        "grpc",
        "--plaintext",
        "--json",
        "--proto",
        &proto,
        "--timeout",
        row.timeout,
        "--data",
        "{\"text\":\"hello\"}",
        &address,
    ];
    let arguments = [&arguments[..], &load].concat();
    let record = files.path("record.jsonl");
    let ended = start(&arguments, more, &record).run();
    let reports = vec![
        reported::of_json(&ended.stdout),
        reported::of_record(&record, "iterations"),
    ];
    (ended, reports)
}

fn script(
    text: &str,
    target: &str,
    row: &Row,
    files: &Files,
    io: &[&str],
) -> (Ended, Vec<Reported>) {
    let script = files.write("script.js", text);
    files.write("lie.proto", PROTO);
    let export = files.path("summary.json");
    let record = files.path("record.jsonl");
    // If there is a rate, each iteration sends one request.
    let requests = row.rate.map_or(row.requests, |_| USERS);
    let variables = [
        format!("TARGET={target}"),
        format!("REQUESTS={requests}"),
        format!("USERS={USERS}"),
        format!("TIMEOUT={}", row.timeout),
    ];
    let set: Vec<&str> = variables
        .iter()
        .flat_map(|variable| ["-e", variable])
        .collect();
    let rate = row.rate.map(|rate| rate.to_string());
    let duration = format!("{RATE_SECONDS}s");
    let open: &[&str] = match &rate {
        Some(rate) => &["--rate", rate, "--duration", &duration],
        None => &[],
    };
    let arguments = [
        &["run", "--summary-export", &export],
        &set[..],
        open,
        &[&script],
    ]
    .concat();
    let ended = start(&arguments, io, &record).run();
    let reports = vec![
        reported::of_summary(&export),
        reported::of_record(&record, "requests_sent"),
        reported::of_summary_text(&ended.stdout),
    ];
    (ended, reports)
}
