//! The program built without scripts and without HTTP/3. `make unit` runs it as
//! `cargo test -p plimsoll --no-default-features --test small_build`.

#![cfg(not(any(feature = "scripts", feature = "http3")))]

mod plimsoll;

use plimsoll::plimsoll;
use plimsoll_testkit::cases::suite::Server;

/// The URL of a test server.
fn url(server: &Server) -> String {
    let mut variables = server.addresses.variables.iter();
    let (_, base) = variables.find(|(name, _)| name == "BASE").unwrap();
    format!("{base}/get")
}

#[test]
fn requests_are_sent_without_a_script() {
    let server = Server::start().unwrap();
    let ended = plimsoll(&["http", "--json", "-u", "2", "-n", "20", &url(&server)]).run();
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    let result: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(result["requests"], 20, "{result}");
    assert_eq!(result["failed"], 0, "{result}");
}

#[test]
fn missing_features_are_refused_with_their_name() {
    let server = Server::start().unwrap();
    let ended = plimsoll(&["http", "--h3", "-n", "1", &url(&server)]).run();
    assert_eq!(ended.status, Some(104), "{}", ended.stderr);
    let expected = "this program was built without HTTP/3; build it with --features http3";
    assert!(ended.stderr.contains(expected), "{}", ended.stderr);
    let ended = plimsoll(&["run", "script.js"]).run();
    assert_ne!(ended.status, Some(0));
    assert!(
        ended.stderr.contains("unrecognized subcommand 'run'"),
        "{}",
        ended.stderr
    );
}

#[test]
fn the_help_lists_only_the_commands_that_exist() {
    let help = plimsoll(&["--help"]).run().stdout;
    for absent in ["  run ", "  inspect ", "  archive ", "  agent "] {
        assert!(!help.contains(absent), "{help}");
    }
    assert!(help.contains("  http "), "{help}");
}
