//! Changes to forwarded headers, and their logging.

use serde_json::Value;

use crate::curl::{curl, get};
use crate::running::{Gateway, Orders, eventually, simple};

/// The values of a header that the upstream saw.
fn seen<'a>(request: &'a Value, name: &str) -> Vec<&'a str> {
    let headers = request["headers"].as_array().unwrap();
    let named = headers.iter().filter(|pair| pair[0] == name);
    named.map(|pair| pair[1].as_str().unwrap()).collect()
}

#[test]
fn headers_of_the_connection_are_not_forwarded_and_forwarded_is_added() {
    let orders = Orders::start("A");
    let gateway = Gateway::start(&simple(&[&orders.address()], "", ""));
    let request = curl(&[
        &gateway.url("/request"),
        "-H",
        "Connection: keep-alive, X-Private",
        "-H",
        "X-Private: 1",
        "-H",
        "Keep-Alive: timeout=5",
        "-H",
        "TE: gzip",
        "-H",
        "Proxy-Authorization: Basic eA==",
        "-H",
        "X-Forwarded-For: 6.6.6.6",
        "-H",
        "X-Kept: yes",
        "-H",
        "Host: shop.test",
    ])
    .json();
    for gone in [
        "connection",
        "x-private",
        "keep-alive",
        "te",
        "proxy-authorization",
    ] {
        assert!(seen(&request, gone).is_empty(), "{gone}: {request}");
    }
    assert_eq!(seen(&request, "x-kept"), ["yes"]);
    assert_eq!(seen(&request, "host"), ["shop.test"]);
    assert_eq!(seen(&request, "x-forwarded-for"), ["127.0.0.1"]);
    assert_eq!(seen(&request, "x-forwarded-host"), ["shop.test"]);
    assert_eq!(seen(&request, "x-forwarded-proto"), ["http"]);
    assert_eq!(seen(&request, "via"), ["1.1 plimsoll"]);
}

#[test]
fn the_host_header_can_be_that_of_the_target() {
    let orders = Orders::start("A");
    let gateway = Gateway::start(&simple(&[&orders.address()], ", preserve_host: false", ""));
    let request = get(&gateway.url("/request")).json();
    assert_eq!(seen(&request, "host"), [orders.address()]);
}

#[test]
fn forwarded_headers_are_appended_if_configured() {
    let orders = Orders::start("A");
    let config = simple(&[&orders.address()], "", "");
    let gateway =
        Gateway::start(&config.replace("127.0.0.1:0}", "127.0.0.1:0, forwarded: append}"));
    let request = curl(&[
        &gateway.url("/request"),
        "-H",
        "X-Forwarded-For: 6.6.6.6",
        "-H",
        "X-Forwarded-Proto: https",
    ])
    .json();
    assert_eq!(seen(&request, "x-forwarded-for"), ["6.6.6.6, 127.0.0.1"]);
    assert_eq!(seen(&request, "x-forwarded-proto"), ["https"]);
}

#[test]
fn rules_change_headers_both_ways() {
    let orders = Orders::start("A");
    let rules = "service: s, \
        request_headers: {remove: [user-agent], set: {x-team: blue}, add: {x-tag: two}}, \
        response_headers: {remove: [x-server], set: {cache-control: no-store}}";
    let config = simple(&[&orders.address()], "", "").replace("service: s", rules);
    let gateway = Gateway::start(&config);
    let response = curl(&[
        &gateway.url("/request"),
        "-H",
        "X-Team: red",
        "-H",
        "X-Tag: one",
    ]);
    assert_eq!(response.header("x-server"), None);
    assert_eq!(response.header("cache-control"), Some("no-store"));
    let request = response.json();
    assert!(seen(&request, "user-agent").is_empty());
    assert_eq!(seen(&request, "x-team"), ["blue"]);
    assert_eq!(seen(&request, "x-tag"), ["one", "two"]);
}

#[test]
fn a_forwarding_loop_is_stopped() {
    let first = Gateway::start(&simple(&["127.0.0.1:1"], "", ""));
    let own = first.address().to_string();
    let config = simple(&[&own], "", "");
    // The entry keeps its port: with port 0 in the configuration, a new listener would get another
    // one.
    first.reload(&config);
    let response = get(&first.url("/spot/orders"));
    assert_eq!(response.status, 508);
}

#[test]
fn the_access_log_has_each_request_and_no_secrets() {
    let orders = Orders::start("A");
    let config = format!(
        "access_log: access.jsonl\n{}",
        simple(&[&orders.address()], "", "")
    );
    let gateway = Gateway::start(&config);
    get(&gateway.url("/spot/orders?token=hidden"));
    curl(&[
        &gateway.url("/echo"),
        "-d",
        "hello",
        "-H",
        "Authorization: Bearer hidden",
    ]);
    get(&gateway.url("/a/../b"));
    let file = gateway.folder().join("access.jsonl");
    let text = || std::fs::read_to_string(&file).unwrap_or_default();
    eventually("three lines", || text().lines().count() == 3);
    let lines: Vec<Value> = text()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines[0]["path"], "/spot/orders");
    assert_eq!(lines[0]["status"], 200);
    assert_eq!(lines[0]["target"], orders.address());
    assert_eq!(lines[0]["protocol"], "HTTP/1.1");
    assert_eq!(
        (&lines[1]["method"], &lines[1]["bytes"]),
        (&"POST".into(), &5.into())
    );
    assert_eq!(
        (&lines[2]["status"], &lines[2]["route"]),
        (&400.into(), &Value::Null)
    );
    assert!(lines[2]["trouble"].as_str().unwrap().contains(".."));
    assert!(!text().contains("hidden"));
}
