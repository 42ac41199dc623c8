//! The program under test, and its snapshots.

#![allow(dead_code)]

use std::net::SocketAddr;
use std::path::Path;

use plimsoll_testkit::program::{Program, Running};

/// Arguments that run a script and print only its log.
pub const RUN: [&str; 5] = [
    "run",
    "-q",
    "--summary-mode=disabled",
    "--log-format",
    "raw",
];

/// The program with these arguments, isolated from the user's settings.
pub fn plimsoll(arguments: &[&str]) -> Program {
    Program::at(env!("CARGO_BIN_EXE_plimsoll"))
        .args(arguments)
        .env("HOME", "/proc/nonexistent")
        .env("COLUMNS", "100")
}

/// The same program with messages on stdout, so that a test can wait for one of them.
pub fn plimsoll_with_messages(arguments: &[&str]) -> Program {
    Program::at("sh")
        .args(["-c", "exec \"$0\" \"$@\" 2>&1"])
        .arg(env!("CARGO_BIN_EXE_plimsoll"))
        .args(arguments)
        .env("HOME", "/proc/nonexistent")
        .env("COLUMNS", "100")
}

/// The address in the first line that contains the address of a page or an API.
pub fn printed_address(running: &mut Running) -> SocketAddr {
    loop {
        let line = running.line();
        let url = line.split_once("http://127.0.0.1:");
        let port = url.and_then(|(_, rest)| rest.split('/').next()?.parse().ok());
        if let Some(port) = port.filter(|_| line.contains("live page") || line.contains("API")) {
            return SocketAddr::from(([127, 0, 0, 1], port));
        }
    }
}

/// Compares `text` with `tests/snapshots/name.txt`; see `plimsoll_testkit::snapshot`.
#[track_caller]
pub fn snapshot(name: &str, text: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots");
    plimsoll_testkit::snapshot::compare(folder.join(format!("{name}.txt")), text);
}
