//! `until` in a lab: cells are repeated only until a figure is precise.
#![cfg(target_os = "linux")]

mod tiny_lab;

use serde_json::Value;
use tiny_lab::Lab;

fn lab(load: &str) -> Lab {
    Lab::new(&format!(
        r#"
[lab]
title = "Until it is precise"
pause = "0ms"

[[system]]
name = "pages"
command = "SYSTEM"
environment = {{ LAB_TEST_PORT = "{{port}}" }}

[load]
http = {{ url = "{{pages.url}}/" }}
warmup = "0s"
duration = "1s"
{load}
"#
    ))
}

#[test]
fn a_steady_rate_is_known_after_few_restarts() {
    let lab = lab("rate = 20\nrestarts = 12\nuntil = \"requests_per_second ±5%\"\n");
    let plan = lab.run(&["plan", "lab.toml"]);
    let plan = String::from_utf8_lossy(&plan.stdout).into_owned();
    let until = "until requests_per_second is known within 5%, at most 12 restarts";
    assert!(plan.contains(until), "{plan}");
    let status = lab.run(&["run", "lab.toml"]).status.code();
    lab.assert_nothing_is_left();
    let before = lab.result();
    let repeats = before["cells"][0]["repeats"].as_array().expect("repeats");
    // An open model at 20/s sends 20 requests in each second. If the machine is so busy that a run is invalid, the run
    // has no rate, and no interval includes it.
    let invalid = |repeat: &Value| repeat["generator"]["verdict"] == "invalid";
    match repeats.iter().any(invalid) {
        false => assert!((3..12).contains(&repeats.len()), "{before:#}"),
        true => assert!(repeats.len() > 3, "{before:#}"),
    }
    // Nothing remains to be done.
    let run = lab.the_run();
    let again = lab.run(&["resume", run.to_str().expect("text")]);
    assert_eq!(again.status.code(), status, "{again:?}");
    assert!(lab.result() == before, "a finished run was continued");
}

#[test]
fn an_imprecise_figure_uses_all_restarts() {
    let lab = lab("users = 2\nrestarts = 4\nuntil = \"latency_p95 ±0.001%\"\n");
    let cell = lab.cell();
    assert_eq!(
        cell["repeats"].as_array().map(Vec::len),
        Some(4),
        "{cell:#}"
    );
}

#[test]
fn mistakes_name_the_line_and_an_example() {
    let lab = lab("users = 2\nuntil = \"latency_p59 ±5%\"\n");
    let output = lab.run(&["run", "lab.toml"]);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_ne!(output.status.code(), Some(0), "{stderr}");
    assert!(
        stderr.contains("did you mean latency_p5") || stderr.contains("did you mean latency_p9"),
        "{stderr}"
    );
    assert!(stderr.contains("lab.toml"), "{stderr}");
}
