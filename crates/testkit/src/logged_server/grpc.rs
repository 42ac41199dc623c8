//! gRPC over HTTP/2 without TLS. Every unary method echoes its message, and the streaming method
//! `Chat` of every service echoes each of its messages.

use std::convert::Infallible;
use std::error::Error;
use std::io;
use std::net::{Shutdown, TcpListener};
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::header::{HeaderMap, HeaderValue};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};

use super::behavior::{Act, Behavior, SharedBehavior};
use super::grpc_stream::{Call, Messages};
use super::log::Outcome;

/// The length of the prefix of a message.
const PREFIX: usize = 5;

type Body = UnsyncBoxBody<Bytes, Infallible>;

/// gRPC's code for an unavailable service.
const UNAVAILABLE: u16 = 14;

pub(super) fn serve(listener: TcpListener, conduct: Arc<SharedBehavior>) {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
    else {
        return;
    };
    // The listener is already bound. After an error, connections are accepted but not served.
    let _ = runtime.block_on(accept(listener, conduct));
}

async fn accept(listener: TcpListener, conduct: Arc<SharedBehavior>) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    let listener = tokio::net::TcpListener::from_std(listener)?;
    loop {
        let (stream, _) = listener.accept().await?;
        let stream = stream.into_std()?;
        stream.set_nodelay(true)?;
        let number = conduct.ledger.connected();
        let connection = Arc::new(Connection {
            number,
            socket: stream.try_clone()?,
            conduct: Arc::clone(&conduct),
        });
        let stream = TokioIo::new(tokio::net::TcpStream::from_std(stream)?);
        let service = service_fn(move |request| {
            let connection = Arc::clone(&connection);
            async move { connection.respond(request).await }
        });
        let serving = hyper::server::conn::http2::Builder::new(TokioExecutor::new())
            .serve_connection(stream, service);
        // An error means that the client disconnected.
        tokio::spawn(serving);
    }
}

struct Connection {
    number: u64,
    /// A second handle to the connection, used to close it.
    socket: std::net::TcpStream,
    conduct: Arc<SharedBehavior>,
}

impl Connection {
    /// Responds to one call.
    ///
    /// # Errors
    /// An error makes hyper reset the stream: with the code of an [`h2::Error`], otherwise with
    /// `INTERNAL_ERROR`.
    async fn respond(
        &self,
        request: Request<Incoming>,
    ) -> Result<Response<Body>, Box<dyn Error + Send + Sync>> {
        let ledger = &self.conduct.ledger;
        let is_stream = request.uri().path().ends_with("/Chat");
        let body = request.into_body();
        let mut stream = None;
        let message = if is_stream {
            let mut messages = Messages::of(body);
            let first = messages.next().await?.ok_or("a stream without a message")?;
            ledger.message_received();
            stream = Some(messages);
            first
        } else {
            body.collect().await?.to_bytes()
        };
        let payload = message.len().saturating_sub(PREFIX);
        let call = ledger.arrived(self.number, payload);
        let (wait, act) = self.conduct.decide(call);
        tokio::time::sleep(wait).await;
        match act {
            Act::Respond => {
                let Some(messages) = stream else {
                    ledger.ended(call, Outcome::Responded(0), payload);
                    return Ok(whole(message));
                };
                let call = Call {
                    ledger: Arc::clone(ledger),
                    number: call,
                    first: message,
                    flood: match self.conduct.behavior {
                        Behavior::Flood(bytes) => bytes,
                        _ => 0,
                    },
                };
                let body = call.echo(messages).boxed_unsync();
                Ok(headers().body(body).unwrap_or_default())
            }
            Act::Fail => {
                ledger.ended(call, Outcome::Responded(UNAVAILABLE), 0);
                Ok(failed())
            }
            Act::Drop => {
                ledger.ended(call, Outcome::Cut, 0);
                self.socket.shutdown(Shutdown::Both)?;
                std::future::pending().await
            }
            Act::Reset => {
                ledger.ended(call, Outcome::Cut, 0);
                Err("reset this stream".into())
            }
            Act::RefuseStream => {
                ledger.ended(call, Outcome::Cut, 0);
                Err(h2::Error::from(h2::Reason::REFUSED_STREAM).into())
            }
            Act::Ignore => std::future::pending().await,
        }
    }
}

fn headers() -> hyper::http::response::Builder {
    Response::builder().header("content-type", "application/grpc")
}

/// The message, and the trailers for success.
fn whole(message: Bytes) -> Response<Body> {
    let mut trailers = HeaderMap::new();
    trailers.insert("grpc-status", HeaderValue::from_static("0"));
    let frames = [Ok(Frame::data(message)), Ok(Frame::trailers(trailers))];
    let body = StreamBody::new(futures_util::stream::iter(frames)).boxed_unsync();
    headers().body(body).unwrap_or_default()
}

/// Only headers, with the status of a failure.
fn failed() -> Response<Body> {
    let body = Full::new(Bytes::new()).boxed_unsync();
    let response = headers().header("grpc-status", UNAVAILABLE).body(body);
    response.unwrap_or_default()
}
