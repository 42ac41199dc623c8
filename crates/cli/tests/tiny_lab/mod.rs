//! A lab in its own folder, whose system is the test program itself.
#![allow(dead_code)]

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

const PORT: &str = "LAB_TEST_PORT";
/// The address on which the system listens; 127.0.0.1 by default.
const HOST: &str = "LAB_TEST_HOST";
/// The system's response time, in milliseconds.
const DELAY: &str = "LAB_TEST_DELAY";

/// The system of these labs: this test program, started again with a port to listen on.
#[test]
fn a_system_to_measure() {
    let Ok(port) = std::env::var(PORT) else {
        return;
    };
    let host = std::env::var(HOST).unwrap_or_else(|_| "127.0.0.1".to_owned());
    let listener = TcpListener::bind(format!("{host}:{port}")).expect("a port");
    for stream in listener.incoming().flatten() {
        thread::spawn(move || serve_connection(stream));
    }
}

fn serve_connection(stream: TcpStream) {
    let Ok(mut writer) = stream.try_clone() else {
        return;
    };
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    let mut is_put = false;
    let delay = std::env::var(DELAY).ok().and_then(|text| text.parse().ok());
    let delay = Duration::from_millis(delay.unwrap_or(0));
    while matches!(reader.read_line(&mut line), Ok(1..)) {
        if line == "\r\n" {
            thread::sleep(delay);
        }
        is_put |= line.contains("PUT /");
        if line == "\r\n" {
            let body = if std::mem::take(&mut is_put) {
                "{\"ok\":\"PUT\"}"
            } else {
                "{\"ok\":true}"
            };
            let length = body.len();
            let response = format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n{body}");
            if writer.write_all(response.as_bytes()).is_err() {
                return;
            }
        }
        line.clear();
    }
}

pub const SCRIPT: &str = "import http from 'k6/http';\nimport { check } from 'k6';\n\
    export default function () {\n  const r = http.get(__ENV.BASE);\n  \
    check(r, { 'is ok': (r) => r.json('ok') === true });\n}\n";

pub struct Lab {
    pub directory: tempfile::TempDir,
}

impl Lab {
    pub fn new(text: &str) -> Lab {
        let directory = tempfile::tempdir().expect("a directory");
        let us = std::env::current_exe().expect("this test");
        let text = text.replace(
            "SYSTEM",
            &format!(
                "'{}' --exact tiny_lab::a_system_to_measure --nocapture",
                us.display()
            ),
        );
        fs::write(directory.path().join("lab.toml"), text).expect("a file");
        fs::write(directory.path().join("get.js"), SCRIPT).expect("a file");
        Lab { directory }
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_plimsoll"));
        // Leftover temporary files are detected in this folder.
        fs::create_dir_all(self.tmp()).expect("a directory");
        command
            .args(["lab"])
            .args(arguments)
            .current_dir(self.directory.path())
            .env("TMPDIR", self.tmp())
            .stdin(Stdio::null());
        command
    }

    pub fn tmp(&self) -> PathBuf {
        self.directory.path().join("tmp")
    }

    pub fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("the program runs")
    }

    /// The only run.
    pub fn the_run(&self) -> PathBuf {
        let mut runs = fs::read_dir(self.directory.path().join("results")).expect("results");
        runs.next().expect("a run").expect("a run").path()
    }

    pub fn result(&self) -> Value {
        let text = fs::read_to_string(self.the_run().join("result.json")).expect("a result");
        serde_json::from_str(&text).expect("JSON")
    }

    /// The result of a successful run that left no processes or files.
    pub fn run_well(&self) -> Value {
        let output = self.run(&["run", "lab.toml"]);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{stderr}");
        self.assert_nothing_is_left();
        self.result()
    }

    /// The only cell of a successful lab.
    pub fn cell(&self) -> Value {
        let result = self.run_well();
        let cell = result["cells"][0].clone();
        assert_eq!(cell["state"]["state"], "measured", "{cell:#}");
        cell
    }

    /// Waits until no process and no private folder of this lab remains.
    pub fn assert_nothing_is_left(&self) {
        let end = Instant::now() + Duration::from_secs(30);
        loop {
            let processes = processes_with(&self.tmp());
            let files: Vec<_> = fs::read_dir(self.tmp())
                .expect("it is there")
                .flatten()
                .collect();
            if processes.is_empty() && files.is_empty() {
                return;
            }
            assert!(Instant::now() < end, "remaining: {processes:?} {files:?}");
            thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Processes whose temporary folder is below this one. Everything that a lab starts is among them.
pub fn processes_with(directory: &Path) -> Vec<String> {
    let wanted = format!("TMPDIR={}", directory.display());
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").expect("/proc").flatten() {
        let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
        if String::from_utf8_lossy(&environment)
            .split('\0')
            .any(|one| one.starts_with(&wanted))
        {
            let command = fs::read(entry.path().join("cmdline")).unwrap_or_default();
            found.push(String::from_utf8_lossy(&command).replace('\0', " "));
        }
    }
    found
}

/// Two kinds of load and two numbers of users, for one second each.
pub const TINY: &str = r#"
[lab]
title = "A tiny lab"
pause = "0ms"

[axes]
how = ["script", "http"]
users = [1, 2]

[[system]]
name = "pages"
command = "SYSTEM"
environment = { LAB_TEST_PORT = "{port}" }

[[load]]
script = "get.js"
environment = { BASE = "{pages.url}/" }
users = "{users}"
warmup = "0s"
duration = "1s"
restarts = 1

[[load]]
when = { how = "http" }
http = { url = "{pages.url}/" }

[sanity]
expect = { json = { "/ok" = true } }

[[objective]]
metric = "latency"
p = 50
at-most = "10s"
"#;

/// The tiny lab with only the script's cell.
pub fn one_cell() -> String {
    TINY.replace("how = [\"script\", \"http\"]", "how = [\"script\"]")
        .replace("users = [1, 2]", "users = [1]")
        .replace(
            "[[load]]\nwhen = { how = \"http\" }\nhttp = { url = \"{pages.url}/\" }\n",
            "",
        )
}
