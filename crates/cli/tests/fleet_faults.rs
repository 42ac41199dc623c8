//! Random faults during a fleet's run. Results that are reported as complete must be complete.
//!
//! `cargo test` runs one trial of each fault. `make fleet-campaign` runs many random trials, and continues after an
//! interruption. PLIMSOLL_FLEET_TRIALS is the number of trials, PLIMSOLL_FLEET_RESULTS the file with one line per
//! trial, and PLIMSOLL_FLEET_AT_A_TIME the number of parallel trials.

#![cfg(target_os = "linux")]

mod fleet_trials;
mod plimsoll;

use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::sync::Mutex;
use std::time::Duration;

use fleet_trials::trial::{FAULTS, Fault, POLICIES, Trial};
use serde_json::{Value, json};

/// The default number of parallel trials. They mostly wait.
const AT_A_TIME: usize = 6;

/// Random numbers from a seed (splitmix64), so that a trial can be repeated by its number.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }
}

fn drawn(number: u64) -> Trial {
    let mut random = Random(number);
    Trial {
        fault: FAULTS[random.below(FAULTS.len() as u64) as usize],
        at: Duration::from_millis(random.below(3_200)),
        length: Duration::from_millis(100 + random.below(8_000)),
        victim: random.below(3) as usize,
        policy: POLICIES[random.below(POLICIES.len() as u64) as usize],
    }
}

fn trial(fault: Fault, length: u64) -> Trial {
    Trial {
        fault,
        at: Duration::from_millis(900),
        length: Duration::from_millis(length),
        victim: 1,
        policy: POLICIES[0],
    }
}

fn check(trial: Trial, expected: &str) {
    let seen = trial.run();
    assert_eq!(seen.error(&trial), None, "{trial:?}\n{}", seen.ended.stderr);
    assert!(
        seen.line().starts_with(expected),
        "{trial:?}\n{}",
        seen.ended.stderr
    );
}

#[test]
fn faults_that_lose_nothing_leave_results_complete() {
    let faults = [
        (Fault::Stop, 1_500),
        (Fault::StopCoordinator, 6_000),
        (Fault::CutAgent, 1_500),
        (Fault::FreezeAgent, 1_500),
        (Fault::CutCoordinator, 1_500),
        (Fault::RestartServer, 1_000),
        (Fault::DiskFull, 0),
    ];
    std::thread::scope(|scope| {
        for (fault, length) in faults {
            scope.spawn(move || check(trial(fault, length), "fleet: complete"));
        }
    });
}

#[test]
fn faults_that_lose_results_are_named() {
    let faults = [
        (Fault::Kill, 0),
        (Fault::Stop, 7_000),
        (Fault::FreezeAgent, 7_000),
    ];
    std::thread::scope(|scope| {
        for (fault, length) in faults {
            let lost = "fleet: invalid (agent 1 lost at";
            scope.spawn(move || check(trial(fault, length), lost));
        }
    });
}

/// Runs the trials that have no line yet. Under `cargo test`, no trial has one.
#[test]
fn campaign() {
    let variable = |name: &str| std::env::var(name).ok();
    let Some(trials) = variable("PLIMSOLL_FLEET_TRIALS").and_then(|text| text.parse().ok()) else {
        return;
    };
    let at_a_time =
        variable("PLIMSOLL_FLEET_AT_A_TIME").map_or(AT_A_TIME, |text| text.parse().unwrap());
    let path = variable("PLIMSOLL_FLEET_RESULTS").unwrap();
    let known = std::fs::read_to_string(&path).unwrap_or_default();
    let known: BTreeSet<u64> = (known.lines())
        .filter_map(|line| serde_json::from_str::<Value>(line).ok()?["trial"].as_u64())
        .collect();
    let left: Vec<u64> = (0..trials)
        .filter(|number| !known.contains(number))
        .collect();
    let left = Mutex::new(left.into_iter());
    let file = OpenOptions::new().create(true).append(true).open(&path);
    let file = Mutex::new(file.unwrap());
    std::thread::scope(|scope| {
        for _ in 0..at_a_time {
            scope.spawn(|| {
                loop {
                    let next = left.lock().unwrap().next();
                    let Some(number) = next else { return };
                    let trial = drawn(number);
                    let mut line = json!({
                        "trial": number,
                        "fault": format!("{:?}", trial.fault),
                        "at_ms": trial.at.as_millis() as u64,
                        "length_ms": trial.length.as_millis() as u64,
                        "policy": trial.policy,
                        "harmless": trial.is_harmless(trial.length),
                    });
                    // A run that does not end is killed, with a panic.
                    match std::panic::catch_unwind(|| trial.run()) {
                        Ok(seen) => {
                            line["verdict"] = format!("{:?}", seen.verdict()).into();
                            line["harmless"] = trial.is_harmless(seen.lasted).into();
                            line["length_ms"] = (seen.lasted.as_millis() as u64).into();
                            line["took_ms"] = (seen.took.as_millis() as u64).into();
                            line["error"] = seen.error(&trial).into();
                            line["line"] = seen.line().into();
                        }
                        Err(panic) => {
                            let message = panic.downcast_ref::<String>();
                            let message = message.map_or("", |text| text);
                            line["error"] = format!("hang: {message}").into();
                        }
                    }
                    writeln!(file.lock().unwrap(), "{line}").unwrap();
                }
            });
        }
    });
}
