//! Rejected requests: rates, overload, sizes and times.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use crate::curl::{curl, get};
use crate::load;
use crate::running::{Gateway, Orders, eventually, simple};

#[test]
fn a_rate_is_kept_for_each_key() {
    let orders = Orders::start("A");
    let limit = "service: s, rate_limit: {rate: 1/m, burst: 3, key: header x-key}";
    let config = simple(&[&orders.address()], "", "").replace("service: s", limit);
    let gateway = Gateway::start(&config);
    let url = gateway.url("/spot/orders");
    let ask = |key: &str| curl(&[&url, "-H", &format!("x-key: {key}")]);
    let statuses: Vec<_> = (0..5).map(|_| ask("a").status).collect();
    assert_eq!(statuses, [200, 200, 200, 429, 429]);
    assert_eq!(ask("b").status, 200);
    let refused = ask("a");
    let wait: u64 = refused.header("retry-after").unwrap().parse().unwrap();
    assert!((50..=60).contains(&wait), "{wait}");
    assert_eq!(gateway.metric("rate_limited_total"), 3);
    // A reload does not refill the buckets.
    gateway.reload(&format!("{config}# changed\n"));
    assert_eq!(ask("a").status, 429);
}

#[test]
fn overload_is_rejected_immediately_and_the_queue_is_bounded() {
    let orders = Orders::start("A");
    let service = ", max_requests: 2, max_queue: 2, queue_timeout: 300ms";
    let gateway = Gateway::start(&simple(&[&orders.address()], service, ""));
    let long = gateway.url("/long?ms=1500");
    let requests: Vec<_> = (0..8)
        .map(|_| {
            let long = long.clone();
            thread::spawn(move || {
                let started = Instant::now();
                let response = get(&long);
                (response.status, started.elapsed(), response)
            })
        })
        .collect();
    let outcomes: Vec<_> = requests
        .into_iter()
        .map(|request| request.join().unwrap())
        .collect();
    let good = outcomes
        .iter()
        .filter(|(status, ..)| *status == 200)
        .count();
    assert_eq!(good, 2, "{outcomes:?}");
    for (status, took, response) in outcomes.iter().filter(|(status, ..)| *status != 200) {
        assert_eq!(*status, 503);
        assert_eq!(response.header("retry-after"), Some("1"));
        assert!(*took < Duration::from_millis(1400), "{took:?}");
    }
    assert_eq!(gateway.metric("overloaded_total"), 6);
    assert_eq!(gateway.metric("requests_waiting"), 0);
    // Afterwards the gateway works as before.
    assert_eq!(get(&gateway.url("/spot/orders")).status, 200);
}

#[test]
fn every_request_gets_a_response_under_overload() {
    let orders = Orders::start("A");
    let service = ", max_requests: 5, max_queue: 5, queue_timeout: 50ms";
    let gateway = Gateway::start(&simple(&[&orders.address()], service, ""));
    let url = gateway.url("/long?ms=20");
    let counted = load::start(&["--h1", "-c50", "-n2000", &url])
        .join()
        .unwrap();
    assert_eq!(
        (counted.failed, counted.errored, counted.timeout),
        (counted.classes[3], 0, 0)
    );
    assert!(
        counted.classes[0] > 10 && counted.classes[3] > 10,
        "{counted:?}"
    );
    assert_eq!(counted.classes.iter().sum::<u64>(), 2000);
}

#[test]
fn large_bodies_are_refused_whether_they_say_so_or_not() {
    let orders = Orders::start("A");
    let config = simple(&[&orders.address()], "", "");
    let gateway = Gateway::start(&format!(
        "limits: {{body: 100KiB, buffer: 16KiB}}\n{config}"
    ));
    let file = gateway.folder().join("body");
    let url = gateway.url("/echo");
    for (length, status) in [(1, 200), (16 << 10, 200), (90 << 10, 200), (200 << 10, 413)] {
        std::fs::write(&file, vec![b'x'; length]).unwrap();
        let data = format!("@{}", file.display());
        for framing in ["Content-Type: text/plain", "Transfer-Encoding: chunked"] {
            let response = curl(&[&url, "--data-binary", &data, "-H", framing, "-H", "Expect:"]);
            // A body that turns out to be too large after its echo has begun interrupts the
            // response, and sending the rest of the request may cost the client the whole response.
            let broken = framing.starts_with("Transfer") && status == 413;
            let cut = matches!(response.status, 0 | 200) && response.body.len() < length;
            if !(broken && cut) {
                assert_eq!(response.status, status, "{length} {framing}");
                assert!(status != 200 || response.body.len() == length);
            }
        }
    }
    std::fs::write(&file, vec![b'x'; 50 << 10]).unwrap();
    let data = format!("@{}", file.display());
    let expecting = curl(&[&url, "--data-binary", &data, "-H", "Expect: 100-continue"]);
    assert_eq!((expecting.status, expecting.body.len()), (200, 50 << 10));
}

#[test]
fn large_headers_are_rejected() {
    let orders = Orders::start("A");
    let config = simple(&[&orders.address()], "", "");
    let gateway = Gateway::start(&format!("limits: {{head: 8KiB}}\n{config}"));
    let url = gateway.url("/spot/orders");
    let header = |length: usize| format!("x-long: {}", "x".repeat(length));
    assert_eq!(curl(&[&url, "-H", &header(4096)]).status, 200);
    // A client that is still sending when it is rejected may lose the response.
    let refused = curl(&[&url, "-H", &header(20_000)]);
    assert!(matches!(refused.status, 431 | 0), "{refused:?}");
    assert_eq!(
        curl(&["--http2-prior-knowledge", &url, "-H", &header(20_000)]).status,
        431
    );
    assert_eq!(orders.requests(), 1);
}

#[test]
fn a_request_to_a_slow_upstream_times_out() {
    let orders = Orders::start("A");
    let gateway = Gateway::start(&simple(
        &[&orders.address()],
        ", response_timeout: 200ms",
        "",
    ));
    let started = Instant::now();
    let response = get(&gateway.url("/long?ms=5000"));
    assert_eq!(response.status, 504);
    assert!(started.elapsed() < Duration::from_secs(2));
    assert_eq!(get(&gateway.url("/long?ms=20")).status, 200);
}

#[test]
fn an_upstream_that_stops_during_its_response_does_not_block_the_client() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut received = [0; 4096];
        assert!(stream.read(&mut received).unwrap() > 0);
        stream
            .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf")
            .unwrap();
        thread::sleep(Duration::from_secs(30));
    });
    let gateway = Gateway::start(&simple(&[&address], ", idle_timeout: 200ms", ""));
    let started = Instant::now();
    let response = get(&gateway.url("/"));
    assert_eq!((response.status, response.body.as_str()), (200, "half"));
    assert!(started.elapsed() < Duration::from_secs(5));
    assert_eq!(gateway.metric("requests_at_targets"), 0);
}

#[test]
fn a_slow_client_does_not_hold_an_upstream() {
    let orders = Orders::start("A");
    let config = simple(&[&orders.address()], "", "");
    let gateway = Gateway::start(&format!("limits: {{body_timeout: 300ms}}\n{config}"));
    let mut stream = TcpStream::connect(gateway.address()).unwrap();
    stream
        .write_all(b"POST /echo HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\n\r\nhalf")
        .unwrap();
    let mut response = String::new();
    stream
        .set_read_timeout(Some(Duration::from_secs(5)))
        .unwrap();
    let mut piece = [0; 1024];
    let read = stream.read(&mut piece).unwrap();
    response.push_str(&String::from_utf8_lossy(&piece[..read]));
    assert!(response.starts_with("HTTP/1.1 408"), "{response}");
    assert_eq!(orders.requests(), 0);
}

#[test]
fn a_client_that_disconnects_frees_its_slot() {
    let orders = Orders::start("A");
    let gateway = Gateway::start(&simple(
        &[&orders.address()],
        ", max_requests: 1, max_queue: 0",
        "",
    ));
    let mut stream = TcpStream::connect(gateway.address()).unwrap();
    stream
        .write_all(b"GET /long?ms=20000 HTTP/1.1\r\nhost: a\r\n\r\n")
        .unwrap();
    eventually("the request", || gateway.metric("requests_at_targets") == 1);
    assert_eq!(get(&gateway.url("/spot/orders")).status, 503);
    drop(stream);
    eventually("its end", || gateway.metric("requests_at_targets") == 0);
    assert_eq!(get(&gateway.url("/spot/orders")).status, 200);
}

#[test]
fn connections_are_bounded() {
    let orders = Orders::start("A");
    let config = simple(&[&orders.address()], "", "");
    let gateway =
        Gateway::start(&config.replace("127.0.0.1:0}", "127.0.0.1:0, max_connections: 3}"));
    let kept: Vec<_> = (0..3)
        .map(|_| {
            let mut stream = TcpStream::connect(gateway.address()).unwrap();
            stream
                .write_all(b"GET /spot/orders HTTP/1.1\r\nhost: a\r\n\r\n")
                .unwrap();
            assert!(stream.read(&mut [0; 2048]).unwrap() > 0);
            stream
        })
        .collect();
    assert_eq!(get(&gateway.url("/spot/orders")).status, 0);
    drop(kept);
    eventually("capacity", || {
        get(&gateway.url("/spot/orders")).status == 200
    });
}

#[test]
fn a_connection_without_requests_is_closed() {
    let orders = Orders::start("A");
    let config = simple(&[&orders.address()], "", "");
    let gateway =
        Gateway::start(&config.replace("127.0.0.1:0}", "127.0.0.1:0, idle_timeout: 200ms}"));
    // Nothing, incomplete headers, a complete request, and an HTTP/2 request.
    for sent in [
        &b""[..],
        b"GET /spot",
        b"GET /spot/orders HTTP/1.1\r\nhost: a\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0",
    ] {
        let mut stream = TcpStream::connect(gateway.address()).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(10)))
            .unwrap();
        stream.write_all(sent).unwrap();
        let mut response = Vec::new();
        // The connection may end with a reset, but not by the timeout of this test.
        if let Err(error) = stream.read_to_end(&mut response) {
            assert_eq!(
                error.kind(),
                std::io::ErrorKind::ConnectionReset,
                "{sent:?}"
            );
        }
    }
    // A longer request is in flight, so the connection must not be closed.
    assert_eq!(get(&gateway.url("/long?ms=900")).status, 200);
}
