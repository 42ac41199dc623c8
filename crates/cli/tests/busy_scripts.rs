//! `plimsoll run` with scripts that never wait, that throw exceptions, or that print their own summary.

mod plimsoll;

use std::path::Path;
use std::time::{Duration, Instant};

use plimsoll::plimsoll;
use plimsoll_testkit::program::{Ended, Program, Signal};
use serde_json::Value;

fn run(script: &str, flags: &[&str]) -> Program {
    plimsoll(&["run", "--quiet"])
        .args(flags)
        .arg("-")
        .input(script)
}

/// Waits until the script has logged `text` to the file.
fn wait_for(console: &Path, text: &str) {
    let started = Instant::now();
    while !std::fs::read_to_string(console).is_ok_and(|logged| logged.contains(text)) {
        assert!(started.elapsed() < Duration::from_secs(50), "no {text:?}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Runs a script, and interrupts it once its busy part has logged `busy`.
fn interrupted(script: &str) -> Ended {
    let folder = tempfile::tempdir().unwrap();
    let console = folder.path().join("console");
    let flags = ["--console-output", console.to_str().unwrap()];
    let running = run(script, &flags).limit(Duration::from_secs(60)).start();
    wait_for(&console, "busy");
    running.signal(Signal::INT);
    running.wait()
}

#[test]
fn one_interrupt_ends_a_script_that_never_waits_and_keeps_the_results() {
    let busy = "console.log('busy'); while (true) {}";
    let options = "export const options = { vus: 2, duration: '10m', gracefulStop: '10m' };";
    let once = "export const options = { vus: 1, iterations: 1, teardownTimeout: '10m' };";
    for script in [
        format!("{options} export default function () {{ {busy} }}"),
        // Thousands of very short iterations.
        format!(
            "{options} let n = 0; export default function () {{ if (n++ === 500) console.log('busy'); }}"
        ),
        format!("{once} export default function () {{}} export function teardown() {{ {busy} }}"),
        format!(
            "{once} export default function () {{}} export function handleSummary() {{ {busy} }}"
        ),
    ] {
        let ended = interrupted(&script);
        assert_eq!(ended.status, Some(105), "{script}\n{}", ended.stderr);
        assert!(
            ended.stdout.contains("verdict: "),
            "{script}\n{}",
            ended.stdout
        );
    }
}

#[test]
fn a_crossed_threshold_ends_a_run_whose_script_never_waits() {
    let options = "import { Counter } from 'k6/metrics';
        const failures = new Counter('failures');
        export const options = { vus: 2, duration: '10m', gracefulStop: '10m',
            thresholds: { failures: [{ threshold: 'count<1', abortOnFail: true }] } };";
    for body in ["failures.add(1);", "failures.add(1); while (true) {}"] {
        let script = format!("{options} export default function () {{ {body} }}");
        let ended = run(&script, &[]).limit(Duration::from_secs(60)).run();
        assert_eq!(ended.status, Some(99), "{script}\n{}", ended.stderr);
        assert!(ended.stdout.contains("verdict: "), "{}", ended.stdout);
    }
}

#[test]
fn iterations_that_throw_are_counted_and_judged() {
    let throwing = |when: &str| {
        let script = format!(
            "export const options = {{ vus: 1, iterations: 20 }};
            export default function () {{ if ({when}) throw new Error('no'); }}"
        );
        run(&script, &[]).run()
    };
    let ended = throwing("true");
    // As in k6.
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    let text = &ended.stdout;
    assert!(text.contains("iterations that threw: 20 of 20"), "{text}");
    assert!(text.contains("verdict: ✗ invalid"), "{text}");
    assert!(
        text.contains("client: the script threw an exception in every iteration"),
        "{text}"
    );
    let ended = throwing("__ITER % 4 === 0");
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    let text = &ended.stdout;
    assert!(text.contains("iterations that threw: 5 of 20"), "{text}");
    assert!(
        text.contains("client: the script threw an exception in 5 of 20 iterations"),
        "{text}"
    );
    let ended = throwing("false");
    assert!(!ended.stdout.contains("threw"), "{}", ended.stdout);
}

const OWN_SUMMARY: &str = "
    export const options = { vus: 1, iterations: 3 };
    export default function () { throw new Error('no'); }
    export function handleSummary() { return { stdout: 'my own summary' }; }";

#[test]
fn handle_summary_does_not_hide_the_verdict() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("export.json");
    let ended = run(OWN_SUMMARY, &["--summary-export", file.to_str().unwrap()]).run();
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    assert_eq!(ended.stdout, "my own summary");
    assert!(
        ended.stderr.contains("verdict: ✗ invalid — client: "),
        "{}",
        ended.stderr
    );
    let exported: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    assert_eq!(
        exported["plimsoll"]["verdict"]["level"], "invalid",
        "{exported}"
    );
    assert_eq!(exported["plimsoll"]["threw"], 3, "{exported}");
}

#[test]
fn json_is_one_document_with_the_verdict() {
    let without = OWN_SUMMARY
        .split("export function handleSummary")
        .next()
        .unwrap();
    for (script, printed) in [(OWN_SUMMARY, true), (without, false)] {
        let ended = plimsoll(&["run", "--json", "-"]).input(script).run();
        assert_eq!(ended.status, Some(0), "{}", ended.stderr);
        let document: Value = serde_json::from_str(&ended.stdout).unwrap();
        assert_eq!(
            document["plimsoll"]["verdict"]["level"], "invalid",
            "{document}"
        );
        assert_eq!(
            document["metrics"]["iterations"]["values"]["count"], 3.0,
            "{document}"
        );
        assert_eq!(
            ended.stderr.contains("my own summary"),
            printed,
            "{}",
            ended.stderr
        );
    }
}
