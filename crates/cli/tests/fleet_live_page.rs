//! The agents of a fleet on the live page, in a real browser: Debian's Chromium, driven by the live page's `fleet.mjs`.
#![cfg(target_os = "linux")]

mod watched_page;

use std::fs;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use plimsoll_testkit::peers::{Peer, Play};
use watched_page::Browser;

const WATCH: &str = include_str!("../../live/tests/browser/fleet.mjs");

#[test]
fn the_page_shows_each_agent_of_a_fleet() {
    let browser = Browser::start("fleet", WATCH);
    let service = Peer::start(Play::ok("hello"));
    let mut program = Command::new(env!("CARGO_BIN_EXE_plimsoll"));
    program
        .args(["http", "--rate", "40", "--duration", "6s", "--users", "40"])
        .args(["--fleet", "local:3", "--web=0"])
        .arg(service.url())
        .env("HOME", "/proc/nonexistent");
    let shown = browser.watch(&mut program);

    assert_eq!(shown["during"], 3, "{shown:#}");
    assert_eq!(shown["marks"], "", "{shown:#}");
    let rows = shown["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 3, "{shown:#}");
    let mut requests = 0;
    for (number, row) in rows.iter().enumerate() {
        let cell = |at: usize| row[at].as_str().expect("text");
        assert_eq!(cell(0), format!("local-{number:03}"));
        requests += cell(3).parse::<usize>().expect("a count");
        assert_eq!(cell(4), "0", "{row}");
        for figure in [5, 6, 7] {
            assert!(cell(figure).ends_with('s'), "{row}");
        }
        assert_eq!(cell(9), "", "{row}");
    }
    // Every request of the run counts exactly once.
    assert_eq!(requests, 240, "{shown:#}");
    for part in ["rates", "times"] {
        let charts = shown[part].as_array().expect("charts");
        assert_eq!(charts.len(), 3, "{shown:#}");
        for (number, chart) in charts.iter().enumerate() {
            assert_eq!(chart["title"], format!("local-{number:03}"));
            assert_eq!(chart["hasLine"], true, "{chart}");
        }
    }
}

/// Kills the agent with this name whose process has this variable.
fn kill_agent(name: &str, variable: &str) {
    let started = Instant::now();
    let holds = |path: std::path::PathBuf, text: &str| {
        let bytes = fs::read(path).unwrap_or_default();
        String::from_utf8_lossy(&bytes)
            .split('\0')
            .any(|part| part == text)
    };
    while started.elapsed() < Duration::from_secs(60) {
        let mut processes = fs::read_dir("/proc").expect("processes").flatten();
        let agent = processes.find(|process| {
            holds(process.path().join("cmdline"), name)
                && holds(process.path().join("environ"), variable)
        });
        if let Some(agent) = agent {
            let id = agent.file_name();
            let killed = Command::new("kill").arg("-9").arg(id).status();
            assert!(killed.expect("kill").success());
            return;
        }
        thread::sleep(Duration::from_millis(20));
    }
    panic!("there is no agent {name}");
}

#[test]
fn the_page_marks_when_agents_of_a_fleet_are_lost() {
    let browser = Browser::start("lost-agent", WATCH);
    let service = Peer::start(Play::ok("hello"));
    let (name, value) = ("PLIMSOLL_TEST_RUN", std::process::id().to_string());
    let mut program = Command::new(env!("CARGO_BIN_EXE_plimsoll"));
    program
        .args(["http", "--rate", "40", "--duration", "10s", "--users", "40"])
        .args([
            "--fleet",
            "local:3",
            "--fleet-loss",
            "redistribute",
            "--web=0",
        ])
        .arg(service.url())
        .env(name, &value)
        .env("HOME", "/proc/nonexistent");
    let shown = thread::scope(|scope| {
        scope.spawn(|| {
            let started = Instant::now();
            while service.requests() < 80 && started.elapsed() < Duration::from_secs(60) {
                thread::sleep(Duration::from_millis(20));
            }
            kill_agent("local-001", &format!("{name}={value}"));
        });
        browser.watch(&mut program)
    });
    let marks = shown["marks"].as_str().expect("text");
    assert!(marks.starts_with("Dashed lines: 1: at 0:0"), "{shown:#}");
    for part in [
        "agent 1 (local-001) was lost: its process ended",
        "; 2: at 0:0",
        "other agents took over the load of agent 1 (local-001)",
    ] {
        assert!(marks.contains(part), "{part}: {shown:#}");
    }
    assert_eq!(
        shown["rows"][1][9],
        "lost: its process ended (signal: 9 (SIGKILL))"
    );
}
