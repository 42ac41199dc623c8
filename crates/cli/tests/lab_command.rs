//! `plimsoll lab`: runs, mistakes, and what is left when it is killed.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

const PORT: &str = "LAB_TEST_PORT";

/// The system of these labs: this very test, started again with a port to listen on.
#[test]
fn a_system_to_measure() {
    let Ok(port) = std::env::var(PORT) else {
        return;
    };
    let listener = TcpListener::bind(format!("127.0.0.1:{port}")).expect("a port");
    for stream in listener.incoming().flatten() {
        thread::spawn(move || answer(stream));
    }
}

fn answer(stream: TcpStream) {
    let Ok(mut writer) = stream.try_clone() else {
        return;
    };
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    while matches!(reader.read_line(&mut line), Ok(1..)) {
        if line == "\r\n"
            && writer
                .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 11\r\n\r\n{\"ok\":true}")
                .is_err()
        {
            return;
        }
        line.clear();
    }
}

const SCRIPT: &str = "import http from 'k6/http';\nimport { check } from 'k6';\n\
    export default function () {\n  const r = http.get(__ENV.BASE);\n  \
    check(r, { 'is ok': (r) => r.json('ok') === true });\n}\n";

struct Lab {
    directory: tempfile::TempDir,
}

impl Lab {
    fn new(text: &str) -> Lab {
        let directory = tempfile::tempdir().expect("a directory");
        let us = std::env::current_exe().expect("this test");
        let text = text.replace(
            "SYSTEM",
            &format!("'{}' --exact a_system_to_measure --nocapture", us.display()),
        );
        fs::write(directory.path().join("lab.toml"), text).expect("a file");
        fs::write(directory.path().join("get.js"), SCRIPT).expect("a file");
        Lab { directory }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_plimsoll"));
        // Whatever is left is found here.
        fs::create_dir_all(self.tmp()).expect("a directory");
        command
            .args(["lab"])
            .args(arguments)
            .current_dir(self.directory.path())
            .env("TMPDIR", self.tmp())
            .stdin(Stdio::null());
        command
    }

    fn tmp(&self) -> PathBuf {
        self.directory.path().join("tmp")
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("the program runs")
    }

    /// The one run there is.
    fn the_run(&self) -> PathBuf {
        let mut runs = fs::read_dir(self.directory.path().join("results")).expect("results");
        runs.next().expect("a run").expect("a run").path()
    }

    fn result(&self) -> Value {
        let text = fs::read_to_string(self.the_run().join("result.json")).expect("a result");
        serde_json::from_str(&text).expect("JSON")
    }

    /// Waits until no process and no private directory of this lab is left.
    fn assert_nothing_is_left(&self) {
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
            assert!(Instant::now() < end, "left: {processes:?} {files:?}");
            thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Processes whose temporary directory lies in this one, as all that a lab starts have it.
fn processes_with(directory: &Path) -> Vec<String> {
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

const TINY: &str = r#"
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
repeats = 1

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

#[test]
fn a_tiny_lab_is_run_and_concluded() {
    let lab = Lab::new(TINY);
    let output = lab.run(&["run", "lab.toml"]);
    let talk = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{talk}");
    lab.assert_nothing_is_left();
    let result = lab.result();
    let cells = result["cells"].as_array().expect("cells");
    assert_eq!(cells.len(), 4);
    for cell in cells {
        assert_eq!(cell["state"]["state"], "measured", "{cell:#}");
        let repeat = &cell["repeats"][0];
        assert!(repeat["requests"].as_u64() > Some(0), "{repeat:#}");
        assert_eq!(repeat["failed"], 0);
        assert_eq!(repeat["used"][0]["name"], "pages");
        let seconds = repeat["seconds"].as_array().expect("seconds");
        let counted: u64 = seconds
            .iter()
            .filter_map(|second| second["requests"].as_u64())
            .sum();
        assert_eq!(
            repeat["requests"].as_u64(),
            Some(counted),
            "nothing was cut off"
        );
        // A busy machine may make the generator doubt itself; then there are no figures.
        let figures = cell["figures"].as_array().expect("figures");
        assert_eq!(figures.is_empty(), cell["verdict"] == "invalid", "{cell:#}");
        assert!(
            cell["sanity"].as_str().expect("sanity").contains("one "),
            "{cell:#}"
        );
    }
    let again = lab.run(&["report", lab.the_run().to_str().expect("text")]);
    assert_eq!(again.status.code(), Some(0));
    assert!(lab.result() == result, "concluding again changes nothing");
    let list = lab.run(&["list"]);
    assert!(String::from_utf8_lossy(&list.stdout).contains("4 cells"));
}

/// Changes the tiny lab, runs it, and gives what it said; nothing may be left.
fn mistake(from: &str, to: &str) -> String {
    assert!(TINY.contains(from), "{from}");
    let lab = Lab::new(&TINY.replace(from, to));
    let output = lab.run(&["run", "lab.toml"]);
    let talk = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_ne!(output.status.code(), Some(0), "{talk}");
    assert_eq!(talk.matches("error: ").count(), 1, "{talk}");
    lab.assert_nothing_is_left();
    talk
}

#[test]
fn each_mistake_ends_in_one_message() {
    let told = mistake("pause =", "puase =");
    assert!(
        told.contains("lab.toml:4: unknown key \"puase\" in [lab]; is \"pause\" meant?"),
        "{told}"
    );
    let told = mistake("users = [1, 2]", "users = []");
    assert!(
        told.contains("lab.toml:8: the axis \"users\" is empty"),
        "{told}"
    );
    let told = mistake("\"SYSTEM\"", "\"no-such-program --x\"");
    assert!(
        told.contains("lab.toml:12: the program no-such-program is missing: install it"),
        "{told}"
    );

    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = taken.local_addr().expect("an address").port();
    let told = mistake(
        "name = \"pages\"",
        &format!("name = \"pages\"\nport = {port}"),
    );
    assert!(
        told.contains(&format!("lab.toml:12: pages cannot have port {port}")),
        "{told}"
    );
    drop(taken);

    let told = mistake(
        "[[system]]",
        &format!(
            "[[service]]\nname = \"db\"\nkind = \"postgres\"\nurl = \"postgres://me@127.0.0.1:{port}/x\"\n\n[[system]]"
        ),
    );
    assert!(
        told.contains("lab.toml:13: db refuses: 127.0.0.1:"),
        "{told}"
    );
    assert!(told.contains("start it, or leave url out"), "{told}");

    let told = mistake(
        "[[load]]\nscript",
        "[seed]\ncommand = \"echo '{\\\"written\\\": 7}'\"\nexpect = { written = 8 }\n\n[[load]]\nscript",
    );
    assert!(
        told.contains("lab.toml:17: the seed seed falls short: written should be 8, and is 7"),
        "{told}"
    );

    let lab = Lab::new(
        &TINY
            .replace("\"/ok\" = true", "\"/ok\" = false")
            .replace("how = [\"script\", \"http\"]", "how = [\"http\"]")
            .replace("[1, 2]", "[1]"),
    );
    let output = lab.run(&["run", "lab.toml"]);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert_eq!(told.matches("error: ").count(), 1, "{told}");
    assert!(told.contains("/ok should be false, and is true"), "{told}");
    assert!(
        told.contains("lab.toml:27: the sanity request of how=http users=1 failed"),
        "{told}"
    );
    assert_eq!(lab.result()["cells"][0]["state"]["state"], "insane");
    assert_eq!(lab.result()["cells"][0]["figures"], serde_json::json!([]));
    lab.assert_nothing_is_left();
}

/// A number that differs from run to run.
fn random(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

#[test]
fn killed_at_any_moment_it_leaves_nothing_and_resumes() {
    let since = std::time::UNIX_EPOCH.elapsed().expect("after 1970");
    let mut state = (since.as_nanos() as u64) | 1;
    let seed = format!("seed {state}");
    let text = TINY
        .replace("duration = \"1s\"", "duration = \"300ms\"")
        .replace("repeats = 1", "repeats = 2")
        // A script runs for a second at least.
        .replace("[\"script\", \"http\"]", "[\"http\"]");
    let lab = Lab::new(&text);
    let mut first = true;
    for round in 0..20 {
        let run = (!first).then(|| lab.the_run());
        let arguments: Vec<&str> = match &run {
            None => vec!["run", "lab.toml"],
            Some(run) => vec!["resume", run.to_str().expect("text")],
        };
        let mut child = lab
            .command(&arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program runs");
        thread::sleep(Duration::from_millis(random(&mut state) % 700));
        // The one that a person started, or the one that works.
        let victim = match round % 2 {
            0 => Some(child.id()),
            _ => child_of(child.id()),
        };
        if let Some(victim) = victim {
            let _ = Command::new("kill")
                .args(["-9", &victim.to_string()])
                .status();
        }
        let _ = child.wait();
        lab.assert_nothing_is_left();
        first = !lab.directory.path().join("results").is_dir()
            || fs::read_dir(lab.directory.path().join("results"))
                .expect("results")
                .count()
                == 0
            || !lab.the_run().join("run.json").is_file();
        if first {
            let _ = fs::remove_dir_all(lab.directory.path().join("results"));
        }
    }
    let last = match first {
        true => lab.run(&["run", "lab.toml"]),
        false => lab.run(&["resume", lab.the_run().to_str().expect("text")]),
    };
    assert_eq!(
        last.status.code(),
        Some(0),
        "{seed}: {}",
        String::from_utf8_lossy(&last.stderr)
    );
    let result = lab.result();
    for cell in result["cells"].as_array().expect("cells") {
        assert_eq!(cell["state"]["state"], "measured", "{cell:#}");
        let numbers: Vec<_> = cell["repeats"]
            .as_array()
            .expect("repeats")
            .iter()
            .map(|one| one["number"].as_u64())
            .collect();
        assert_eq!(numbers, [Some(1), Some(2)]);
    }
    lab.assert_nothing_is_left();
}

/// The worker of a lab.
fn child_of(parent: u32) -> Option<u32> {
    let text = fs::read_to_string(format!("/proc/{parent}/task/{parent}/children")).ok()?;
    text.split_whitespace().next()?.parse().ok()
}
