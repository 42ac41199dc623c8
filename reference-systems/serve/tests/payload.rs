//! Tests `plimsoll-serve payload` as its users run it: as a program, with an independent client for
//! each of its listeners.

#[allow(dead_code, reason = "other tests use the rest")]
mod client;

use client::Client;
use plimsoll_testkit::ports;
use plimsoll_testkit::program::{Ended, Program, Running, Signal};
use serde_json::Value;

/// A running system and its addresses.
struct Served {
    running: Running,
    places: Value,
}

fn program() -> Program {
    Program::at(env!("CARGO_BIN_EXE_plimsoll-serve"))
}

fn serve(flags: &[&str]) -> Served {
    let mut running = program()
        .args([
            "payload",
            "--plain-port=0",
            "--tls-port=0",
            "--mutual-tls-port=0",
            "--grpc-port=0",
            "--threads=2",
        ])
        .args(flags)
        .start();
    let places = serde_json::from_str(&running.line()).unwrap();
    Served { running, places }
}

impl Served {
    fn place(&self, name: &str) -> &str {
        self.places[name].as_str().unwrap()
    }

    fn end(self) -> Ended {
        self.running.signal(Signal::TERM);
        self.running.wait()
    }
}

#[test]
fn every_listener_speaks_both_versions_of_http() {
    let served = serve(&["--length=1000"]);
    for (listener, certificate) in [("plain", false), ("tls", false), ("mutual_tls", true)] {
        for h2 in [false, true] {
            let mut client = Client::connect(
                served.place(listener),
                served.place("certs"),
                certificate,
                h2,
            )
            .unwrap();
            // The second request goes over the same connection.
            for _ in 0..2 {
                let response = client.get("/").unwrap();
                assert_eq!(response.status, 200, "{listener} h2={h2}");
                assert_eq!(response.body.len(), 1000);
                assert_eq!(response.h2, h2);
            }
        }
    }
    assert_eq!(served.end().status, Some(0));
}

#[test]
fn the_payload_is_the_same_everywhere() {
    let (one, other) = (serve(&[]), serve(&["--threads=1"]));
    let body = |served: &Served, listener: &str| {
        Client::connect(served.place(listener), served.place("certs"), false, false)
            .unwrap()
            .get("/")
            .unwrap()
            .body
    };
    assert_eq!(body(&one, "plain").len(), 4096);
    assert_eq!(body(&one, "plain"), body(&one, "tls"));
    assert_eq!(body(&one, "plain"), body(&other, "plain"));
}

#[test]
fn mutual_tls_rejects_clients_without_a_certificate() {
    let served = serve(&[]);
    // In TLS 1.3 the rejection may arrive after the handshake, with the first response.
    let outcome = Client::connect(
        served.place("mutual_tls"),
        served.place("certs"),
        false,
        false,
    )
    .and_then(|mut client| client.get("/"));
    assert!(outcome.is_err());
}

#[test]
fn a_forced_version_is_the_only_one() {
    let served = serve(&["--protocol=h1"]);
    let mut client =
        Client::connect(served.place("tls"), served.place("certs"), false, true).unwrap();
    assert!(!client.get("/").unwrap().h2, "HTTP/2 was offered");
    let served = serve(&["--protocol=h2"]);
    let mut client =
        Client::connect(served.place("plain"), served.place("certs"), false, true).unwrap();
    assert!(client.get("/").unwrap().h2);
    let outcome = Client::connect(served.place("plain"), served.place("certs"), false, false)
        .and_then(|mut client| client.get("/"));
    assert!(outcome.is_err(), "HTTP/1.1 got a response");
}

#[test]
fn health_json_and_metrics_have_their_pages() {
    let served = serve(&[]);
    let mut client =
        Client::connect(served.place("plain"), served.place("certs"), false, false).unwrap();
    assert_eq!(client.get("/healthz").unwrap().body, b"ok\n");
    let json: Value = serde_json::from_slice(&client.get("/json").unwrap().body).unwrap();
    assert_eq!(json["message"], "hello");
    client.get("/").unwrap();
    let metrics = String::from_utf8(client.get("/metrics").unwrap().body).unwrap();
    assert!(
        metrics.contains("\nplimsoll_serve_payloads_total 1\n"),
        "{metrics}"
    );
    assert!(
        metrics.contains("\nplimsoll_serve_connections_open 1\n"),
        "{metrics}"
    );
    assert_eq!(client.get("/none").unwrap().status, 404);
}

#[test]
fn grpc_greets_waits_and_takes_data() {
    for flags in [&[][..], &["--grpc-tls"]] {
        let served = serve(flags);
        let scheme = if flags.is_empty() { "http" } else { "https" };
        let place = format!("{scheme}://{}", served.place("grpc"));
        let mut client = Client::connect(&place, served.place("certs"), false, true).unwrap();
        let mut call = |method: &str, message: &[u8]| {
            client.call(&format!("/helloworld.Greeter/{method}"), message)
        };

        // Field 1, of length-delimited type, then its length.
        let called = call("SayHello", b"\x0a\x05world").unwrap();
        assert_eq!(
            (called.status.as_str(), called.message.as_slice()),
            ("0", &b"\x0a\x0bHello world"[..])
        );
        // Field 1, a varint: 20.
        assert_eq!(
            call("Slow", b"\x08\x14").unwrap().message,
            b"\x0a\x0cwaited 20 ms"
        );
        // A wait of more than a minute is rejected with INVALID_ARGUMENT.
        assert_eq!(call("Slow", b"\x08\xff\xff\xff\x07").unwrap().status, "3");
        // First 1,000 bytes, then more than one flow-control window.
        let data = [b"\x0a\xe8\x07".to_vec(), vec![7; 1000]].concat();
        assert_eq!(
            call("Push", &data).unwrap().message,
            b"\x0a\x131000 bytes received"
        );
        let data = [b"\x0a\x80\x80\xc0\x01".to_vec(), vec![7; 3 << 20]].concat();
        assert_eq!(
            call("Push", &data).unwrap().message,
            b"\x0a\x163145728 bytes received"
        );
        // UNIMPLEMENTED.
        assert_eq!(call("Absent", b"").unwrap().status, "12");
    }
}

#[test]
fn responses_in_flight_are_finished() {
    let served = serve(&[]);
    let place = format!("http://{}", served.place("grpc"));
    let mut client = Client::connect(&place, served.place("certs"), false, true).unwrap();
    let waiting =
        std::thread::spawn(move || client.call("/helloworld.Greeter/Slow", b"\x08\xac\x02"));
    // Once the call is counted, it is in flight.
    let mut metrics_client =
        Client::connect(served.place("plain"), served.place("certs"), false, false).unwrap();
    while !String::from_utf8(metrics_client.get("/metrics").unwrap().body)
        .unwrap()
        .contains("calls_total 1\n")
    {}
    let ended = served.end();
    assert_eq!(
        waiting.join().unwrap().unwrap().message,
        b"\x0a\x0dwaited 300 ms"
    );
    assert_eq!(ended.status, Some(0));
    assert!(ended.stderr.contains("\"draining\""), "{}", ended.stderr);
    assert!(ended.stderr.contains("\"done\""), "{}", ended.stderr);
}

#[test]
fn too_many_connections_are_turned_away() {
    let served = serve(&["--max-connections=1"]);
    let connect = || Client::connect(served.place("plain"), served.place("certs"), false, false);
    let mut first = connect().unwrap();
    assert_eq!(first.get("/").unwrap().status, 200);
    assert!(connect().and_then(|mut second| second.get("/")).is_err());
    let metrics = String::from_utf8(first.get("/metrics").unwrap().body).unwrap();
    assert!(
        metrics.contains("connections_rejected_total 1\n"),
        "{metrics}"
    );
}

#[test]
fn a_port_in_use_is_named_with_a_remedy() {
    let served = serve(&[]);
    let port = served.place("plain").rsplit(':').next().unwrap().to_owned();
    let ended = program().args(["payload", "--plain-port", &port]).run();
    assert_eq!(ended.status, Some(1));
    assert_eq!(ended.stdout, "");
    assert!(
        ended
            .stderr
            .contains(&format!("127.0.0.1:{port}: the port is in use")),
        "{}",
        ended.stderr
    );
    assert!(ended.stderr.contains("--plain-port 0"), "{}", ended.stderr);
}

#[test]
fn listeners_can_be_off_and_certificates_kept() {
    let folder = tempfile::tempdir().unwrap();
    let certificates = folder.path().join("certs");
    let mut running = program()
        .args([
            "payload",
            "--plain-port=off",
            "--grpc-port=off",
            "--mutual-tls-port=off",
            "--tls-port=0",
            "--certs",
        ])
        .arg(&certificates)
        .start();
    let places: Value = serde_json::from_str(&running.line()).unwrap();
    assert_eq!(
        places.as_object().unwrap().keys().collect::<Vec<_>>(),
        ["system", "tls", "certs"]
    );
    running.signal(Signal::INT);
    assert_eq!(running.wait().status, Some(0));
    assert!(certificates.join("ca.pem").exists());
    let again = program().arg("certs").arg(&certificates).run();
    assert_eq!(again.status, Some(1));
    assert!(again.stderr.contains("already"), "{}", again.stderr);
}

#[test]
fn wrong_flags_are_explained() {
    let port = ports::closed().port().to_string();
    for (flags, named) in [
        (&["--plain-port", "70000"][..], "1 to 65535"),
        (&["--length=-1"], "--length"),
        (&["--protocol", "h3"], "auto, h1, h2"),
        (
            &["--listen", "192.0.2.1", "--plain-port", &port],
            "no such address",
        ),
    ] {
        let ended = program().arg("payload").args(flags).run();
        assert_ne!(ended.status, Some(0), "{flags:?}");
        assert!(ended.stderr.contains(named), "{flags:?}: {}", ended.stderr);
    }
}
