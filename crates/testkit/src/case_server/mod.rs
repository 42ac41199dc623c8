//! The server that the scripts under `cases/` use, for recording and for comparing.
//!
//! Every response is a function of its request, so two runs of a script receive the same responses.
//! The server listens on several ports of 127.0.0.1. Scripts receive the addresses in their
//! environment:
//!
//! | variable | listener |
//! |---|---|
//! | `BASE` | HTTP/1.1, HTTP/2 by prior knowledge, and gRPC ([`grpc`]), without TLS |
//! | `TLS` | the same over TLS 1.2 and 1.3, with a certificate for `localhost` and `127.0.0.1` |
//! | `TLS12` | HTTP/1.1 over TLS 1.2 only |
//! | `TLS_OTHER` | a certificate for `other.example` only |
//! | `TLS_CLIENT` | requests a client certificate |
//! | `TLS_MUTUAL` | the same for HTTP/2, and therefore also for gRPC |
//! | `RAW` | misbehaves below HTTP: see [`raw`] |
//! | `CERTS` | a directory with `ca.pem`, `client.pem`, `client-key.pem`, `cases.proto` and
//! `cases.protoset` |

mod auth;
mod certificates;
mod frames;
pub mod grpc;
mod interop;
mod messages;
mod packed;
pub mod raw;
mod routes;
mod websocket;

use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

/// The addresses of the running server's listeners.
#[derive(Debug, Clone)]
pub struct Addresses {
    /// The environment variables that scripts receive.
    pub variables: Vec<(String, String)>,
    /// Each port, and the name that replaces it in recorded text.
    pub ports: Vec<(u16, String)>,
    /// The directory of the certificates.
    pub certificates: String,
}

/// Starts the server on the current runtime. It runs until the runtime is dropped.
///
/// `certificates` is an empty directory for its certificates.
pub async fn start(certificates: &Path) -> io::Result<Addresses> {
    let made = certificates::make(certificates)?;
    std::fs::write(certificates.join("cases.proto"), grpc::PROTO)?;
    std::fs::write(certificates.join("cases.protoset"), grpc::DESCRIPTORS)?;
    let mut variables = Vec::new();
    let mut ports = Vec::new();
    let mut bind = async |name: &str, scheme: &str| -> io::Result<TcpListener> {
        let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await?;
        let port = listener.local_addr()?.port();
        variables.push((name.to_owned(), format!("{scheme}://127.0.0.1:{port}")));
        ports.push((port, name.to_lowercase()));
        Ok(listener)
    };
    let clear = bind("BASE", "http").await?;
    let misbehaving = bind("RAW", "http").await?;
    for (name, config) in made.listeners {
        let acceptor = TlsAcceptor::from(Arc::new(config));
        tokio::spawn(accept_tls(bind(name, "https").await?, acceptor));
    }
    tokio::spawn(accept_clear(clear));
    tokio::spawn(raw::serve(misbehaving));
    let certificates = certificates.to_string_lossy().into_owned();
    variables.push(("CERTS".to_owned(), certificates.clone()));
    Ok(Addresses {
        variables,
        ports,
        certificates,
    })
}

async fn accept_clear(listener: TcpListener) {
    while let Ok((stream, _)) = listener.accept().await {
        let _ = stream.set_nodelay(true);
        tokio::spawn(exchange(stream));
    }
}

async fn accept_tls(listener: TcpListener, acceptor: TlsAcceptor) {
    while let Ok((stream, _)) = listener.accept().await {
        let _ = stream.set_nodelay(true);
        tokio::spawn(secure(stream, acceptor.clone()));
    }
}

async fn secure(stream: TcpStream, acceptor: TlsAcceptor) {
    // Some cases test a handshake that the client aborts.
    if let Ok(stream) = acceptor.accept(stream).await {
        exchange(stream).await;
    }
}

/// Handles the requests of one connection.
async fn exchange<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(stream: S) {
    let requests = Arc::new(AtomicU64::new(0));
    let service = service_fn(move |request| {
        let number = requests.fetch_add(1, Ordering::Relaxed) + 1;
        async move {
            Ok::<_, Infallible>(if grpc::is_call(&request) {
                grpc::respond(request).await
            } else {
                routes::respond(request, number).await
            })
        }
    });
    let mut builder = auto::Builder::new(TokioExecutor::new());
    // No `Date` header, because a date would make two responses differ.
    builder.http1().auto_date_header(false);
    builder.http2().auto_date_header(false);
    let serving = builder.serve_connection_with_upgrades(TokioIo::new(stream), service);
    let _ = serving.await;
}
