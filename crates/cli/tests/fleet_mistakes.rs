//! Runs that a fleet refuses before it needs a NATS server.

mod plimsoll;

use plimsoll::plimsoll;
use plimsoll_testkit::program::Ended;

const SCRIPT: &str = "export default function () {}";

fn fleet(flags: &[&str]) -> Ended {
    plimsoll(&["run", "--quiet", "-u", "3", "-i", "3", "--fleet", "local:2"])
        .args(flags)
        .arg("-")
        .input(SCRIPT)
        .env("PLIMSOLL_NATS_SERVER", "/nonexistent/nats-server")
        .run()
}

#[test]
fn a_missing_server_is_explained() {
    let ended = fleet(&[]);
    assert_eq!(ended.status, Some(255), "{}", ended.stderr);
    assert!(
        ended
            .stderr
            .contains("/nonexistent/nats-server was not found: install"),
        "{}",
        ended.stderr
    );
}

#[cfg(unix)]
#[test]
fn a_server_is_found_where_go_installs_it() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let bin = folder.path().join("go/bin");
    std::fs::create_dir_all(&bin).unwrap();
    let program = bin.join("nats-server");
    std::fs::write(&program, "#!/bin/sh\necho this one\n").unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let ended = plimsoll(&["fleet", "serve", "--folder"])
        .arg(folder.path())
        .env("PATH", "/nonexistent")
        .env("HOME", folder.path().to_str().unwrap())
        .env("GOBIN", "")
        .env("GOPATH", "")
        .run();
    assert_eq!(ended.stdout, "this one\n", "{}", ended.stderr);
}

#[test]
fn runs_that_a_fleet_does_not_support_are_refused() {
    for (flags, message) in [
        (
            &["--address", "127.0.0.1:0"][..],
            "--fleet does not work with --address",
        ),
        (&["--paused"], "--fleet does not work with --paused"),
    ] {
        let ended = fleet(flags);
        assert_eq!(ended.status, Some(104), "{flags:?}: {}", ended.stderr);
        assert!(
            ended.stderr.contains(message),
            "{flags:?}: {}",
            ended.stderr
        );
    }
}

/// The error message of a command that cannot start.
fn refused(arguments: &[&str]) -> String {
    let ended = plimsoll(arguments).input(SCRIPT).run();
    assert_ne!(ended.status, Some(0), "{arguments:?}");
    ended.stderr
}

#[test]
fn numbers_of_agents_and_missing_servers_are_explained() {
    let run = |fleet: &str| refused(&["run", "-u", "3", "-i", "3", "--fleet", fleet, "-"]);
    let message = run("many");
    assert!(message.contains("is not a number of agents"), "{message}");
    let message = run("2");
    assert!(message.contains("plimsoll fleet serve"), "{message}");
    assert!(message.contains("--fleet local:4"), "{message}");
    let message = run("local:4");
    assert!(
        message.contains("3 users, which cannot be divided among 4 agents"),
        "{message}"
    );
}

#[test]
fn secrets_do_not_leave_the_machine_without_encryption() {
    let message = refused(&[
        "http",
        "--fleet",
        "2",
        "--fleet-server",
        "nats://10.255.255.1:4222",
        "-H",
        "Authorization: Bearer secret",
        "http://127.0.0.1:9/",
    ]);
    assert!(message.contains("secrets without encryption"), "{message}");
}

#[test]
fn load_without_a_schedule_is_not_redistributed() {
    let message = refused(&[
        "http",
        "--fleet",
        "local:2",
        "--fleet-loss",
        "redistribute",
        "-u",
        "4",
        "http://127.0.0.1:9/",
    ]);
    assert!(message.contains("use --fleet-loss degrade"), "{message}");
}

#[test]
fn loads_that_cannot_be_divided_are_refused() {
    let http = |flags: &[&str]| {
        let start = ["http", "--fleet", "local:3", "http://127.0.0.1:9/"];
        refused(&[&start[..], flags].concat())
    };
    let message = http(&["-u", "2"]);
    assert!(
        message.contains("2 users, which cannot be divided"),
        "{message}"
    );
    let message = refused(&[
        "attack",
        "--fleet",
        "local:2",
        "-output",
        "x",
        "-targets",
        "/dev/null",
    ]);
    assert!(
        message.contains("--fleet does not work with -output"),
        "{message}"
    );
}
