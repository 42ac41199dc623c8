//! HTTP/2 peers that violate the protocol or stop in the middle. Each causes its own error, which
//! describes what happened, in bounded time and memory.

mod peer;

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use peer::{client, request, run};
use plimsoll_http::{BodyUse, Exchange, Method, Protocol, Settings};

/// Reads until the HEADERS frame of the request has arrived, and then calls `act`.
fn raw(act: impl Fn(TcpStream) + Send + Sync + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let act = std::sync::Arc::new(act);
    std::thread::spawn(move || {
        for socket in listener.incoming() {
            let (mut socket, act) = (socket.unwrap(), act.clone());
            std::thread::spawn(move || {
                let mut preface = [0; 24];
                if socket.read_exact(&mut preface).is_err() {
                    return;
                }
                if read_headers(&mut socket).is_ok() {
                    act(socket);
                }
            });
        }
    });
    address
}

/// Reads until the next HEADERS frame has arrived.
fn read_headers(socket: &mut TcpStream) -> std::io::Result<()> {
    loop {
        let mut head = [0; 9];
        socket.read_exact(&mut head)?;
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
        socket.read_exact(&mut vec![0; length])?;
        if head[3] == HEADERS {
            return Ok(());
        }
    }
}

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GOAWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;
const CONTINUATION: u8 = 9;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

/// A frame (RFC 9113, section 4.1).
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut bytes = (payload.len() as u32).to_be_bytes()[1..].to_vec();
    bytes.extend_from_slice(&[kind, flags]);
    bytes.extend_from_slice(&stream.to_be_bytes());
    bytes.extend_from_slice(payload);
    bytes
}

/// `:status: 200` from HPACK's static table (RFC 7541, appendix A).
const STATUS_200: u8 = 0x88;

fn settings() -> Vec<u8> {
    frame(SETTINGS, 0, 0, &[])
}

/// The start of a response on the first stream.
fn head() -> Vec<u8> {
    [settings(), frame(HEADERS, END_HEADERS, 1, &[STATUS_200])].concat()
}

/// `content-length: 10` as a literal without indexing (RFC 7541, section 6.2.2).
fn headers_with_length() -> Vec<u8> {
    let block = [&[STATUS_200, 0x0f, 0x0d, 2][..], b"10"].concat();
    [settings(), frame(HEADERS, END_HEADERS, 1, &block)].concat()
}

fn send_request(address: SocketAddr, settings: Settings) -> Exchange {
    run(async {
        let mut client_request = request(Method::Get, &format!("http://{address}/"));
        client_request.timeout = Duration::from_secs(20);
        client_request.body_use = BodyUse::Keep;
        let mut seen = None;
        let settings = Settings {
            protocol: Protocol::H2c,
            ..settings
        };
        let _ = client(settings)
            .send(&client_request, None, &mut |exchange| {
                seen = Some(exchange.clone())
            })
            .await;
        seen.unwrap()
    })
}

/// The error if the peer sends `bytes` and then closes its sending half.
fn error_of(bytes: Vec<u8>) -> (u32, String) {
    let address = raw(move |mut socket| {
        let _ = socket.write_all(&bytes);
        let _ = socket.shutdown(Shutdown::Write);
        // A reset would discard data that the client has not read yet.
        let _ = std::io::copy(&mut socket, &mut std::io::sink());
    });
    let exchange = send_request(address, Settings::default());
    let phases = exchange.timeline.phases();
    assert_eq!(phases.sum(), exchange.timeline.total());
    assert_eq!(exchange.status, 0, "{exchange:?}");
    let error = exchange.error.unwrap();
    (error.code, error.message)
}

/// A request that crosses a GOAWAY is sent again on another connection, and the exchange counts
/// that, because the server may have received it twice.
#[test]
fn a_request_that_goaway_refuses_is_sent_again_and_counted() {
    let connections = std::sync::atomic::AtomicUsize::new(0);
    let address = raw(move |mut socket| {
        let ended = frame(HEADERS, END_HEADERS | END_STREAM, 1, &[STATUS_200]);
        let _ = socket.write_all(&[settings(), ended].concat());
        let number = connections.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        if number == 0 && read_headers(&mut socket).is_ok() {
            // The first stream is the last one that the server processes.
            let _ = socket.write_all(&frame(GOAWAY, 0, 0, &[0, 0, 0, 1, 0, 0, 0, 0]));
        }
        let _ = std::io::copy(&mut socket, &mut std::io::sink());
    });
    let seen = run(async {
        let client = client(Settings {
            protocol: Protocol::H2c,
            ..Settings::default()
        });
        let client_request = request(Method::Get, &format!("http://{address}/"));
        let mut seen = Vec::new();
        for _ in 0..2 {
            let _ = client
                .send(&client_request, None, &mut |exchange| {
                    seen.push((exchange.status, exchange.resent, exchange.opened));
                })
                .await;
        }
        seen
    });
    assert_eq!(seen, [(200, 0, true), (200, 1, true)]);
}

/// A connection that closes instead of responding. The server may have processed the request, so
/// only a safe request is sent again (RFC 9110, section 9.2.2).
#[test]
fn only_safe_requests_are_sent_again_after_a_close() {
    let address = raw(|mut socket| {
        let ended = frame(HEADERS, END_HEADERS | END_STREAM, 1, &[STATUS_200]);
        let _ = socket.write_all(&[settings(), ended].concat());
        let _ = read_headers(&mut socket);
    });
    let second = |method: Method| {
        run(async {
            let client = client(Settings {
                protocol: Protocol::H2c,
                ..Settings::default()
            });
            let mut seen = None;
            for _ in 0..2 {
                let client_request = request(method.clone(), &format!("http://{address}/"));
                let _ = client
                    .send(&client_request, None, &mut |exchange| {
                        let error = exchange.error.as_ref().map(|error| error.message.clone());
                        seen = Some((exchange.status, exchange.resent, error));
                    })
                    .await;
            }
            seen.unwrap()
        })
    };
    assert_eq!(second(Method::Get), (200, 1, None));
    let (status, resent, error) = second(Method::Post);
    assert_eq!((status, resent), (0, 0));
    // The close causes a reset if the server had not read everything.
    let error = error.unwrap();
    assert!(
        error == "unexpected EOF" || error.contains("connection reset"),
        "{error}"
    );
}

#[test]
fn each_violation_has_its_own_error() {
    let lies: Vec<(&str, Vec<u8>, u32, &str)> = vec![
        (
            "HTTP/1.1",
            b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n".to_vec(),
            1600,
            r#"does not speak HTTP/2: it begins with "HTTP/1.1 ""#,
        ),
        (
            "another protocol",
            b"220 mail.example.com ESMTP\r\n".to_vec(),
            1600,
            "does not speak HTTP/2",
        ),
        (
            "a frame longer than the maximum",
            [settings(), frame(DATA, 0, 1, &vec![0; 1 << 20])].concat(),
            1657,
            "FRAME_SIZE_ERROR",
        ),
        (
            "SETTINGS with half a setting",
            [settings(), frame(SETTINGS, 0, 0, &[0; 5])].concat(),
            1657,
            "connection error with http2 ErrCode FRAME_SIZE_ERROR",
        ),
        (
            "a PING with the wrong length",
            [settings(), frame(PING, 0, 0, &[0; 3])].concat(),
            1657,
            "connection error with http2 ErrCode FRAME_SIZE_ERROR",
        ),
        (
            "a window increment of 0",
            [settings(), frame(WINDOW_UPDATE, 0, 0, &[0; 4])].concat(),
            1652,
            "connection error with http2 ErrCode PROTOCOL_ERROR",
        ),
        (
            "data before any response",
            [settings(), frame(DATA, END_STREAM, 1, b"body")].concat(),
            1632,
            "stream error with http2 ErrCode PROTOCOL_ERROR",
        ),
        (
            "a response on a stream that was not opened",
            [settings(), frame(HEADERS, END_HEADERS, 3, &[STATUS_200])].concat(),
            1652,
            "connection error with http2 ErrCode PROTOCOL_ERROR",
        ),
        (
            "headers that cannot be decoded",
            [settings(), frame(HEADERS, END_HEADERS, 1, &[0xff; 40])].concat(),
            1660,
            "connection error with http2 ErrCode COMPRESSION_ERROR",
        ),
        (
            "a body shorter than announced",
            [headers_with_length(), frame(DATA, END_STREAM, 1, b"four")].concat(),
            1632,
            "stream error with http2 ErrCode PROTOCOL_ERROR",
        ),
        (
            "a body longer than announced",
            [
                headers_with_length(),
                frame(DATA, END_STREAM, 1, &[b'x'; 40]),
            ]
            .concat(),
            1632,
            "stream error with http2 ErrCode PROTOCOL_ERROR",
        ),
        (
            "a reset stream",
            [head(), frame(RST_STREAM, 0, 1, &[0, 0, 0, 2])].concat(),
            1633,
            "INTERNAL_ERROR",
        ),
        (
            "going away, for a reason",
            [settings(), frame(GOAWAY, 0, 0, &[0, 0, 0, 0, 0, 0, 0, 11])].concat(),
            1622,
            "ENHANCE_YOUR_CALM",
        ),
        ("a close after SETTINGS", settings(), 1000, "unexpected EOF"),
        ("half a response", head(), 1000, "unexpected EOF"),
    ];
    for (what, bytes, code, words) in lies {
        let (actual, message) = error_of(bytes);
        assert!(message.contains(words), "{what}: {actual} {message}");
        assert_eq!(actual, code, "{what}: {message}");
    }
}

/// Sends `start`, and then `again` until the other side closes the connection.
fn endless(start: Vec<u8>, again: Vec<u8>) -> SocketAddr {
    raw(move |mut socket| {
        // Do not read the client's data, as a misbehaving peer would not.
        let mut reading = socket.try_clone().unwrap();
        std::thread::spawn(move || std::io::copy(&mut reading, &mut std::io::sink()));
        let _ = socket.write_all(&start);
        for _ in 0..(256 << 20) / again.len() {
            if socket.write_all(&again).is_err() {
                return;
            }
        }
    })
}

#[test]
fn endless_responses_end_in_bounded_memory() {
    let open_head = [settings(), frame(HEADERS, 0, 1, &[STATUS_200])].concat();
    // A literal field without indexing, whose value is 4,000 bytes long.
    let mut field = vec![0x00, 0x01, b'x', 0x7f, 0xa1, 0x1e];
    field.extend_from_slice(&[b'v'; 4000]);
    let places = [
        (
            "headers without an end",
            endless(open_head, frame(CONTINUATION, 0, 1, &field).repeat(8)),
        ),
        (
            "a body above the limit",
            endless(head(), frame(DATA, 0, 1, &[b'x'; 16_000])),
        ),
    ];
    let before = resident();
    for (what, address) in places {
        let limited = Settings {
            max_body: 1 << 20,
            ..Settings::default()
        };
        let exchange = send_request(address, limited);
        let error = exchange.error.unwrap();
        assert!(!error.message.contains("timeout"), "{what}: {error}");
    }
    a_flood_of_pings_does_not_delay_a_response();
    let after = resident();
    assert!(after < before + (128 << 20), "{before} {after}");
}

/// This is a part of the test above. As a separate test, it would also measure the memory of other
/// tests.
fn a_flood_of_pings_does_not_delay_a_response() {
    let address = raw(|mut socket| {
        let mut reading = socket.try_clone().unwrap();
        std::thread::spawn(move || std::io::copy(&mut reading, &mut std::io::sink()));
        let _ = socket.write_all(&settings());
        let pings = frame(PING, 0, 0, &[7; 8]).repeat(1000);
        for _ in 0..200 {
            if socket.write_all(&pings).is_err() {
                return;
            }
        }
        let _ = socket.write_all(&frame(HEADERS, END_HEADERS | END_STREAM, 1, &[STATUS_200]));
        std::thread::sleep(Duration::from_secs(60));
    });
    let exchange = send_request(address, Settings::default());
    assert_eq!(exchange.status, 200, "{exchange:?}");
}

#[test]
fn a_stall_ends_at_the_deadline() {
    let address = raw(|mut socket| {
        let _ = socket.write_all(&head());
        std::thread::sleep(Duration::from_secs(60));
    });
    run(async {
        let mut client_request = request(Method::Get, &format!("http://{address}/"));
        client_request.timeout = Duration::from_millis(300);
        let settings = Settings {
            protocol: Protocol::H2c,
            ..Settings::default()
        };
        let failure = client(settings)
            .send(&client_request, None, &mut |_| {})
            .await
            .unwrap_err();
        assert_eq!(failure.error.message, "request timeout");
    });
}

/// Number of bytes of memory that this process uses; 0 if unknown.
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: Option<u64> = text.split(' ').nth(1).and_then(|pages| pages.parse().ok());
    pages.unwrap_or(0) * 4096
}
