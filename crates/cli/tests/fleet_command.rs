//! `plimsoll run --fleet` and `plimsoll agent`, with a real NATS server.

#![cfg(target_os = "linux")]

mod plimsoll;

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use plimsoll::plimsoll;
use plimsoll_testkit::peers::{Peer, Play};
use plimsoll_testkit::ports;
use plimsoll_testkit::program::{Ended, Program, Running, Signal};
use serde_json::Value;

/// Every kind of load, and setup data that iterations and teardown need. The open model has a user for each iteration, so
/// that a busy machine drops none.
const EVERYTHING: &str = "
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
fn run(script: &str, url: &str, flags: &[&str]) -> Program {
    plimsoll(&["run", "--quiet", "-e", &format!("URL={url}")])
        .args(flags)
        .arg("-")
        .input(script)
}

/// The values of a metric in the output of `--json`.
fn values(ended: &Ended, metric: &str) -> Value {
    let output: Value = serde_json::from_str(&ended.stdout).unwrap();
    output["metrics"][metric].clone()
}

#[test]
fn a_fleet_gives_the_figures_of_one_process() {
    let service = Peer::start(Play::ok("hello"));
    let ended = run(EVERYTHING, &service.url(), &["--fleet", "4", "--json"]).run();
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    assert!(
        ended
            .stderr
            .contains("fleet: complete: every sample of 4 agents, once"),
        "{}",
        ended.stderr
    );
    // The open model, setup and teardown.
    assert_eq!(service.requests(), 102);
    let text = values(&ended, "iterations").to_string();
    assert!(text.contains("148"), "{text}");
    // Every iteration of the whole test was run once: 0 to 99.
    let numbers = values(&ended, "numbers").to_string();
    assert!(
        numbers.contains("99") && numbers.contains("49.5"),
        "{numbers}"
    );
    assert!(
        ended.stderr.contains("agent 3 (local-003): part 3/4:1"),
        "{}",
        ended.stderr
    );
}

const ENDLESS: &str = "
    import http from 'k6/http';
    export const options = {
        scenarios: {
            open: { executor: 'constant-arrival-rate', rate: 40, timeUnit: '1s', duration: '9s', preAllocatedVUs: 20 },
        },
    };
    export default function () { http.get(__ENV.URL); }
";

/// The agents that a run has started.
fn agents(run: &Running) -> Vec<u32> {
    let children = format!("/proc/{0}/task/{0}/children", run.id());
    let begun = Instant::now();
    loop {
        let children = fs::read_to_string(&children).unwrap_or_default();
        let children = children.split_whitespace().filter_map(|id| id.parse().ok());
        let is_agent = |id: &u32| {
            let command = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&command).contains("\0agent\0")
        };
        let agents: Vec<_> = children.filter(is_agent).collect();
        if agents.len() == 3 {
            return agents;
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "{agents:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn kill(id: u32) {
    let status = std::process::Command::new("kill")
        .args(["-9", &id.to_string()])
        .status();
    assert!(status.unwrap().success());
}

/// A run of three agents, one of which is killed while it generates load.
fn with_a_killed_agent(flags: &[&str]) -> Ended {
    let service = Peer::start(Play::ok("hello"));
    let flags = [&["--fleet", "3", "--json"], flags].concat();
    let run = run(ENDLESS, &service.url(), &flags).start();
    let agents = agents(&run);
    let begun = Instant::now();
    while service.requests() < 80 {
        assert!(begun.elapsed() < Duration::from_secs(30));
        std::thread::sleep(Duration::from_millis(20));
    }
    kill(agents[1]);
    run.wait()
}

#[test]
fn a_killed_agent_ends_the_run() {
    let ended = with_a_killed_agent(&[]);
    assert_ne!(ended.status, Some(0), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("fleet: invalid (agent 1 lost at"),
        "{}",
        ended.stderr
    );
    assert!(ended.stdout.contains("\"invalid\""), "{}", ended.stdout);
}

#[test]
fn a_killed_agent_is_named_when_the_run_continues() {
    let ended = with_a_killed_agent(&["--fleet-loss", "degrade"]);
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("fleet: degraded (agent 1 lost at"),
        "{}",
        ended.stderr
    );
    assert!(
        ended.stderr.contains("offered rate 67 %"),
        "{}",
        ended.stderr
    );
    assert!(
        !ended.stderr.contains("fleet: complete"),
        "{}",
        ended.stderr
    );
}

/// A NATS server with two kinds of users, and its configuration in `folder`.
fn server(folder: &Path) -> (Running, String) {
    let port = ports::closed().port();
    let config = format!(
        r#"listen: "127.0.0.1:{port}"
        authorization {{ users: [
            {{ user: coordinator, password: secret }}
            {{ user: agent, password: secret, permissions: {{ publish: "plimsoll.agent.*", subscribe: "plimsoll.command.>" }} }}
        ] }}"#
    );
    let file = folder.join("nats.conf");
    fs::write(&file, config).unwrap();
    let server = Program::at("nats-server").arg("-c").arg(&file).start();
    let begun = Instant::now();
    while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(begun.elapsed() < Duration::from_secs(20));
        std::thread::sleep(Duration::from_millis(20));
    }
    (server, format!("nats://127.0.0.1:{port}"))
}

#[test]
fn agents_serve_several_runs_and_failures_arrive() {
    let folder = tempfile::tempdir().unwrap();
    let (server, address) = server(folder.path());
    let agent = |name: &str| {
        plimsoll(&["agent", &address, "--name", name])
            .env("PLIMSOLL_FLEET_PASSWORD", "secret")
            .start()
    };
    let agents = [agent("left"), agent("right")];
    let service = Peer::start(Play::ok("hello"));
    let run = |script: &str, flags: &[&str]| {
        run(script, &service.url(), flags)
            .args(["--fleet", "2", "--fleet-server", &address])
            .env("PLIMSOLL_FLEET_PASSWORD", "secret")
            .run()
    };
    let ended = run(EVERYTHING, &["--json"]);
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    assert!(ended.stderr.contains("agent 1 (right)"), "{}", ended.stderr);
    let ended = run(
        "export function setup() { throw new Error('no luck'); } export default function () {}",
        &["-u", "2", "-i", "2"],
    );
    assert_eq!(ended.status, Some(107), "{}", ended.stderr);
    assert!(ended.stderr.contains("no luck"), "{}", ended.stderr);
    let aborting = "import exec from 'k6/execution';
        export default function () { console.log('from a user'); exec.test.abort('enough'); }";
    let ended = run(aborting, &["-u", "2", "-d", "20s"]);
    assert_eq!(ended.status, Some(108), "{}", ended.stderr);
    assert!(ended.stderr.contains("from a user"), "{}", ended.stderr);
    assert!(ended.stderr.contains("enough"), "{}", ended.stderr);
    // The same agents again.
    let ended = run(EVERYTHING, &["--json"]);
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    for agent in agents {
        agent.signal(Signal::TERM);
        agent.wait();
    }
    server.signal(Signal::TERM);
    server.wait();
}

#[test]
fn missing_agents_and_wrong_passwords_are_explained() {
    let folder = tempfile::tempdir().unwrap();
    let (server, address) = server(folder.path());
    let run = |password: &str| {
        run(
            "export default function () {}",
            "",
            &[
                "-u",
                "3",
                "-i",
                "3",
                "--fleet",
                "3",
                "--fleet-wait",
                "300ms",
            ],
        )
        .args(["--fleet-server", &address])
        .env("PLIMSOLL_FLEET_PASSWORD", password)
        .run()
    };
    let ended = run("secret");
    assert!(
        ended.stderr.contains("found 0 of 3 agents"),
        "{}",
        ended.stderr
    );
    let ended = run("wrong");
    assert!(
        ended
            .stderr
            .contains("could not connect to the NATS server"),
        "{}",
        ended.stderr
    );
    server.signal(Signal::TERM);
    server.wait();
}
