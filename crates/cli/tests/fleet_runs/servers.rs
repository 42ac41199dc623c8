//! Agents of a separate server.

use std::fs;
use std::net::TcpStream;
use std::path::Path;

use plimsoll_testkit::peers::{Peer, Play};
use plimsoll_testkit::ports;
use plimsoll_testkit::program::{Program, Running, Signal};

use super::losses::ENDLESS;
use super::{EVERYTHING, kill, run, wait_until};
use crate::plimsoll::plimsoll;

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
    wait_until(|| TcpStream::connect(("127.0.0.1", port)).is_ok());
    (server, format!("nats://127.0.0.1:{port}"))
}

pub fn agents_serve_several_runs_and_report_failures() {
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
    // The same agents run another test.
    let ended = run(EVERYTHING, &["--json"]);
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    for agent in agents {
        agent.signal(Signal::TERM);
        assert_eq!(agent.wait().status, Some(105));
    }
    server.signal(Signal::TERM);
    server.wait();
}

pub fn missing_agents_and_wrong_passwords_are_explained() {
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

/// A server that `plimsoll fleet serve` configured, in this directory.
fn served(folder: &Path) -> Running {
    let port = ports::closed().port();
    let server = plimsoll(&["fleet", "serve", "--listen", &format!("127.0.0.1:{port}")])
        .args(["--folder", folder.to_str().unwrap()])
        .start();
    wait_until(|| TcpStream::connect(("127.0.0.1", port)).is_ok());
    server
}

/// An agent of that server, whose spool is in the same directory.
fn agent_of(folder: &Path, name: &str, flags: &[&str]) -> Running {
    let file = folder.join("agent.json");
    plimsoll(&["fleet", "agent", file.to_str().unwrap(), "--name", name])
        .args(["--spool", folder.join("spool").to_str().unwrap()])
        .args(flags)
        .start()
}

/// Waits until `plimsoll fleet status` lists this number of agents.
fn wait_for_agents(folder: &Path, wanted: usize) -> String {
    let file = folder.join("coordinator.json");
    let mut listed = String::new();
    wait_until(|| {
        let ended = plimsoll(&["fleet", "status", "--fleet-server", file.to_str().unwrap()]).run();
        assert_eq!(ended.status, Some(0), "{}", ended.stderr);
        listed = ended.stdout;
        listed.starts_with(&format!("{wanted} agents"))
    });
    listed
}

pub fn regions_are_chosen_and_shown() {
    let folder = tempfile::tempdir().unwrap();
    let _server = served(folder.path());
    let _agents = [
        agent_of(folder.path(), "a", &["--region", "eu"]),
        agent_of(folder.path(), "b", &["--region", "us", "--max-users", "3"]),
        agent_of(folder.path(), "c", &["--region", "us"]),
    ];
    let listed = wait_for_agents(folder.path(), 3);
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
    // Its part has four users, but it accepts only three.
    let ended = http("us=2", "8");
    assert!(
        ended.stderr.contains("accepts 3 users (--max-users)"),
        "{}",
        ended.stderr
    );
}

pub fn an_agent_reaches_allowed_hosts_only() {
    let folder = tempfile::tempdir().unwrap();
    let _server = served(folder.path());
    let _agent = agent_of(
        folder.path(),
        "a",
        &["--allow-hosts", "127.0.0.2,*.example"],
    );
    wait_for_agents(folder.path(), 1);
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

pub fn results_are_recovered_when_the_coordinator_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let _server = served(folder.path());
    let agents = [
        agent_of(folder.path(), "a", &[]),
        agent_of(folder.path(), "b", &[]),
    ];
    wait_for_agents(folder.path(), 2);
    let service = Peer::start(Play::ok("hello"));
    let file = folder.path().join("coordinator.json");
    let script = ENDLESS.replace("'8s'", "'60s'");
    let run = run(&script, &service.url(), &["--fleet", "2"])
        .args(["--fleet-server", file.to_str().unwrap()])
        .start();
    wait_until(|| service.requests() >= 80);
    kill(run.id());
    // The agents stop on their own.
    wait_until(|| !wait_for_agents(folder.path(), 2).contains("in run"));
    let requests = service.requests();
    let recover = |arguments: &[&str], spool: &str| {
        plimsoll(&["fleet", "recover"])
            .args(arguments)
            .args(["--spool", spool])
            .run()
    };
    // Recover from the agents, through the server.
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
    // Also recover from the disk, without agents.
    for agent in &agents {
        agent.signal(Signal::KILL);
    }
    let spool = folder.path().join("spool");
    let from_disk = recover(&[&name], spool.to_str().unwrap());
    assert_eq!(from_disk.stdout, recovered.stdout);
}
