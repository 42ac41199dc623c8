//! Compares the traces that an OpenTelemetry receiver got with the requests that the server received.

mod plimsoll;
#[path = "opentelemetry/server.rs"]
mod server;

use std::collections::BTreeMap;
use std::fs;

use plimsoll::plimsoll;
use plimsoll_testkit::program::Ended;
use serde_json::{Value, json};
use server::Receiver;

const SCRIPT: &str = r"
import http from 'k6/http';
export const options = { vus: 2, iterations: 50 };
export default function () {
  http.get(`${__ENV.SERVER}/page`, { tags: { name: 'a page', kind: 'first' } });
  http.batch([`${__ENV.SERVER}/missing`, `${__ENV.SERVER}/moved`]);
}
";
/// The number of requests for pages: three in each iteration, and the one after the redirect.
const REQUESTS: usize = 200;

fn run(receiver: &Receiver, script: &str, traces: &str, variables: &[(&str, &str)]) -> Ended {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("script.js"), script).unwrap();
    fs::write(folder.path().join("shop.proto"), SHOP).unwrap();
    let server = format!("SERVER=http://127.0.0.1:{}", receiver.posts);
    let calls = format!("CALLS=127.0.0.1:{}", receiver.calls);
    let flags = [
        "run",
        "-e",
        &server,
        "-e",
        &calls,
        "--traces-output",
        traces,
        "script.js",
    ];
    let mut program = plimsoll(&flags).inside(folder.path());
    for (name, value) in variables {
        program = program.env(name, value);
    }
    program.run()
}

/// All spans, by trace identifier and span identifier.
fn spans(receiver: &Receiver) -> BTreeMap<(String, String), Value> {
    let mut all = BTreeMap::new();
    for received in receiver.requests() {
        let resource = &received["request"]["resourceSpans"][0];
        assert_eq!(resource["resource"]["attributes"][0]["key"], "service.name");
        for span in resource["scopeSpans"][0]["spans"].as_array().unwrap() {
            let id = |name: &str| span[name].as_str().unwrap().to_owned();
            let id = (id("traceId"), id("spanId"));
            assert!(all.insert(id, span.clone()).is_none(), "two spans {span}");
        }
    }
    all
}

fn attributes(span: &Value) -> BTreeMap<&str, &Value> {
    let all = span["attributes"].as_array().unwrap().iter();
    all.map(|one| {
        (
            one["key"].as_str().unwrap(),
            one["value"].as_object().unwrap().values().next().unwrap(),
        )
    })
    .collect()
}

fn assert_traced(receiver: &Receiver) {
    let served = receiver.served();
    assert_eq!(served.len(), REQUESTS);
    let spans = spans(receiver);
    assert_eq!(spans.len(), REQUESTS);
    let mut redirected = 0;
    for request in &served {
        let headers = request["traceparent"].as_array().unwrap();
        assert_eq!(headers.len(), 1, "{request}");
        let parts: Vec<&str> = headers[0].as_str().unwrap().split('-').collect();
        let [version, trace, parent, flags] = parts[..] else {
            panic!("{request}");
        };
        assert_eq!((version, flags), ("00", "01"));
        let span = &spans[&(trace.to_owned(), parent.to_owned())];
        let path = request["path"].as_str().unwrap();
        // A redirect sends the same header again, so its span is a child of this span.
        let children = spans
            .iter()
            .filter(|((known, _), one)| known == trace && one["parentSpanId"] == parent);
        let children: Vec<&Value> = children.map(|(_, span)| span).collect();
        let attributes = attributes(span);
        let url = attributes.get("url.full").and_then(|url| url.as_str());
        if url.is_some_and(|url| url.ends_with("/moved")) {
            assert_eq!(children.len(), 1, "{request}");
            assert!(children[0].to_string().contains("/page"));
            redirected += 1;
            continue;
        }
        assert!(children.is_empty());
        assert_eq!(attributes["http.request.method"], "GET");
        assert_eq!(attributes["network.protocol.version"], "1.1");
        assert_eq!(attributes["scenario"], "default");
        assert_eq!(span["kind"], "SPAN_KIND_CLIENT");
        let time = |name: &str| span[name].as_str().unwrap().parse::<u64>().unwrap();
        assert!(time("startTimeUnixNano") < time("endTimeUnixNano"));
        if path == "/page" {
            // The name replaces the URL.
            assert_eq!(url, None);
            assert_eq!(span["name"], "GET a page");
            assert_eq!(attributes["kind"], "first");
            assert_eq!(attributes["http.response.status_code"], "200");
            assert!(span.get("status").is_none(), "{span}");
        } else {
            assert_eq!(span["name"], "GET");
            assert!(url.is_some_and(|url| url.ends_with(path)), "{span}");
            assert_eq!(attributes["server.address"], "127.0.0.1");
            assert_eq!(
                attributes["server.port"],
                &json!(receiver.posts.to_string())
            );
            assert_eq!(attributes["http.response.status_code"], "404");
            assert_eq!(span["status"]["code"], "STATUS_CODE_ERROR");
            assert_eq!(attributes["error.type"], "1404");
        }
    }
    // Both requests of each redirect contain its header.
    assert_eq!(redirected, 100);
}

#[test]
fn each_request_is_a_span_over_grpc() {
    let receiver = Receiver::start();
    let traces = format!("otel=127.0.0.1:{},header.X-Tenant=one", receiver.calls);
    let ended = run(&receiver, SCRIPT, &traces, &[("OTEL_SERVICE_NAME", "shop")]);
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    assert_traced(&receiver);
    let requests = receiver.requests();
    assert_eq!(requests[0]["headers"]["x-tenant"], "one");
    let resource = &requests[0]["request"]["resourceSpans"][0]["resource"];
    assert!(resource.to_string().contains("\"shop\""), "{resource}");
}

#[test]
fn each_request_is_a_span_over_http() {
    let receiver = Receiver::start();
    let traces = format!("otel=127.0.0.1:{},proto=http", receiver.posts);
    let ended = run(&receiver, SCRIPT, &traces, &[]);
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    assert_traced(&receiver);
    assert_eq!(receiver.requests()[0]["headers"][":path"], "/v1/traces");
}

const CALLS: &str = r"
import { Client } from 'k6/net/grpc';
export const options = { vus: 2, iterations: 20 };
const client = new Client();
client.load([], 'shop.proto');
export default function () {
  client.connect(__ENV.CALLS, { plaintext: true });
  client.invoke('shop.Shop/Buy', { name: 'tea' });
  client.invoke('shop.Shop/Fail', {});
}
";
const SHOP: &str = r#"
syntax = "proto3";
package shop;
message Order { string name = 1; }
service Shop { rpc Buy(Order) returns (Order); rpc Fail(Order) returns (Order); }
"#;

#[test]
fn each_call_is_a_span() {
    let receiver = Receiver::start();
    let traces = format!("otel=127.0.0.1:{},proto=http", receiver.posts);
    let ended = run(&receiver, CALLS, &traces, &[]);
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    let served = receiver.served();
    assert_eq!(served.len(), 40);
    let spans = spans(&receiver);
    assert_eq!(spans.len(), 40);
    for call in served {
        let header = call["traceparent"][0].as_str().unwrap();
        let parts: Vec<&str> = header.split('-').collect();
        let span = &spans[&(parts[1].to_owned(), parts[2].to_owned())];
        let path = call["path"].as_str().unwrap();
        assert_eq!(span["name"].as_str(), path.strip_prefix('/'));
        let attributes = attributes(span);
        assert_eq!(attributes["rpc.system"], "grpc");
        assert_eq!(attributes["rpc.service"], "shop.Shop");
        let is_failed = path.ends_with("Fail");
        let code = if is_failed { "5" } else { "0" };
        assert_eq!(attributes["rpc.grpc.status_code"], code);
        assert_eq!(span.get("status").is_some(), is_failed, "{span}");
        let time = |name: &str| span[name].as_str().unwrap().parse::<u64>().unwrap();
        assert!(time("startTimeUnixNano") < time("endTimeUnixNano"));
    }
}

#[test]
fn unrecorded_requests_are_marked_and_have_no_span() {
    let receiver = Receiver::start();
    let traces = format!("otel=127.0.0.1:{}", receiver.calls);
    let off = [("OTEL_TRACES_SAMPLER", "always_off")];
    let ended = run(&receiver, SCRIPT, &traces, &off);
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    let served = receiver.served();
    assert_eq!(served.len(), REQUESTS);
    for request in served {
        let header = request["traceparent"][0].as_str().unwrap();
        assert!(header.ends_with("-00"), "{header}");
    }
    assert_eq!(receiver.requests(), [] as [Value; 0]);
}

#[test]
fn without_traces_requests_have_no_context() {
    let receiver = Receiver::start();
    let ended = run(&receiver, SCRIPT, "none", &[]);
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    let served = receiver.served();
    assert_eq!(served.len(), REQUESTS);
    assert!(
        served
            .iter()
            .all(|request| request["traceparent"].is_null())
    );
}

#[test]
fn a_missing_collector_is_reported_and_lost_spans_are_counted() {
    let receiver = Receiver::start();
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = free.local_addr().unwrap();
    drop(free);
    let ended = run(&receiver, SCRIPT, &format!("otel={address}"), &[]);
    assert_eq!(ended.status, Some(255), "{}", ended.stderr);
    assert_eq!(receiver.served().len(), REQUESTS);
    assert!(ended.stderr.contains("cannot connect"), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("200 spans are not in it"),
        "{}",
        ended.stderr
    );
}

#[test]
fn invalid_trace_settings_are_refused() {
    let receiver = Receiver::start();
    let ended = run(&receiver, SCRIPT, "zipkin=127.0.0.1:1", &[]);
    assert_ne!(ended.status, Some(0));
    assert!(
        ended.stderr.contains("--traces-output zipkin"),
        "{}",
        ended.stderr
    );
    assert_eq!(receiver.served().len(), 0);
}
