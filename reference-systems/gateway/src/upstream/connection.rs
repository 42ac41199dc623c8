//! Connections to a target.
//!
//! hyper's HTTP/1.1 connection is a future that must be driven. There is no separate task for that:
//! the task that waits for the response drives it, so a request and its response never leave the
//! task of the client's connection. That saves two task switches per request.

use std::collections::VecDeque;
use std::error::Error;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::Incoming;
use hyper::client::conn::{TrySendError, http1, http2};
use hyper::header::{HOST, HeaderValue};
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep, timeout, timeout_at};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_util::either::Either;

use super::SWEEP;
use crate::body::Outgoing;
use crate::config::{Upstream, Wire};
use crate::refusal::Refusal;

/// The initial deadline of a new connection's timer.
const FIRST_DEADLINE: Duration = Duration::from_secs(3600);

/// Maximum length of response headers, in bytes.
const MAX_HEADERS: u32 = 64 << 10;

/// Bytes that a target may send ahead, per HTTP/2 stream and per connection.
const STREAM_WINDOW: u32 = 1 << 20;
const CONNECTION_WINDOW: u32 = 4 << 20;

/// Interval of pings on a silent HTTP/2 connection.
const PING: Duration = Duration::from_secs(20);

/// A connection's bytes, plain or encrypted.
pub type Stream = Either<TcpStream, TlsStream<TcpStream>>;

/// Why there was no response.
pub struct Trouble {
    pub refusal: Refusal,
    /// For the log; contains nothing from the request.
    pub reason: String,
    /// The request, if no part of it was sent.
    pub unsent: Option<Box<Request<Outgoing>>>,
    /// Whether the client's body, not the target, is at fault.
    pub by_client: bool,
}

impl Trouble {
    fn new(refusal: Refusal, reason: impl Into<String>) -> Trouble {
        Trouble {
            refusal,
            reason: reason.into(),
            unsent: None,
            by_client: false,
        }
    }

    fn unreachable(reason: impl Into<String>) -> Trouble {
        Trouble::new(Refusal::UNREACHABLE, reason)
    }

    fn late() -> Trouble {
        Trouble::new(Refusal::TOO_LATE, "no response in time")
    }

    /// The same failure, with a request that was not sent.
    fn with(mut self, request: Request<Outgoing>) -> Trouble {
        self.unsent = Some(Box::new(request));
        self
    }
}

impl From<TrySendError<Request<Outgoing>>> for Trouble {
    fn from(mut error: TrySendError<Request<Outgoing>>) -> Trouble {
        let unsent = error.take_message().map(Box::new);
        let mut trouble = Trouble::new(Refusal::BROKEN, error.error().to_string());
        trouble.unsent = unsent;
        let mut cause = error.error().source();
        while let Some(error) = cause {
            trouble.reason += &format!(": {error}");
            if let Some(refusal) = Refusal::of_body(error) {
                (trouble.refusal, trouble.by_client) = (refusal, true);
            }
            cause = error.source();
        }
        trouble
    }
}

/// The connections of one worker to one target.
pub struct Connections {
    address: String,
    settings: Arc<Upstream>,
    /// Idle HTTP/1.1 connections, the most recently used last. Only the worker uses it, so the lock
    /// never blocks.
    idle: Mutex<VecDeque<Box<Connection>>>,
    /// HTTP/2 connections, each opened on demand and shared by many requests.
    shared: Vec<tokio::sync::Mutex<Option<http2::SendRequest<Outgoing>>>>,
    next: AtomicUsize,
}

/// An HTTP/1.1 connection.
struct Connection {
    sender: http1::SendRequest<Outgoing>,
    driver: http1::Connection<TokioIo<Stream>, Outgoing>,
    /// The driver has ended and must not be polled again.
    over: bool,
    /// Number of sweeps since its last use.
    age: u32,
    /// Fires at or before the deadline of the expected response. It is reset only when it fires or
    /// would fire too late, so it adds almost no cost to a request.
    timer: Pin<Box<Sleep>>,
}

/// The connection of a response. HTTP/2 does not need it: its connections drive themselves.
pub struct Lease(Option<(Box<Connection>, Arc<Connections>)>);

impl Connections {
    pub fn new(address: &str, settings: &Arc<Upstream>) -> Arc<Connections> {
        Arc::new(Connections {
            address: address.to_owned(),
            settings: settings.clone(),
            idle: Mutex::default(),
            shared: (0..settings.connections.get())
                .map(|_| Default::default())
                .collect(),
            next: AtomicUsize::new(0),
        })
    }

    /// Sends a request and waits for the response headers until `deadline`. HTTP/1.1 names `host`,
    /// or the target's address. The body of the response arrives only while the lease is driven.
    pub async fn exchange(
        self: &Arc<Self>,
        mut request: Request<Outgoing>,
        host: Option<&HeaderValue>,
        deadline: Instant,
    ) -> Result<(Response<Incoming>, Lease), Trouble> {
        if self.settings.wire == Wire::H2 {
            let responded = timeout_at(deadline, Box::pin(self.exchange_http2(request))).await;
            let response = responded.unwrap_or_else(|_| Err(Trouble::late()))?;
            return Ok((response, Lease(None)));
        }
        let own = || HeaderValue::from_str(&self.address).ok();
        if let Some(host) = host.cloned().or_else(own) {
            request.headers_mut().insert(HOST, host);
        }
        loop {
            let idle = self.take();
            let reused = idle.is_some();
            let mut connection = match idle {
                Some(connection) => connection,
                // Boxed, because it is rare and would make every request's future larger.
                None => match timeout_at(deadline, Box::pin(self.open())).await {
                    Ok(Ok(connection)) => connection,
                    Ok(Err(trouble)) => return Err(trouble.with(request)),
                    Err(_) => return Err(Trouble::late()),
                },
            };
            match connection.exchange(request, deadline).await {
                Ok(response) => return Ok((response, Lease(Some((connection, self.clone()))))),
                // The target had closed the connection in the meantime and received nothing:
                // retrying is safe, and the target is not at fault.
                Err(Trouble {
                    unsent: Some(unsent),
                    ..
                }) if reused => request = *unsent,
                Err(trouble) => return Err(trouble),
            }
        }
    }

    /// The most recently used idle connection that is still open.
    fn take(&self) -> Option<Box<Connection>> {
        loop {
            let mut connection = self.idle().pop_back()?;
            if connection.is_open() {
                return Some(connection);
            }
        }
    }

    /// Removes idle connections that are closed or have been idle for too long.
    pub fn sweep(&self) {
        let most = (self.settings.keep_timeout.as_secs() / SWEEP.as_secs()).max(1);
        self.idle().retain_mut(|connection| {
            connection.age = connection.age.saturating_add(1);
            u64::from(connection.age) < most && connection.is_open()
        });
    }

    fn idle(&self) -> MutexGuard<'_, VecDeque<Box<Connection>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts HTTP/1.1 on a new connection.
    async fn open(&self) -> Result<Box<Connection>, Trouble> {
        let (sender, driver) = http1::Builder::new()
            .max_buf_size(MAX_HEADERS as usize)
            // Most requests are small: writing one buffer is faster than two.
            .writev(false)
            .handshake(TokioIo::new(self.connect().await?))
            .await
            .map_err(|error| Trouble::unreachable(error.to_string()))?;
        Ok(Box::new(Connection {
            sender,
            driver,
            over: false,
            age: 0,
            timer: Box::pin(sleep(FIRST_DEADLINE)),
        }))
    }

    async fn exchange_http2(
        &self,
        request: Request<Outgoing>,
    ) -> Result<Response<Incoming>, Trouble> {
        match self.open_http2().await {
            Ok(mut sender) => Ok(sender.try_send_request(request).await?),
            Err(trouble) => Err(trouble.with(request)),
        }
    }

    /// The next HTTP/2 connection. Requests that arrive while it is being opened wait for it.
    async fn open_http2(&self) -> Result<http2::SendRequest<Outgoing>, Trouble> {
        let turn = self.next.fetch_add(1, Relaxed) % self.shared.len().max(1);
        let Some(slot) = self.shared.get(turn) else {
            return Err(Trouble::unreachable("no connections"));
        };
        let mut slot = slot.lock().await;
        if let Some(sender) = slot.as_ref().filter(|sender| !sender.is_closed()) {
            return Ok(sender.clone());
        }
        *slot = None;
        let (sender, connection) = http2::Builder::new(TokioExecutor::new())
            .timer(TokioTimer::new())
            .keep_alive_interval(PING)
            .initial_stream_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .max_header_list_size(MAX_HEADERS)
            .handshake(TokioIo::new(self.connect().await?))
            .await
            .map_err(|error| Trouble::unreachable(error.to_string()))?;
        // It ends with the last sender; its requests get the error that broke it.
        tokio::spawn(connection);
        Ok(slot.insert(sender).clone())
    }

    /// Connects within the upstream's time, with TLS if configured.
    async fn connect(&self) -> Result<Stream, Trouble> {
        let limit = self.settings.connect_timeout;
        let connected = timeout(limit, self.connect_without_limit()).await;
        connected
            .unwrap_or_else(|_| Err(format!("no connection within {limit:?}")))
            .map_err(Trouble::unreachable)
    }

    async fn connect_without_limit(&self) -> Result<Stream, String> {
        let stream = TcpStream::connect(&self.address)
            .await
            .map_err(|error| format!("cannot connect: {error}"))?;
        // Small requests must not wait for acknowledgements.
        let _ = stream.set_nodelay(true);
        let Some(tls) = &self.settings.tls else {
            return Ok(Either::Left(stream));
        };
        let config = tls.config.clone().ok_or("its TLS is not set up")?;
        let host = self.address.rsplit_once(':').map_or("", |(host, _)| host);
        let host = host.trim_matches(['[', ']']).to_owned();
        let name = match &tls.name {
            Some(name) => name.clone(),
            None => ServerName::try_from(host)
                .map_err(|_| "the target has no name to check its certificate for")?,
        };
        let stream = TlsConnector::from(config).connect(name, stream).await;
        stream
            .map(Either::Right)
            .map_err(|error| format!("TLS: {error}"))
    }
}

impl Connection {
    /// Reads and writes as far as possible.
    fn drive(&mut self, context: &mut Context<'_>) {
        if !self.over {
            self.over = Pin::new(&mut self.driver).poll(context).is_ready();
        }
    }

    /// Whether the target has left the connection open. This processes received data. The event loop keeps its
    /// readiness, so an idle connection needs no system call.
    fn is_open(&mut self) -> bool {
        self.drive(&mut Context::from_waker(Waker::noop()));
        !self.over && self.sender.is_ready()
    }

    async fn exchange(
        &mut self,
        request: Request<Outgoing>,
        deadline: Instant,
    ) -> Result<Response<Incoming>, Trouble> {
        let mut response = pin!(self.sender.try_send_request(request));
        let (driver, over, timer) = (&mut self.driver, &mut self.over, &mut self.timer);
        if timer.deadline() > deadline {
            timer.as_mut().reset(deadline);
        }
        poll_fn(|context| {
            if !*over {
                *over = Pin::new(&mut *driver).poll(context).is_ready();
            }
            if let Poll::Ready(responded) = response.as_mut().poll(context) {
                return Poll::Ready(responded.map_err(Trouble::from));
            }
            while timer.as_mut().poll(context).is_ready() {
                if Instant::now() >= deadline {
                    return Poll::Ready(Err(Trouble::late()));
                }
                timer.as_mut().reset(deadline);
            }
            Poll::Pending
        })
        .await
    }
}

impl Lease {
    /// Lets the response's body arrive.
    pub fn drive(&mut self, context: &mut Context<'_>) {
        if let Some((connection, _)) = &mut self.0 {
            connection.drive(context);
        }
    }

    /// Returns the connection for the next request, unless the target or an incomplete request has
    /// made it unusable.
    pub fn give_back(self) {
        if let Some((mut connection, connections)) = self.0
            && connection.is_open()
        {
            connection.age = 0;
            let mut idle = connections.idle();
            if idle.len() < connections.settings.keep {
                idle.push_back(connection);
            }
        }
    }

    /// The bare connection, which now uses another protocol, and the bytes that were already read from it.
    pub fn into_stream(self) -> Option<(Stream, Bytes)> {
        let (connection, _) = self.0?;
        let parts = connection.driver.into_parts();
        Some((parts.io.into_inner(), parts.read_buf))
    }
}
