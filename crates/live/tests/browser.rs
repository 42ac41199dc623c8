//! Debian's Chromium, driven by `browser/watch.mjs`, watches the live page of a run from start to end. Screenshots are
//! stored in `target/screenshots`.

mod support;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use plimsoll_live::{LivePage, Mark, PageTitle, Row, Steps, WebAddress};
use plimsoll_testkit::chromium::chromium;
use plimsoll_testkit::npm;
use serde_json::Value;
use support::relay::Relay;

const PACKAGE: &str = include_str!("browser/package.json");
const LOCK: &str = include_str!("browser/package-lock.json");
const WATCH: &str = include_str!("browser/watch.mjs");

/// The page of a search with two trials.
fn ended_search(address: &WebAddress) -> LivePage {
    let page = LivePage::open(address, "--web").expect("a page");
    let row = |cells: [&str; 3], mark| Row {
        cells: cells.map(str::to_owned).to_vec(),
        mark,
    };
    let steps = Steps {
        title: "Trials".to_owned(),
        columns: ["offered/s", "p99 ms", "outcome"]
            .map(str::to_owned)
            .to_vec(),
        rows: vec![row(["200", "12.31", "kept"], Mark::Good)],
        ..Steps::default()
    };
    let mut shown = page.steps("find p99<50ms: http http://127.0.0.1/", steps);
    shown.update(None, |steps| {
        let cells = ["400", "99.10", "not p99<50ms, served 380/s of 400/s"];
        steps.rows.push(row(cells, Mark::Bad));
    });
    shown.end("completed", |steps| steps.result.push("200/s".to_owned()));
    page
}

#[test]
fn a_browser_watches_a_run_from_start_to_end() {
    let chromium = chromium();
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("live-browser");
    npm::install(&directory, PACKAGE, LOCK);
    std::fs::write(directory.join("watch.mjs"), WATCH).expect("a file below target");
    let screenshots = Path::new(env!("CARGO_TARGET_TMPDIR")).join("../screenshots");

    let address = WebAddress::default().with_port(0);
    let page = LivePage::open(&address, "--web").expect("a page");
    let relay = Relay::start(page.url());
    let search = ended_search(&address);
    let mut browser = Command::new("node")
        .arg("watch.mjs")
        .args([page.url(), relay.url(), search.url()])
        .arg(&screenshots)
        .env("CHROMIUM", chromium)
        .current_dir(&directory)
        .stdout(Stdio::piped())
        .spawn()
        .expect("this test needs Node.js");
    let mut lines = BufReader::new(browser.stdout.take().expect("a pipe")).lines();
    let mut line = || lines.next().expect("a line").expect("text");
    assert_eq!(line(), "ready");
    let title = PageTitle {
        title: "GET http://127.0.0.1/ with a title that is long enough for two lines on a phone"
            .to_owned(),
        duration: None,
    };
    let run = std::thread::spawn(move || {
        let listener = page.listener(title).expect("a listener");
        support::run_for(12, vec![listener])
    });
    assert_eq!(line(), "late");
    // The late viewer loses its connection, and must reconnect.
    relay.cut();
    let outcome = run.join().expect("a run");
    let shown: Value = serde_json::from_str(&line()).expect("JSON");
    let status = browser.wait().expect("the browser ends");
    assert!(status.success(), "see above for what is wrong: {shown}");

    let statuses = outcome.summary.http.statuses.iter();
    for (status, count) in statuses {
        assert_eq!(shown["statuses"][status.to_string()], count.to_string());
    }
    assert_eq!(shown["statuses"], shown["late"]["statuses"]);
    assert_eq!(shown["connection"], "");
    assert_eq!(
        shown["verdict"],
        format!(
            "Verdict: {}",
            format!("{:?}", outcome.verdict.level).to_lowercase()
        )
    );
    assert!(relay.connections() >= 3, "the late viewer came back");
}
