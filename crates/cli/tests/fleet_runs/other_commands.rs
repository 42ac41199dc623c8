//! Commands that start other commands, and gRPC calls.

use std::path::Path;

use plimsoll_testkit::cases::suite::Server;
use plimsoll_testkit::peers::{Peer, Play};
use serde_json::{Value, json};

use crate::plimsoll::plimsoll;

/// Searches with one trial of 40 iterations, which the service can handle.
fn search(command: &[&str], service: &Peer) {
    let flags = [
        "find",
        "--objective",
        "p50<5s",
        "--start",
        "40",
        "--trials",
        "1",
        "--trial",
        "1s",
        "--warm-up",
        "0s",
        "--json",
        "--",
    ];
    let ended = plimsoll(&[&flags[..], command].concat()).run();
    let result: Value = serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("{ended:?}"));
    let trial = &result["trials"][0];
    assert_eq!(
        (&trial["rate"], &trial["kept"]),
        (&json!(40), &json!(true)),
        "{result:#}"
    );
    assert_eq!(service.requests(), 40);
}

pub fn a_search_uses_a_fleet() {
    let service = Peer::start(Play::ok("hello"));
    let url = service.url();
    search(&["http", "--fleet", "local:2", "-c", "4", &url], &service);
}

pub fn a_search_with_a_script_uses_a_fleet() {
    let service = Peer::start(Play::ok("hello"));
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("script.js");
    let text = "import http from 'k6/http'; export default function () { http.get(__ENV.URL); }";
    std::fs::write(&script, text).unwrap();
    let url = format!("URL={}", service.url());
    let script = script.to_str().unwrap();
    let command = ["run", "--fleet", "local:2", "-u", "4", "-e", &url, script];
    search(&command, &service);
}

pub fn calls_are_divided() {
    let server = Server::start().unwrap();
    let mut variables = server.addresses.variables.iter();
    let (_, base) = variables.find(|(name, _)| name == "BASE").unwrap();
    let address = base.trim_start_matches("http://");
    let proto =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../testkit/src/case_server/cases.proto");
    let folder = tempfile::tempdir().unwrap();
    let samples = folder.path().join("samples.csv");
    let result = |flags: &[&str]| -> Value {
        let ended = plimsoll(&[
            "grpc",
            "--plaintext",
            "--fleet",
            "local:2",
            "--json",
            "-u",
            "4",
        ])
        .args([
            "-n",
            "40",
            "--duration",
            "60s",
            "--connections",
            "2",
            "--data",
            "{\"text\":\"{{.RequestNumber}}\"}",
        ])
        .args(["--out", &format!("csv={}", samples.display())])
        .args(flags)
        .args([address, "cases.Cases/EchoWord"])
        .run();
        assert_eq!(ended.status, Some(0), "{}", ended.stderr);
        assert!(ended.stderr.contains("fleet: complete"), "{}", ended.stderr);
        serde_json::from_str(&ended.stdout).unwrap()
    };
    // With reflection, and with a file that only the coordinator has.
    for flags in [&[][..], &["--proto", proto.to_str().unwrap()]] {
        let result = result(flags);
        assert_eq!(result["requests"], 40);
        assert_eq!(result["status_codes"], json!({"OK": 40}));
        assert_eq!(result["connections_opened"], 2);
        let rows = std::fs::read_to_string(&samples).unwrap();
        let rows = rows
            .lines()
            .filter(|row| row.starts_with("grpc_req_duration,"));
        assert_eq!(rows.count(), 40);
    }
}
