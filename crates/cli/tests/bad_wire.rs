//! Misbehaving servers. Every failure has a named error and is counted, no measurements are lost, and memory stays
//! bounded.

mod plimsoll;

use std::fs;

use plimsoll::plimsoll;
use plimsoll_testkit::peers::{Peer, Play, ok_response};
use plimsoll_testkit::ports;
use plimsoll_testkit::program::Program;
use serde_json::Value;

/// A kind of misbehavior, the error code that scripts see, and a part of the error.
fn misbehaving() -> Vec<(&'static str, Play, u32, &'static str)> {
    let bytes = |text: &str| text.as_bytes().to_vec();
    let ok = "HTTP/1.1 200 OK\r\n";
    let chunks = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    vec![
        ("garbage", Play::garbage(), 1000, "malformed HTTP"),
        (
            "half a response",
            Play::truncated_body(),
            1000,
            "unexpected EOF",
        ),
        ("a reset", Play::reset(), 1220, "reset by peer"),
        (
            "a reset in the body",
            Play::RespondAndReset(bytes(&format!("{ok}Content-Length: 9\r\n\r\nhal"))),
            1220,
            "reset by peer",
        ),
        ("closed at once", Play::CloseImmediately, 1000, "EOF"),
        (
            "endless headers",
            Play::endless_headers(),
            1000,
            "headers exceeded",
        ),
        ("a stall", Play::stall(), 1050, "request timeout"),
        (
            "a stall in the body",
            Play::RespondAndStall(bytes(&format!("{ok}Content-Length: 9\r\n\r\nhal"))),
            1050,
            "request timeout",
        ),
        (
            "a drip",
            Play::Drip {
                bytes: ok_response("slow").into_bytes(),
                pause: std::time::Duration::from_millis(20),
            },
            1050,
            "request timeout",
        ),
        (
            "data before the request",
            Play::SendFirst(bytes("220 mail.example.com ESMTP\r\n")),
            1000,
            "malformed HTTP",
        ),
        (
            "a chunk without a size",
            Play::RespondAndClose(bytes(&format!("{chunks}zz\r\n"))),
            1000,
            "invalid byte in chunk length",
        ),
        (
            "a chunk size that exceeds the limit",
            Play::RespondAndClose(bytes(&format!("{chunks}fffffffffffffffff\r\n"))),
            1000,
            "chunk length too large",
        ),
        (
            "an endless chunk extension",
            Play::Endless {
                start: bytes(&format!("{chunks}1;")),
                again: vec![b'x'; 64 << 10],
                bytes: 64 << 20,
            },
            1000,
            "too long",
        ),
        (
            "endless interim responses",
            Play::Endless {
                start: Vec::new(),
                again: b"HTTP/1.1 102 Processing\r\n\r\n".repeat(100),
                bytes: 64 << 20,
            },
            1000,
            "",
        ),
        (
            "an endless trailer",
            Play::Endless {
                start: bytes(&format!("{chunks}1\r\nx\r\n0\r\n")),
                again: bytes("X-Again: and again\r\n").repeat(64),
                bytes: 64 << 20,
            },
            1000,
            "",
        ),
        (
            "a body without its declared encoding",
            Play::RespondAndClose(bytes(&format!(
                "{ok}Content-Encoding: gzip\r\nContent-Length: 4\r\n\r\nnope"
            ))),
            1701,
            "decompressing",
        ),
        (
            "a body longer than the limit",
            Play::huge_body(10 << 30),
            1000,
            "exceeds",
        ),
    ]
}

/// Requests each address twice, logs the outcomes, sends requests to a good server in between, and waits at the end so
/// that the process can be inspected.
const SCRIPT: &str = "
    import http from 'k6/http';
    import { check, sleep } from 'k6';
    const places = JSON.parse(__ENV.PLACES);
    export const options = { vus: 2, iterations: 2 };
    export default function () {
        for (const [what, url] of places) {
            const r = http.get(url, { timeout: '400ms', tags: { name: what } });
            console.log(JSON.stringify([what, r.status, r.error_code, r.error]));
            check(http.get(__ENV.GOOD), { good: (r) => r.status === 200 && r.body === 'hello' });
        }
    }
    export function teardown() { console.log('over'); sleep(1); }";

fn run(script: &str, places: &[(String, String)], good: &str) -> Program {
    let places = serde_json::to_string(places).unwrap();
    plimsoll(&[
        "run",
        "--quiet",
        "--log-format",
        "raw",
        "--log-output",
        "stdout",
    ])
    .args([
        "-e",
        &format!("PLACES={places}"),
        "-e",
        &format!("GOOD={good}"),
    ])
    .input(script)
}

/// The lines up to `over`, and the peak memory of the program so far.
fn lines_and_memory(program: Program) -> (Vec<String>, Option<u64>) {
    let mut running = program.start();
    let mut lines = Vec::new();
    loop {
        let line = running.line();
        if line == "over" {
            let memory = running.peak_memory();
            assert_eq!(
                running.wait().status,
                Some(0),
                "a failed request does not fail the run"
            );
            return (lines, memory);
        }
        lines.push(line);
    }
}

fn metric(export: &Value, name: &str, key: &str) -> f64 {
    export["metrics"][name][key]
        .as_f64()
        .unwrap_or_else(|| panic!("{name}.{key} is missing in {export}"))
}

#[test]
fn every_failure_is_named_and_counted_and_nothing_else_is_lost() {
    let good = Peer::start(Play::ok("hello"));
    let plain = Peer::start(Play::SendFirst(
        b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(),
    ));
    let mut servers = Vec::new();
    let mut places = Vec::new();
    let mut wanted = Vec::new();
    for (what, play, code, words) in misbehaving() {
        let server = Peer::start(play);
        places.push((what.to_owned(), server.url()));
        wanted.push((what, code, words));
        servers.push(server);
    }
    for (what, url, code, words) in [
        (
            "nobody listens",
            format!("http://{}", ports::closed()),
            1212,
            "refused",
        ),
        (
            "no such name",
            "http://no-such-host.invalid".to_owned(),
            1101,
            "no such host",
        ),
        (
            "no TLS there",
            plain.url().replace("http:", "https:"),
            1301,
            "first record",
        ),
        (
            "no URL",
            "http://bad host/".to_owned(),
            1020,
            "invalid character",
        ),
    ] {
        places.push((what.to_owned(), url));
        wanted.push((what, code, words));
    }
    let folder = tempfile::tempdir().unwrap();
    let export = folder.path().join("summary.json");
    let program = run(SCRIPT, &places, &good.url())
        .arg("--summary-export")
        .arg(&export)
        .arg("-");
    let (lines, memory) = lines_and_memory(program);

    let printed: Vec<Value> = lines
        .iter()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect();
    for (what, code, words) in &wanted {
        let of = printed.iter().filter(|line| line[0] == **what);
        let of: Vec<&Value> = of.collect();
        assert_eq!(of.len(), 2, "{what}: {lines:?}");
        for line in of {
            assert_eq!((&line[1], &line[2]), (&0.into(), &(*code).into()), "{line}");
            assert!(
                line[3].as_str().is_some_and(|error| error.contains(words)),
                "{line}"
            );
        }
    }

    let export: Value = serde_json::from_slice(&fs::read(&export).unwrap()).unwrap();
    // An invalid URL is not sent as a request. Each other address was requested twice, and the good address in between.
    let bad = 2.0 * (wanted.len() - 1) as f64;
    let good_ones = 2.0 * wanted.len() as f64;
    assert_eq!(metric(&export, "http_reqs", "count"), bad + good_ones);
    // In this summary format, a sample of this rate that "passed" is a failed request.
    assert_eq!(metric(&export, "http_req_failed", "passes"), bad);
    assert_eq!(metric(&export, "checks", "passes"), good_ones);
    assert_eq!(metric(&export, "iterations", "count"), 2.0);
    if let Some(memory) = memory {
        assert!(memory < 300 << 20, "{} MiB", memory >> 20);
    }
}

#[test]
fn a_huge_discarded_body_does_not_use_memory() {
    const HUGE: u64 = 512 << 20;
    let server = Peer::start(Play::huge_body(HUGE));
    let script = "
        import http from 'k6/http';
        import { sleep } from 'k6';
        export default function () {
            const r = http.get(__ENV.GOOD, { responseType: 'none' });
            console.log(JSON.stringify([r.status, r.error, r.body]));
        }
        export function teardown() { console.log('over'); sleep(1); }";
    let program = run(script, &[], &server.url())
        .arg("--summary-mode=disabled")
        .arg("-");
    let (lines, memory) = lines_and_memory(program);
    assert_eq!(lines, ["[200,\"\",null]"]);
    if let Some(memory) = memory {
        assert!(memory < 100 << 20, "{} MiB", memory >> 20);
    }
}
