//! Writes the figures of all runs as a Markdown table, for docs/lie-detector.md.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Mutex;

use plimsoll_testkit::logged_server::Log;

use super::Row;
use super::commands::{Command, Io, Protocol, Run};

/// The rows so far, in the order of the table.
static LINES: Mutex<BTreeSet<(String, String)>> = Mutex::new(BTreeSet::new());

/// Adds a run, and writes the table to the file that `LIE_DETECTOR_TABLE` names, if it is set.
pub fn add(command: &Command, io: Io, row: &Row, run: &Run, log: &Log) {
    let Some(path) = std::env::var_os("LIE_DETECTOR_TABLE") else {
        return;
    };
    let Some(first) = run.reported.first() else {
        return;
    };
    let number = |figure: Option<u64>| figure.map_or("–".to_owned(), |figure| figure.to_string());
    let milliseconds =
        |figure: Option<f64>| figure.map_or("–".to_owned(), |figure| format!("{figure:.2}"));
    let held = log.held();
    let middle = held
        .get(held.len() / 2)
        .map(|held| held.as_secs_f64() * 1e3);
    let is_good = if command.protocol == Protocol::Grpc {
        0
    } else {
        200
    };
    let line = format!(
        "| {} | {} | {} | {} | {} | {} | {} | {} | {} |\n",
        row.name,
        command.name,
        io.name(),
        log.entries.len(),
        number(first.requests),
        log.failed(|status| status == is_good),
        number(first.failed),
        milliseconds(middle.filter(|_| !row.fails)),
        milliseconds(
            first
                .times
                .and_then(|times| times.p50)
                .filter(|_| !row.fails)
        ),
    );
    let mut lines = LINES.lock().expect("not poisoned");
    lines.insert((format!("{}{}{}", row.name, command.name, io.name()), line));
    let mut text = String::from(
        "| server | command | `--io` | requests: server | printed | failed: server | printed | p50 held by the server, ms | p50 printed, ms |\n|---|---|---|--:|--:|--:|--:|--:|--:|\n",
    );
    for (_, line) in lines.iter() {
        let _ = text.write_str(line);
    }
    std::fs::write(path, text).expect("the table");
}
