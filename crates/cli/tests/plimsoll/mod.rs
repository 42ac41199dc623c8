//! The program under test, and its snapshots.

#![allow(dead_code)]

use std::path::Path;

use plimsoll_testkit::program::Program;

/// Arguments that run a script and print nothing but what it logs.
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

/// Compares `text` with `tests/snapshots/name.txt`; see `plimsoll_testkit::snapshot`.
#[track_caller]
pub fn snapshot(name: &str, text: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots");
    plimsoll_testkit::snapshot::compare(folder.join(format!("{name}.txt")), text);
}
