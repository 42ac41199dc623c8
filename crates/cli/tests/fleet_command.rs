//! `--fleet` and `plimsoll fleet`, with a real NATS server.

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
    let ended = run(
        EVERYTHING,
        &service.url(),
        &["--fleet", "local:4", "--json"],
    )
    .run();
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
    let flags = [&["--fleet", "local:3", "--json"], flags].concat();
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
        plimsoll(&["fleet", "agent", &address, "--name", name])
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

/// The parts of a load without a script add up to what one process sends.
#[test]
fn loads_without_a_script_are_divided() {
    let service = Peer::start(Play::ok("hello"));
    let folder = tempfile::tempdir().unwrap();
    let body = folder.path().join("body");
    fs::write(&body, "from a file").unwrap();
    let body = format!("@{}", body.display());
    let ended = plimsoll(&[
        "http", "--fleet", "local:3", "--json", "-n", "300", "-u", "6",
    ])
    .args(["-b", &body, &service.url()])
    .run();
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    assert!(
        ended
            .stderr
            .contains("fleet: complete: every sample of 3 agents"),
        "{}",
        ended.stderr
    );
    assert_eq!(service.requests(), 300);
    let result: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(result["requests"], 300, "{}", ended.stdout);
    // The open model, and an attack whose list is on this machine only.
    let targets = folder.path().join("targets");
    fs::write(
        &targets,
        format!("GET {0}/one\nGET {0}/two\n", service.url()),
    )
    .unwrap();
    let ended = plimsoll(&[
        "attack",
        "--fleet",
        "local:2",
        "--json",
        "-rate",
        "50",
        "-duration",
        "2s",
    ])
    .args(["-targets", targets.to_str().unwrap()])
    .run();
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    assert!(ended.stderr.contains("fleet: complete"), "{}", ended.stderr);
    assert_eq!(service.requests(), 400);
}

/// The buckets of a trend in the results are those of one process that was given the same samples.
#[test]
fn merged_histograms_are_those_of_one_process() {
    let script = "
        import exec from 'k6/execution';
        import { Trend } from 'k6/metrics';
        const numbers = new Trend('numbers');
        export const options = { scenarios: { all: {
            executor: 'shared-iterations', vus: 8, iterations: 6000,
        } } };
        // Many orders of magnitude, each value once.
        export default function () { numbers.add(1.0013 ** (exec.scenario.iterationInTest + 1)); }
    ";
    let quantiles =
        "p(0.1),p(1),p(5),p(10),p(25),p(50),p(75),p(90),p(95),p(99),p(99.9),p(99.99),min,max,count";
    let run = |flags: &[&str]| {
        let ended = run(script, "", flags)
            .args(["--json", "--summary-trend-stats", quantiles])
            .run();
        assert_eq!(ended.status, Some(0), "{}", ended.stderr);
        values(&ended, "numbers")
    };
    let one = run(&[]);
    assert!(one.to_string().contains("6000"), "{one}");
    assert_eq!(run(&["--fleet", "local:4"]), one);
}

#[test]
fn secrets_reach_agents_and_not_their_files() {
    let folder = tempfile::tempdir().unwrap();
    let script = "
        import secrets from 'k6/secrets';
        export default async function () {
            if (await secrets.get('word') !== 'hush') throw new Error('no secret');
        }
    ";
    let file = folder.path().join("secrets");
    fs::write(&file, "word=hush\n").unwrap();
    let ended = run(script, "", &["--fleet", "local:2", "-u", "2", "-i", "4"])
        .args(["--secret-source", &format!("file={}", file.display())])
        .run();
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    assert!(!ended.stderr.contains("no secret"), "{}", ended.stderr);
    assert!(ended.stderr.contains("fleet: complete"), "{}", ended.stderr);
}

/// A server that `plimsoll fleet serve` has configured, in this directory.
fn served(folder: &Path) -> Running {
    let port = ports::closed().port();
    let server = plimsoll(&["fleet", "serve", "--listen", &format!("127.0.0.1:{port}")])
        .args(["--folder", folder.to_str().unwrap()])
        .start();
    let begun = Instant::now();
    while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(begun.elapsed() < Duration::from_secs(20));
        std::thread::sleep(Duration::from_millis(20));
    }
    server
}

/// An agent of that server with its spool in the same directory.
fn agent_of(folder: &Path, name: &str, flags: &[&str]) -> Running {
    let file = folder.join("agent.json");
    plimsoll(&["fleet", "agent", file.to_str().unwrap(), "--name", name])
        .args(["--spool", folder.join("spool").to_str().unwrap()])
        .args(flags)
        .start()
}

/// Waits until `plimsoll fleet status` lists this number of agents.
fn await_agents(folder: &Path, wanted: usize) -> String {
    let file = folder.join("coordinator.json");
    let begun = Instant::now();
    loop {
        let ended = plimsoll(&["fleet", "status", "--fleet-server", file.to_str().unwrap()]).run();
        assert_eq!(ended.status, Some(0), "{}", ended.stderr);
        if ended.stdout.starts_with(&format!("{wanted} agents")) {
            return ended.stdout;
        }
        assert!(
            begun.elapsed() < Duration::from_secs(30),
            "{}",
            ended.stdout
        );
    }
}

#[test]
fn regions_are_chosen_and_shown() {
    let folder = tempfile::tempdir().unwrap();
    let _server = served(folder.path());
    let _agents = [
        agent_of(folder.path(), "a", &["--region", "eu"]),
        agent_of(folder.path(), "b", &["--region", "us", "--max-users", "3"]),
        agent_of(folder.path(), "c", &["--region", "us"]),
    ];
    let listed = await_agents(folder.path(), 3);
    assert!(listed.contains("a\teu\t"), "{listed}");
    let service = Peer::start(Play::ok("hello"));
    let file = folder.path().join("coordinator.json");
    let http = |fleet: &str, users: &str| {
        plimsoll(&[
            "http",
            "--fleet",
            fleet,
            "-u",
            users,
            "-n",
            "60",
            &service.url(),
        ])
        .args([
            "--fleet-server",
            file.to_str().unwrap(),
            "--fleet-wait",
            "2s",
        ])
        .run()
    };
    let ended = http("eu=1,us=2", "6");
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("fleet: region eu: 20 iterations"),
        "{}",
        ended.stderr
    );
    assert!(
        ended.stderr.contains("fleet: region us: 40 iterations"),
        "{}",
        ended.stderr
    );
    let ended = http("eu=2", "6");
    assert!(
        ended.stderr.contains("found 1 of 2 agents in eu"),
        "{}",
        ended.stderr
    );
    // Its part has four users, and it accepts three.
    let ended = http("us=2", "8");
    assert!(
        ended.stderr.contains("accepts 3 users (--max-users)"),
        "{}",
        ended.stderr
    );
}

#[test]
fn an_agent_reaches_allowed_hosts_only() {
    let folder = tempfile::tempdir().unwrap();
    let _server = served(folder.path());
    let _agent = agent_of(
        folder.path(),
        "a",
        &["--allow-hosts", "127.0.0.2,*.example"],
    );
    await_agents(folder.path(), 1);
    let service = Peer::start(Play::ok("hello"));
    let file = folder.path().join("coordinator.json");
    let ended = plimsoll(&[
        "http",
        "--fleet",
        "1",
        "-u",
        "1",
        "-n",
        "5",
        "--json",
        &service.url(),
    ])
    .args(["--fleet-server", file.to_str().unwrap()])
    .run();
    assert_eq!(service.requests(), 0);
    assert_eq!(ended.status, Some(1), "{}", ended.stderr);
    assert!(
        ended.stdout.contains("hostname is blocked"),
        "{}",
        ended.stdout
    );
}

#[test]
fn results_are_recovered_when_the_coordinator_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let _server = served(folder.path());
    let agents = [
        agent_of(folder.path(), "a", &[]),
        agent_of(folder.path(), "b", &[]),
    ];
    await_agents(folder.path(), 2);
    let service = Peer::start(Play::ok("hello"));
    let file = folder.path().join("coordinator.json");
    let script = ENDLESS.replace("9s", "60s");
    let run = run(&script, &service.url(), &["--fleet", "2"])
        .args(["--fleet-server", file.to_str().unwrap()])
        .start();
    let begun = Instant::now();
    while service.requests() < 80 {
        assert!(begun.elapsed() < Duration::from_secs(30));
        std::thread::sleep(Duration::from_millis(20));
    }
    kill(run.id());
    let killed = Instant::now();
    // The agents stop by themselves.
    while await_agents(folder.path(), 2).contains("in run") {
        assert!(killed.elapsed() < Duration::from_secs(40));
        std::thread::sleep(Duration::from_millis(200));
    }
    let requests = service.requests();
    let recover = |arguments: &[&str], spool: &str| {
        plimsoll(&["fleet", "recover"])
            .args(arguments)
            .args(["--spool", spool])
            .run()
    };
    // From the agents, through the server.
    let server = ["--fleet-server", file.to_str().unwrap()];
    let listed = recover(&server, "/nonexistent");
    let name = listed
        .stdout
        .get(..8)
        .unwrap_or_else(|| panic!("{}", listed.stderr))
        .to_owned();
    let arguments = [&[name.as_str()], &server[..]].concat();
    let recovered = recover(&arguments, "/nonexistent");
    assert_eq!(recovered.status, Some(0), "{}", recovered.stderr);
    assert!(
        recovered
            .stderr
            .contains("complete: every sample of 2 agents"),
        "{}",
        recovered.stderr
    );
    assert!(
        recovered
            .stdout
            .contains(&format!("\"count\": {requests}.0")),
        "{requests}: {}",
        recovered.stdout
    );
    // And from the disk, without agents.
    for agent in &agents {
        agent.signal(Signal::KILL);
    }
    let spool = folder.path().join("spool");
    let from_disk = recover(&[&name], spool.to_str().unwrap());
    assert_eq!(from_disk.stdout, recovered.stdout);
}
