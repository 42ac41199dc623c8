//! Entries: listeners, and the connections that come through them.

use std::future::poll_fn;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::task::Poll;
use std::time::Duration;

use arc_swap::ArcSwap;
use hyper::header::HeaderValue;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use plimsoll_serving::arrival::Arrival;
use plimsoll_serving::connection::handshake;
use plimsoll_serving::counters::count;
use plimsoll_serving::drain::{Drain, Draining};
use plimsoll_serving::listeners::{Acceptor, accept, bind};
use tokio::runtime::Handle;
use tokio::time::{Instant, sleep};
use tokio_rustls::TlsAcceptor;
use tokio_util::either::Either;

use crate::config::{self, Limits};
use crate::forwarding::Client;
use crate::gateway::Gateway;
use crate::proxy::{Door, respond};

/// Maximum concurrent requests on one HTTP/2 connection.
const MAX_STREAMS: u32 = 1000;

/// Maximum streams that a client may open and abandon before its connection is closed, against
/// floods of resets (CVE-2023-44487, CVE-2025-8671).
const MAX_RESETS: usize = 100;

/// Bytes that a client may send ahead, per stream and per connection.
const STREAM_WINDOW: u32 = 256 << 10;
const CONNECTION_WINDOW: u32 = 1 << 20;

/// Maximum interval between checks of an idle connection's deadlines.
const MAX_CHECK_INTERVAL: Duration = Duration::from_secs(5);

/// An open entry.
pub struct Entry {
    /// Its actual address, even if the configuration has port 0.
    pub address: SocketAddr,
    manners: Arc<ArcSwap<Manners>>,
    drain: Drain,
}

/// Settings for new connections.
pub struct Manners {
    pub name: Arc<str>,
    pub settings: config::Entry,
    http: auto::Builder<TokioExecutor>,
    tls: Option<TlsAcceptor>,
    /// Set before draining begins: cheaper to check than the drain itself.
    closing: Arc<AtomicBool>,
}

impl Entry {
    /// Listens, and starts to accept connections.
    pub fn open(
        name: &str,
        settings: &config::Entry,
        limits: &Limits,
        gateway: &Arc<Gateway>,
        workers: &[Handle],
    ) -> Result<Entry, String> {
        let explain = |error: String| format!("entries.{name}.bind: {error}");
        let listener = bind(settings.bind.ip(), settings.bind.port(), "bind").map_err(explain)?;
        let address = listener.local_addr();
        let address = address.map_err(|error| explain(error.to_string()))?;
        let (drain, draining) = Drain::new();
        let manners = Manners::new(name, settings, limits, Arc::default());
        let manners = Arc::new(ArcSwap::from_pointee(manners));
        let acceptor = Acceptor {
            workers: workers.to_vec(),
            counters: gateway.connections.clone(),
            // The entry's own limit may change, and is enforced where it is known.
            limit: u64::MAX,
        };
        let (gateway, next) = (gateway.clone(), manners.clone());
        // Each connection has a weak reference.
        let seats = Arc::new(());
        let serve = move |stream, worker, draining| {
            let (gateway, manners) = (gateway.clone(), next.load_full());
            let seat = Arc::downgrade(&seats);
            let full = Arc::weak_count(&seats) > manners.settings.max_connections;
            async move {
                let _seat = seat;
                if full {
                    count(&gateway.connections.of_worker(worker).rejected);
                    return Ok(());
                }
                serve(gateway, manners, stream, worker, draining).await
            }
        };
        tokio::spawn(accept(listener, acceptor, draining, serve));
        Ok(Entry {
            address,
            manners,
            drain,
        })
    }

    pub fn manners(&self) -> Arc<Manners> {
        self.manners.load_full()
    }

    /// Whether an entry of a new configuration is this one: it has the same address or, if any port
    /// is allowed, the same name.
    pub fn is(&self, name: &str, settings: &config::Entry) -> bool {
        let manners = self.manners();
        manners.settings.bind == settings.bind
            && (settings.bind.port() != 0 || *manners.name == *name)
    }

    /// Applies `settings` to new connections.
    pub fn change(&self, name: &str, settings: &config::Entry, limits: &Limits) {
        let closing = self.manners().closing.clone();
        let manners = Manners::new(name, settings, limits, closing);
        self.manners.store(Arc::new(manners));
    }

    /// Accepts no more connections, and waits for responses in progress. Returns whether all ended
    /// in time.
    pub async fn close(self, patience: Duration) -> bool {
        self.manners().closing.store(true, Relaxed);
        self.drain.run(patience).await
    }
}

impl Manners {
    fn new(
        name: &str,
        settings: &config::Entry,
        limits: &Limits,
        closing: Arc<AtomicBool>,
    ) -> Manners {
        let head = u32::try_from(limits.head).unwrap_or(u32::MAX);
        let mut http = auto::Builder::new(TokioExecutor::new());
        // Most responses are small: writing one buffer is faster than two.
        http.http1().max_buf_size(head as usize).writev(false);
        http.http2()
            .timer(TokioTimer::new())
            .keep_alive_interval(settings.idle_timeout)
            .max_concurrent_streams(MAX_STREAMS)
            .max_pending_accept_reset_streams(MAX_RESETS)
            .max_local_error_reset_streams(MAX_RESETS)
            .max_header_list_size(head)
            .initial_stream_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW);
        let tls = settings.tls.as_ref().and_then(|tls| tls.config.clone());
        Manners {
            name: name.into(),
            settings: settings.clone(),
            http,
            tls: tls.map(TlsAcceptor::from),
            closing,
        }
    }
}

/// Serves one connection to its end, which comes when draining begins, or when there was no request
/// for too long; an incomplete request counts as none.
///
/// Once the connection's task is registered with the drain, checking a flag is enough. The idle
/// time is checked only while no request is in flight. So a request costs neither a timer nor a
/// lock.
async fn serve(
    gateway: Arc<Gateway>,
    manners: Arc<Manners>,
    stream: Arrival,
    worker: usize,
    mut draining: Draining,
) -> Result<(), String> {
    let peer = stream.peer_addr().map_err(|error| error.to_string())?;
    let address = peer.ip().to_canonical();
    let text = HeaderValue::from_str(&address.to_string());
    let door = Arc::new(Door {
        counts: gateway.counts.of_worker(worker),
        gateway,
        worker,
        entry: manners.name.clone(),
        protocol: manners.settings.protocol,
        address,
        client: Client {
            address: text.map_err(|error| error.to_string())?,
            encrypted: manners.tls.is_some(),
            forwarded: manners.settings.forwarded,
        },
        _draining: draining.clone(),
        started: AtomicU64::new(0),
        in_flight: AtomicU64::new(0),
    });
    let stream = match &manners.tls {
        None => Either::Left(stream),
        Some(acceptor) => Either::Right(handshake(acceptor, stream).await?),
    };
    let seen = door.clone();
    let service = service_fn(move |request| respond(door.clone(), request));
    let stream = TokioIo::new(stream);
    let connection = manners.http.serve_connection_with_upgrades(stream, service);
    let (mut connection, mut started) = (pin!(connection), pin!(draining.started()));
    let (mut registered, mut ended) = (false, false);
    let idle = manners.settings.idle_timeout;
    let pause = (idle / 4).min(MAX_CHECK_INTERVAL);
    let mut look = pin!(sleep(pause));
    let mut last = (0, Instant::now());
    poll_fn(|context| {
        loop {
            if let Poll::Ready(outcome) = connection.as_mut().poll(context) {
                return Poll::Ready(outcome.map_err(|error| error.to_string()));
            }
            if !ended && (!registered || manners.closing.load(Relaxed)) {
                registered = true;
                if started.as_mut().poll(context).is_ready() {
                    ended = true;
                    connection.as_mut().graceful_shutdown();
                    continue;
                }
            }
            if seen.in_flight.load(Relaxed) > 0 || look.as_mut().poll(context).is_pending() {
                return Poll::Pending;
            }
            let now = Instant::now();
            look.as_mut().reset(now + pause);
            let requests = seen.started.load(Relaxed);
            if last.0 != requests {
                last = (requests, now);
            } else if now - last.1 >= idle + pause && ended {
                // It does not end on its own, for example during incomplete request headers.
                return Poll::Ready(Err("no bytes arrived for too long".to_owned()));
            } else if now - last.1 >= idle && !ended {
                ended = true;
                connection.as_mut().graceful_shutdown();
            }
        }
    })
    .await
}
