//! Tests of `plimsoll attack`.

mod plimsoll;

use std::path::Path;

use plimsoll::plimsoll;
use plimsoll_testkit::peers::{Peer, Play};
use plimsoll_testkit::ports;
use plimsoll_testkit::program::Ended;
use serde_json::Value;

/// Parses the JSON object of `--json`.
fn json(ended: &Ended) -> Value {
    serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}"))
}

/// Writes a target list. It exists until the returned folder is dropped.
fn list(text: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("targets.txt");
    std::fs::write(&path, text).unwrap();
    let path = path.to_str().unwrap().to_owned();
    (folder, path)
}

#[test]
fn targets_are_used_in_rotation_at_the_rate() {
    let first = Peer::start(Play::ok("first"));
    let second = Peer::start(Play::ok("second"));
    let text = format!(
        "GET {}/a\nAccept: text/plain\n\n# the other\nPOST {}/b\n",
        first.url(),
        second.url()
    );
    let (_folder, targets) = list(&text);
    let ended = plimsoll(&[
        "attack",
        "--json",
        "-rate=100/1s",
        "-duration=300ms",
        &format!("-targets={targets}"),
    ])
    .run();
    assert_eq!(ended.status, Some(0), "{ended:?}");
    let result = json(&ended);
    assert_eq!(result["requests"], 30);
    assert_eq!(result["failed"], 0);
    assert_eq!((first.requests(), second.requests()), (15, 15));
    assert!(result["response_time"]["p50"].is_number(), "{result}");
    assert!(result["generator"]["verdict"].is_string(), "{result}");
}

#[test]
fn a_rate_of_zero_is_a_closed_loop() {
    let server = Peer::start(Play::ok("hello"));
    let ended = plimsoll(&[
        "attack",
        "-json",
        "-rate=0",
        "-max-workers=2",
        "-duration",
        "200ms",
        "-targets=stdin",
    ])
    .input(format!("GET {}\n", server.url()))
    .run();
    assert_eq!(ended.status, Some(0), "{ended:?}");
    let result = json(&ended);
    assert!(result["requests"].as_u64() > Some(2), "{result}");
    assert_eq!(result["response_time"], Value::Null);
    assert!(server.connections() <= 2);
}

#[test]
fn a_lazy_list_is_sent_once() {
    let server = Peer::start(Play::ok("hello"));
    let lines = format!("GET {}\n", server.url()).repeat(7);
    let ended = plimsoll(&["attack", "--json", "-lazy", "-rate=200", "-duration=0"])
        .input(lines)
        .run();
    assert_eq!(ended.status, Some(0), "{ended:?}");
    assert_eq!(json(&ended)["requests"], 7);
    assert_eq!(server.requests(), 7);
}

#[test]
fn failures_are_counted_and_reported() {
    let refused = format!("http://{}/", ports::closed());
    let ended = plimsoll(&["attack", "--json", "-rate=50", "-duration=100ms"])
        .input(format!("GET {refused}\n"))
        .run();
    assert_eq!(ended.status, Some(1), "{ended:?}");
    let result = json(&ended);
    assert_eq!(result["failed"], 5, "{result}");
}

#[test]
fn results_go_to_the_file() {
    let server = Peer::start(Play::ok("hello"));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("results.bin");
    let ended = plimsoll(&[
        "attack",
        "-rate=100",
        "-duration=100ms",
        "-output",
        path.to_str().unwrap(),
    ])
    .input(format!("GET {}\n", server.url()))
    .run();
    assert_eq!(ended.status, Some(0), "{ended:?}");
    assert!(ended.stdout.contains(" 200  10\n"), "{}", ended.stdout);
    let written = read(&path);
    assert_eq!(written.len(), 10, "{written:?}");
    let mut numbers: Vec<_> = written.iter().map(|hit| hit.seq).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..10).collect::<Vec<_>>());
    assert!(
        written
            .iter()
            .all(|hit| hit.body.as_deref() == Some(b"hello"))
    );
    assert!(written.iter().all(|hit| hit.service <= Some(hit.latency)));
}

/// Reads the hits of a results file.
fn read(path: &Path) -> Vec<plimsoll_vegeta::Hit> {
    let mut results = plimsoll_vegeta::Results::open(std::fs::File::open(path).unwrap()).unwrap();
    let mut all = Vec::new();
    let mut hit = plimsoll_vegeta::Hit::default();
    while results.next(&mut hit).unwrap() {
        all.push(hit.clone());
    }
    all
}

#[test]
fn mistakes_are_reported_with_a_fix() {
    let printed = |arguments: &[&str], list: &str| {
        let ended = plimsoll(arguments).input(list).run();
        assert_ne!(ended.status, Some(0), "{arguments:?}");
        ended.stderr
    };
    let target = "GET http://127.0.0.1:1/\n";
    let cases: [(&[&str], &str, &str); 9] = [
        (&["attack", "-rate=0"], target, "-max-workers"),
        (&["attack", "-rate=x"], target, "not a number"),
        (&["attack", "-duration=10"], target, "-duration=10"),
        (&["attack", "-format=xml"], target, "use http"),
        (
            &["attack", "-targets=/none"],
            "",
            "-targets=/none: cannot read it",
        ),
        (&["attack"], "", "no targets to attack"),
        (
            &["attack"],
            "GET http://h/\nX\n",
            "stdin: line 2: bad header: X",
        ),
        (
            &["attack", "-resolvers=1.1.1.1,ns.test"],
            target,
            "\"ns.test\" is not an address",
        ),
        (&["attack", "-max-workrs=3"], target, "--max-workers"),
    ];
    for (arguments, list, wanted) in cases {
        let stderr = printed(arguments, list);
        assert!(stderr.contains(wanted), "{arguments:?}: {stderr}");
    }
}
