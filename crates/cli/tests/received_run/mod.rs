//! A run whose samples a receiver gets, and the figures that it printed.

#![allow(dead_code)] // No test uses all of it.

use std::fs;

use plimsoll_testkit::peers::{Peer, Play};
use plimsoll_testkit::program::Program;
use serde_json::Value;

use crate::plimsoll::plimsoll;

/// The upper bound of a bucket in a histogram of schema or scale 3 is 9.05 % above its lower bound.
pub const BUCKET: f64 = 1.0906;

/// The number of iterations of a run. Each sends one request.
pub const ITERATIONS: u32 = 1_000;
/// The trends `size` and `wait` (in milliseconds) contain the values 1, 2, 3 … up to the number of iterations.
const SCRIPT: &str = r"
import exec from 'k6/execution';
import http from 'k6/http';
import { check } from 'k6';
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';

const size = new Trend('size');
const wait = new Trend('wait', true);
const half = new Counter('half');
const level = new Gauge('level');
const quarter = new Rate('quarter');
export const options = { vus: 4, iterations: __ENV.ITERATIONS, summaryTrendStats: ['count', 'avg', 'med', 'min', 'max', 'p(95)', 'p(99)'] };

export default function () {
  const number = exec.scenario.iterationInTest;
  const response = http.get(`${__ENV.SERVER}/a,b=c d`, { tags: { kind: 'first, second=2' } });
  check(response, { 'has status 200': (response) => response.status === 200 });
  size.add(number + 1, { place: 'here' });
  wait.add(number + 1);
  half.add(0.5);
  level.add(-7);
  quarter.add(number % 4 === 0);
}
";

/// A run with some outputs: its folder, and the requests that its server counted.
pub struct Run {
    pub folder: tempfile::TempDir,
    pub server: Peer,
    summary: Value,
}

impl Run {
    /// Runs the script with `--out` and environment variables.
    pub fn with(out: &str, variables: &[(&str, &str)]) -> Run {
        Run::of(ITERATIONS, out, variables)
    }

    /// Runs the script with this number of iterations.
    pub fn of(iterations: u32, out: &str, variables: &[(&str, &str)]) -> Run {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("script.js"), SCRIPT).unwrap();
        let server = Peer::start(Play::ok("hello"));
        let address = format!("SERVER={}", server.url());
        let iterations = format!("ITERATIONS={iterations}");
        let flags = [
            "run",
            "--quiet",
            "-e",
            &address,
            "-e",
            &iterations,
            "--out",
            out,
        ];
        let flags = [
            &flags[..],
            &["--summary-export", "summary.json", "script.js"],
        ]
        .concat();
        let mut program: Program = plimsoll(&flags).inside(folder.path());
        for (name, value) in variables {
            program = program.env(name, value);
        }
        let ended = program.run();
        assert_eq!(ended.status, Some(0), "{}", ended.stderr);
        assert!(!ended.stderr.contains("output"), "{}", ended.stderr);
        let summary = fs::read_to_string(folder.path().join("summary.json")).unwrap();
        let summary = serde_json::from_str(&summary).unwrap();
        Run {
            folder,
            server,
            summary,
        }
    }

    pub fn printed(&self, metric: &str, figure: &str) -> f64 {
        let value = &self.summary["metrics"][metric][figure];
        value
            .as_f64()
            .unwrap_or_else(|| panic!("{metric} has no {figure}: {}", self.summary))
    }
}

/// Checks two figures that differ only by rounding.
#[track_caller]
pub fn assert_equal(received: f64, printed: f64) {
    let difference = (received - printed).abs();
    assert!(
        difference <= 1e-9 * printed.abs(),
        "received {received}, printed {printed}"
    );
}
