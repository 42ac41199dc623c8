//! Servers that respond with garbage, stall, close the connection or never stop sending. Each case
//! causes its own clear error, and the connection is not reused.

mod peer;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use bytes::Bytes;
use peer::{client, request, run};
use plimsoll_http::{BodyUse, Exchange, Failure, Method, Response, Settings};

/// Accepts connections, waits for the end of a request's headers, and then calls `act`.
fn raw(act: impl Fn(TcpStream) + Send + Sync + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for socket in listener.incoming() {
            let mut socket = socket.unwrap();
            let mut seen = Vec::new();
            while !seen.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                if socket.read(&mut byte).unwrap_or(0) == 0 {
                    break;
                }
                seen.push(byte[0]);
            }
            act(socket);
        }
    });
    address
}

fn fetch(address: SocketAddr, method: Method) -> (Result<Response, Failure>, Exchange) {
    run(async {
        let mut client_request = request(method, &format!("http://{address}/"));
        client_request.timeout = Duration::from_millis(300);
        let mut seen = None;
        let result = client(Settings::default())
            .send(&client_request, None, &mut |exchange| {
                seen = Some(exchange.clone())
            })
            .await;
        (result, seen.unwrap())
    })
}

/// The error code and message for a response of `bytes` followed by a close.
fn error_of(bytes: &[u8]) -> (u32, String) {
    let bytes = bytes.to_vec();
    let address = raw(move |mut socket| {
        let _ = socket.write_all(&bytes);
    });
    let (result, exchange) = fetch(address, Method::Get);
    let failure = result.expect_err("garbage must fail");
    let phases = exchange.timeline.phases();
    assert_eq!(phases.sum(), exchange.timeline.total());
    assert_eq!((exchange.status, failure.response.status), (0, 0));
    assert_eq!(exchange.error.as_ref(), Some(&failure.error));
    (failure.error.code, failure.error.message)
}

#[test]
fn errors_describe_the_garbage() {
    for (bytes, code, words) in [
        (&b""[..], 1000, "EOF"),
        (
            b"garbage\r\n\r\n",
            1000,
            "malformed HTTP response \"garbage\"",
        ),
        (b"hello\n", 1000, "malformed HTTP response \"hello\""),
        (
            b"HTTP/1.1 2x0 OK\r\n\r\n",
            1000,
            "malformed HTTP status code \"2x0\"",
        ),
        (
            b"HTTP/1.1 20 OK\r\n\r\n",
            1000,
            "malformed HTTP status code \"20\"",
        ),
        (
            b"HTTP/x.1 200 OK\r\n\r\n",
            1000,
            "malformed HTTP version \"HTTP/x.1\"",
        ),
        (
            b"HTTP/1.1 200 OK\r\nnocolon\r\n\r\n",
            1000,
            "malformed MIME header: missing colon: \"nocolon\"",
        ),
        (
            b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
            1000,
            "bad Content-Length \"x\"",
        ),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
            1000,
            "unsupported transfer encoding: \"gzip\"",
        ),
        (
            b"HTTP/1.1 200 OK\r\nContent-",
            1000,
            "malformed MIME header: missing colon: \"Content-\"",
        ),
        (
            b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc",
            1000,
            "unexpected EOF",
        ),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
            1000,
            "unexpected EOF",
        ),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
            1000,
            "invalid byte in chunk length",
        ),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nabXX\r\n",
            1000,
            "malformed chunked encoding",
        ),
        (
            b"HTTP/1.1 101 Switching Protocols\r\n\r\n",
            1000,
            "unsupported response status: 101 Switching Protocols",
        ),
    ] {
        assert_eq!(
            error_of(bytes),
            (code, words.to_owned()),
            "{:?}",
            Bytes::from_static(bytes)
        );
    }
}

#[test]
fn tolerated_responses_are_not_errors() {
    for (bytes, status, body) in [
        (&b"HTTP/1.1 200 OK\r\n\r\nabc"[..], 200, "abc"),
        (b"HTTP/1.0 200 OK\r\n\r\nabc", 200, "abc"),
        (b"HTTP/1.1 299\r\nContent-Length: 0\r\n\r\n", 299, ""),
        (b"HTTP/1.1 204 No Content\r\nContent-Length: 3\r\n\r\nabc", 204, ""),
        (b"HTTP/1.1 103 Early Hints\r\nA: b\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx", 200, "x"),
        (b"HTTP/1.1 200 OK\nContent-Length: 2\n\nok", 200, "ok"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;x\r\nok\r\n0\r\nA: b\r\n\r\n", 200, "ok"),
    ] {
        // Send everything in one write, and then byte by byte.
        for size in [bytes.len(), 1] {
            let address = raw(move |mut socket| {
                for piece in bytes.chunks(size) {
                    socket.set_nodelay(true).unwrap();
                    let _ = socket.write_all(piece);
                }
            });
            let (result, exchange) = fetch(address, Method::Get);
            let response = result.unwrap();
            assert_eq!((response.status, &response.body[..]), (status, body.as_bytes()));
            assert_eq!(exchange.status, status);
        }
    }
}

#[test]
fn a_response_to_a_head_request_has_no_body() {
    let address = raw(|mut socket| {
        let _ = socket.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n");
        std::thread::sleep(Duration::from_millis(200));
    });
    let (result, _) = fetch(address, Method::Head);
    assert_eq!(result.unwrap().status, 200);
}

#[test]
fn endless_headers_and_stalled_bodies_end() {
    let endless = raw(|mut socket| {
        let _ = socket.write_all(b"HTTP/1.1 200 OK\r\n");
        while socket
            .write_all(&b"X-More: header\r\n".repeat(1000))
            .is_ok()
        {}
    });
    let (result, _) = fetch(endless, Method::Get);
    let message = result.unwrap_err().error.message;
    assert!(
        message.contains("response headers exceeded 1048576 bytes"),
        "{message}"
    );

    let stalled = raw(|mut socket| {
        let _ = socket.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc");
        std::thread::sleep(Duration::from_millis(600));
    });
    let (result, exchange) = fetch(stalled, Method::Get);
    let failure = result.unwrap_err();
    assert_eq!(
        (failure.error.code, failure.error.message.as_str()),
        (1050, "request timeout")
    );
    assert_eq!(&failure.response.body[..], b"abc");
    assert!(exchange.timeline.total() >= Duration::from_millis(300));
    assert!(exchange.timeline.phases().receiving > Duration::from_millis(200));
}

#[test]
fn a_reset_in_the_middle_is_distinguished_from_a_close() {
    let address = raw(|mut socket| {
        let _ = socket.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc");
        std::thread::sleep(Duration::from_millis(20));
        reset_on_close(&socket);
    });
    let (result, _) = fetch(address, Method::Get);
    let failure = result.unwrap_err();
    assert_eq!(failure.error.code, 1220);
    assert_eq!(failure.error.message, "read: connection reset by peer");
}

/// Makes closing a socket send a reset.
fn reset_on_close(socket: &TcpStream) {
    let socket = socket.try_clone().unwrap();
    socket.set_nonblocking(true).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let _guard = runtime.enter();
    let socket = tokio::net::TcpStream::from_std(socket).unwrap();
    socket.set_zero_linger().unwrap();
}

#[test]
fn a_huge_body_is_counted_in_bounded_memory() {
    const SIZE: u64 = 300 << 20;
    let address = raw(|mut socket| {
        let _ = socket
            .write_all(format!("HTTP/1.1 200 OK\r\nContent-Length: {SIZE}\r\n\r\n").as_bytes());
        let piece = vec![b'x'; 1 << 20];
        for _ in 0..SIZE >> 20 {
            if socket.write_all(&piece).is_err() {
                return;
            }
        }
    });
    run(async {
        let mut client_request = request(Method::Get, &format!("http://{address}/"));
        client_request.body_use = BodyUse::Discard;
        let mut received = 0;
        let before = resident();
        let response = client(Settings::default())
            .send(&client_request, None, &mut |exchange| {
                received = exchange.bytes.received
            })
            .await
            .unwrap();
        assert_eq!(response.body.len(), 0);
        assert!(received > SIZE);
        assert!(resident() < before + (20 << 20));
        // A body that is kept must fail at the limit and not grow further.
        client_request.body_use = BodyUse::Keep;
        let limited = Settings {
            max_body: 1 << 20,
            ..Settings::default()
        };
        let failure = client(limited)
            .send(&client_request, None, &mut |_| {})
            .await
            .unwrap_err();
        assert!(failure.error.message.contains("exceeds the 1048576 bytes"));
    });
}

/// Number of bytes of memory that this process uses; 0 if unknown.
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: u64 = text
        .split(' ')
        .nth(1)
        .and_then(|n| n.parse().ok())
        .unwrap_or(0);
    pages * 4096
}

#[test]
fn a_response_before_the_end_of_its_request_is_accepted() {
    let address = raw(|mut socket| {
        // The server never reads the body that follows the request headers.
        let _ = socket.write_all(b"HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno");
        std::thread::sleep(Duration::from_millis(200));
    });
    run(async {
        let mut post = request(Method::Post, &format!("http://{address}/"));
        post.body = vec![b'x'; 16 << 20].into();
        let mut phases = None;
        let mut line = None;
        let response = client(Settings::default())
            .send(&post, None, &mut |exchange| {
                phases = Some(exchange.timeline.phases());
                line = Some(exchange.timeline);
            })
            .await
            .unwrap();
        assert_eq!((response.status, &response.body[..]), (413, &b"no"[..]));
        assert_eq!(phases.unwrap().sum(), line.unwrap().total());
        assert_eq!(phases.unwrap().waiting, Duration::ZERO);
    });
}

#[test]
fn a_lack_of_descriptors_is_not_blamed_on_the_server() {
    // A local address of another machine simulates port exhaustion: both cause EADDRNOTAVAIL.
    let settings = Settings {
        network: plimsoll_net::NetworkSettings {
            local_ips: plimsoll_address::IpPool::parse("192.0.2.1").unwrap(),
            ..plimsoll_net::NetworkSettings::default()
        },
        ..Settings::default()
    };
    run(async {
        let get = request(Method::Get, "http://127.0.0.1:1/");
        let failure = client(settings)
            .send(&get, None, &mut |_| {})
            .await
            .unwrap_err();
        assert!(failure.error.is_local);
        assert_eq!(failure.error.code, 1213);
        assert!(
            failure.error.detail().contains("no free local port"),
            "{}",
            failure.error.detail()
        );
    });
}

#[test]
fn connections_per_host_are_limited_and_the_wait_is_reported() {
    let address = peer::serve(|_, _| {
        std::thread::sleep(Duration::from_millis(30));
        peer::http_response("200 OK", "", b"x")
    });
    run(async {
        let settings = Settings {
            connections_per_host: Some(1),
            ..Settings::default()
        };
        let client = std::rc::Rc::new(client(settings));
        let mut tasks = Vec::new();
        for _ in 0..3 {
            let client = client.clone();
            tasks.push(tokio::task::spawn_local(async move {
                let get = request(Method::Get, &format!("http://{address}/"));
                let mut phases = None;
                let sent = &mut |exchange: &Exchange| phases = Some(exchange.timeline.phases());
                client.send(&get, None, sent).await.unwrap();
                phases.unwrap()
            }));
        }
        let mut queued = Vec::new();
        for task in tasks {
            queued.push(task.await.unwrap().queued);
        }
        queued.sort_unstable();
        assert_eq!(queued[0], Duration::ZERO);
        assert!(queued[1] >= Duration::from_millis(25));
        assert!(queued[2] >= Duration::from_millis(50));
    });
}
