//! HTTP/3 servers that share only QUIC with the client. One is built on another library's frames
//! and headers, and the other sends the given bytes.

use std::cell::Cell;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;

use bytes::{Buf, Bytes};
use h3::error::Code;
use h3::server::RequestStream;
use http::{Request, Response};
use quinn::crypto::rustls::QuicServerConfig;
use quinn::{Endpoint, ServerConfig, VarInt};
use tokio_rustls::TlsAcceptor;

type Stream = RequestStream<h3_quinn::BidiStream<Bytes>, Bytes>;

/// The requests and connections that a server has seen.
#[derive(Default)]
pub struct Seen {
    pub connections: Cell<usize>,
    pub requests: Cell<usize>,
}

fn endpoint(acceptor: &TlsAcceptor) -> Endpoint {
    let tls = QuicServerConfig::try_from(acceptor.config().clone()).unwrap();
    let config = ServerConfig::with_crypto(Arc::new(tls));
    Endpoint::server(config, "127.0.0.1:0".parse().unwrap()).unwrap()
}

/// Responds by path; see `respond`.
pub fn serve(acceptor: &TlsAcceptor) -> (SocketAddr, Rc<Seen>) {
    let endpoint = endpoint(acceptor);
    let address = endpoint.local_addr().unwrap();
    let seen = Rc::new(Seen::default());
    let message = seen.clone();
    tokio::task::spawn_local(async move {
        while let Some(incoming) = endpoint.accept().await {
            let Ok(connection) = incoming.await else {
                continue;
            };
            message.connections.set(message.connections.get() + 1);
            tokio::task::spawn_local(converse(connection, message.clone()));
        }
    });
    (address, seen)
}

async fn converse(quic: quinn::Connection, seen: Rc<Seen>) {
    let Ok(mut connection) =
        h3::server::Connection::<_, Bytes>::new(h3_quinn::Connection::new(quic.clone())).await
    else {
        return;
    };
    while let Ok(Some(resolver)) = connection.accept().await {
        let Ok((request, stream)) = resolver.resolve_request().await else {
            continue;
        };
        seen.requests.set(seen.requests.get() + 1);
        if request.uri().path() == "/goaway" {
            let _ = connection.shutdown(0).await;
        }
        tokio::task::spawn_local(respond(request, stream, quic.clone(), seen.requests.get()));
    }
}

async fn respond(request: Request<()>, mut stream: Stream, quic: quinn::Connection, number: usize) {
    let path = request.uri().path();
    let cookie = request.headers().get("cookie");
    let cookie = cookie.map_or("", |value| value.to_str().unwrap());
    let response = Response::builder();
    let (response, body) = match path {
        "/early" => (response.status(413), Bytes::from_static(b"too much")),
        "/stall" => std::future::pending().await,
        "/reset" => return stream.stop_stream(Code::H3_EXCESSIVE_LOAD),
        "/rejected" if number.is_multiple_of(2) => {
            return stream.stop_stream(Code::H3_REQUEST_REJECTED);
        }
        "/redirect" => (
            response
                .status(302)
                .header("location", "/from")
                .header("set-cookie", "a=b"),
            Bytes::new(),
        ),
        "/from" => (response, Bytes::from(format!("cookie {cookie}"))),
        "/half" => (
            response.header("content-length", "100"),
            Bytes::from_static(b"ten bytes."),
        ),
        "/close" => (response, Bytes::from_static(b"ten bytes.")),
        "/hints" => {
            let hints = Response::builder().status(103).body(()).unwrap();
            stream.send_response(hints).await.unwrap();
            (response, Bytes::from_static(b"after hints"))
        }
        _ => {
            let mut body = Vec::new();
            while let Ok(Some(mut piece)) = stream.recv_data().await {
                body.extend_from_slice(&piece.copy_to_bytes(piece.remaining()));
            }
            let seen = format!("{} {}", request.method(), request.uri());
            let agent = request.headers().get("user-agent").cloned();
            let response = response.header("x-seen", seen);
            let response = match agent {
                Some(agent) => response.header("x-agent", agent),
                None => response,
            };
            (response, Bytes::from(body))
        }
    };
    if stream
        .send_response(response.body(()).unwrap())
        .await
        .is_err()
    {
        return;
    }
    let _ = stream.send_data(body).await;
    if path == "/close" {
        // Let the data that was already sent arrive first.
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        return quic.close(VarInt::from_u32(0x102), b"by and by");
    }
    let _ = stream.finish().await;
}

/// Responds to each request with these bytes on its stream, whatever they are. Starts its control
/// stream with `control`.
pub fn serve_raw(acceptor: &TlsAcceptor, control: &'static [u8], bytes: Vec<u8>) -> SocketAddr {
    let endpoint = endpoint(acceptor);
    let address = endpoint.local_addr().unwrap();
    tokio::task::spawn_local(async move {
        while let Some(incoming) = endpoint.accept().await {
            let Ok(connection) = incoming.await else {
                continue;
            };
            let bytes = bytes.clone();
            tokio::task::spawn_local(async move {
                let mut first = connection.open_uni().await.unwrap();
                first.write_all(control).await.unwrap();
                while let Ok((mut send, mut recv)) = connection.accept_bi().await {
                    let _ = recv.read_to_end(1 << 20).await;
                    let _ = send.write_all(&bytes).await;
                    let _ = send.finish();
                }
            });
        }
    });
    address
}
