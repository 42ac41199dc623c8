//! Kills agents on this machine.

use std::fs;

use plimsoll_testkit::peers::{Peer, Play};
use plimsoll_testkit::program::{Ended, Running};
use serde_json::Value;

use super::{kill, run, values, wait_until};
use crate::plimsoll::plimsoll;

pub const ENDLESS: &str = "
    import http from 'k6/http';
    export const options = {
        scenarios: {
            open: { executor: 'constant-arrival-rate', rate: 40, timeUnit: '1s', duration: '8s', preAllocatedVUs: 120 },
        },
    };
    export default function () { http.get(__ENV.URL); }
";

/// The agents that a run has started.
fn agents(run: &Running) -> Vec<u32> {
    let children = format!("/proc/{0}/task/{0}/children", run.id());
    let mut agents = Vec::new();
    wait_until(|| {
        let children = fs::read_to_string(&children).unwrap_or_default();
        let children = children.split_whitespace().filter_map(|id| id.parse().ok());
        let is_agent = |id: &u32| {
            let command = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&command).contains("\0agent\0")
        };
        agents = children.filter(is_agent).collect();
        agents.len() == 3
    });
    agents
}

/// A run of three agents, one of which is killed while it generates load.
fn with_a_killed_agent(flags: &[&str]) -> Ended {
    let service = Peer::start(Play::ok("hello"));
    let flags = [&["--fleet", "local:3", "--json"], flags].concat();
    let run = run(ENDLESS, &service.url(), &flags).start();
    let agents = agents(&run);
    wait_until(|| service.requests() >= 80);
    kill(agents[1]);
    run.wait()
}

pub fn a_killed_agent_ends_the_run() {
    let ended = with_a_killed_agent(&[]);
    assert_ne!(ended.status, Some(0), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("fleet: invalid (agent 1 lost at"),
        "{}",
        ended.stderr
    );
    assert!(ended.stdout.contains("\"invalid\""), "{}", ended.stdout);
    assert!(
        ended.stderr.contains("its process ended (signal: 9"),
        "{}",
        ended.stderr
    );
}

pub fn a_killed_agent_fails_a_load_without_a_script() {
    let service = Peer::start(Play::ok("hello"));
    let url = service.url();
    let arguments = ["http", "--fleet", "local:3", "-r", "40", "-d", "8s", &url];
    let run = plimsoll(&arguments).start();
    let agents = agents(&run);
    wait_until(|| service.requests() >= 80);
    kill(agents[1]);
    let ended = run.wait();
    assert_eq!(ended.status, Some(255), "{}", ended.stderr);
    assert!(
        ended
            .stderr
            .contains("the run was stopped (--fleet-loss fail)"),
        "{}",
        ended.stderr
    );
    // What was measured is printed all the same.
    assert!(ended.stdout.contains("requests"), "{}", ended.stdout);
}

pub fn a_killed_agent_is_named_when_the_run_continues() {
    let ended = with_a_killed_agent(&["--fleet-loss", "degrade"]);
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("fleet: degraded (agent 1 lost at"),
        "{}",
        ended.stderr
    );
    assert!(
        ended.stderr.contains("offered rate at the end: 67 %"),
        "{}",
        ended.stderr
    );
    assert!(
        !ended.stderr.contains("fleet: complete"),
        "{}",
        ended.stderr
    );
}

/// The number before `end` in the message about the lost agent.
fn number_before(ended: &Ended, end: &str) -> u64 {
    let line = ended
        .stderr
        .lines()
        .find(|line| line.starts_with("fleet: degraded"));
    let words = line.and_then(|line| line.split_once(end));
    let number = words.and_then(|(before, _)| before.rsplit(' ').next()?.parse().ok());
    number.unwrap_or_else(|| panic!("{}", ended.stderr))
}

pub fn the_load_of_a_killed_agent_moves_to_the_others() {
    let ended = with_a_killed_agent(&["--fleet-loss", "redistribute"]);
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("fleet: degraded (agent 1 lost at"),
        "{}",
        ended.stderr
    );
    assert!(
        ended.stderr.contains("offered rate at the end: 100 %"),
        "{}",
        ended.stderr
    );
    // The others have run everything except for the iterations that are reported as missing.
    let missing = number_before(&ended, " of its iterations missing");
    let count = |metric: &str| {
        let value: Value = values(&ended, metric);
        value["count"]
            .as_f64()
            .or(value["values"]["count"].as_f64())
            .unwrap_or(0.0) as u64
    };
    let there = count("iterations") + count("dropped_iterations");
    assert_eq!(there + missing, 320, "{}", ended.stderr);
    // The lost agent had a third of 40 per second. If the others had not taken over, about 80 would be missing.
    assert!(missing < 70, "{}", ended.stderr);
}
