//! Servers that misbehave, in memory: each ends in a clear status and bounded memory.

use std::future::Future;
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use h2::RecvStream;
use h2::server::{Connection, SendResponse};
use http_types::{HeaderMap, Request, Response};
use net::{Network, NetworkSettings};
use plimsoll_grpc::{
    Answer, Channel, Code, Compression, Endpoint, Framed, Limits, Metadata, Template,
};
use tokio::io::DuplexStream;

type Server = Connection<DuplexStream, Bytes>;
type Asked = (Request<RecvStream>, SendResponse<Bytes>);

/// Longer than anything here takes on the slowest machine.
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

/// Makes one call to a server that does `play` with its first request.
fn call<P, F>(timeout: Duration, play: P) -> Answer
where
    P: FnOnce(Server, Asked) -> F + 'static,
    F: Future<Output = ()> + 'static,
{
    run(async {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        tokio::task::spawn_local(async move {
            let mut server: Server = h2::server::handshake(theirs).await.unwrap();
            let asked = server.accept().await.unwrap().unwrap();
            play(server, asked).await;
        });
        let endpoint = Endpoint::parse("127.0.0.1:1", false).unwrap();
        let network = Rc::new(Network::new(NetworkSettings::default()));
        let limits = Limits {
            max_receive: 1000,
            ..Limits::default()
        };
        let channel = Channel::new(endpoint, network, None, Rc::default(), limits);
        channel.adopt(ours).await.unwrap();
        let message = Framed::new(b"hello", Compression::Identity, 100).unwrap();
        let template = template(&channel, timeout);
        channel.unary(&template, &message, clock::now()).await
    })
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

/// Keeps the connection going until the client leaves.
async fn linger(mut server: Server) {
    while server.accept().await.is_some() {}
}

/// The status after an answer with this body and these trailers.
fn answered(body: &'static [u8], trailers: Option<HeaderMap>) -> Answer {
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
fn a_proper_answer_is_taken() {
    let answer = answered(b"\0\0\0\0\x02hi", Some(status("0")));
    assert_eq!(answer.status.code, Code::OK, "{}", answer.status);
    assert_eq!(answer.message.unwrap(), "hi");
    assert_eq!(answer.timeline.phases().sum(), answer.timeline.total());
}

#[test]
fn a_status_alone_is_enough() {
    let answer = call(LONG, |server, (_, mut respond)| async move {
        let mut head = head("application/grpc");
        head.headers_mut().extend(status("7"));
        respond.send_response(head, true).unwrap();
        linger(server).await;
    });
    assert_eq!(answer.status.code, Code::PERMISSION_DENIED);
}

#[test]
fn an_answer_without_a_status_is_an_error() {
    let answer = answered(b"\0\0\0\0\x02hi", None);
    assert_eq!(answer.status.code, Code::INTERNAL, "{}", answer.status);
    assert!(
        answer.status.message.contains("trailers"),
        "{}",
        answer.status
    );
    let answer = answered(b"\0\0\0\0\x02hi", Some(HeaderMap::new()));
    assert_eq!(answer.status.code, Code::INTERNAL, "{}", answer.status);
    let answer = answered(b"\0\0\0\0\x02hi", Some(status("none")));
    assert_eq!(answer.status.code, Code::INTERNAL, "{}", answer.status);
}

#[test]
fn messages_that_are_none_are_told() {
    let told = |body: &'static [u8]| answered(body, Some(status("0"))).status;
    assert_eq!(told(b"").code, Code::INTERNAL);
    assert_eq!(told(b"\0\0\0\0\x09short").code, Code::INTERNAL);
    assert_eq!(told(b"\x01\0\0\0\x02hi").code, Code::INTERNAL);
    assert_eq!(told(b"\x07\0\0\0\x02hi").code, Code::INTERNAL);
    assert_eq!(told(b"\0\xff\xff\xff\xff..").code, Code::RESOURCE_EXHAUSTED);
    let two = told(b"\0\0\0\0\x01a\0\0\0\0\x01b");
    assert_eq!(two.code, Code::INTERNAL);
    assert!(two.message.contains("another message"), "{two}");
}

#[test]
fn an_answer_that_is_not_grpc_is_told() {
    for (number, kind, code) in [
        (200, "text/html", Code::UNKNOWN),
        (404, "text/html", Code::UNIMPLEMENTED),
        (503, "application/grpc", Code::UNAVAILABLE),
        (200, "application/grpcish", Code::UNKNOWN),
    ] {
        let answer = call(LONG, move |server, (_, mut respond)| async move {
            let mut head = head(kind);
            *head.status_mut() = http_types::StatusCode::from_u16(number).unwrap();
            let mut stream = respond.send_response(head, false).unwrap();
            stream
                .send_data(Bytes::from_static(b"<html>"), true)
                .unwrap();
            linger(server).await;
        });
        assert_eq!(
            answer.status.code, code,
            "{number} {kind}: {}",
            answer.status
        );
        assert!(
            answer.status.message.contains(&number.to_string()),
            "{}",
            answer.status
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
        let answer = call(LONG, move |server, (_, mut respond)| async move {
            respond.send_reset(reason);
            linger(server).await;
        });
        assert_eq!(answer.status.code, code, "{reason}: {}", answer.status);
    }
}

#[test]
fn a_refused_call_is_made_once_more() {
    let answer = call(LONG, |mut server, (_, mut respond)| async move {
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
    assert_eq!(answer.status.code, Code::OK, "{}", answer.status);
}

#[test]
fn the_end_of_the_connection_ends_the_call() {
    let answer = call(LONG, |server, _| async move { drop(server) });
    assert_eq!(answer.status.code, Code::UNAVAILABLE, "{}", answer.status);
    let answer = call(LONG, |mut server, _| async move {
        server.abrupt_shutdown(h2::Reason::ENHANCE_YOUR_CALM);
        linger(server).await;
    });
    assert_eq!(answer.status.code, Code::UNAVAILABLE, "{}", answer.status);
}

#[test]
fn a_graceful_end_lets_the_call_go_on() {
    let answer = call(LONG, |mut server, (_, mut respond)| async move {
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
    assert_eq!(answer.status.code, Code::OK, "{}", answer.status);
}

#[test]
fn a_server_that_stalls_meets_the_deadline() {
    let short = Duration::from_millis(50);
    let answer = call(short, |server, asked| async move {
        linger(server).await;
        drop(asked);
    });
    assert_eq!(answer.status.code, Code::DEADLINE_EXCEEDED);
    assert!(answer.timeline.total() >= short);
    let answer = call(short, |server, (_, mut respond)| async move {
        let mut stream = respond
            .send_response(head("application/grpc"), false)
            .unwrap();
        stream
            .send_data(Bytes::from_static(b"\0\0\0"), false)
            .unwrap();
        linger(server).await;
    });
    assert_eq!(answer.status.code, Code::DEADLINE_EXCEEDED);
}
