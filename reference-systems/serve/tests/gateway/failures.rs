//! Upstreams that fail: retries, excluding targets, active checks, and recovery.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use plimsoll_testground::{Kind, Proxy};
use plimsoll_testkit::ports;

use crate::curl::{curl, get};
use crate::load;
use crate::running::{Gateway, Orders, eventually, simple};

#[test]
fn an_unreachable_target_is_replaced_by_another() {
    let (orders, closed) = (Orders::start("A"), ports::closed().to_string());
    let gateway = Gateway::start(&simple(&[&closed, &orders.address()], "", ""));
    let url = gateway.url("/spot/orders");
    // A POST too, because no part of it was sent.
    for _ in 0..20 {
        assert_eq!(curl(&[&url, "-d", "{}"]).status, 200);
    }
    let retries = gateway.metric("retries_total");
    assert!((1..=10).contains(&retries), "{retries}");
    // The target was excluded after its failures, so it did not get every second request.
    assert_eq!(gateway.metric("targets_well"), 1);
}

#[test]
fn without_any_upstream_it_is_502_and_then_200_again() {
    let address = ports::closed().to_string();
    let gateway = Gateway::start(&simple(&[&address], "", ""));
    let url = gateway.url("/spot/orders");
    for _ in 0..10 {
        let response = get(&url);
        assert_eq!(response.status, 502);
        assert_eq!(response.json()["error"], "the server cannot be reached");
    }
    let orders = Orders::start_at("A", &address);
    eventually("recovery", || get(&url).status == 200);
    assert!(orders.requests() > 0);
}

#[test]
fn an_upstream_killed_under_load_costs_few_requests_and_is_used_again() {
    let (one, other) = (Orders::start("A"), Orders::start("B"));
    let address = other.address();
    let upstream = ", passive_check: {failures: 3, leave_out: 300ms}";
    let gateway = Gateway::start(&simple(&[&one.address(), &address], "", upstream));
    let url = gateway.url("/spot/orders");
    let running = load::start(&["--h1", "-c20", "-D3", &url]);
    eventually("load", || other.requests() > 100);
    other.kill();
    thread::sleep(Duration::from_millis(700));
    let other = Orders::start_at("B", &address);
    eventually("its return", || other.requests() > 100);
    let counted = running.join().unwrap();
    // GET may be sent twice, so clients notice nothing, except for requests that the budget did not
    // cover.
    let [good, _, _, bad] = counted.classes;
    assert!(good > 1000, "{counted:?}");
    assert!(bad <= 20, "{counted:?}");
    assert_eq!((counted.errored, counted.timeout), (0, 0), "{counted:?}");
    assert!(gateway.metric("retries_total") > 0);
}

/// A server that reads a request, counts it, and closes the connection.
fn breaking() -> (String, Arc<AtomicU64>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let seen = Arc::new(AtomicU64::new(0));
    let counted = seen.clone();
    thread::spawn(move || {
        for stream in listener.incoming() {
            if stream.unwrap().read(&mut [0; 4096]).unwrap() > 0 {
                counted.fetch_add(1, Relaxed);
            }
        }
    });
    (address, seen)
}

#[test]
fn only_idempotent_requests_are_retried() {
    let (address, seen) = breaking();
    let gateway = Gateway::start(&simple(
        &[&address],
        ", retries: {attempts: 2}",
        ", passive_check: {failures: 0}",
    ));
    let url = gateway.url("/");
    for (arguments, times) in [
        (&["-X", "POST", "-d", "x"][..], 1),
        (&["-X", "PATCH", "-d", "x"], 1),
        (&["-X", "PUT", "-d", "x"], 3),
        (&["-X", "GET"], 3),
    ] {
        let before = seen.load(Relaxed);
        let mut all = vec![url.as_str()];
        all.extend(arguments);
        assert_eq!(curl(&all).status, 502);
        assert_eq!(seen.load(Relaxed) - before, times, "{arguments:?}");
    }
}

#[test]
fn retries_have_a_budget() {
    let (address, seen) = breaking();
    let gateway = Gateway::start(&simple(
        &[&address],
        ", retries: {attempts: 3, budget: 10%}",
        ", passive_check: {failures: 0}",
    ));
    let url = gateway.url("/");
    for _ in 0..60 {
        assert_eq!(get(&url).status, 502);
    }
    // The budget: ten saved retries, plus a tenth of sixty requests.
    let retries = seen.load(Relaxed) - 60;
    assert!((15..=17).contains(&retries), "{retries}");
}

#[test]
fn a_gateway_error_is_retried_on_another_target() {
    let good = Orders::start("A");
    let bad = Proxy::start(Kind::Nginx, |directory, port| {
        format!(
            "worker_processes 1; events {{}} http {{ access_log off; \
             client_body_temp_path {0}/body; proxy_temp_path {0}/proxy; fastcgi_temp_path {0}/f; \
             uwsgi_temp_path {0}/u; scgi_temp_path {0}/s; \
             server {{ listen 127.0.0.1:{port}; return 503; }} }}",
            directory.display()
        )
    });
    let bad_address = bad.address().to_string();
    let gateway = Gateway::start(&simple(
        &[&bad_address, &good.address()],
        "",
        ", passive_check: {failures: 3, leave_out: 10s}",
    ));
    for _ in 0..12 {
        assert_eq!(get(&gateway.url("/spot/orders")).status, 200);
    }
    assert_eq!(gateway.metric("retries_total"), 3);
    assert_eq!(gateway.metric("targets_well"), 1);
}

#[test]
fn the_active_check_finds_unhealthy_and_recovered_targets() {
    let (one, other) = (Orders::start("A"), Orders::start("B"));
    let address = other.address();
    let gateway = Gateway::start(&simple(
        &[&one.address(), &address],
        "",
        ", passive_check: {failures: 0}, \
         active_check: {path: /healthz, interval: 50ms, healthy: 2, unhealthy: 2}",
    ));
    assert_eq!(gateway.metric("targets_well"), 2);
    other.kill();
    eventually("illness", || gateway.metric("targets_well") == 1);
    let before = gateway.metric("attempts_failed_total");
    for _ in 0..10 {
        assert_eq!(
            get(&gateway.url("/spot/orders")).header("x-server"),
            Some("A")
        );
    }
    assert_eq!(gateway.metric("attempts_failed_total"), before);
    let _other = Orders::start_at("B", &address);
    eventually("health", || gateway.metric("targets_well") == 2);
    one.kill();
    eventually("illness", || gateway.metric("targets_well") == 1);
    assert_eq!(
        get(&gateway.url("/spot/orders")).header("x-server"),
        Some("B")
    );
}

#[test]
fn without_a_healthy_target_the_response_is_503_immediately() {
    let address = ports::closed().to_string();
    let gateway = Gateway::start(&simple(
        &[&address],
        "",
        ", active_check: {path: /healthz, interval: 50ms, unhealthy: 1}",
    ));
    eventually("illness", || gateway.metric("targets_well") == 0);
    let response = get(&gateway.url("/spot/orders"));
    assert_eq!(
        (response.status, response.header("retry-after")),
        (503, Some("1"))
    );
}

#[test]
fn requests_to_a_frozen_upstream_fail_and_others_continue() {
    let good = Orders::start("A");
    let frozen = Proxy::start(Kind::Nginx, |directory, port| {
        format!(
            "worker_processes 1; events {{}} http {{ access_log off; \
             client_body_temp_path {0}/body; proxy_temp_path {0}/proxy; fastcgi_temp_path {0}/f; \
             uwsgi_temp_path {0}/u; scgi_temp_path {0}/s; \
             server {{ listen 127.0.0.1:{port}; return 200; }} }}",
            directory.display()
        )
    });
    let address = frozen.address().to_string();
    frozen.suspend();
    let gateway = Gateway::start(&simple(
        &[&address, &good.address()],
        ", response_timeout: 300ms",
        ", passive_check: {failures: 2, leave_out: 20s}",
    ));
    let statuses: Vec<_> = (0..10)
        .map(|_| get(&gateway.url("/spot/orders")).status)
        .collect();
    assert_eq!(
        statuses.iter().filter(|status| **status == 504).count(),
        2,
        "{statuses:?}"
    );
    assert_eq!(
        statuses.iter().filter(|status| **status == 200).count(),
        8,
        "{statuses:?}"
    );
    frozen.resume();
}

#[test]
fn a_stale_connection_does_not_count_as_a_failure() {
    // A server that responds to one request on each connection, and closes it without notice.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            if stream.read(&mut [0; 4096]).unwrap() > 0 {
                stream
                    .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")
                    .unwrap();
            }
        }
    });
    let gateway = Gateway::start(&simple(&[&address], ", retries: {attempts: 0}", ""));
    let url = gateway.url("/");
    for _ in 0..30 {
        assert_eq!(curl(&[&url, "-d", "x"]).status, 200);
        // Give the close time to reach the gateway.
        thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(gateway.metric("attempts_failed_total"), 0);
}
