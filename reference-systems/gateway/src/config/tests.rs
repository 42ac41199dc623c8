use std::num::NonZero;

use super::*;

const WHOLE: &str = "\
access_log: access.jsonl
limits: {head: 16KiB, body: 1MiB, buffer: 8KiB, body_timeout: 5s}
entries:
  web:
    bind: 127.0.0.1:0
    forwarded: append
routes:
  orders:
    prefix: /spot
    hosts: ['*.Example', api.test]
    methods: [GET, POST]
    service: orders
    rewrite: {prefix: /v2}
    request_headers:
      set: {x-team: blue}
      remove: [cookie]
    rate_limit: {rate: 600/m, burst: 20, key: header x-api-key}
  rest:
    regex: ^/u/(\\d+)$
    service: orders
    rewrite: {regex: ^/u/(\\d+)$, to: /users/$1}
services:
  orders:
    upstream: pair
    retries: {attempts: 2, budget: 10%}
    max_queue: 0
upstreams:
  pair:
    strategy: hash
    hash_by: cookie sid
    protocol: h2
    targets:
      - 127.0.0.1:9001
      - {address: localhost:9002, weight: 3}
    active_check: {path: /healthz, interval: 500ms}
    passive_check: {failures: 2, leave_out: 3s}
";

fn problems(text: &str) -> Vec<String> {
    let found = read(text, Path::new("/nowhere")).unwrap_err();
    found
        .into_iter()
        .map(|problem| format!("{}: {}: {}", problem.line, problem.path, problem.what))
        .collect()
}

/// The errors in the whole file with one text replaced.
fn with(old: &str, new: &str) -> Vec<String> {
    assert!(WHOLE.contains(old), "{old}");
    problems(&WHOLE.replacen(old, new, 1))
}

#[test]
fn everything_is_read() {
    let config = read(WHOLE, Path::new("/folder")).unwrap();
    assert_eq!(
        config.access_log,
        AccessLog::File("/folder/access.jsonl".into())
    );
    assert_eq!(config.limits.buffer, 8192);
    assert_eq!(config.entries[0].forwarded, Forwarded::Append);
    let [orders, rest] = &config.routes[..] else {
        panic!()
    };
    assert_eq!(orders.hosts, ["*.example", "api.test"]);
    assert_eq!(orders.rewrite, Rewrite::Prefix("/v2".into()));
    let limit = orders.rate_limit.as_ref().unwrap();
    let (count, per) = limit.rate;
    assert_eq!((count.get(), per), (600, Duration::from_secs(60)));
    assert_eq!(limit.burst.map(NonZero::get), Some(20));
    assert_eq!(
        limit.key,
        Key::Header(hyper::http::HeaderName::from_static("x-api-key"))
    );
    assert!(matches!(&rest.rewrite, Rewrite::Regex(_, to) if to == "/users/$1"));
    assert_eq!(
        config.services[0].retries,
        Retries {
            attempts: 2,
            budget_percent: 10
        }
    );
    assert_eq!(config.services[0].max_queue, 0);
    let upstream = &config.upstreams[0];
    assert_eq!(upstream.strategy, Strategy::Hash);
    assert_eq!(upstream.hash_by, Some(HashBy::Cookie("sid".into())));
    assert_eq!(
        upstream.targets[1],
        Target {
            address: "localhost:9002".into(),
            weight: 3
        }
    );
    assert_eq!(
        upstream.active.as_ref().unwrap().interval,
        Duration::from_millis(500)
    );
    assert_eq!(upstream.passive.failures, 2);
    // Parsing the same text again gives an equal value: a reload would replace nothing.
    let again = read(WHOLE, Path::new("/folder")).unwrap();
    assert_eq!(config.routes, again.routes);
    assert_eq!(config.services, again.services);
    assert_eq!(config.upstreams, again.upstreams);
}

#[test]
fn wrong_keys_name_the_right_one_with_line_and_place() {
    assert_eq!(
        with("    prefix: /spot", "    perfix: /spot")[0],
        "9: routes.orders.perfix: there is no such key; did you mean 'prefix'?"
    );
    assert_eq!(
        with("strategy: hash", "strategy: hsah")[0],
        "29: upstreams.pair.strategy: 'hsah' is none of round_robin, weighted, least_connections, hash; did you mean 'hash'?"
    );
}

#[test]
fn names_of_missing_sections_are_reported() {
    assert_eq!(
        with("service: orders", "service: order")[0],
        "0: routes.orders.service: there is no service 'order'; did you mean 'orders'?"
    );
    assert_eq!(
        with("upstream: pair", "upstream: pears")[0],
        "0: services.orders.upstream: there is no upstream 'pears'; there are: pair"
    );
    assert!(with("    prefix: /spot", "    entries: [wbe]")[0].contains("there is no entry 'wbe'"));
}

#[test]
fn values_are_checked() {
    for (old, new, expected) in [
        (
            "bind: 127.0.0.1:0",
            "bind: localhost",
            "5: entries.web.bind: 'localhost' is not an address",
        ),
        ("600/m", "600", "rate: '600' is not a rate"),
        ("600/m", "0/s", "is not a rate"),
        (
            "regex: ^/u/(\\d+)$\n",
            "regex: '('\n",
            "is not a regular expression",
        ),
        (
            "set: {x-team: blue}",
            "set: {content-length: 5}",
            "frames messages",
        ),
        (
            "set: {x-team: blue}",
            "set: {'x team': 5}",
            "is not a name of a header",
        ),
        (
            "methods: [GET, POST]",
            "methods: [get]",
            "'get' is not a method",
        ),
        ("budget: 10%", "budget: 110%", "a share from 0% to 100%"),
        ("interval: 500ms", "interval: 500", "a duration from 1ms"),
        ("head: 16KiB", "head: 1KiB", "from 8KiB to 1MiB"),
        ("    hash_by: cookie sid\n", "", "'hash' needs 'hash_by'"),
        ("- 127.0.0.1:9001", "- 127.0.0.1", "a host and a port"),
        ("weight: 3", "weight: 0", "from 1 to 1000"),
        ("protocol: h2", "protocol: h3", "none of h1, h2"),
        (
            "    forwarded: append",
            "    tls: {certificate: none.pem, key: none.key}",
            "/nowhere/none.pem",
        ),
        (
            "rewrite: {prefix: /v2}",
            "rewrite: {to: /v2}",
            "either 'prefix', or 'regex' and 'to'",
        ),
    ] {
        let found = with(old, new);
        assert!(
            found.iter().any(|found| found.contains(expected)),
            "{new}: {found:?}"
        );
    }
}

#[test]
fn missing_keys_and_sections_are_reported() {
    let text = "entries:\n  web: {}\nroutes:\n  a: {service: b}\nservices:\n";
    assert_eq!(problems(text), ["2: entries.web: 'bind' is missing"]);
    let text = WHOLE.split("upstreams:").next().unwrap();
    assert!(problems(text)[0].contains("'upstreams' is missing"));
    let text = WHOLE.replacen("upstreams:", "upstreams: {}\nunknown:", 1);
    assert!(problems(&text)[0].contains("there must be at least one"));
    assert!(!problems("").is_empty());
}

#[test]
fn names_that_do_not_exist_are_all_reported() {
    let text = WHOLE.replace("service: orders", "service: order");
    assert_eq!(problems(&text).len(), 2);
}

#[test]
fn a_missing_file_says_so() {
    let error = load(Path::new("/nowhere/gateway.yaml"))
        .unwrap_err()
        .to_string();
    assert!(error.starts_with("/nowhere/gateway.yaml: "), "{error}");
    assert!(error.contains("--config"), "{error}");
}
