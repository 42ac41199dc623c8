//! `plimsoll probe` with peers that echo or respond to HTTP, over TLS and through a link.

mod plimsoll;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use plimsoll_testkit::program::Signal;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::Value;

/// A server that calls `serve` for each connection, on a separate thread.
fn server(serve: impl Fn(TcpStream) + Clone + Send + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    thread::spawn(move || {
        for connection in listener.incoming().flatten() {
            let serve = serve.clone();
            thread::spawn(move || serve(connection));
        }
    });
    address
}

fn echo(connection: TcpStream) {
    let (mut from, mut to) = (&connection, &connection);
    let _ = std::io::copy(&mut from, &mut to);
    let _ = connection.shutdown(Shutdown::Write);
}

/// Responds to requests without a body after a millisecond, until a request asks it to stop.
fn answer_http(stream: impl Read + Write) {
    let mut stream = BufReader::new(stream);
    loop {
        let mut close = false;
        loop {
            let mut line = String::new();
            match stream.read_line(&mut line) {
                Ok(0) | Err(_) => return,
                Ok(_) if line.trim().is_empty() => break,
                Ok(_) => close |= line.to_ascii_lowercase().starts_with("connection: close"),
            }
        }
        thread::sleep(Duration::from_millis(1));
        let response = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
        if stream.get_mut().write_all(response).is_err() || close {
            return;
        }
    }
}

fn probe(address: &str, flags: &[&str]) -> Value {
    let arguments = [&["probe", "--json", address], flags].concat();
    let ended = plimsoll::plimsoll(&arguments).run();
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    serde_json::from_str(&ended.stdout).expect("JSON")
}

fn number(value: &Value, path: &str) -> f64 {
    value
        .pointer(path)
        .and_then(Value::as_f64)
        .unwrap_or_else(|| panic!("{path} in {value}"))
}

#[test]
fn an_echo_is_found_and_measured() {
    let report = probe(&server(echo).to_string(), &["-n", "30"]);
    assert_eq!(report["round_trip_by"], "echo");
    assert_eq!(number(&report, "/round_trip_ms/count"), 30.0);
    assert_eq!(number(&report, "/connect_ms/count"), 30.0);
    let [min, median, p95, max] =
        ["min", "p50", "p95", "max"].map(|at| number(&report, &format!("/round_trip_ms/{at}")));
    assert!(
        0.0 < min && min <= median && median <= p95 && p95 <= max,
        "{report}"
    );
    assert_eq!(report["tls"], Value::Null);
    assert_eq!(report["round_trip_missing"], Value::Null);
}

#[test]
fn an_http_server_is_measured_by_the_first_byte() {
    let report = probe(
        &server(answer_http).to_string(),
        &["-n", "10", "--path", "/health"],
    );
    assert_eq!(report["round_trip_by"], "HTTP GET, first byte");
    assert_eq!(number(&report, "/round_trip_ms/count"), 10.0);
    // The time includes the server's own millisecond.
    assert!(number(&report, "/round_trip_ms/min") >= 1.0, "{report}");
    let once = |mut stream: TcpStream| {
        let _ = stream.read(&mut [0; 4096]);
        let _ =
            stream.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
    };
    let report = probe(&server(once).to_string(), &["-n", "3"]);
    assert_eq!(
        report["round_trip_by"],
        "HTTP GET, first byte, new connections"
    );
}

#[test]
fn a_peer_without_echo_or_http_still_has_a_connect_time() {
    let banner = |mut stream: TcpStream| {
        let _ = stream.write_all(b"220 mail.test ESMTP\r\n");
        let _ = stream.read(&mut [0; 4096]);
    };
    let report = probe(&server(banner).to_string(), &["-n", "2"]);
    assert_eq!(number(&report, "/connect_ms/count"), 2.0);
    assert_eq!(report["round_trip_ms"], Value::Null);
    let why = report["round_trip_missing"].as_str().expect("a reason");
    assert!(why.contains("neither echoes nor speaks HTTP"), "{why}");

    let silent = |mut stream: TcpStream| {
        let _ = stream.read_to_end(&mut Vec::new());
    };
    let report = probe(
        &server(silent).to_string(),
        &["-n", "1", "--timeout", "300ms"],
    );
    let why = report["round_trip_missing"].as_str().expect("a reason");
    assert!(why.contains("within 300ms"), "{why}");

    let closed = plimsoll_testkit::ports::closed().to_string();
    let ended = plimsoll::plimsoll(&["probe", &closed]).run();
    assert_eq!(ended.status, Some(255));
    assert!(
        ended.stderr.contains("connection refused"),
        "{}",
        ended.stderr
    );
    let ended = plimsoll::plimsoll(&["probe", "127.0.0.1"]).run();
    assert!(ended.stderr.contains("has no port"), "{}", ended.stderr);
}

#[test]
fn full_and_resumed_handshakes_are_measured() {
    let directory = tempfile::tempdir().expect("a directory");
    let folder = directory.path().to_str().expect("text");
    assert_eq!(plimsoll::plimsoll(&["certs", folder]).run().status, Some(0));
    let config = tls_config(directory.path());
    let secured = move |stream: TcpStream| {
        let connection = ServerConnection::new(Arc::clone(&config)).expect("a connection");
        answer_http(StreamOwned::new(connection, stream));
    };
    let port = server(secured).port();
    let address = format!("localhost:{port}");
    let authority = format!("{folder}/ca.pem");
    let report = probe(&address, &["-n", "5", "--tls", "--ca", &authority]);
    assert_eq!(report["tls"]["version"], "tls1.3");
    assert_eq!(number(&report, "/tls_handshake_ms/count"), 5.0);
    assert_eq!(number(&report, "/tls_handshake_resumed_ms/count"), 5.0);
    assert_eq!(number(&report, "/round_trip_ms/count"), 5.0);

    let ended = plimsoll::plimsoll(&["probe", "--tls", &address]).run();
    assert_eq!(ended.status, Some(255));
    assert!(
        ended.stderr.contains("unknown authority"),
        "{}",
        ended.stderr
    );
    let ended =
        plimsoll::plimsoll(&["probe", "--tls", "-n", "2", "--ca", &authority, &address]).run();
    for part in [
        "TLS handshake, resumed",
        "tls1.3, TLS_AES",
        "round trip by HTTP GET",
    ] {
        assert!(ended.stdout.contains(part), "{part}: {}", ended.stdout);
    }
}

fn tls_config(folder: &Path) -> Arc<ServerConfig> {
    let chain = vec![CertificateDer::from_pem_file(folder.join("server.pem")).expect("PEM")];
    let key = PrivateKeyDer::from_pem_file(folder.join("server.key")).expect("PEM");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .expect("the matching key");
    Arc::new(config)
}

#[test]
fn an_iperf3_server_measures_the_throughput_of_the_path() {
    let mut serving = plimsoll::plimsoll(&["throughput", "-s", "-4", "-p", "0"]).start();
    serving.line();
    let line = serving.line();
    let port = line.split_whitespace().nth(3).expect("a port");
    let address = server(echo).to_string();
    let report = probe(&address, &["-n", "1", "--throughput", port]);
    for direction in ["there", "back"] {
        let rate = number(&report, &format!("/throughput/{direction}_bits_per_second"));
        assert!(rate > 1e6, "{report}");
    }
    serving.signal(Signal::INT);
    serving.wait();
    let closed = plimsoll_testkit::ports::closed().port().to_string();
    let report = probe(&address, &["-n", "1", "--throughput", &closed]);
    assert_eq!(report["throughput"], Value::Null);
    let why = report["throughput_missing"].as_str().expect("a reason");
    assert!(why.contains("Connection refused"), "{why}");
}

#[test]
fn a_link_adds_the_configured_round_trip() {
    let to = server(echo).to_string();
    let arguments = [
        "link",
        "--listen",
        "127.0.0.1:0",
        "--to",
        &to,
        "--round-trip",
        "30ms",
    ];
    let mut running = plimsoll::plimsoll(&arguments).start();
    let ready: Value = serde_json::from_str(&running.line()).expect("JSON");
    let through = ready["listening"].as_str().expect("an address");
    let report = probe(through, &["-n", "15"]);
    running.signal(Signal::INT);
    running.wait();
    // The timer is never early. How late it is depends on the load of the machine, so the best of fifteen counts.
    let quickest = number(&report, "/round_trip_ms/min");
    assert!((30.0..39.0).contains(&quickest), "{report}");
}
