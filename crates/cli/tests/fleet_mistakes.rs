//! Runs that a fleet refuses, without a NATS server.

mod plimsoll;

use plimsoll::plimsoll;
use plimsoll_testkit::program::Ended;

const SCRIPT: &str = "export default function () {}";

fn fleet(flags: &[&str]) -> Ended {
    plimsoll(&["run", "--quiet", "-u", "3", "-i", "3", "--fleet", "2"])
        .args(flags)
        .arg("-")
        .input(SCRIPT)
        .env("PATH", "/nonexistent")
        .run()
}

#[test]
fn a_missing_server_is_explained() {
    let ended = fleet(&[]);
    assert_eq!(ended.status, Some(255), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("there is no nats-server: install"),
        "{}",
        ended.stderr
    );
}

#[test]
fn runs_that_a_fleet_cannot_do_are_refused() {
    for (flags, message) in [
        (
            &["--out", "json=/dev/null"][..],
            "--fleet does not work with --out",
        ),
        (
            &["--address", "127.0.0.1:0"],
            "--fleet does not work with --address",
        ),
        (&["--paused"], "--fleet does not work with --paused"),
        (
            &["--secret-source", "mock=one=1"],
            "--fleet does not work with --secret-source",
        ),
        (&["--insecure"], "--fleet does not work with TLS flags"),
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
