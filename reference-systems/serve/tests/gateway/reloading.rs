//! A changed configuration is applied without losing a request.

use std::time::Duration;
use std::{fs, thread};

use plimsoll_testkit::ports;
use plimsoll_testkit::program::Signal;

use crate::curl::{curl, get};
use crate::load;
use crate::running::{Gateway, Orders, eventually, simple};

#[test]
fn under_load_no_request_is_lost() {
    let servers = ["A", "B"].map(Orders::start);
    let port = ports::closed().to_string();
    // The two configurations differ in targets, limits and rules, and only one of them has a second entry.
    let configs = [0, 1].map(|index| {
        let config = simple(
            &[&servers[index].address()],
            &format!(", max_queue: {}", 500 + index),
            "",
        );
        let rule = format!("service: s, response_headers: {{set: {{x-config: '{index}'}}}}");
        let config = config.replace("service: s", &rule);
        if index == 0 {
            config
        } else {
            config.replace("routes:", &format!("  more: {{bind: '{port}'}}\nroutes:"))
        }
    });
    let gateway = Gateway::start(&configs[0]);
    let url = gateway.url("/spot/orders");
    let runs = [
        load::start(&["--h1", "-c20", "-D4", &url]),
        load::start(&["-c4", "-m5", "-D4", &url]),
    ];
    eventually("load", || servers[0].requests() > 100);
    let before = gateway.metric("reloads_total");
    for round in 1..=15 {
        gateway.reload(&configs[round % 2]);
        // The new configuration applies to new and old connections alike.
        thread::sleep(Duration::from_millis(60));
    }
    assert!(gateway.metric("reloads_total") >= before + 15);
    assert_eq!(gateway.metric("reloads_refused_total"), 0);
    for run in runs {
        run.join().unwrap().assert_flawless();
    }
    for server in &servers {
        assert!(server.requests() > 500, "{}", server.requests());
    }
    assert_eq!(
        get(&gateway.url("/spot/orders")).header("x-config"),
        Some("1")
    );
    assert_eq!(get(&format!("http://{port}/spot/orders")).status, 200);
}

#[test]
fn a_change_of_the_file_is_noticed() {
    let servers = ["A", "B"].map(Orders::start);
    let gateway = Gateway::start(&simple(&[&servers[0].address()], "", ""));
    let url = gateway.url("/spot/orders");
    assert_eq!(get(&url).header("x-server"), Some("A"));
    gateway.write(&simple(&[&servers[1].address()], "", ""));
    eventually("the change", || get(&url).header("x-server") == Some("B"));
}

#[test]
fn a_wrong_file_changes_nothing() {
    let orders = Orders::start("A");
    let config = simple(&[&orders.address()], "", "");
    let gateway = Gateway::start(&config);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let place = taken.local_addr().unwrap();
    for (refused, wrong) in [
        (1, config.replace("prefix:", "prefx:")),
        (2, config.replace("127.0.0.1:0", &place.to_string())),
        (3, format!("access_log: /nowhere/log\n{config}")),
        (4, "\t".to_owned()),
    ] {
        gateway.write(&wrong);
        gateway.signal(Signal::HUP);
        eventually("the refusal", || {
            gateway.metric("reloads_refused_total") >= refused
        });
        assert_eq!(get(&gateway.url("/spot/orders")).status, 200);
    }
    assert_eq!(gateway.metric("reloads_total"), 0);
    let ended = gateway.end();
    assert!(
        ended.stderr.contains("did you mean 'prefix'"),
        "{}",
        ended.stderr
    );
    assert!(ended.stderr.contains("in use"), "{}", ended.stderr);
}

#[test]
fn certificates_are_exchanged() {
    let orders = Orders::start("A");
    let (_folder, old) = crate::running::certificates();
    let (_folder2, new) = crate::running::certificates();
    let folder = tempfile::tempdir().unwrap();
    let put = |from: &std::path::Path| {
        for file in ["server.pem", "server.key"] {
            fs::copy(from.join(file), folder.path().join(file)).unwrap();
        }
    };
    put(&old);
    let tls = "127.0.0.1:0, tls: {certificate: server.pem, key: server.key}}";
    let config = simple(&[&orders.address()], "", "").replace("127.0.0.1:0}", tls);
    fs::write(folder.path().join("gateway.yaml"), &config).unwrap();
    let path = folder.path().to_owned();
    let gateway = Gateway::start_in(folder, &[]);
    let url = gateway
        .url("/spot/orders")
        .replace("127.0.0.1", "localhost");
    let trusts = |certs: &std::path::Path| crate::curl::trusting(certs, &[&url]).status == 200;
    assert!(trusts(&old) && !trusts(&new));
    for file in ["server.pem", "server.key"] {
        fs::copy(new.join(file), path.join(file)).unwrap();
    }
    gateway.reload(&config);
    assert!(trusts(&new) && !trusts(&old));
}

#[test]
fn a_closed_listener_finishes_its_responses() {
    let orders = Orders::start("A");
    let port = ports::closed().to_string();
    let without = simple(&[&orders.address()], "", "");
    let with = without.replace("routes:", &format!("  more: {{bind: '{port}'}}\nroutes:"));
    let gateway = Gateway::start(&with);
    let url = format!("http://{port}/long?ms=800");
    let request = thread::spawn(move || get(&url).status);
    eventually("the request", || gateway.metric("requests_at_targets") == 1);
    gateway.reload(&without);
    eventually("its end", || {
        get(&format!("http://{port}/spot/orders")).status == 0
    });
    assert_eq!(request.join().unwrap(), 200);
}

#[test]
fn responses_in_flight_are_finished_at_shutdown() {
    let orders = Orders::start("A");
    let gateway = Gateway::start(&simple(&[&orders.address()], "", ""));
    let url = gateway.url("/long?ms=700");
    let request = thread::spawn(move || curl(&[&url]).status);
    eventually("the request", || gateway.metric("requests_at_targets") == 1);
    let ended = gateway.end();
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    assert_eq!(request.join().unwrap(), 200);
}
