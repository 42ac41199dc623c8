//! Compares the printed and recorded results of fixed work with the server's log: calls, failed calls, payload and
//! makespan.
//!
//! Counts must be equal. The makespan must be at least the time from the first request to the last response at the
//! server, and at most the run time of the process. It may exceed the time at the server by [`SCHEDULING`].

#[path = "lie_detector/fixed_work_output.rs"]
mod output;
mod plimsoll;

use std::time::{Duration, Instant};

use output::Figures;
use plimsoll_testkit::logged_server::{Behavior, Log, LoggedServer};
use plimsoll_testkit::program::Ended;
use tempfile::TempDir;

/// Maximum sum of two delays: from the first call to its arrival, and from the last response to the end of its call.
const SCHEDULING: f64 = 1.0;

const BEHAVIORS: [Behavior; 3] = [
    Behavior::Prompt,
    Behavior::Delay(Duration::from_millis(20)),
    Behavior::Fail(3),
];

const USERS: [u64; 3] = [1, 2, 8];

/// The number of iterations per user.
const LOOPS: u64 = 4;

const PROTO: &str = "syntax = \"proto3\"; package lie; message M { string text = 1; } \
                     service S { rpc Echo(M) returns (M); }";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Protocol {
    Http,
    Grpc,
    WebSocket,
}

/// The program that makes the calls: a command with one of its outputs, or a script with one of its executors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Caller {
    CommandJson,
    CommandText,
    ScriptPerUser,
    ScriptShared,
}

#[derive(Clone, Copy, Debug)]
struct Run {
    protocol: Protocol,
    caller: Caller,
    behavior: Behavior,
    users: u64,
    io: &'static str,
}

impl Run {
    fn is_good(self, status: u16) -> bool {
        match self.protocol {
            Protocol::Grpc => status == 0,
            Protocol::Http | Protocol::WebSocket => status == 200,
        }
    }

    fn is_script(self) -> bool {
        matches!(self.caller, Caller::ScriptPerUser | Caller::ScriptShared)
    }

    /// The number of iterations of all users together. Shared iterations cannot be divided evenly.
    fn iterations(self) -> u64 {
        self.users * LOOPS + u64::from(self.caller == Caller::ScriptShared)
    }

    /// An iteration of a script makes two calls, or has one WebSocket session.
    fn calls(self) -> u64 {
        let has_two = self.is_script() && self.protocol != Protocol::WebSocket;
        self.iterations() * if has_two { 2 } else { 1 }
    }

    fn outputs(self, server: &LoggedServer, folder: &TempDir) -> Vec<Figures> {
        let record = folder.path().join("record.jsonl");
        match self.caller {
            Caller::CommandJson => {
                let ended = self.command(server, folder, &["--json", "--record", "record.jsonl"]);
                vec![output::of_json(&ended.stdout), output::of_record(&record)]
            }
            Caller::CommandText => {
                vec![output::of_text(&self.command(server, folder, &[]).stdout)]
            }
            Caller::ScriptPerUser | Caller::ScriptShared => {
                let ended = self.script(server, folder);
                vec![
                    output::of_text(&ended.stdout),
                    output::of_summary(&folder.path().join("summary.json")),
                    output::of_record(&record),
                ]
            }
        }
    }

    fn command(self, server: &LoggedServer, folder: &TempDir, more: &[&str]) -> Ended {
        let (users, loops) = (self.users.to_string(), LOOPS.to_string());
        let work = ["--io", self.io, "--users", &users, "--loops", &loops];
        let (url, address) = (server.http_url(), server.grpc_address());
        let command = match self.protocol {
            Protocol::Grpc => [
                &["grpc", "--plaintext", "--proto", "lie.proto", "--data"][..],
                &["{\"text\":\"hello\"}", &address, "lie.S/Echo"],
            ]
            .concat(),
            Protocol::Http | Protocol::WebSocket => vec!["http", "--body", "hello", &url],
        };
        let arguments = [&command, &work[..], more].concat();
        let ended = plimsoll::plimsoll(&arguments).inside(folder.path()).run();
        let has_failed = matches!(self.behavior, Behavior::Fail(_));
        assert_eq!(ended.status, Some(i32::from(has_failed)), "{ended:?}");
        ended
    }

    fn script(self, server: &LoggedServer, folder: &TempDir) -> Ended {
        let (function, target) = match self.protocol {
            Protocol::Http => ("callHttp", server.http_url()),
            Protocol::Grpc => ("callGrpc", server.grpc_address()),
            Protocol::WebSocket => ("callWebSocket", server.websocket_url()),
        };
        let (executor, iterations) = match self.caller {
            Caller::ScriptShared => ("shared-iterations", self.iterations()),
            _ => ("per-vu-iterations", LOOPS),
        };
        let variables = [
            format!("FUNCTION={function}"),
            format!("TARGET={target}"),
            format!("EXECUTOR={executor}"),
            format!("WORKERS={}", self.users),
            format!("ITERATIONS={iterations}"),
        ];
        let script = folder.path().join("fixed_work.js");
        std::fs::write(&script, include_str!("lie_detector/fixed_work.js")).expect("a script");
        let flags = "run --quiet --summary-export summary.json --record record.jsonl --io";
        let ended = plimsoll::plimsoll(&flags.split(' ').collect::<Vec<_>>())
            .arg(self.io)
            .args(variables.iter().flat_map(|variable| ["-e", variable]))
            .arg("fixed_work.js")
            .inside(folder.path())
            .run();
        assert_eq!(ended.status, Some(0), "{ended:?}");
        ended
    }
}

/// Lists all errors in one output of a run.
fn lies(run: Run, claimed: &Figures, log: &Log, wall: Duration) -> Vec<String> {
    let (sent, received) = log.payload(|status| run.is_good(status));
    // Every request arrived and got a complete response. Otherwise the run itself is wrong, not only a figure.
    let (calls, failed) = match run.protocol {
        Protocol::WebSocket => (log.connections, 0),
        Protocol::Http | Protocol::Grpc => {
            let failed = log.failed(|status| run.is_good(status));
            (log.entries.len() as u64, failed)
        }
    };
    let counts = [
        ("calls at the server", Some(calls), run.calls()),
        ("iterations", Some(claimed.iterations), run.iterations()),
        ("calls", claimed.calls, calls),
        ("failed calls", Some(claimed.failed), failed),
        ("payload sent", Some(claimed.sent), sent),
        ("payload received", Some(claimed.received), received),
    ];
    let mut lies: Vec<String> = counts
        .into_iter()
        .filter(|(_, claimed, logged)| claimed.is_some_and(|claimed| claimed != *logged))
        .map(|(what, claimed, logged)| format!("{what}: {claimed:?}, not {logged}"))
        .collect();
    lies.extend(claimed.unfinished.clone());
    let shortest = log.span().as_secs_f64();
    let longest = wall.as_secs_f64().min(shortest + SCHEDULING);
    // Written without "<", so that NaN is also detected.
    let is_possible =
        claimed.makespan >= shortest - claimed.rounding && claimed.makespan <= longest;
    if !is_possible {
        lies.push(format!(
            "makespan {} s, not between {shortest} s and {longest} s",
            claimed.makespan
        ));
    }
    if let Some(rate) = claimed.megabits_per_second {
        let expected = (sent + received) as f64 * 8.0 / 1e6 / claimed.makespan;
        if (rate / expected - 1.0).abs() > 1e-9 && rate != expected {
            lies.push(format!("{rate} Mbit/s, not {expected}"));
        }
    }
    let source = claimed.source;
    lies.into_iter()
        .map(|lie| format!("{run:?}, {source}: {lie}"))
        .collect()
}

fn lies_of(run: Run) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("lie.proto"), PROTO).expect("a file");
    let server = LoggedServer::start(run.behavior).expect("a server");
    let started = Instant::now();
    let outputs = run.outputs(&server, &folder);
    let wall = started.elapsed();
    let log = server.settled_log();
    outputs
        .iter()
        .flat_map(|claimed| lies(run, claimed, &log, wall))
        .collect()
}

fn detect(protocol: Protocol, callers: &[Caller], io: &'static str) {
    let mut found = Vec::new();
    for &caller in callers {
        for behavior in BEHAVIORS {
            // A WebSocket message cannot fail on its own.
            if protocol == Protocol::WebSocket && matches!(behavior, Behavior::Fail(_)) {
                continue;
            }
            for users in USERS {
                found.extend(lies_of(Run {
                    protocol,
                    caller,
                    behavior,
                    users,
                    io,
                }));
            }
        }
    }
    assert!(
        found.is_empty(),
        "{} lies:\n{}",
        found.len(),
        found.join("\n")
    );
}

const COMMANDS: [Caller; 2] = [Caller::CommandJson, Caller::CommandText];
const SCRIPTS: [Caller; 2] = [Caller::ScriptPerUser, Caller::ScriptShared];

macro_rules! detectors {
    ($($test:ident: $protocol:ident, $callers:ident, $io:literal;)*) => {
        $(#[test] fn $test() { detect(Protocol::$protocol, &$callers, $io); })*
    };
}

detectors! {
    http_epoll: Http, COMMANDS, "epoll";
    http_uring: Http, COMMANDS, "uring";
    grpc_epoll: Grpc, COMMANDS, "epoll";
    grpc_uring: Grpc, COMMANDS, "uring";
    http_scripts_epoll: Http, SCRIPTS, "epoll";
    http_scripts_uring: Http, SCRIPTS, "uring";
    grpc_scripts_epoll: Grpc, SCRIPTS, "epoll";
    grpc_scripts_uring: Grpc, SCRIPTS, "uring";
    websocket_scripts_epoll: WebSocket, SCRIPTS, "epoll";
    websocket_scripts_uring: WebSocket, SCRIPTS, "uring";
}

/// Checks the detector itself: it must detect a slight change of any figure.
#[test]
fn changed_figures_are_detected() {
    use plimsoll_testkit::logged_server::{Entry, Outcome};

    let ms = Duration::from_millis;
    let log = Log {
        entries: (0..4)
            .map(|number| Entry {
                connection: 0,
                arrived: ms(20 * number),
                ended: ms(20 * number + 10),
                outcome: Outcome::Responded(if number == 3 { 503 } else { 200 }),
                received: 5,
                sent: 2,
            })
            .collect(),
        connections: 1,
        ..Log::default()
    };
    let run = Run {
        protocol: Protocol::Http,
        caller: Caller::CommandJson,
        behavior: Behavior::Fail(4),
        users: 1,
        io: "epoll",
    };
    let truth = Figures {
        source: "--json",
        iterations: 4,
        calls: Some(4),
        failed: 1,
        sent: 15,
        received: 6,
        makespan: 0.08,
        megabits_per_second: Some(21.0 * 8.0 / 1e6 / 0.08),
        rounding: 0.0,
        unfinished: None,
    };
    let count = |change: &dyn Fn(&mut Figures)| {
        let mut claimed = truth.clone();
        change(&mut claimed);
        lies(run, &claimed, &log, ms(100)).len()
    };
    assert_eq!(count(&|_| {}), 0);
    let changes: [&dyn Fn(&mut Figures); 9] = [
        &|claimed| claimed.iterations = 3,
        &|claimed| claimed.calls = Some(3),
        &|claimed| claimed.failed = 0,
        &|claimed| claimed.sent = 20,
        &|claimed| claimed.received = 8,
        &|claimed| claimed.unfinished = Some("the rest did not end in time".to_owned()),
        &|claimed| claimed.megabits_per_second = Some(0.0),
        &|claimed| (claimed.makespan, claimed.megabits_per_second) = (0.069, None),
        &|claimed| (claimed.makespan, claimed.megabits_per_second) = (0.101, None),
    ];
    for (number, change) in changes.iter().enumerate() {
        assert_eq!(count(change), 1, "change {number}");
    }
}
