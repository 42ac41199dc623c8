//! `--out` of commands without a script.

mod plimsoll;

use std::fs;
use std::path::Path;

use plimsoll::plimsoll;
use plimsoll_testkit::peers::{Peer, Play};
use serde_json::Value;

/// The samples of `http_reqs` in a file of `--out json`.
fn requests(file: &Path) -> Vec<Value> {
    samples(file, "http_reqs")
}

/// The samples of a metric in a file of `--out json`.
fn samples(file: &Path, metric: &str) -> Vec<Value> {
    let text = fs::read_to_string(file).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    lines
        .filter(|line: &Value| line["type"] == "Point" && line["metric"] == metric)
        .collect()
}

#[test]
fn http_writes_each_of_its_requests() {
    let service = Peer::start(Play::ok("hello"));
    let folder = tempfile::tempdir().unwrap();
    let flags = ["http", "-c", "2", "-n", "50", "--json"];
    let ended = plimsoll(&flags)
        .args(["--out", "json=all.json", "-o", "csv=all.csv"])
        .arg(service.url())
        .inside(folder.path())
        .run();
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    let all = requests(&folder.path().join("all.json"));
    assert_eq!(all.len(), 50);
    for request in &all {
        let tags = &request["data"]["tags"];
        assert_eq!(tags["method"], "GET", "{request}");
        assert_eq!(tags["status"], "200", "{request}");
        let url = tags["url"].as_str().unwrap();
        assert!(url.starts_with(&service.url()), "{request}");
    }
    let rows = fs::read_to_string(folder.path().join("all.csv")).unwrap();
    let rows = rows.lines().filter(|row| row.starts_with("http_reqs,"));
    assert_eq!(rows.count(), 50);
}

#[test]
fn attack_writes_each_of_its_requests() {
    let service = Peer::start(Play::ok("hello"));
    let folder = tempfile::tempdir().unwrap();
    let targets = format!("GET {0}/a\n\nPOST {0}/b\n", service.url());
    fs::write(folder.path().join("targets.txt"), targets).unwrap();
    let flags = ["attack", "-targets=targets.txt", "-rate=40", "-duration=1s"];
    let ended = plimsoll(&flags)
        .args(["-output=results.bin", "--out", "json=all.json"])
        .inside(folder.path())
        .run();
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    let all = requests(&folder.path().join("all.json"));
    assert_eq!(all.len(), 40);
    let posts = all.iter();
    let posts = posts.filter(|request| request["data"]["tags"]["method"] == "POST");
    assert_eq!(posts.count(), 20);
    // The response time starts at the scheduled start, so it is never shorter than the service time.
    let file = folder.path().join("all.json");
    let times = |metric: &str| -> f64 {
        let samples = samples(&file, metric);
        assert_eq!(samples.len(), 40, "{metric}");
        let values = samples
            .iter()
            .map(|sample| sample["data"]["value"].as_f64());
        values.map(Option::unwrap).sum()
    };
    assert!(times("http_req_response_time") >= times("http_req_duration"));
}

#[test]
fn an_unknown_output_is_refused_before_the_run() {
    let service = Peer::start(Play::ok("hello"));
    let flags = ["http", "-n", "5", "--out", "prometheus=x"];
    let ended = plimsoll(&flags).arg(service.url()).run();
    assert_ne!(ended.status, Some(0));
    assert!(ended.stderr.contains("prometheus"), "{}", ended.stderr);
    assert_eq!(service.requests(), 0);
}
