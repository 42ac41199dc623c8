//! Runs the examples of k6's own module, which are fetched when the test runs, with Plimsoll and with the real k6 on
//! the same server.

mod fetched;
mod plimsoll;

use std::collections::{BTreeSet, VecDeque};
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use fetched::{files_below, go_module, skip};
use plimsoll_testkit::cases::suite::Server;
use plimsoll_testkit::program::Program;
use serde_json::{Value, json};

const MODULE: &str = "go.k6.io/k6@v1.8.1";
/// The counters that are compared.
const COUNTERS: &[&str] = &[
    "iterations",
    "http_reqs",
    "ws_sessions",
    "ws_msgs_sent",
    "ws_msgs_received",
    "grpc_streams",
    "grpc_streams_msgs_sent",
];
/// Examples that are skipped, by the start of their paths, with the reason.
const LEFT_OUT: &[(&str, &str)] = &[
    ("browser/", "needs pages of other hosts"),
    ("malicious.js", "never ends"),
    ("es6sample.js", "sleeps for up to ten seconds"),
    (
        "localhost.js",
        "requires responses within 10 ms, which a busy machine misses",
    ),
    ("pantheon", "sleeps for longer than the test may take"),
    ("experimental/redis.js", "needs the web and a Redis server"),
    ("secrets/totp", "needs the web"),
    ("websockets/ws.js", "needs the web"),
    ("secrets/url-source", "needs a server of secrets"),
    (
        "tlsconfig.js",
        "requires cipher suites without forward secrecy, which are refused here",
    ),
];
/// Examples that take too long in a build without optimization.
const SLOW: &[&str] = &[
    "webcrypto/derive_bits/derive-bits-pbkdf2.js",
    "webcrypto/derive_key/derive-key-pbkdf2.js",
];
/// Arguments of examples, by path.
const ARGUMENTS: &[(&str, &[&str])] = &[
    (
        "secrets/multi-source.test.js",
        &[
            "--secret-source=mock=default,cool=secret",
            "--secret-source=mock=name=another,cool=other",
        ],
    ),
    (
        "secrets/secrets.test.js",
        &["--secret-source=file=file.secret"],
    ),
];
/// A run that takes longer is killed, and the test fails.
const LIMIT: Duration = Duration::from_secs(20);

#[test]
fn examples_pass_and_fail_as_in_k6() {
    let Some(k6) = k6() else {
        return skip(
            "the examples of k6",
            "k6 is not installed: go install go.k6.io/k6@v1.8.1",
        );
    };
    let examples = match go_module(MODULE) {
        Ok(module) => module.join("examples"),
        Err(reason) => return skip("the examples of k6", &reason),
    };
    let mut todo = VecDeque::new();
    for ending in [".js", ".ts"] {
        for path in files_below(&examples, ending) {
            let left_out = LEFT_OUT.iter().find(|(start, _)| path.starts_with(start));
            let is_slow = cfg!(debug_assertions) && SLOW.contains(&&*path);
            match left_out.map(|(_, reason)| *reason) {
                Some(reason) => skip(&format!("the example {path} of k6"), reason),
                None if is_slow => skip(
                    &format!("the example {path} of k6"),
                    "computes for too long in a build without optimization",
                ),
                None => todo.push_back(path),
            }
        }
    }
    let count = todo.len();
    assert!(count > 50, "{count} examples");
    let server = Server::start().unwrap();
    let (todo, wrong) = (Mutex::new(todo), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(path) = { todo.lock().unwrap().pop_front() } {
                    // A killed run must not hide the outcome of the others.
                    let both = catch_unwind(AssertUnwindSafe(|| {
                        let theirs = outcome(&k6, &examples, &path, &server);
                        (
                            theirs,
                            outcome(
                                env!("CARGO_BIN_EXE_plimsoll").as_ref(),
                                &examples,
                                &path,
                                &server,
                            ),
                        )
                    }));
                    let text = match both {
                        Ok((theirs, ours)) if theirs.0 == ours.0 => continue,
                        Ok((theirs, ours)) => {
                            format!("{}\n{}\n{}\n{}", theirs.0, theirs.1, ours.0, ours.1)
                        }
                        Err(_) => "was killed: see above".to_owned(),
                    };
                    wrong.lock().unwrap().push(format!("{path}:\n{text}"));
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(
        wrong.is_empty(),
        "{} of {count}:\n{}",
        wrong.len(),
        wrong.join("\n\n")
    );
}

/// The real k6: `$K6`, or the one that Go installed.
fn k6() -> Option<PathBuf> {
    let named = std::env::var_os("K6").map(PathBuf::from);
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let found = named.or_else(|| Some(home?.join("go/bin/k6")));
    found.filter(|path| path.is_file())
}

/// The result of one iteration of an example: exit status, checks, counters and log.
fn outcome(program: &Path, examples: &Path, path: &str, server: &Server) -> (Value, String) {
    let folder = tempfile::tempdir().unwrap();
    let script = examples.join(path);
    let config = folder.path().join("config.json");
    let source = fs::read_to_string(&script).unwrap();
    fs::write(
        &config,
        json!({ "hosts": hosts(&source, server) }).to_string(),
    )
    .unwrap();
    let summary = folder.path().join("summary.json");
    let base = address(server, "BASE");
    let more = ARGUMENTS.iter().find(|(name, _)| *name == path);
    let ended = Program::at(program)
        .args(["run", "--quiet", "--no-usage-report", "--no-color"])
        .args([
            "--vus",
            "1",
            "--iterations",
            "1",
            "--insecure-skip-tls-verify",
        ])
        .args(["-e", &format!("GRPC_ADDR={base}")])
        .args(more.map_or(&[][..], |(_, arguments)| arguments))
        .arg("--summary-export")
        .arg(&summary)
        .arg("--config")
        .arg(&config)
        .arg(&script)
        .inside(script.parent().unwrap())
        .env("HOME", folder.path())
        .limit(LIMIT)
        .run();
    let summary = fs::read_to_string(&summary).unwrap_or_default();
    let summary: Value = serde_json::from_str(&summary).unwrap_or_default();
    let counters = COUNTERS.iter().map(|name| {
        (
            (*name).to_owned(),
            summary["metrics"][name]["count"].clone(),
        )
    });
    let result = json!({
        "status": ended.status,
        "checks": summary["root_group"],
        "counters": counters.collect::<serde_json::Map<_, _>>(),
    });
    (result, ended.stderr)
}

/// Resolves every host that a script names to the server, so that no data leaves this machine.
fn hosts(source: &str, server: &Server) -> Value {
    let (plain, tls) = (address(server, "BASE"), address(server, "TLS"));
    let names: BTreeSet<&str> = source
        .split("://")
        .skip(1)
        .map(|rest| {
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && !".-_:@".contains(c));
            let authority = &rest[..end.unwrap_or(rest.len())];
            let host = authority.rsplit('@').next().unwrap_or_default();
            host.split(':').next().unwrap_or_default()
        })
        .filter(|host| !host.is_empty())
        .collect();
    let mut hosts = serde_json::Map::new();
    for name in names {
        hosts.insert(name.to_owned(), json!(plain));
        hosts.insert(format!("{name}:443"), json!(tls));
    }
    Value::Object(hosts)
}

/// The address and port of a listener.
fn address<'a>(server: &'a Server, name: &str) -> &'a str {
    let variables = &server.addresses.variables;
    let (_, url) = variables.iter().find(|(known, _)| known == name).unwrap();
    url.split_once("://").unwrap().1
}
