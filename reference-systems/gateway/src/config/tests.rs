use super::*;

use std::path::Path;

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

#[test]
fn everything_is_read() {
    let config = read(WHOLE, Path::new("/folder/file")).unwrap();
    let log = config.access_log.as_deref();
    assert_eq!(log, Some("/folder/access.jsonl"));
    assert_eq!(config.limits.buffer, 8192);
    assert_eq!(config.entries["web"].forwarded, Forwarded::Append);
    let orders = &config.routes["orders"];
    assert_eq!(orders.hosts, ["*.example", "api.test"]);
    let limit = orders.rate_limit.as_ref().unwrap();
    assert_eq!((limit.rate.0.get(), limit.rate.1.as_secs()), (600, 60));
    assert_eq!(limit.burst.map(NonZero::get), Some(20));
    assert_eq!(limit.key, Key::Header("x-api-key".parse().unwrap()));
    let service = &config.services["orders"];
    assert_eq!(service.retries.budget_percent, 10);
    assert_eq!((service.max_queue, service.max_requests), (0, 4096));
    let upstream = &config.upstreams["pair"];
    assert_eq!(upstream.hash_by, Some(Key::Cookie("sid".into())));
    let weights = upstream.targets.iter().map(|target| target.weight.get());
    assert_eq!(weights.collect::<Vec<_>>(), [1, 3]);
    assert_eq!(upstream.targets[1].address, "localhost:9002");
    assert_eq!(upstream.active.as_ref().unwrap().interval.as_millis(), 500);
    // Parsing the same text again gives an equal value: a reload would replace nothing.
    let again = read(WHOLE, Path::new("/folder/file")).unwrap();
    assert_eq!(config.routes, again.routes);
    assert_eq!(config.services, again.services);
    assert_eq!(config.upstreams, again.upstreams);
}

/// A part of the file, its replacement, and the error.
const WRONG: &str = r"
prefix: /spot => perfix: /spot => gateway.yaml:9: routes.orders.perfix: there is no such key
prefix: /spot => perfix: /spot => did you mean 'prefix'?
prefix: /spot => entries: [wbe] => routes.orders.entries: there is no entry 'wbe'
strategy: hash => strategy: hsah => gateway.yaml:29: upstreams.pair.strategy: 'hsah' is unknown
upstream: pair => upstream: pears => there is no upstream 'pears'; there are: pair
bind: 127.0.0.1:0 => protocol: h1 => entries.web: 'bind' is missing
bind: 127.0.0.1:0 => bind: localhost => gateway.yaml:5: entries.web.bind:
600/m => 600 => rate: '600' is not a rate
600/m => 0/s => is not a rate
regex: ^/u/(\d+)$ => regex: '(' => is not a regular expression
{x-team: blue} => {content-length: 5} => those that frame messages
{x-team: blue} => {'x team': 5} => is not a header's name
[GET, POST] => [get] => 'get' is not a method
budget: 10% => budget: 110% => a share from 0% to 100%
interval: 500ms => interval: 500 => a duration from 1ms
buffer: 8KiB => buffer: 1GiB => at most 16MiB
hash_by: cookie sid => keep: 1 => needs 'hash_by'
- 127.0.0.1:9001 => - 127.0.0.1 => a host and a port
weight: 3 => weight: 0 => gateway.yaml:34: upstreams.pair.targets[1].weight:
protocol: h2 => protocol: h3 => 'h3' is unknown
forwarded: append => tls: {certificate: none.pem, key: none.key} => /nowhere/none.pem
{prefix: /v2} => {to: /v2} => either 'prefix', or 'regex' and 'to'";

#[test]
fn errors_name_the_line_the_key_and_the_fix() {
    let file = Path::new("/nowhere/gateway.yaml");
    for case in WRONG.trim_start().lines() {
        let [old, new, expected] = case.split(" => ").collect::<Vec<_>>()[..] else {
            panic!("{case}")
        };
        assert!(WHOLE.contains(old), "{case}");
        let found = read(&WHOLE.replacen(old, new, 1), file).unwrap_err();
        assert!(found.contains(expected), "{case}: {found}");
    }
    // Names that do not exist are all reported.
    let text = WHOLE.replace("service: orders", "service: order");
    assert_eq!(read(&text, file).unwrap_err().lines().count(), 2);
    let sections = "entries: {}\nroutes: {}\nservices: {}\nupstreams: {}\n";
    assert_eq!(read(sections, file).unwrap_err().lines().count(), 4);
    read("", file).unwrap_err();
    let missing = load(file).unwrap_err();
    assert!(missing.starts_with("/nowhere/gateway.yaml: ") && missing.contains("--config"));
}
