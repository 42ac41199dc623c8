//! One connection: the handshake, the choice of protocol, and its end.

use std::error::Error;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use clap::ValueEnum;
use hyper::body::{Body, Incoming};
use hyper::service::Service;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use tokio_util::either::Either;

use crate::arrival::Arrival;
use crate::drain::Draining;

/// Time limit of a handshake.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// Maximum length of request headers, in bytes.
const MAX_HEADERS: u32 = 32 * 1024;

/// Maximum concurrent requests on one HTTP/2 connection.
const MAX_STREAMS: u32 = 1000;

/// Bytes that a client may send ahead, per stream and per connection.
const STREAM_WINDOW: u32 = 1 << 20;
const CONNECTION_WINDOW: u32 = 4 << 20;

/// The HTTP versions of a listener.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// HTTP/2 if the client requests it (by ALPN, or by prior knowledge), else HTTP/1.1
    #[default]
    Auto,
    /// HTTP/1.1 alone
    H1,
    /// HTTP/2 alone
    H2,
}

impl Protocol {
    /// The names to offer in a TLS handshake.
    pub fn alpn(self) -> Vec<Vec<u8>> {
        match self {
            Protocol::Auto => vec![b"h2".to_vec(), b"http/1.1".to_vec()],
            Protocol::H1 => vec![b"http/1.1".to_vec()],
            Protocol::H2 => vec![b"h2".to_vec()],
        }
    }
}

/// How a listener serves its connections.
#[derive(Clone)]
pub struct Server {
    http: auto::Builder<TokioExecutor>,
    tls: Option<TlsAcceptor>,
    /// Whether only one version of HTTP is allowed.
    forced: bool,
}

impl Server {
    /// A server for `protocol`, without TLS if `tls` is `None`. A connection is closed after being
    /// idle for `idle`.
    pub fn new(protocol: Protocol, tls: Option<TlsAcceptor>, idle: Duration) -> Server {
        let mut http = auto::Builder::new(TokioExecutor::new());
        http.http1()
            .timer(TokioTimer::new())
            .header_read_timeout(idle)
            .max_buf_size(MAX_HEADERS as usize);
        http.http2()
            .timer(TokioTimer::new())
            .keep_alive_interval(idle)
            .max_concurrent_streams(MAX_STREAMS)
            .max_header_list_size(MAX_HEADERS)
            .initial_stream_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW);
        let http = match protocol {
            Protocol::Auto => http,
            Protocol::H1 => http.http1_only(),
            Protocol::H2 => http.http2_only(),
        };
        Server {
            http,
            tls,
            forced: protocol != Protocol::Auto,
        }
    }

    /// Serves one connection to its end.
    pub async fn serve<S, B>(
        self: Arc<Self>,
        stream: Arrival,
        service: S,
        draining: Draining,
    ) -> Result<(), String>
    where
        S: Service<Request<Incoming>, Response = Response<B>> + Send + 'static,
        S::Future: Send + 'static,
        S::Error: Into<Box<dyn Error + Send + Sync>>,
        B: Body + Send + 'static,
        B::Data: Send,
        B::Error: Into<Box<dyn Error + Send + Sync>>,
    {
        let stream = match &self.tls {
            None => Either::Left(stream),
            Some(acceptor) => Either::Right(handshake(acceptor, stream).await?),
        };
        let stream = TokioIo::new(stream);
        // hyper-util enforces a single version only when it serves without upgrades.
        if self.forced {
            let connection = self.http.serve_connection(stream, service);
            converse(connection, |it| it.graceful_shutdown(), draining).await
        } else {
            let connection = self.http.serve_connection_with_upgrades(stream, service);
            converse(connection, |it| it.graceful_shutdown(), draining).await
        }
    }
}

/// Drives a connection to its end; when draining begins, `end` closes it.
async fn converse<C, E>(
    connection: C,
    end: impl Fn(Pin<&mut C>),
    mut draining: Draining,
) -> Result<(), String>
where
    C: Future<Output = Result<(), E>>,
    E: ToString,
{
    let mut connection = pin!(connection);
    tokio::select! {
        outcome = connection.as_mut() => return outcome.map_err(|error| error.to_string()),
        () = draining.started() => end(connection.as_mut()),
    }
    connection.await.map_err(|error| error.to_string())
}

/// Performs the TLS handshake within its time limit.
pub async fn handshake(
    acceptor: &TlsAcceptor,
    stream: Arrival,
) -> Result<TlsStream<Arrival>, String> {
    tokio::time::timeout(HANDSHAKE, acceptor.accept(stream))
        .await
        .map_err(|_| "the handshake took too long".to_owned())?
        .map_err(|error| error.to_string())
}
