//! Selection of the target.

use std::collections::HashMap;

use crate::curl::{curl, get};
use crate::running::{Gateway, Orders, program, simple};

/// The name of the target that responds.
fn server(arguments: &[&str]) -> String {
    let response = curl(arguments);
    assert_eq!(response.status, 200, "{arguments:?}: {response:?}");
    response.header("x-server").unwrap().to_owned()
}

fn shares(count: usize, ask: impl Fn(usize) -> String) -> HashMap<String, usize> {
    let mut shares = HashMap::new();
    for index in 0..count {
        *shares.entry(ask(index)).or_default() += 1;
    }
    shares
}

#[test]
fn routes_go_by_prefix_regex_host_method_and_entry() {
    let servers = ["A", "B", "C", "D", "E"].map(Orders::start);
    let mut config = "entries:\n  web: {bind: 127.0.0.1:0}\n  side: {bind: 127.0.0.1:0}\n\
        routes:\n\
        \x20 entry: {entries: side, service: E}\n\
        \x20 host: {hosts: ['*.b.test', b.test], service: B}\n\
        \x20 method: {prefix: /spot, methods: DELETE, service: C}\n\
        \x20 regex: {regex: '^/(status/2\\d\\d|echo)$', service: D}\n\
        \x20 prefix: {prefix: /spot, service: A}\n\
        services:\n"
        .to_owned();
    for name in ["A", "B", "C", "D", "E"] {
        config += &format!("  {name}: {{upstream: {name}}}\n");
    }
    config += "upstreams:\n";
    for (name, server) in ["A", "B", "C", "D", "E"].iter().zip(&servers) {
        config += &format!("  {name}: {{targets: {}}}\n", server.address());
    }
    let gateway = Gateway::start(&config);
    let orders = gateway.url("/spot/orders");
    assert_eq!(server(&[&orders]), "A");
    assert_eq!(server(&[&orders, "-H", "Host: x.B.test:81"]), "B");
    assert_eq!(server(&[&orders, "-H", "Host: b.test"]), "B");
    assert_eq!(server(&[&orders, "-X", "DELETE"]), "C");
    assert_eq!(server(&[&gateway.url("/status/200")]), "D");
    assert_eq!(server(&[&gateway.entry("side", "/spot/orders")]), "E");
    let lost = get(&gateway.url("/status/404"));
    assert_eq!((lost.status, lost.header("x-server")), (404, None));
    assert_eq!(lost.json()["error"], "no route leads there");
    assert_eq!(get(&gateway.url("/spotted")).status, 404);
}

#[test]
fn paths_are_rewritten() {
    let orders = Orders::start("A");
    let gateway = Gateway::start(&format!(
        "entries:\n  web: {{bind: 127.0.0.1:0}}\nroutes:\n\
         \x20 prefix: {{prefix: /api/v1, service: s, rewrite: {{prefix: /}}}}\n\
         \x20 regex: {{regex: '^/s/(\\d+)$', service: s, rewrite: {{regex: '^/s/(\\d+)$', to: /status/$1}}}}\n\
         services:\n  s: {{upstream: u}}\nupstreams:\n  u: {{targets: {}}}\n",
        orders.address()
    ));
    assert_eq!(
        get(&gateway.url("/api/v1/request?a=1")).json()["target"],
        "/request?a=1"
    );
    assert_eq!(get(&gateway.url("/s/418")).status, 418);
}

#[test]
fn targets_take_turns_by_weight() {
    let (one, other) = (Orders::start("A"), Orders::start("B"));
    let heavy = format!("{{address: {}, weight: 3}}", one.address());
    let gateway = Gateway::start_with(
        &simple(&[&heavy, &other.address()], "", ", strategy: weighted"),
        &["--threads=1"],
    );
    let url = gateway.url("/spot/orders");
    let shares = shares(24, |_| server(&[&url]));
    assert_eq!((shares["A"], shares["B"]), (18, 6));
}

#[test]
fn the_least_busy_target_gets_the_request() {
    let (one, other) = (Orders::start("A"), Orders::start("B"));
    let gateway = Gateway::start(&simple(
        &[&one.address(), &other.address()],
        "",
        ", strategy: least_connections",
    ));
    // One target is busy with a long response; all others go to its neighbor.
    let long = gateway.url("/long?ms=3000");
    let busy = std::thread::spawn(move || server(&[&long]));
    crate::running::eventually("the long request", || {
        gateway.metric("requests_at_targets") == 1
    });
    let url = gateway.url("/spot/orders");
    let shares = shares(10, |_| server(&[&url]));
    assert_eq!(shares.len(), 1, "{shares:?}");
    assert!(!shares.contains_key(&busy.join().unwrap()));
}

#[test]
fn a_hash_keeps_a_key_at_its_target() {
    let servers = ["A", "B", "C"].map(Orders::start);
    let addresses = servers.each_ref().map(Orders::address);
    let targets = addresses.each_ref().map(String::as_str);
    for (by, argument) in [
        ("header x-user", "x-user: "),
        ("cookie sid", "cookie: a=1; sid="),
    ] {
        let gateway = Gateway::start(&simple(
            &targets,
            "",
            &format!(", strategy: hash, hash_by: {by}"),
        ));
        let url = gateway.url("/spot/orders");
        let ask = |index: usize| server(&[&url, "-H", &format!("{argument}{index}")]);
        let first: Vec<_> = (0..30).map(ask).collect();
        let again: Vec<_> = (0..30).map(ask).collect();
        assert_eq!(first, again);
        assert_eq!(shares(30, ask).len(), 3);
        // Without a key, the gateway hashes the client's address, which is always the same here.
        assert_eq!(shares(10, |_| server(&[&url])).len(), 1);
    }
}

#[test]
fn a_wrong_file_is_explained_with_line_and_key() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("gateway.yaml");
    let right = simple(&["127.0.0.1:1"], "", "");
    std::fs::write(&file, right.replace("prefix:", "prefx:")).unwrap();
    let check = || {
        program()
            .args(["gateway", "--check", "--config"])
            .arg(&file)
            .run()
    };
    let ended = check();
    assert_eq!(ended.status, Some(1));
    let expected = "gateway.yaml:4: routes.all.prefx: there is no such key; did you mean 'prefix'?";
    assert!(ended.stderr.contains(expected), "{}", ended.stderr);
    std::fs::write(&file, right).unwrap();
    assert_eq!(check().status, Some(0));
    let missing = program()
        .args(["gateway", "--config", "/nowhere.yaml"])
        .run();
    assert_eq!(missing.status, Some(1));
    assert!(
        missing.stderr.contains("/nowhere.yaml"),
        "{}",
        missing.stderr
    );
}
