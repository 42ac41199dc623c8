//! Misbehaving servers in memory. Each case ends with a clear status and in bounded memory.

use std::cell::Cell;
use std::future::Future;
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use h2::RecvStream;
use h2::server::{Connection, SendResponse};
use http::{HeaderMap, Request, Response};
use plimsoll_grpc::{
    Channel, Code, Compression, Endpoint, Framed, Limits, Metadata, Reply, Schema, Status,
    Template, reflect,
};
use plimsoll_net::{Network, NetworkSettings};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

type Server = Connection<DuplexStream, Bytes>;
type AcceptedRequest = (Request<RecvStream>, SendResponse<Bytes>);

/// Longer than any case takes on the slowest machine.
const LONG: Duration = Duration::from_secs(60);

fn run<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    tokio::task::LocalSet::new().block_on(&runtime, async {
        tokio::time::timeout(LONG, work).await.expect("it hangs")
    })
}

fn template(channel: &Channel, timeout: Duration) -> Template {
    let metadata = Metadata::new();
    let endpoint = channel.endpoint();
    Template::new(
        endpoint,
        "/a.B/C",
        &metadata,
        "",
        Some(timeout),
        Compression::Identity,
    )
    .unwrap()
}

/// Makes one call to a server that runs `play` with the call's first request.
fn call<P, F>(timeout: Duration, play: P) -> Reply
where
    P: FnOnce(Server, AcceptedRequest) -> F + 'static,
    F: Future<Output = ()> + 'static,
{
    run(async {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        tokio::task::spawn_local(async move {
            let mut server: Server = h2::server::handshake(theirs).await.unwrap();
            let requests = server.accept().await.unwrap().unwrap();
            play(server, requests).await;
        });
        let channel = channel();
        channel.adopt(ours);
        let message = Framed::new(b"hello", Compression::Identity, 100).unwrap();
        let template = template(&channel, timeout);
        channel
            .unary(&template, &message, plimsoll_clock::now())
            .await
    })
}

fn channel() -> Channel {
    let endpoint = Endpoint::parse("127.0.0.1:1", false).unwrap();
    let network = Rc::new(Network::new(NetworkSettings::default()));
    let limits = Limits {
        max_receive: 1000,
        ..Limits::default()
    };
    Channel::new(endpoint, network, None, Rc::default(), limits)
}

fn head(kind: &str) -> Response<()> {
    Response::builder()
        .header("content-type", kind)
        .body(())
        .unwrap()
}

fn status(code: &str) -> HeaderMap {
    let mut trailers = HeaderMap::new();
    trailers.insert("grpc-status", code.parse().unwrap());
    trailers
}

/// Keeps the connection open until the client closes it.
async fn linger(mut server: Server) {
    while server.accept().await.is_some() {}
}

/// The status of a response with this body and these trailers.
fn reply_with(body: &'static [u8], trailers: Option<HeaderMap>) -> Reply {
    call(LONG, move |server, (_, mut respond)| async move {
        let mut stream = respond
            .send_response(head("application/grpc"), false)
            .unwrap();
        let last = trailers.is_none();
        stream.send_data(Bytes::from_static(body), last).unwrap();
        if let Some(trailers) = trailers {
            stream.send_trailers(trailers).unwrap();
        }
        linger(server).await;
    })
}

#[test]
fn a_correct_response_is_accepted() {
    let reply = reply_with(b"\0\0\0\0\x02hi", Some(status("0")));
    assert_eq!(reply.status.code, Code::OK, "{}", reply.status);
    assert_eq!(reply.message.unwrap(), "hi");
    assert_eq!(reply.timeline.phases().sum(), reply.timeline.total());
}

#[test]
fn a_status_alone_is_enough() {
    let reply = call(LONG, |server, (_, mut respond)| async move {
        let mut head = head("application/grpc");
        head.headers_mut().extend(status("7"));
        respond.send_response(head, true).unwrap();
        linger(server).await;
    });
    assert_eq!(reply.status.code, Code::PERMISSION_DENIED);
}

#[test]
fn a_response_without_a_status_is_an_error() {
    let reply = reply_with(b"\0\0\0\0\x02hi", None);
    assert_eq!(reply.status.code, Code::INTERNAL, "{}", reply.status);
    assert!(
        reply.status.message.contains("trailers"),
        "{}",
        reply.status
    );
    let reply = reply_with(b"\0\0\0\0\x02hi", Some(HeaderMap::new()));
    assert_eq!(reply.status.code, Code::INTERNAL, "{}", reply.status);
    let reply = reply_with(b"\0\0\0\0\x02hi", Some(status("none")));
    assert_eq!(reply.status.code, Code::INTERNAL, "{}", reply.status);
}

#[test]
fn invalid_messages_are_reported() {
    let status_of = |body: &'static [u8]| reply_with(body, Some(status("0"))).status;
    assert_eq!(status_of(b"").code, Code::INTERNAL);
    assert_eq!(status_of(b"\0\0\0\0\x09short").code, Code::INTERNAL);
    assert_eq!(status_of(b"\x01\0\0\0\x02hi").code, Code::INTERNAL);
    assert_eq!(status_of(b"\x07\0\0\0\x02hi").code, Code::INTERNAL);
    assert_eq!(
        status_of(b"\0\xff\xff\xff\xff..").code,
        Code::RESOURCE_EXHAUSTED
    );
    let two = status_of(b"\0\0\0\0\x01a\0\0\0\0\x01b");
    assert_eq!(two.code, Code::INTERNAL);
    assert!(two.message.contains("another message"), "{two}");
}

#[test]
fn a_response_that_is_not_grpc_is_reported() {
    for (number, kind, code) in [
        (200, "text/html", Code::UNKNOWN),
        (404, "text/html", Code::UNIMPLEMENTED),
        (503, "application/grpc", Code::UNAVAILABLE),
        (200, "application/grpcish", Code::UNKNOWN),
    ] {
        let reply = call(LONG, move |server, (_, mut respond)| async move {
            let mut head = head(kind);
            *head.status_mut() = http::StatusCode::from_u16(number).unwrap();
            let mut stream = respond.send_response(head, false).unwrap();
            stream
                .send_data(Bytes::from_static(b"<html>"), true)
                .unwrap();
            linger(server).await;
        });
        assert_eq!(reply.status.code, code, "{number} {kind}: {}", reply.status);
        assert!(
            reply.status.message.contains(&number.to_string()),
            "{}",
            reply.status
        );
    }
}

#[test]
fn resets_have_their_codes() {
    for (reason, code) in [
        (h2::Reason::INTERNAL_ERROR, Code::INTERNAL),
        (h2::Reason::CANCEL, Code::CANCELED),
        (h2::Reason::ENHANCE_YOUR_CALM, Code::RESOURCE_EXHAUSTED),
        (h2::Reason::INADEQUATE_SECURITY, Code::PERMISSION_DENIED),
    ] {
        let reply = call(LONG, move |server, (_, mut respond)| async move {
            respond.send_reset(reason);
            linger(server).await;
        });
        assert_eq!(reply.status.code, code, "{reason}: {}", reply.status);
    }
}

#[test]
fn a_refused_call_is_repeated() {
    let reply = call(LONG, |mut server, (_, mut respond)| async move {
        respond.send_reset(h2::Reason::REFUSED_STREAM);
        let (_, mut respond) = server.accept().await.unwrap().unwrap();
        let mut stream = respond
            .send_response(head("application/grpc"), false)
            .unwrap();
        stream
            .send_data(Bytes::from_static(b"\0\0\0\0\0"), false)
            .unwrap();
        stream.send_trailers(status("0")).unwrap();
        linger(server).await;
    });
    assert_eq!(reply.status.code, Code::OK, "{}", reply.status);
}

#[test]
fn the_end_of_the_connection_ends_the_call() {
    let reply = call(LONG, |server, _| async move { drop(server) });
    assert_eq!(reply.status.code, Code::UNAVAILABLE, "{}", reply.status);
    let reply = call(LONG, |mut server, _| async move {
        server.abrupt_shutdown(h2::Reason::ENHANCE_YOUR_CALM);
        linger(server).await;
    });
    assert_eq!(reply.status.code, Code::UNAVAILABLE, "{}", reply.status);
}

#[test]
fn a_graceful_close_lets_the_call_continue() {
    let reply = call(LONG, |mut server, (_, mut respond)| async move {
        server.graceful_shutdown();
        let mut stream = respond
            .send_response(head("application/grpc"), false)
            .unwrap();
        stream
            .send_data(Bytes::from_static(b"\0\0\0\0\0"), false)
            .unwrap();
        stream.send_trailers(status("0")).unwrap();
        linger(server).await;
    });
    assert_eq!(reply.status.code, Code::OK, "{}", reply.status);
}

#[test]
fn a_call_to_a_stalled_server_ends_at_the_deadline() {
    let short = Duration::from_millis(50);
    let reply = call(short, |server, requests| async move {
        linger(server).await;
        drop(requests);
    });
    assert_eq!(reply.status.code, Code::DEADLINE_EXCEEDED);
    assert!(reply.timeline.total() >= short);
    let reply = call(short, |server, (_, mut respond)| async move {
        let mut stream = respond
            .send_response(head("application/grpc"), false)
            .unwrap();
        stream
            .send_data(Bytes::from_static(b"\0\0\0"), false)
            .unwrap();
        linger(server).await;
    });
    assert_eq!(reply.status.code, Code::DEADLINE_EXCEEDED);
}

/// The result if a server sends `bytes` after the client's first bytes and then keeps the
/// connection open.
fn reply_to(bytes: &'static [u8]) -> Reply {
    said_and(bytes, false)
}

/// The same. If `leaves` is true, the server closes its sending half and continues to read.
fn said_and(bytes: &'static [u8], leaves: bool) -> Reply {
    run(async move {
        let (ours, mut theirs) = tokio::io::duplex(1 << 16);
        tokio::task::spawn_local(async move {
            let mut some = [0; 1024];
            let _ = theirs.read(&mut some).await;
            let _ = theirs.write_all(bytes).await;
            if leaves {
                let _ = theirs.shutdown().await;
            }
            while theirs.read(&mut some).await.is_ok_and(|count| count > 0) {}
        });
        let channel = channel();
        channel.adopt(ours);
        let message = Framed::new(b"hello", Compression::Identity, 100).unwrap();
        let template = template(&channel, LONG);
        channel
            .unary(&template, &message, plimsoll_clock::now())
            .await
    })
}

/// An empty SETTINGS frame, which a server sends first.
macro_rules! settings {
    ($rest:literal) => {
        concat!("\0\0\0\x04\0\0\0\0\0", $rest).as_bytes()
    };
}

#[test]
fn malformed_frames_end_the_call() {
    let status_of: &[(&str, &[u8])] = &[
        ("words of HTTP/1.1", b"HTTP/1.1 400 Bad Request\r\n\r\n"),
        // The length of SETTINGS must be a multiple of six (RFC 9113, section 6.5).
        ("SETTINGS of five bytes", b"\0\0\x05\x04\0\0\0\0\0......"),
        // No frame may exceed the 16384 bytes that we allow (section 4.2).
        (
            "a frame of a megabyte",
            settings!("\x0f\x01\x01\0\0\0\0\0\x01"),
        ),
        // DATA must belong to a stream (section 6.1).
        ("DATA without a stream", settings!("\0\0\x01\0\0\0\0\0\0.")),
        // A server cannot open a client's stream (section 5.1.1).
        (
            "HEADERS on a stream that was not opened",
            settings!("\0\0\x01\x01\x04\0\0\0\x63."),
        ),
        // Section 6.7.
        ("PING of one byte", settings!("\0\0\x01\x06\0\0\0\0\0.")),
        // Section 6.9.
        (
            "a window increment of 0",
            settings!("\0\0\x04\x08\0\0\0\0\0\0\0\0\0"),
        ),
        // The client has forbidden pushes (section 8.4).
        ("a push", settings!("\0\0\x05\x05\x04\0\0\0\x01\0\0\0\x02.")),
    ];
    for (what, bytes) in status_of {
        let status = reply_to(bytes).status;
        assert!(
            [Code::UNAVAILABLE, Code::INTERNAL].contains(&status.code),
            "{what}: {status}"
        );
        assert!(!status.message.is_empty(), "{what}");
    }
}

#[test]
fn a_connection_refused_immediately_is_reported_with_its_reason() {
    // GOAWAY with last stream 0 and ENHANCE_YOUR_CALM (RFC 9113, section 6.8).
    let goaway = settings!("\0\0\x08\x07\0\0\0\0\0\0\0\0\0\0\0\0\x0b");
    let status = reply_to(goaway).status;
    assert!(!status.code.is_ok());
    assert!(status.message.contains("ENHANCE_YOUR_CALM"), "{status}");
}

#[test]
fn endless_headers_are_rejected() {
    // HEADERS without END_HEADERS, and then endless CONTINUATION frames with the same field.
    let mut bytes = b"\0\0\0\x04\0\0\0\0\0\0\0\x01\x01\0\0\0\0\x01\x88".to_vec();
    let field: Vec<u8> = b"\0\x01a\x7f\x80\x7d"
        .iter()
        .copied()
        .chain([b'x'; 16_127])
        .collect();
    for _ in 0..200 {
        let [_, a, b, c] = (field.len() as u32).to_be_bytes();
        bytes.extend([a, b, c, 9, 0, 0, 0, 0, 1]);
        bytes.extend_from_slice(&field);
    }
    let status = reply_to(bytes.leak()).status;
    assert!(!status.code.is_ok(), "{status}");
}

#[test]
fn a_connection_half_closed_ends_the_call() {
    let status = said_and(settings!(""), true).status;
    assert_eq!(status.code, Code::UNAVAILABLE, "{status}");
}

#[test]
fn a_status_before_the_last_message_ends_a_streaming_call() {
    run(async {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        tokio::task::spawn_local(async move {
            let mut server: Server = h2::server::handshake(theirs).await.unwrap();
            let (_, mut respond) = server.accept().await.unwrap().unwrap();
            let mut head = head("application/grpc");
            head.headers_mut().extend(status("8"));
            respond.send_response(head, true).unwrap();
            linger(server).await;
        });
        let channel = channel();
        channel.adopt(ours);
        let template = template(&channel, LONG);
        let mut call = channel
            .open(&template, plimsoll_clock::now())
            .await
            .unwrap();
        assert_eq!(call.receiver.message().await, None);
        let status = call.receiver.status().cloned().unwrap();
        assert_eq!(status.code, Code::RESOURCE_EXHAUSTED, "{status}");
        // Sending after that neither hangs nor panics.
        let message = Framed::new(&[7; 50], Compression::Identity, 100).unwrap();
        for _ in 0..10 {
            if call.sender.send(&message).await.is_err() {
                break;
            }
        }
        let _ = call.sender.finish().await;
    });
}

/// Runs reflection against a server that responds to the n-th request with `reply(n)`. Returns the
/// result and the number of requests.
fn described(
    timeout: Duration,
    mut reply: impl FnMut(u32) -> Option<Vec<u8>> + 'static,
) -> (Status, u32) {
    let requests = Rc::new(Cell::new(0));
    let count = Rc::clone(&requests);
    let status = run(async move {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        tokio::task::spawn_local(async move {
            let mut server: Server = h2::server::Builder::new().handshake(theirs).await.unwrap();
            let (request, mut respond) = server.accept().await.unwrap().unwrap();
            tokio::task::spawn_local(linger(server));
            let mut stream = respond
                .send_response(head("application/grpc"), false)
                .unwrap();
            let mut body = request.into_body();
            while let Some(Ok(piece)) = body.data().await {
                let _ = body.flow_control().release_capacity(piece.len());
                count.set(count.get() + 1);
                let Some(message) = reply(count.get()) else {
                    continue;
                };
                let mut framed = vec![0];
                framed.extend((message.len() as u32).to_be_bytes());
                framed.extend(message);
                if stream.send_data(framed.into(), false).is_err() {
                    return;
                }
            }
        });
        let channel = Channel::new(
            Endpoint::parse("127.0.0.1:1", false).unwrap(),
            Rc::new(Network::new(NetworkSettings::default())),
            None,
            Rc::default(),
            Limits::default(),
        );
        channel.adopt(ours);
        let mut schema = Schema::new();
        let metadata = Metadata::new();
        let asking = reflect(&channel, &mut schema, Some("a.B/C"), &metadata, "", timeout);
        asking.await.map_or_else(|status| status, |_| Status::ok())
    });
    (status, requests.get())
}

/// A `ServerReflectionResponse` with one file of about `size` bytes that imports the next file.
fn chained(number: u32, size: usize) -> Vec<u8> {
    let field = |number: u8, bytes: &[u8]| {
        let mut field = vec![number << 3 | 2];
        let mut length = bytes.len();
        while length >= 0x80 {
            field.push(length as u8 | 0x80);
            length >>= 7;
        }
        field.push(length as u8);
        field.extend_from_slice(bytes);
        field
    };
    let mut file = field(1, format!("f{number}.proto").as_bytes());
    file.extend(field(3, format!("f{}.proto", number + 1).as_bytes()));
    file.extend(field(2, &vec![b'p'; size]));
    field(4, &field(1, &file))
}

#[test]
fn reading_an_endless_description_is_aborted() {
    let (status, requests) = described(LONG, |number| Some(chained(number, 3 << 20)));
    assert_eq!(status.code, Code::RESOURCE_EXHAUSTED, "{status}");
    assert!(status.message.contains("description has more"), "{status}");
    assert!(requests < 30, "{requests}");
}

#[test]
fn a_description_that_never_begins_ends_at_the_deadline() {
    let (status, requests) = described(Duration::from_millis(50), |_| None);
    assert_eq!(status.code, Code::DEADLINE_EXCEEDED, "{status}");
    assert_eq!(requests, 1);
}

/// The wait for the peer's settings is a part of the time until the connection can be used, and not of connecting.
#[test]
fn opening_a_connection_includes_the_wait_for_late_settings() {
    const LATE: Duration = Duration::from_millis(300);
    let opening = run(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        tokio::task::spawn_local(async move {
            let (stream, _) = listener.accept().await.unwrap();
            tokio::time::sleep(LATE).await;
            let mut server = h2::server::Builder::new()
                .handshake::<_, Bytes>(stream)
                .await
                .unwrap();
            while server.accept().await.is_some() {}
        });
        let endpoint = Endpoint::parse(&address, false).unwrap();
        let network = Rc::new(Network::new(NetworkSettings::default()));
        let channel = Channel::new(endpoint, network, None, Rc::default(), Limits::default());
        channel.connect().await.unwrap()
    });
    assert!(opening.greeting >= LATE * 9 / 10, "{opening:?}");
    assert!(opening.total() < LATE, "{opening:?}");
    assert_eq!(opening.until_ready(), opening.total() + opening.greeting);
}
