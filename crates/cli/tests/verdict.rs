//! Provokes each problem that makes the figures of a run unreliable, and checks that the verdict names its cause.
//!
//! A busy machine may cause further findings. So each test checks that the provoked finding exists, and no test checks
//! that a run is valid.

mod plimsoll;
#[cfg(target_os = "linux")]
#[path = "verdict/starved.rs"]
mod starved;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use plimsoll::plimsoll;
use plimsoll_testkit::program::{Ended, Program};
use serde_json::Value;

/// A server that sends `response` to each request when `admit` returns.
fn server(response: Vec<u8>, admit: impl Fn() + Send + Sync + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let (admit, response) = (Arc::new(admit), Arc::new(response));
    thread::spawn(move || {
        for connection in listener.incoming().flatten() {
            let (admit, response) = (Arc::clone(&admit), Arc::clone(&response));
            thread::spawn(move || serve(connection, &response, &*admit));
        }
    });
    address
}

fn serve(mut connection: TcpStream, response: &[u8], admit: &dyn Fn()) {
    let _ = connection.set_nodelay(true);
    let mut buffer = [0; 4_096];
    let mut held = 0;
    while let Ok(count @ 1..) = connection.read(&mut buffer[held..]) {
        held += count;
        if !buffer[..held].ends_with(b"\r\n\r\n") {
            continue;
        }
        held = 0;
        admit();
        if connection.write_all(response).is_err() {
            return;
        }
    }
}

fn ok(bytes: usize) -> Vec<u8> {
    let mut response = format!("HTTP/1.1 200 OK\r\ncontent-length: {bytes}\r\n\r\n").into_bytes();
    response.resize(response.len() + bytes, b'x');
    response
}

/// The level of a run's verdict, and its reasons, each with a cause.
fn verdict(ended: &Ended) -> (String, Vec<String>) {
    let result: Value =
        serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}"));
    let generator = &result["generator"];
    let reasons = generator["reasons"].as_array().expect("reasons");
    (
        generator["verdict"].as_str().expect("a level").to_owned(),
        reasons
            .iter()
            .map(|reason| {
                let text = |key: &str| reason[key].as_str().expect("text");
                format!("{}: {}", text("cause"), text("text"))
            })
            .collect(),
    )
}

/// Asserts that there is a reason with that cause and text.
#[track_caller]
fn assert_blamed(ended: &Ended, cause: &str, words: &str) {
    let (level, reasons) = verdict(ended);
    assert_ne!(level, "valid", "{reasons:?}");
    let blamed = |reason: &String| reason.starts_with(cause) && reason.contains(words);
    assert!(
        reasons.iter().any(blamed),
        "no {cause}: … {words} in {reasons:#?}"
    );
}

fn http(flags: &[&str], url: &str) -> Program {
    plimsoll(&[&["http", "--json", "--quiet"], flags, &[url]].concat())
}

#[test]
fn a_closed_loop_on_few_workers_is_saturated() {
    // Two workers of 10 ms, in the order of arrival. Their availability is computed: on a busy machine, threads that
    // wait for each other wake up in any order, and some never wait.
    let free = Mutex::new([Instant::now(); 2]);
    let address = server(ok(2), move || {
        let done = {
            let mut free = free.lock().expect("not poisoned");
            let first = free.iter_mut().min().expect("a worker");
            *first = (*first).max(Instant::now()) + Duration::from_millis(10);
            *first
        };
        thread::sleep(done.saturating_duration_since(Instant::now()));
    });
    let ended = http(&["-c", "100", "-d", "4s"], &format!("http://{address}/")).run();
    assert_blamed(
        &ended,
        "server",
        "the closed loop was saturated: all 100 users",
    );
}

#[test]
fn a_stall_that_a_closed_loop_hides_is_reported() {
    // Fast for one and a half seconds, then stuck for as long.
    let started = Instant::now();
    let address = server(ok(2), move || {
        let phase = started.elapsed().as_millis() % 3_000;
        if phase >= 1_500 {
            thread::sleep(Duration::from_millis(3_000 - phase as u64));
        }
    });
    let ended = http(&["-c", "2", "-d", "6s"], &format!("http://{address}/")).run();
    assert_blamed(&ended, "server", "the server stalled");
}

#[test]
fn an_excluded_warm_up_is_not_judged() {
    // Stuck once, within the first second after the first request.
    let stuck = || {
        let first = OnceLock::new();
        server(ok(2), move || {
            let started: &Instant = first.get_or_init(Instant::now);
            if (100..1_100).contains(&started.elapsed().as_millis()) {
                thread::sleep(Duration::from_millis(1_100).saturating_sub(started.elapsed()));
            }
        })
    };
    let folder = tempfile::tempdir().expect("a folder");
    let record = folder.path().join("run.jsonl").display().to_string();
    let judged = |warm_up: &[&str]| {
        let flags = ["-c", "2", "-d", "5s", "--record", &record];
        let ended = http(&[&flags, warm_up].concat(), &format!("http://{}/", stuck())).run();
        let (_, reasons) = verdict(&ended);
        reasons
            .iter()
            .any(|reason| reason.contains("the server stalled"))
    };
    assert!(judged(&[]));
    assert!(!judged(&["--warm-up", "3s"]));
}

#[test]
fn dropped_iterations_of_an_open_schedule_are_reported() {
    let address = server(ok(2), || thread::sleep(Duration::from_millis(100)));
    let flags = ["-r", "500", "-c", "2", "--max-users", "2", "-d", "2s"];
    let ended = http(&flags, &format!("http://{address}/")).run();
    assert_blamed(&ended, "server", "scheduled iterations were dropped");
    assert_eq!(verdict(&ended).0, "invalid");
    let result: Value = serde_json::from_str(&ended.stdout).expect("JSON");
    let count = |key: &str| result[key].as_u64().expect("a count");
    // Two users with 100 ms per request send about 40 of the 1,000 scheduled requests.
    assert!(count("dropped_iterations") > 900, "{result}");
    assert_eq!(count("requests") + count("dropped_iterations"), 1_000);
}

#[test]
fn arrivals_that_deviate_from_the_requested_process_are_reported() {
    let address = server(ok(2), || thread::sleep(Duration::from_millis(5)));
    let flags = ["-r", "2000", "-c", "4", "--max-users", "4", "-d", "2s"];
    let url = format!("http://{address}/");
    let ended = http(&flags, &url).args(["--arrivals", "poisson"]).run();
    let words = "iterations did not start as poisson arrivals (Anderson-Darling";
    assert_blamed(&ended, "server", words);
}

#[test]
fn a_server_that_mostly_fails_is_reported() {
    let address = server(
        b"HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n".to_vec(),
        || (),
    );
    let ended = http(&["-c", "2", "-n", "100"], &format!("http://{address}/")).run();
    assert_blamed(&ended, "server", "100 of 100 requests failed");
}

#[test]
fn a_throttled_link_is_reported() {
    let address = server(ok(100_000), || ()).to_string();
    let link = [
        "link",
        "--listen",
        "127.0.0.1:0",
        "--to",
        &address,
        "--rate",
        "8Mbit/s",
    ];
    let mut link = plimsoll(&link).start();
    let ready: Value = serde_json::from_str(&link.line()).expect("JSON");
    let url = format!(
        "http://{}/",
        ready["listening"].as_str().expect("an address")
    );
    let ended = http(&["-c", "2", "-d", "3s"], &url).run();
    drop(link);
    assert_blamed(&ended, "network", "bytes were in transit for");
}

/// Linux reports the number of open file descriptors.
#[cfg(target_os = "linux")]
#[test]
fn a_shortage_of_descriptors_is_reported() {
    let address = server(ok(2), || thread::sleep(Duration::from_millis(20)));
    let line = format!(
        "ulimit -n 200; exec '{}' http --json --quiet -c 160 -d 2s http://{address}/",
        env!("CARGO_BIN_EXE_plimsoll")
    );
    let ended = Program::at("/bin/sh").args(["-c", &line]).run();
    let (level, reasons) = verdict(&ended);
    assert_ne!(level, "valid", "{reasons:?}");
    // With many processors, there are enough workers to use the rest of the 200.
    let printed = |reason: &String| {
        reason.contains("of 200 file descriptors were open")
            || reason.contains("because there was no free local port or file descriptor")
    };
    assert!(reasons.iter().any(printed), "{reasons:?}");
}

#[test]
fn exhausted_descriptors_are_reported() {
    let address = server(ok(2), || thread::sleep(Duration::from_millis(2)));
    let line = format!(
        "ulimit -n 40; exec '{}' http --json --quiet -c 100 --warm-up 1s -d 2s http://{address}/",
        env!("CARGO_BIN_EXE_plimsoll")
    );
    let ended = Program::at("/bin/sh").args(["-c", &line]).run();
    assert_blamed(
        &ended,
        "client",
        "because there was no free local port or file descriptor",
    );
    assert_eq!(verdict(&ended).0, "invalid");
    // It also measures the machine without a free descriptor: at the end of the warm-up, none is left.
    assert!(!ended.stdout.contains("does not show"), "{}", ended.stdout);
}
