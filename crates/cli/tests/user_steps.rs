//! `setupVU` and `teardownVU`: steps of each user before its first and after its last iteration.

mod plimsoll;

use std::collections::BTreeSet;

use plimsoll::RUN;
use plimsoll_testkit::program::{Ended, Program};

fn program(script: &str, more: &[&str]) -> Program {
    Program::at(env!("CARGO_BIN_EXE_plimsoll"))
        .args(RUN)
        .args(more)
        .arg("-")
        .input(script.as_bytes())
}

fn run(script: &str, more: &[&str]) -> Ended {
    program(script, more)
        .env("PLIMSOLL_USER_STEPS", "true")
        .run()
}

const SCRIPT: &str = r#"
import { sleep } from 'k6';
import exec from 'k6/execution';
export const options = { ext: { plimsoll: { userSteps: true } }, scenarios: {
  closed: { executor: 'per-vu-iterations', vus: 3, iterations: 2 },
  open: { executor: 'constant-arrival-rate', rate: 20, duration: '1s', preAllocatedVUs: 1, maxVUs: 4 },
} };
let mine;
export function setup() { console.log('setup'); return { base: 10 }; }
export function setupVU(data) {
  sleep(0.05);
  mine = data.base + __VU;
  console.log(`begin ${__VU}`);
  try { exec.scenario.name; } catch (e) { return; }
  console.log('in a scenario');
}
export default function (data) {
  if (mine !== data.base + __VU) throw new Error('not set up');
  if (exec.scenario.name === 'open') sleep(0.12);
  console.log('iteration');
}
export async function teardownVU(data) {
  await Promise.resolve();
  console.log(`finish ${__VU} ${mine - data.base}`);
}
export function teardown() { console.log('teardown'); }
"#;

#[test]
fn each_user_runs_its_own_steps() {
    let ended = program(SCRIPT, &[]).run();
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    let lines: Vec<&str> = ended.stderr.lines().collect();
    let first_iteration = lines.iter().position(|line| *line == "iteration").unwrap();
    let numbers = |lines: &[&str], start: &str| -> Vec<u32> {
        let after = lines.iter().filter_map(|line| line.strip_prefix(start));
        after
            .map(|line| line.split(' ').next().unwrap().parse().unwrap())
            .collect()
    };
    assert_eq!(lines[0], "setup");
    let planned: BTreeSet<u32> = numbers(&lines[..first_iteration], "begin ")
        .into_iter()
        .collect();
    assert_eq!(planned, BTreeSet::from([1, 2, 3, 4]), "{lines:?}");
    // Users that the open model adds begin later.
    let started = numbers(&lines, "begin ");
    let all: BTreeSet<u32> = started.iter().copied().collect();
    assert!(
        all.len() > planned.len() && all.len() == started.len(),
        "{lines:?}"
    );
    let mut finished = numbers(&lines, "finish ");
    finished.sort_unstable();
    assert_eq!(finished, Vec::from_iter(all), "{lines:?}");
    for number in finished {
        assert!(
            lines.contains(&format!("finish {number} {number}").as_str()),
            "{lines:?}"
        );
    }
    assert!(!lines.contains(&"in a scenario"), "{lines:?}");
    assert_eq!(lines.last(), Some(&"teardown"));
}

#[test]
fn steps_that_fail_end_the_run() {
    let script = |body: &str| {
        format!(
            "import exec from 'k6/execution'; import {{ sleep }} from 'k6';
             export const options = {{ vus: 2, iterations: 4, setupTimeout: '300ms', teardownTimeout: '300ms' }};
             {body}
             export default function () {{ console.log('iteration'); if (__ENV.ABORT) exec.test.abort(); }}
             export function teardown() {{ console.log('teardown'); }}"
        )
    };
    let throwing = script("export function setupVU() { throw new Error('no account'); }");
    let ended = run(&throwing, &[]);
    assert_eq!(ended.status, Some(107), "{}", ended.stderr);
    assert!(ended.stderr.contains("no account"), "{}", ended.stderr);
    assert!(!ended.stderr.contains("iteration"), "{}", ended.stderr);

    let slow = script("export function setupVU() { sleep(60); }");
    let ended = run(&slow, &[]);
    assert!(
        ended
            .stderr
            .contains("setupVU() execution timed out after 300ms"),
        "{}",
        ended.stderr
    );
    let skipped = run(&slow, &["--no-setup", "--no-teardown"]);
    assert_eq!(skipped.status, Some(0), "{}", skipped.stderr);
    assert_eq!(skipped.stderr.trim(), ["iteration"; 4].join("\n"));

    // After an abort, users still run their last step.
    let last = script("export function teardownVU() { sleep(0.05); console.log('finish'); }");
    let ended = run(&last, &["-e", "ABORT=1"]);
    assert_eq!(ended.status, Some(108), "{}", ended.stderr);
    let finished = ended.stderr.lines().filter(|line| *line == "finish");
    assert_eq!(finished.count(), 2, "{}", ended.stderr);
    assert!(ended.stderr.contains("teardown"), "{}", ended.stderr);
    let failing = script("export function teardownVU() { throw new Error('still open'); }");
    let ended = run(&failing, &[]);
    assert_ne!(ended.status, Some(0), "{}", ended.stderr);
    assert!(ended.stderr.contains("still open"), "{}", ended.stderr);
}

#[test]
fn cookies_and_connections_of_the_first_step_can_persist() {
    let server = plimsoll_testkit::cases::suite::Server::start().unwrap();
    let script = r#"
        import http from 'k6/http';
        export const options = { vus: 2, iterations: 6, noCookiesReset: true };
        export function setupVU() { http.cookieJar().set(__ENV.BASE, 'login', `u${__VU}`); http.get(__ENV.BASE); }
        export default function () {
          const r = http.get(__ENV.BASE);
          console.log(r.timings.connecting === 0, http.cookieJar().cookiesForURL(__ENV.BASE).login[0] === `u${__VU}`);
        }"#;
    let mut more: Vec<String> = Vec::new();
    for (name, value) in &server.addresses.variables {
        more.extend(["-e".to_owned(), format!("{name}={value}")]);
    }
    let more: Vec<&str> = more.iter().map(String::as_str).collect();
    let ended = run(script, &more);
    assert_eq!(ended.stderr.trim(), ["true true"; 6].join("\n"));
}
