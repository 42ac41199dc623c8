//! The Grafana dashboard uses only metrics that runs send, and a real Prometheus has data for its queries.

mod plimsoll;

use std::path::Path;

use plimsoll::plimsoll;
use plimsoll_output::prometheus_name;
use plimsoll_samples::Registry;
use plimsoll_testground::Prometheus;
use plimsoll_testkit::peers::{Peer, Play};
use serde_json::Value;

/// The queries of the dashboard.
fn queries() -> Vec<String> {
    let path = "../../packaging/grafana/plimsoll.json";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    let text = std::fs::read_to_string(path).expect("the dashboard");
    let dashboard: Value = serde_json::from_str(&text).expect("JSON");
    let panels = dashboard["panels"].as_array().expect("panels");
    let targets = panels
        .iter()
        .filter_map(|panel| panel["targets"].as_array());
    let queries = targets.flatten().map(|target| target["expr"].as_str());
    queries
        .map(|query| query.expect("a query").to_owned())
        .collect()
}

fn metrics(query: &str) -> impl Iterator<Item = &str> {
    let is_part = |character: char| character.is_ascii_alphanumeric() || character == '_';
    let words = query.split(move |character| !is_part(character));
    words.filter(|word| word.starts_with("k6_"))
}

#[test]
fn every_metric_of_the_dashboard_exists() {
    let sent: Vec<String> = Registry::new()
        .metrics()
        .iter()
        // Outputs receive only k6's metrics.
        .filter(|metric| !metric.extra)
        .map(|metric| prometheus_name(&metric.name, metric.kind, metric.contains))
        .collect();
    let queries = queries();
    assert!(queries.len() > 10, "{queries:?}");
    for query in &queries {
        assert!(metrics(query).next().is_some(), "{query}");
        for metric in metrics(query) {
            assert!(
                sent.iter().any(|name| name == metric),
                "{metric} in {query}"
            );
        }
    }
}

#[test]
fn prometheus_has_data_for_every_query_of_the_dashboard() {
    let prometheus = Prometheus::start();
    let server = Peer::start(Play::ok("hello"));
    let folder = tempfile::tempdir().expect("a folder");
    let script = "import http from 'k6/http'; import { check } from 'k6';
        export const options = { scenarios: { open: { executor: 'constant-arrival-rate', rate: 50,
          duration: '3s', preAllocatedVUs: 10 } } };
        export default function () { check(http.get(__ENV.URL), { ok: (r) => r.status === 200 }); }";
    std::fs::write(folder.path().join("script.js"), script).expect("a script");
    let ended = plimsoll(&["run", "script.js"])
        .args(["--out", "experimental-prometheus-rw", "-e"])
        .arg(format!("URL={}", server.url()))
        .env("K6_PROMETHEUS_RW_SERVER_URL", prometheus.write_url())
        // A rate requires two values.
        .env("K6_PROMETHEUS_RW_PUSH_INTERVAL", "500ms")
        .inside(folder.path())
        .run();
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    for query in queries() {
        let response = prometheus.query(&query.replace("$__rate_interval", "1m"));
        let response: Value = serde_json::from_str(&response).expect("JSON");
        assert_eq!(response["status"], "success", "{query}: {response}");
        let found = response["data"]["result"].as_array().map_or(0, Vec::len);
        // The run had no calls and no messages, and always a free user.
        let is_absent = ["grpc_", "ws_", "dropped_"]
            .iter()
            .any(|part| query.contains(part));
        assert!(found > 0 || is_absent, "no data for {query}");
    }
}
