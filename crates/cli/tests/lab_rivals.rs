//! Labs whose load another tool generates. Only the figures that this tool prints are used.
#![cfg(target_os = "linux")]

mod tiny_lab;

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::Value;
use tiny_lab::Lab;

/// The system of the tiny lab, and a load that another tool generates.
const START: &str = r#"
[lab]
title = "Made by another"
pause = "0ms"

[[system]]
name = "pages"
command = "SYSTEM"
environment = { LAB_TEST_PORT = "{port}" }

[sanity]
expect = { json = { "/ok" = true } }

[[load]]
warmup = "0s"
duration = "1s"
restarts = 1
"#;

fn lab(load: &str) -> Lab {
    Lab::new(&format!("{START}{load}"))
}

/// A program in the lab's folder that has the name of another tool and calls Plimsoll with other arguments.
fn stand_in(lab: &Lab, name: &str, script: &str) {
    let path = lab.directory.path().join(name);
    let ours = env!("CARGO_BIN_EXE_plimsoll");
    let script = script.replace("plimsoll", &format!("'{ours}'"));
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("a file");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it can be run");
}

fn figure<'a>(cell: &'a Value, name: &str) -> &'a Value {
    let figures = cell["figures"].as_array().expect("figures");
    let found = figures.iter().find(|figure| figure["name"] == name);
    found.unwrap_or_else(|| panic!("there is no {name} in {cell:#}"))
}

/// Checks that the latency is labeled as reported by the tool.
fn has_its_latency(cell: &Value, name: &str, label: &str) {
    let latency = figure(cell, name);
    assert_eq!(latency["label"], label);
    assert!(latency["value"].as_f64() > Some(0.0), "{latency:#}");
    let repeat = &cell["repeats"][0];
    assert!(repeat["requests"].as_u64() > Some(0), "{repeat:#}");
    assert_eq!(repeat["failed"], 0);
}

#[test]
fn wrk_generates_the_load() {
    let cell = lab("http = { url = \"{pages.url}/\" }\ntool = \"wrk\"\nusers = 2\n").cell();
    has_its_latency(
        &cell,
        "latency_p50",
        "median latency as reported by the tool",
    );
    assert!(figure(&cell, "requests_per_second")["value"].as_f64() > Some(0.0));
}

#[test]
fn vegeta_generates_the_load() {
    let lab =
        lab("targets = \"targets.txt\"\ntool = \"vegeta\"\nprogram = \"./vegeta\"\nrate = 200\n");
    fs::write(
        lab.directory.path().join("targets.txt"),
        "GET {pages.url}/\n",
    )
    .expect("a file");
    stand_in(
        &lab,
        "vegeta",
        "case $1 in attack) exec plimsoll \"$@\";; *) exec plimsoll vegeta \"$@\";; esac",
    );
    let cell = lab.cell();
    let label = "95th percentile of latency as reported by the tool";
    has_its_latency(&cell, "latency_p95", label);
    assert_eq!(cell["repeats"][0]["requests"], 200);
}

#[test]
fn k6_generates_the_load() {
    let lab = lab(
        "script = \"get.js\"\nenvironment = { BASE = \"{pages.url}/\" }\ntool = \"k6\"\n\
         program = \"./k6\"\nusers = 2\n",
    );
    stand_in(&lab, "k6", "exec plimsoll \"$@\"");
    let cell = lab.cell();
    let label = "95th percentile of latency as reported by the tool";
    has_its_latency(&cell, "latency_p95", label);
}

#[test]
fn iperf3_generates_the_load() {
    let lab = Lab::new(
        r#"
[lab]
title = "Made by another"
pause = "0ms"

[[system]]
name = "stream"
command = "iperf3 --server --bind 127.0.0.1 --port {port}"

[[load]]
throughput = "tcp"
to = "127.0.0.1:{stream.port}"
tool = "iperf3"
warmup = "0s"
duration = "1s"
restarts = 1
"#,
    );
    let cell = lab.cell();
    let throughput = figure(&cell, "throughput");
    assert_eq!(throughput["unit"], "Mbit/s");
    assert!(throughput["value"].as_f64() > Some(1.0), "{throughput:#}");
}

#[test]
fn a_missing_tool_is_named() {
    let lab = lab("http = { url = \"{pages.url}/\" }\ntool = \"wrk\"\nprogram = \"./no-wrk\"\n");
    let output = lab.run(&["run", "lab.toml"]);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_ne!(output.status.code(), Some(0), "{stderr}");
    assert!(
        stderr.contains("./no-wrk is missing: install it"),
        "{stderr}"
    );
}
