//! Runs of fleets with a real NATS server, judged by their output.

pub mod figures;
pub mod labs;
pub mod losses;
pub mod other_commands;
pub mod servers;

use std::time::{Duration, Instant};

use plimsoll_testkit::program::{Ended, Program};
use serde_json::Value;

use crate::plimsoll::plimsoll;

/// Longer than any wait in these tests, even on a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A load of every kind, and setup data that iterations and teardown need. The open model has one user per iteration,
/// so that a busy machine does not drop any.
pub const EVERYTHING: &str = "
    import http from 'k6/http';
    import exec from 'k6/execution';
    import { check } from 'k6';
    import { Counter, Trend } from 'k6/metrics';
    const mine = new Counter('mine'), numbers = new Trend('numbers');
    export const options = {
        scenarios: {
            open: { executor: 'constant-arrival-rate', rate: 50, timeUnit: '1s', duration: '2s', preAllocatedVUs: 100 },
            shared: { executor: 'shared-iterations', vus: 7, iterations: 33, exec: 'count' },
            each: { executor: 'per-vu-iterations', vus: 5, iterations: 3, exec: 'count' },
        },
        thresholds: { mine: ['count==48'], 'http_reqs{scenario:open}': ['count==100'], checks: ['rate==1'] },
    };
    export function setup() { http.get(__ENV.URL); return { one: [1, 'ä'] }; }
    export default function (data) {
        check(data, { 'setup data came': (d) => d.one[1] === 'ä' });
        http.get(__ENV.URL);
        numbers.add(exec.scenario.iterationInTest);
    }
    export function count() { mine.add(1); }
    export function teardown(data) { if (data.one[0] !== 1) throw new Error('no data'); http.get(__ENV.URL); }
";

/// Runs `script` with these flags.
pub fn run(script: &str, url: &str, flags: &[&str]) -> Program {
    plimsoll(&["run", "--quiet", "-e", &format!("URL={url}")])
        .args(flags)
        .arg("-")
        .input(script)
}

/// The values of a metric in the output of `--json`.
pub fn values(ended: &Ended, metric: &str) -> Value {
    let output: Value = serde_json::from_str(&ended.stdout).unwrap();
    output["metrics"][metric].clone()
}

/// Waits until the condition is true.
pub fn wait_until(mut holds: impl FnMut() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < PATIENCE, "it did not happen in time");
        std::thread::sleep(Duration::from_millis(20));
    }
}

pub fn kill(id: u32) {
    let status = std::process::Command::new("kill")
        .args(["-9", &id.to_string()])
        .status();
    assert!(status.unwrap().success());
}

/// Runs tests that mostly wait at the same time.
pub fn at_once(tests: &[fn()]) {
    std::thread::scope(|scope| {
        for test in tests {
            scope.spawn(test);
        }
    });
}
