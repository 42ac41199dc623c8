//! Name servers, host overrides, proxies and live metrics of `plimsoll attack`.

mod plimsoll;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::time::Duration;

use plimsoll::plimsoll;
use plimsoll_testkit::peers::{Peer, Play};
use plimsoll_testkit::program::Ended;
use serde_json::Value;

/// Parses the JSON object of `--json`.
fn json(ended: &Ended) -> Value {
    serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}"))
}

/// A name server that resolves every name to 127.0.0.1 and has no IPv6 addresses.
fn name_server() -> String {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        let mut query = [0; 512];
        while let Ok((length, from)) = socket.recv_from(&mut query) {
            let mut response = query[..length].to_vec();
            response[2..4].copy_from_slice(&[0x81, 0x80]);
            // The query type precedes the class, at the end.
            if response[length - 3] == 1 {
                response[7] = 1;
                response.extend(b"\xc0\x0c\0\x01\0\x01\0\0\0\x09\0\x04\x7f\0\0\x01");
            }
            socket.send_to(&response, from).unwrap();
        }
    });
    address
}

#[test]
fn names_are_resolved_by_the_given_servers() {
    let server = Peer::start(Play::ok("hello"));
    let target = format!(
        "GET http://api.plimsoll.test:{}/\n",
        server.address().port()
    );
    let attack = |flags: &[&str]| {
        let all = [&["attack", "--json", "-rate=50", "-duration=100ms"], flags].concat();
        json(&plimsoll(&all).input(target.as_str()).run())
    };
    let resolvers = format!("-resolvers={}", name_server());
    let result = attack(&[&resolvers, "-dns-ttl=1m"]);
    assert_eq!(
        (&result["requests"], &result["failed"]),
        (&5.into(), &0.into()),
        "{result}"
    );
    // Nothing listens at this address, so the name cannot be resolved.
    let nobody = format!("-resolvers={}", plimsoll_testkit::ports::closed());
    let result = attack(&[&nobody]);
    assert_eq!(result["failed"], 5, "{result}");
}

#[test]
fn a_host_with_several_addresses_uses_them_in_rotation() {
    let peers = [Peer::start(Play::ok("one")), Peer::start(Play::ok("two"))];
    let leads = peers
        .each_ref()
        .map(|peer| format!("-connect-to=plimsoll.test:80:{}", peer.address()));
    let all = [
        "attack",
        "--json",
        "-rate=100",
        "-duration=100ms",
        "-keepalive=false",
    ];
    let ended = plimsoll(&[&all[..], &[&leads[0], &leads[1]]].concat())
        .input("GET http://plimsoll.test/\n")
        .run();
    assert_eq!(json(&ended)["failed"], 0, "{ended:?}");
    assert_eq!(peers.each_ref().map(Peer::requests), [5, 5]);
}

#[test]
fn proxies_receive_the_given_headers_for_a_tunnel() {
    let proxy = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = proxy.local_addr().unwrap();
    let query = std::thread::spawn(move || {
        let (mut stream, _) = proxy.accept().unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            head.push(byte[0]);
        }
        stream.write_all(b"HTTP/1.1 403 No\r\n\r\n").unwrap();
        String::from_utf8(head).unwrap()
    });
    let all = [
        "attack",
        "--json",
        "-rate=1",
        "-duration=1s",
        "-proxy-header=X-Way: far",
    ];
    let ended = plimsoll(&all)
        .env("HTTPS_PROXY", format!("http://{address}"))
        .env("NO_PROXY", "")
        .input("GET https://plimsoll.test/\n")
        .run();
    assert_eq!(json(&ended)["failed"], 1, "{ended:?}");
    let head = query.join().unwrap();
    assert_eq!(
        head,
        "CONNECT plimsoll.test:443 HTTP/1.1\r\nHost: plimsoll.test:443\r\nX-Way: far\r\n\r\n"
    );
}

#[test]
fn metrics_are_exposed_to_prometheus() {
    let server = Peer::start(Play::ok("hello"));
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("targets.txt");
    std::fs::write(&list, format!("GET {}\n", server.url())).unwrap();
    let page = plimsoll_testkit::ports::closed();
    let running = plimsoll(&[
        "attack",
        "--json",
        "-rate=100",
        "-duration=0",
        &format!("-targets={}", list.display()),
        &format!("-prometheus-addr={page}"),
    ])
    .start();
    let counted = format!(
        "request_seconds_count{{method=\"GET\",status=\"200\",url=\"{}\"}} ",
        server.url()
    );
    // Metrics are updated a quarter of a second after the hits. On a busy machine, it takes longer.
    let mut shown = String::new();
    for _ in 0..600 {
        shown = fetch(&page.to_string()).unwrap_or_default();
        if shown.contains(&counted) {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    running.signal(plimsoll_testkit::program::Signal::INT);
    let ended = running.wait();
    assert!(shown.contains(&counted), "{shown}\n{ended:?}");
    assert!(shown.contains("text/plain; version=0.0.4"), "{shown}");
    assert!(
        ended
            .stderr
            .contains("metrics for Prometheus are on http://"),
        "{ended:?}"
    );

    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let flag = format!("-prometheus-addr={}", taken.local_addr().unwrap());
    let ended = plimsoll(&["attack", &flag]).input("GET http://h/\n").run();
    assert_eq!(ended.status, Some(104), "{ended:?}");
    assert!(ended.stderr.contains("cannot listen on it"), "{ended:?}");
}

fn fetch(page: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(page)?;
    stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: h\r\n\r\n")?;
    let mut text = String::new();
    stream.read_to_string(&mut text)?;
    Ok(text)
}

#[test]
fn a_missing_time_limit_means_no_limit() {
    let server = Peer::start(Play::ok("hello"));
    let ended = plimsoll(&[
        "attack",
        "--json",
        "-rate=50",
        "-duration=100ms",
        "-timeout=0",
    ])
    .input(format!("GET {}\n", server.url()))
    .run();
    assert_eq!(json(&ended)["failed"], 0, "{ended:?}");
}

#[test]
fn a_record_distinguishes_target_lists_by_content() {
    let server = Peer::start(Play::ok("hello"));
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("targets.txt");
    let body = folder.path().join("body");
    let record = folder.path().join("run.jsonl");
    let hash_with = |text: &str, content: &str, flags: &[&str]| {
        std::fs::write(&body, content).unwrap();
        std::fs::write(&list, text).unwrap();
        let targets = format!("-targets={}", list.display());
        let record = record.display().to_string();
        let all = [
            "attack",
            "--json",
            "-rate=50",
            "-duration=40ms",
            &targets,
            "--record",
            &record,
        ];
        let ended = plimsoll(&[&all[..], flags].concat()).run();
        assert_eq!(ended.status, Some(0), "{ended:?}");
        let text = std::fs::read_to_string(&record).unwrap();
        let header: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
        header["configuration_hash"].as_str().unwrap().to_owned()
    };
    let text = format!("POST {}/a\n@{}\n", server.url(), body.display());
    let other = format!("POST {}/b\n@{}\n", server.url(), body.display());
    let first = hash_with(&text, "one", &[]);
    assert_eq!(first, hash_with(&text, "one", &[]));
    assert_ne!(first, hash_with(&other, "one", &[]));
    assert_ne!(first, hash_with(&text, "two", &[]));
    let lazy = hash_with(&text, "one", &["-lazy"]);
    assert_eq!(lazy, hash_with(&text, "one", &["-lazy"]));
    assert_ne!(lazy, hash_with(&other, "one", &["-lazy"]));
}
