//! A lab that fails a CI job.
#![cfg(target_os = "linux")]

mod tiny_lab;

use tiny_lab::Lab;

/// The gate of docs/guide/ci.md with six repeats: one build is compared with itself, and with a build that takes 30 %
/// longer.
const GATE: &str = r#"
[lab]
title = "The change compared with main"
pause = "0ms"

[axes]
build = ["main", "same", "change"]

[[system]]
name = "shop"
command = "SYSTEM"
environment = { LAB_TEST_PORT = "{port}", LAB_TEST_DELAY = "30" }

[[system]]
when = { build = "change" }
name = "shop"
environment = { LAB_TEST_PORT = "{port}", LAB_TEST_DELAY = "39" }

[[load]]
http = { url = "{shop.url}/" }
# With 200 responses, ten are above the 95th percentile.
rate = 200
warmup = "0s"
duration = "1s"
restarts = 6

[[compare]]
axis = "build"
figures = ["requests_per_second", "latency_p50", "latency_p95"]
noise = "10%"
"#;

#[test]
fn a_gate_with_six_repeats_fails_only_for_a_slower_build() {
    let lab = Lab::new(GATE);
    let result = lab.run_well();
    // Cells that a busy machine disturbed have no figures, so the gate reports them as not measured.
    for cell in result["cells"].as_array().expect("cells") {
        let Some(rate) = figure(cell, "requests_per_second") else {
            assert_eq!(cell["verdict"], "invalid", "{cell:#}");
            continue;
        };
        let rates = rate["repeats"].as_array().expect("repeats");
        let iterations = figure(cell, "iterations_per_second").expect("iterations");
        assert_eq!(rate["repeats"], iterations["repeats"]);
        assert_eq!(rate["value"], 200.0, "{rates:?}");
    }
    let outcome = |cell: &str, figure: &str| {
        let all = result["comparisons"].as_array().expect("comparisons");
        let found = all
            .iter()
            .find(|one| one["cells"][1] == format!("build={cell}") && one["figure"] == figure);
        found.unwrap_or_else(|| panic!("no {figure} of {cell}: {all:#?}"))
    };
    for figure in ["latency_p50", "latency_p95"] {
        let same = outcome("same", figure);
        assert!(
            same["outcome"] != "larger" && same["outcome"] != "smaller",
            "{same:#}"
        );
    }
    let change = outcome("change", "latency_p50");
    if change["outcome"] != "not-measured" {
        assert_eq!(change["outcome"], "larger", "{change:#}");
        let ratio = change["ratio"].as_f64().expect("a ratio");
        assert!((1.2..1.4).contains(&ratio), "{change:#}");
    }
    let rates = outcome("change", "requests_per_second");
    assert!(
        rates["outcome"] == "no-difference" || rates["outcome"] == "not-measured",
        "{rates:#}"
    );

    let run = lab.the_run();
    let output = lab.run(&[
        "report",
        run.to_str().expect("text"),
        "--fail-on",
        "regression",
    ]);
    let printed = String::from_utf8_lossy(&output.stderr).into_owned();
    let found = "failed: latency_p50 of build=change against build=main ";
    let (status, is_found) = match change["outcome"].as_str() {
        Some("larger") => (1, true),
        _ => (3, false),
    };
    assert_eq!(output.status.code(), Some(status), "{printed}");
    assert_eq!(printed.contains(found), is_found, "{printed}");
    assert!(
        !printed.contains("failed: latency_p50 of build=same"),
        "{printed}"
    );
    assert!(
        !printed.contains("failed: latency_p95 of build=same"),
        "{printed}"
    );
}

fn figure<'a>(cell: &'a serde_json::Value, name: &str) -> Option<&'a serde_json::Value> {
    let figures = cell["figures"].as_array()?;
    figures.iter().find(|one| one["name"] == name)
}
