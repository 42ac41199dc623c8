//! HTTP/1.1 and HTTP/2 on either side, TLS, WebSocket and gRPC.

use std::net::TcpStream;
use std::time::{Duration, Instant};

use plimsoll_testground::{Kind, Proxy};
use plimsoll_testkit::program::{Running, Signal};
use serde_json::Value;
use tokio_tungstenite::tungstenite::{Error, Message, client};

use crate::client::Client;
use crate::curl::{curl, get, trusting};
use crate::load;
use crate::running::{Gateway, Orders, certificates, eventually, program, simple};

/// A gateway with TLS at the entry `web`, and the directory of its certificates.
fn encrypted(config: &str) -> (Gateway, tempfile::TempDir) {
    let (folder, certs) = certificates();
    let tls = format!(
        "127.0.0.1:0, tls: {{certificate: {0}/server.pem, key: {0}/server.key}}}}",
        certs.display()
    );
    (
        Gateway::start(&config.replace("127.0.0.1:0}", &tls)),
        folder,
    )
}

#[test]
fn each_version_of_http_is_forwarded_as_each_version() {
    let orders = Orders::start("A");
    for (upstream, wire) in [("", "HTTP/1.1"), (", protocol: h2", "HTTP/2.0")] {
        let gateway = Gateway::start(&simple(&[&orders.address()], "", upstream));
        let url = gateway.url("/request");
        for (flag, version) in [("--http1.1", "1.1"), ("--http2-prior-knowledge", "2")] {
            let reply = curl(&[flag, &url, "-H", "X-Kept: yes"]);
            assert_eq!(
                (reply.status, reply.version.as_str()),
                (200, version),
                "{wire}"
            );
            let request = reply.json();
            assert_eq!(request["version"], wire);
            assert!(
                request.to_string().contains(r#"["x-kept","yes"]"#),
                "{request}"
            );
            let echo = curl(&[flag, &gateway.url("/echo"), "-d", "{\"text\":\"你好\"}"]);
            assert_eq!(echo.body, "{\"text\":\"你好\"}");
        }
    }
}

#[test]
fn http2_is_negotiated_over_tls_and_can_be_withheld() {
    let orders = Orders::start("A");
    let config = simple(&[&orders.address()], "", "");
    for (protocol, versions) in [
        ("auto", ["1.1", "2"]),
        ("h1", ["1.1", "1.1"]),
        ("h2", ["2", "2"]),
    ] {
        let config = config.replace(
            "127.0.0.1:0}",
            &format!("127.0.0.1:0}}, protocol: {protocol}}}"),
        );
        let config = config.replace("127.0.0.1:0}, protocol", "127.0.0.1:0, protocol");
        let (folder, certs) = certificates();
        let tls = format!(
            "127.0.0.1:0, tls: {{certificate: {0}/server.pem, key: {0}/server.key}}",
            certs.display()
        );
        let gateway = Gateway::start(&config.replace("127.0.0.1:0", &tls));
        let url = gateway.url("/request");
        for (flag, version) in ["--http1.1", "--http2"].iter().zip(versions) {
            let reply = trusting(&certs, &[flag, &url]);
            if protocol == "h2" && *flag == "--http1.1" {
                assert_eq!(reply.status, 0, "{reply:?}");
                continue;
            }
            assert_eq!(
                (reply.status, reply.version.as_str()),
                (200, version),
                "{protocol}"
            );
            assert!(
                reply.body.contains(r#"["x-forwarded-proto","https"]"#),
                "{}",
                reply.body
            );
        }
        drop(folder);
    }
}

#[test]
fn upstreams_can_be_encrypted() {
    let (_folder, certs) = certificates();
    let flag = format!("--certs={}", certs.display());
    let orders = Orders::start_with(&["--listen=127.0.0.1:0", "--tls-listen=127.0.0.1:0", &flag]);
    let address = orders
        .place("tls")
        .trim_start_matches("https://")
        .to_owned();
    for (protocol, wire) in [("h1", "HTTP/1.1"), ("h2", "HTTP/2.0")] {
        let tls = format!(
            ", protocol: {protocol}, tls: {{ca: {}/ca.pem}}",
            certs.display()
        );
        let gateway = Gateway::start(&simple(&[&address], "", &tls));
        let reply = get(&gateway.url("/request"));
        assert_eq!(reply.status, 200, "{reply:?}");
        assert_eq!(reply.json()["version"], wire);
    }
    // An authority that did not sign it is not accepted.
    let (_other, strangers) = certificates();
    let tls = format!(", tls: {{ca: {}/ca.pem}}", strangers.display());
    let gateway = Gateway::start(&simple(&[&address], "", &tls));
    assert_eq!(get(&gateway.url("/request")).status, 502);
}

#[test]
fn nginx_is_an_upstream_too() {
    let nginx = Proxy::start(Kind::Nginx, |directory, port| {
        format!(
            "worker_processes 1; events {{}} http {{ access_log off; \
             client_body_temp_path {0}/body; proxy_temp_path {0}/proxy; fastcgi_temp_path {0}/f; \
             uwsgi_temp_path {0}/u; scgi_temp_path {0}/s; root {0}; keepalive_requests 3; \
             server {{ listen 127.0.0.1:{port}; location /say {{ return 200 $http_x_forwarded_for; }} }} }}",
            directory.display()
        )
    });
    std::fs::write(nginx.directory().join("large"), "x".repeat(3 << 20)).unwrap();
    let gateway = Gateway::start(&simple(&[&nginx.address().to_string()], "", ""));
    assert_eq!(get(&gateway.url("/say")).body, "127.0.0.1");
    for flag in ["--http1.1", "--http2-prior-knowledge"] {
        assert_eq!(curl(&[flag, &gateway.url("/large")]).body.len(), 3 << 20);
    }
    let head = curl(&["--head", &gateway.url("/large")]);
    assert_eq!(head.header("content-length"), Some("3145728"));
    let part = curl(&["--range", "5-9", &gateway.url("/large")]);
    assert_eq!((part.status, part.body.as_str()), (206, "xxxxx"));
    // nginx closes each connection after three requests; clients do not notice.
    let url = gateway.url("/say");
    load::start(&["--h1", "-c10", "-n2000", &url])
        .join()
        .unwrap()
        .assert_flawless();
}

#[test]
fn h2load_finds_no_fault_with_any_pair() {
    let orders = Orders::start("A");
    for upstream in ["", ", protocol: h2"] {
        let (gateway, _folder) = encrypted(&simple(&[&orders.address()], "", upstream));
        let url = gateway.url("/spot/orders");
        let body = gateway.folder().join("body");
        std::fs::write(&body, "{\"text\":\"你好\"}").unwrap();
        let data = format!("--data={}", body.display());
        for protocol in ["--h1", "--no-tls-proto=h2c"] {
            let streams = if protocol != "--h1" { "-m10" } else { "-m1" };
            let counted = load::start(&[protocol, "-c20", streams, "-n4000", &data, &url])
                .join()
                .unwrap();
            counted.assert_flawless();
            assert_eq!(counted.succeeded, 4000);
        }
    }
}

#[test]
fn websockets_pass_through() {
    let orders = Orders::start("A");
    let gateway = Gateway::start(&simple(&[&orders.address()], "", ""));
    let address = gateway.address();
    let connect = || {
        let stream = TcpStream::connect(address).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(10)))
            .unwrap();
        client(format!("ws://{address}/websocket"), stream).unwrap()
    };
    let (mut socket, response) = connect();
    assert_eq!(response.status(), 101);
    assert_eq!(response.headers()["x-server"], "A");
    let large = "y".repeat(300_000);
    for text in ["hello", "你好", &large] {
        socket.send(Message::text(text)).unwrap();
        assert_eq!(socket.read().unwrap().into_text().unwrap().as_str(), text);
    }
    let (mut second, _) = connect();
    second.send(Message::binary(vec![1, 2, 3])).unwrap();
    assert_eq!(second.read().unwrap().into_data().as_ref(), [1, 2, 3]);
    assert_eq!(gateway.metric("tunnels_total"), 2);
    socket.close(None).unwrap();
    loop {
        match socket.read() {
            Ok(_) => {}
            Err(Error::ConnectionClosed) => break,
            Err(error) => panic!("{error}"),
        }
    }
    drop(second);
    eventually("their end", || gateway.metric("requests_at_targets") == 0);
}

#[test]
fn a_websocket_over_tls_passes_and_a_silent_one_ends() {
    let orders = Orders::start("A");
    let config = simple(&[&orders.address()], ", idle_timeout: 300ms", "");
    let gateway = Gateway::start(&config);
    let address = gateway.address();
    let stream = TcpStream::connect(address).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(10)))
        .unwrap();
    let (mut socket, _) = client(format!("ws://{address}/websocket"), stream).unwrap();
    let started = Instant::now();
    for _ in 0..4 {
        std::thread::sleep(Duration::from_millis(150));
        socket.send(Message::text("still here")).unwrap();
        socket.read().unwrap();
    }
    assert!(started.elapsed() > Duration::from_millis(500));
    assert!(socket.read().is_err());
    eventually("its end", || gateway.metric("requests_at_targets") == 0);
    // Anything but a WebSocket handshake is handled as an ordinary request.
    let refused = curl(&[
        &gateway.url("/websocket"),
        "-H",
        "Connection: Upgrade",
        "-H",
        "Upgrade: nothing",
    ]);
    assert_eq!(refused.status, 400);
}

/// A running `payload`. The tests use only its gRPC port.
fn greeter() -> (Running, String) {
    let flags = [
        "--plain-port=off",
        "--tls-port=off",
        "--mutual-tls-port=off",
        "--grpc-port=0",
    ];
    let mut running = program().arg("payload").args(flags).start();
    let places: Value = serde_json::from_str(&running.line()).unwrap();
    let address = places["grpc"].as_str().unwrap().to_owned();
    (running, address)
}

#[test]
fn grpc_passes_with_its_trailers() {
    let (running, address) = greeter();
    // A busy machine needs seconds for the longest message.
    let config = simple(&[&address], ", response_timeout: 30s", ", protocol: h2");
    let (plain, (secure, folder)) = (Gateway::start(&config), encrypted(&config));
    let config = simple(&[&address], ", response_timeout: 500ms", ", protocol: h2");
    let (plain_impatient, (secure_impatient, impatient_folder)) =
        (Gateway::start(&config), encrypted(&config));
    let pairs = [
        (&plain, &plain_impatient, &folder),
        (&secure, &secure_impatient, &impatient_folder),
    ];
    for (gateway, impatient, impatient_folder) in pairs {
        let certs = folder.path().join("certs");
        let place = gateway.url("");
        let mut client = Client::connect(&place, certs.to_str().unwrap(), false, true).unwrap();
        let mut call = |method: &str, message: &[u8]| {
            client
                .call(&format!("/helloworld.Greeter/{method}"), message)
                .unwrap()
        };
        let greeted = call("SayHello", b"\x0a\x05world");
        assert_eq!(
            (greeted.status.as_str(), &greeted.message[..]),
            ("0", &b"\x0a\x0bHello world"[..])
        );
        // An error of the service arrives as a trailers-only response.
        assert_eq!(call("Slow", b"\x08\xff\xff\xff\x07").status, "3");
        assert_eq!(call("Absent", b"").status, "12");
        // Larger than any flow-control window.
        let data = [b"\x0a\x80\x80\xc0\x01".to_vec(), vec![7; 3 << 20]].concat();
        assert_eq!(
            call("Push", &data).message,
            b"\x0a\x163145728 bytes received"
        );
        // The gateway's own error response has gRPC's format: DEADLINE_EXCEEDED.
        let certs = impatient_folder.path().join("certs");
        let certs = certs.to_str().unwrap();
        let mut client = Client::connect(&impatient.url(""), certs, false, true).unwrap();
        let slow = client.call("/helloworld.Greeter/Slow", b"\x08\xd0\x0f");
        assert_eq!(slow.unwrap().status, "4");
    }
    running.signal(Signal::TERM);
    running.wait();
    let mut client = Client::connect(&plain.url(""), "", false, true).unwrap();
    // UNAVAILABLE.
    assert_eq!(
        client
            .call("/helloworld.Greeter/SayHello", b"")
            .unwrap()
            .status,
        "14"
    );
}
