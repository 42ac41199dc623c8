//! `plimsoll lab run --web` in a real browser: Debian's Chromium, driven by the live page's `lab.mjs`.
#![cfg(target_os = "linux")]

mod tiny_lab;

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use plimsoll_testkit::chromium::chromium;
use plimsoll_testkit::npm;
use serde_json::Value;
use tiny_lab::{Lab, TINY};

const PACKAGE: &str = include_str!("../../live/tests/browser/package.json");
const LOCK: &str = include_str!("../../live/tests/browser/package-lock.json");
const WATCH: &str = include_str!("../../live/tests/browser/lab.mjs");

#[test]
fn a_browser_watches_a_lab_from_start_to_end() {
    let chromium = chromium();
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("lab-browser");
    npm::install(&directory, PACKAGE, LOCK);
    std::fs::write(directory.join("lab.mjs"), WATCH).expect("a file below target");
    let screenshot = Path::new(env!("CARGO_TARGET_TMPDIR")).join("../screenshots/live-lab.png");
    let mut browser = Command::new("node")
        .arg("lab.mjs")
        .arg(screenshot)
        .env("CHROMIUM", chromium)
        .current_dir(&directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("this test needs Node.js");
    let mut lines = BufReader::new(browser.stdout.take().expect("a pipe")).lines();
    let mut line = || lines.next().expect("a line").expect("text");
    assert_eq!(line(), "ready");

    // The lab starts when the browser runs, so that there is something to watch.
    let lab = Lab::new(TINY);
    let mut run = lab
        .command(&["run", "lab.toml", "--web=0"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    let mut messages = BufReader::new(run.stderr.take().expect("a pipe")).lines();
    let mut addresses = messages.by_ref().map_while(Result::ok);
    let address = addresses
        .find_map(|line| line.strip_prefix("live page: ").map(str::to_owned))
        .expect("the page's address");
    let rest = thread::spawn(move || messages.map_while(Result::ok).collect::<Vec<_>>());
    let mut input = browser.stdin.take().expect("a pipe");
    writeln!(input, "{address}").expect("the browser reads");

    let shown: Value = serde_json::from_str(&line()).expect("JSON");
    let status = browser.wait().expect("the browser ends");
    assert!(status.success(), "see above for what is wrong: {shown}");
    let ended = run.wait().expect("the lab ends");
    assert_eq!(ended.code(), Some(0), "{:?}", rest.join());
    assert_eq!(shown["title"], "A tiny lab");
    let rows = shown["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 4, "{shown:#}");
    for row in rows {
        let row = row.as_str().expect("text");
        assert!(row.contains("1 of 1") && row.contains('✓'), "{shown:#}");
        assert!(row.contains("requests/s"), "{shown:#}");
    }
    // The page showed several steps of the lab, and its conclusions at the end.
    assert!(shown["steps"].as_u64() > Some(1), "{shown:#}");
    assert_ne!(shown["result"], "", "{shown:#}");
    lab.assert_nothing_is_left();
}
