//! `--fail-on` of load commands and of `find`, and the results for CI.

mod plimsoll;

use std::fs;

use plimsoll::plimsoll;
use plimsoll_testkit::peers::{Peer, Play};
use plimsoll_testkit::program::Ended;

fn http(server: &Peer, flags: &[&str]) -> Ended {
    plimsoll(&["http", "-n", "400", "-c", "4", &server.url()])
        .args(flags)
        .run()
}

#[test]
fn objectives_are_met_missed_or_not_judged() {
    let server = Peer::start(Play::ok("hello"));
    for (objective, status, part) in [
        ("p95<1h", 0, ""),
        (
            "p95<1ns",
            1,
            "failed: the run misses service time p95<1ns (measured ",
        ),
        // 400 requests yield too few values above this percentile.
        (
            "p999<1h",
            3,
            "not judged: the run: p999<1h: 400 values of the service time are too few",
        ),
    ] {
        let ended = http(
            &server,
            &["--objective", objective, "--fail-on", "objective"],
        );
        assert_eq!(ended.status, Some(status), "{objective}: {}", ended.stderr);
        assert!(ended.stderr.contains(part), "{}", ended.stderr);
    }
    let without = http(&server, &["--fail-on", "objective"]);
    assert_eq!(without.status, Some(3));
    assert!(
        without.stderr.contains("has no objective: add"),
        "{}",
        without.stderr
    );
    // Without --fail-on, an objective appears only in reports.
    assert_eq!(http(&server, &["--objective", "p95<1ns"]).status, Some(0));
}

#[test]
fn an_invalid_run_fails_with_its_own_status() {
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = nobody.local_addr().expect("an address").to_string();
    drop(nobody);
    let ended = plimsoll(&["http", "-n", "20", &address, "--fail-on", "invalid"]).run();
    assert_eq!(ended.status, Some(1), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("failed: the run is invalid: "),
        "{}",
        ended.stderr
    );
    let folder = tempfile::tempdir().expect("a folder");
    let script = folder.path().join("script.js");
    fs::write(
        &script,
        "export const options = { thresholds: { iterations: ['count>5'] } };
         export default function () {}",
    )
    .expect("written");
    let script = script.to_str().expect("a plain name");
    for (iterations, status) in [("1", 99), ("9", 0)] {
        let ended = plimsoll(&[
            "run",
            "-q",
            "-i",
            iterations,
            script,
            "--fail-on",
            "objective",
        ])
        .run();
        assert_eq!(ended.status, Some(status), "{}", ended.stderr);
    }
}

#[test]
fn a_run_is_compared_with_a_baseline() {
    let server = Peer::start(Play::ok("hello"));
    let slow = Peer::start(Play::slow(std::time::Duration::from_millis(40)));
    let folder = tempfile::tempdir().expect("a folder");
    let store = folder.path().join("runs.sqlite");
    let store = store.to_str().expect("a plain name");
    let run = |server: &Peer, flags: &[&str]| {
        // A script sends the same requests to both servers.
        let base = format!("BASE={}", server.address().port());
        let script = folder.path().join("script.js");
        fs::write(
            &script,
            "import http from 'k6/http';
             export default function () { http.get(`http://127.0.0.1:${__ENV.BASE}/`); }",
        )
        .expect("written");
        plimsoll(&[
            "run",
            "-q",
            "--include-system-env-vars",
            "--rate",
            "40",
            "-d",
            "11s",
        ])
        .env("BASE", base.trim_start_matches("BASE="))
        .args([script.to_str().expect("a plain name")])
        .args(flags)
        .run()
    };
    let first = run(&server, &["--store", store]);
    assert_eq!(first.status, Some(0), "{}", first.stderr);
    let flags = [
        "--baseline",
        "latest",
        "--store",
        store,
        "--fail-on",
        "regression",
    ];
    let worse = run(&slow, &flags);
    assert_eq!(worse.status, Some(1), "{}", worse.stderr);
    assert!(
        worse.stderr.contains("failed: regression: "),
        "{}",
        worse.stderr
    );
    // A run with another configuration cannot be judged.
    let other = http(&server, &flags);
    assert_eq!(other.status, Some(3), "{}", other.stderr);
    assert!(
        other.stderr.contains("not judged: regression: "),
        "{}",
        other.stderr
    );
}

#[test]
fn a_job_of_github_actions_gets_annotations_and_a_summary() {
    let server = Peer::start(Play::ok("hello"));
    let folder = tempfile::tempdir().expect("a folder");
    let summary = folder.path().join("summary.md");
    fs::write(&summary, "before\n").expect("written");
    let run = |flags: &[&str]| {
        plimsoll(&[
            "http",
            "-n",
            "40",
            "-c",
            "2",
            &server.url(),
            "--objective",
            "max<1ns",
        ])
        .args(flags)
        .env("GITHUB_ACTIONS", "true")
        .env("GITHUB_STEP_SUMMARY", &summary)
        .run()
    };
    let ended = run(&[]);
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    let has = |part: &str| {
        ended
            .stderr
            .lines()
            .any(|line| line.starts_with("::") && line.contains(part))
    };
    assert!(
        has("::error title=GET http%3A//127.0.0.1"),
        "{}",
        ended.stderr
    );
    assert!(
        has("::Missed: service time max<1ns") && has("::notice title="),
        "{}",
        ended.stderr
    );
    let text = fs::read_to_string(&summary).expect("a summary");
    assert!(text.starts_with("before\n# GET http://127.0.0.1"), "{text}");
    assert!(text.contains("1 of 1 threshold missed"), "{text}");
    let off = run(&["--github=false"]);
    assert!(!off.stderr.contains("::"), "{}", off.stderr);
    assert_eq!(fs::read_to_string(&summary).expect("a summary"), text);
}

#[test]
fn a_search_judges_the_same_conditions_and_writes_a_report() {
    let server = Peer::start(Play::ok("hello"));
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let find = |objective: &str, flags: &[&str]| {
        plimsoll(&[
            "find",
            "--objective",
            objective,
            "--start",
            "20",
            "--most",
            "20",
        ])
        .args([
            "--trial",
            "1s",
            "--warm-up",
            "0s",
            "--soak",
            "1s",
            "--repeats",
            "1",
        ])
        .args(flags)
        .args(["--", "http", &server.url()])
        .inside(folder.path())
        .env("GITHUB_ACTIONS", "true")
        .run()
    };
    let met = find(
        "p50<1h",
        &[
            "--report",
            "find.html",
            "--report",
            "find.json",
            "--junit",
            "find.xml",
            "--fail-on",
            "objective",
        ],
    );
    // On a disturbed machine, the trials are suspect, and the search is not certain (3).
    let is_kept =
        |ended: &Ended| matches!(ended.status, Some(0 | 3)) && !ended.stderr.contains("\nfailed: ");
    assert!(is_kept(&met), "{met:?}");
    let page = fs::read_to_string(at("find.html")).expect("a page");
    assert!(page.contains("20/s with p50&lt;1h"), "{page}");
    // The search has one annotation, and its runs have none.
    assert_eq!(met.stderr.matches("\n::").count(), 1, "{}", met.stderr);
    assert!(
        met.stderr.contains(" title=plimsoll find::"),
        "{}",
        met.stderr
    );
    let junit = fs::read_to_string(at("find.xml")).expect("a file");
    assert!(junit.contains("tests=\"3\""), "{junit}");
    let missed = find("p50<1ns", &["--fail-on", "objective,suspect"]);
    assert!(matches!(missed.status, Some(1 | 3)), "{missed:?}");
    assert!(
        missed.stderr.contains("failed: ") && missed.stderr.contains("p50<1ns"),
        "{missed:?}"
    );
    // Compared with itself, a result is not worse.
    let same = find(
        "p50<1h",
        &["--baseline", "find.json", "--fail-on", "regression"],
    );
    assert!(is_kept(&same), "{same:?}");
    for flags in [
        &["--fail-on", "regression"][..],
        &["--baseline", "nowhere.json"],
    ] {
        let ended = find("p50<1h", flags);
        assert_eq!(ended.status, Some(104), "{}", ended.stderr);
    }
}
