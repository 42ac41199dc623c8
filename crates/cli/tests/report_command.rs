//! `--report` and `plimsoll report`: the contents of the pages. Equal records give equal pages.

mod plimsoll;

use std::fs;
use std::path::Path;

use plimsoll::plimsoll;
use plimsoll_testkit::peers::{Peer, Play};
use serde_json::Value;

fn text(path: &Path) -> &str {
    path.to_str().expect("a plain name")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn k6s_variable_for_the_report_of_its_dashboard_works_without_a_script() {
    let server = Peer::start(Play::ok("hello"));
    let folder = tempfile::tempdir().expect("a folder");
    let url = server.url();
    let ended = plimsoll(&["http", "-n", "10", "-c", "1", &url])
        .env("K6_WEB_DASHBOARD", "true")
        // There is no page.
        .env("K6_WEB_DASHBOARD_PORT", "-1")
        .env("K6_WEB_DASHBOARD_EXPORT", "exported.html")
        .inside(folder.path())
        .run();
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    let page = read(&folder.path().join("exported.html"));
    assert!(page.starts_with("<!doctype html>"), "{page:.60}");
    let wrong = plimsoll(&["http", "-n", "10", &url])
        .env("K6_WEB_DASHBOARD", "true")
        .env("K6_WEB_DASHBOARD_EXPORT", "exported.pdf")
        .run();
    assert_eq!(wrong.status, Some(104));
    assert!(
        wrong.stderr.contains("K6_WEB_DASHBOARD_EXPORT"),
        "{}",
        wrong.stderr
    );
}

#[test]
fn a_record_reproduces_the_reports_of_its_run() {
    let server = Peer::start(Play::ok("hello"));
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let url = server.url();
    let ended = plimsoll(&["http", "-r", "100", "-d", "2s", "-c", "5", "--json", &url])
        .args([
            "--record",
            "run.jsonl",
            "--report",
            "run.html",
            "--report",
            "run.md",
        ])
        .args([
            "--report",
            "run.json",
            "--export-markdown",
            "short.md",
            "--junit",
            "run.xml",
        ])
        .inside(folder.path())
        .run();
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    // Stdout contains only the result.
    let result: Value = serde_json::from_str(&ended.stdout).expect("one document");
    let report: Value = serde_json::from_str(&read(&at("run.json"))).expect("JSON");
    let run = &report["runs"][0];
    assert_eq!(run["count"], result["requests"]);
    assert_eq!(run["per_second"], result["requests_per_second"]);
    assert_eq!(run["times"], "response time");
    for figure in ["p50", "p90", "max", "mean"] {
        let (ours, printed) = (&run["times_ms"][figure], &result["response_time"][figure]);
        let (ours, printed) = (
            ours.as_f64().expect("a time"),
            printed.as_f64().expect("a time"),
        );
        // A record stores values in buckets of 1/1024 of their size.
        assert!(
            (ours / printed - 1.0).abs() < 0.002,
            "{figure}: {ours} {printed}"
        );
    }
    assert_eq!(run["verdict"], result["generator"]["verdict"]);
    assert_eq!(run["names"][0]["name"], url);
    assert_eq!(run["names"][0]["requests"], result["requests"]);
    let page = read(&at("run.html"));
    assert!(
        page.contains("200.00 iterations/s") || page.contains("100.00 iterations/s"),
        "the load"
    );
    assert!(read(&at("short.md")).contains("requests/s"));
    // From another folder, and from the store.
    let elsewhere = tempfile::tempdir().expect("a folder");
    let again = |flags: &[&str]| {
        let ended = plimsoll(&["report", text(&at("run.jsonl"))])
            .args(flags)
            .inside(elsewhere.path())
            .run();
        assert_eq!(ended.status, Some(0), "{}", ended.stderr);
        ended
    };
    again(&[
        "--report", "a.html", "--report", "a.md", "--report", "a.json", "--junit", "a.xml",
    ]);
    for (first, second) in [
        ("run.html", "a.html"),
        ("run.md", "a.md"),
        ("run.json", "a.json"),
        ("run.xml", "a.xml"),
    ] {
        assert!(
            read(&at(first)) == read(&elsewhere.path().join(second)),
            "{first}"
        );
    }
    assert_eq!(again(&[]).stdout, read(&at("run.md")));
}

#[test]
fn the_report_of_a_script_contains_names_checks_and_thresholds() {
    let server = Peer::start(Play::ok("hello"));
    let folder = tempfile::tempdir().expect("a folder");
    let script = folder.path().join("script.js");
    fs::write(
        &script,
        "import http from 'k6/http';
         import { check } from 'k6';
         export const options = { vus: 2, iterations: 40,
           thresholds: { http_req_duration: ['p(95)<60000', 'max<0.000001'] } };
         export default function () {
           const cart = http.get(__ENV.BASE, { tags: { name: 'cart' } });
           http.post(__ENV.BASE, 'x', { tags: { name: 'pay' } });
           check(cart, { 'is ok': (r) => r.status === 200, 'has a price': () => false });
         }",
    )
    .expect("written");
    let base = format!("BASE={}", server.url());
    let (page, junit) = (folder.path().join("run.md"), folder.path().join("run.xml"));
    let ended = plimsoll(&["run", "-q", "-e", &base, text(&script)])
        .args(["--report", text(&page), "--junit", text(&junit)])
        .run();
    // The threshold determines the status, as without reports.
    assert_eq!(ended.status, Some(99), "{}", ended.stderr);
    let page = read(&page);
    for part in [
        "| `cart` | GET | 40 |",
        "| `pay` | POST | 40 |",
        "1 of 2 thresholds missed",
        "1 of 2 checks failed**: has a price (40 of 40)",
        "40 iterations shared among 2 VUs",
    ] {
        assert!(page.contains(part), "{part}\n{page}");
    }
    let junit = read(&junit);
    assert!(junit.contains("tests=\"5\" failures=\"2\""), "{junit}");
    // No temporary record remains.
    assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), 3);
}

#[test]
fn two_runs_are_shown_side_by_side() {
    let (fast, slow) = (
        Peer::start(Play::ok("hello")),
        Peer::start(Play::slow(std::time::Duration::from_millis(30))),
    );
    let folder = tempfile::tempdir().expect("a folder");
    let (a, b) = (folder.path().join("a.jsonl"), folder.path().join("b.jsonl"));
    for (server, file) in [(&fast, &a), (&slow, &b)] {
        let ended = plimsoll(&["http", "-r", "40", "-d", "11s", "-c", "10", &server.url()])
            .args(["--record", text(file)])
            .run();
        assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    }
    let ended = plimsoll(&["report", text(&a), text(&b), "--fail-on", "regression"]).run();
    assert_eq!(ended.status, Some(1), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("failed: regression: "),
        "{}",
        ended.stderr
    );
    for part in [
        "p50 of B is worse",
        "**A**: ",
        "How the configurations and machines of A and B differ",
        "url",
    ] {
        assert!(ended.stdout.contains(part), "{part}\n{}", ended.stdout);
    }
}

#[test]
fn unknown_names_are_refused_before_anything_runs() {
    let server = Peer::start(Play::ok("hello"));
    let url = server.url();
    for (flags, part) in [
        (
            &["--report", "run.pdf"][..],
            "must end with .html, .md or .json",
        ),
        (
            &["--report", "/nonexistent/run.html"],
            "--report /nonexistent/run.html: cannot write it",
        ),
        (
            &["--junit", "/nonexistent/run.xml"],
            "--junit /nonexistent/run.xml: cannot write it",
        ),
        (
            &["--fail-on", "regression"],
            "name one with --baseline RECORD",
        ),
        (&["--fail-on", "invalidd"], "did you mean invalid?"),
        (
            &[
                "--baseline",
                "/nonexistent.jsonl",
                "--fail-on",
                "regression",
            ],
            "there is no file /nonexistent.jsonl",
        ),
        (&["--objective", "p95<50"], "has no unit"),
    ] {
        let ended = plimsoll(&["http", "-n", "1", &url]).args(flags).run();
        assert_eq!(ended.status, Some(104), "{flags:?}: {}", ended.stderr);
        assert!(ended.stderr.contains(part), "{flags:?}: {}", ended.stderr);
    }
    assert_eq!(server.requests(), 0);
    let ended = plimsoll(&["report", "/nonexistent.jsonl"]).run();
    assert_eq!(ended.status, Some(2), "{}", ended.stderr);
    let ended = plimsoll(&["report"]).run();
    assert_eq!(ended.status, Some(104), "{}", ended.stderr);
}
