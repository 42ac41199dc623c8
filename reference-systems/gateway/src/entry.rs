//! Entries: listeners, and the connections that come through them.

use std::future::poll_fn;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::task::Poll;
use std::time::Duration;

use arc_swap::ArcSwap;
use hyper::header::HeaderValue;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use plimsoll_serving::arrival::Arrival;
use plimsoll_serving::counters::{AllCounters, Counters, count};
use plimsoll_serving::drain::{Drain, Draining};
use plimsoll_serving::listeners::{Acceptor, accept, bind};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::runtime::Handle;
use tokio::time::Instant;
use tokio_rustls::TlsAcceptor;

use crate::config::{self, Limits, Protocol};
use crate::forwarding::Client;
use crate::gateway::Gateway;
use crate::proxy::{Door, Traffic, answer};

/// Time limit of a handshake.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// Maximum concurrent requests on one HTTP/2 connection.
const MOST_STREAMS: u32 = 1000;

/// Maximum streams that a client may open and abandon before its connection is closed, against
/// floods of resets (CVE-2023-44487, CVE-2025-8671).
const MOST_RESETS: usize = 100;

/// Bytes that a client may send ahead, per stream and per connection.
const STREAM_WINDOW: u32 = 256 << 10;
const CONNECTION_WINDOW: u32 = 1 << 20;

/// Maximum interval between checks of an idle connection's deadlines.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// An open entry.
pub struct Entry {
    pub settings: config::Entry,
    /// Its actual address, even if the configuration has port 0.
    pub address: SocketAddr,
    pub counters: AllCounters,
    manners: Arc<ArcSwap<Manners>>,
    drain: Drain,
    closing: Arc<AtomicBool>,
}

/// Settings for new connections.
struct Manners {
    name: Arc<str>,
    settings: config::Entry,
    h1: http1::Builder,
    h2: http2::Builder<TokioExecutor>,
    either: auto::Builder<TokioExecutor>,
    tls: Option<TlsAcceptor>,
    /// Set before draining begins: cheaper to check than the drain itself.
    closing: Arc<AtomicBool>,
}

impl Entry {
    /// Listens, and starts to accept connections.
    pub fn open(
        settings: &config::Entry,
        limits: &Limits,
        gateway: &Arc<Gateway>,
        workers: &[Handle],
    ) -> Result<Entry, String> {
        let name = &settings.name;
        let listener = bind(settings.bind.ip(), settings.bind.port(), "bind").map_err(|error| {
            format!(
                "entries.{name}.bind: {}",
                error.replace("bind PORT", "bind")
            )
        })?;
        let address = listener
            .local_addr()
            .map_err(|error| format!("entries.{name}.bind: {error}"))?;
        let (drain, draining) = Drain::new();
        let closing = Arc::new(AtomicBool::new(false));
        let manners = Manners::new(settings, limits, &closing);
        let manners = Arc::new(ArcSwap::from_pointee(manners));
        let counters = AllCounters::new(workers.len());
        let acceptor = Acceptor {
            workers: workers.to_vec(),
            counters: counters.clone(),
            // The entry's own limit may change, and is enforced where it is known.
            limit: u64::MAX,
        };
        let (gateway, next, all) = (gateway.clone(), manners.clone(), counters.clone());
        let serve = move |stream, worker, draining| {
            let manners = next.load_full();
            let full = all.sum(Counters::open) > manners.settings.max_connections;
            if full {
                count(&all.of_worker(worker).rejected);
            }
            let served = (!full).then(|| serve(gateway.clone(), manners, stream, worker, draining));
            async {
                match served {
                    Some(served) => served.await,
                    None => Ok(()),
                }
            }
        };
        tokio::spawn(accept(listener, acceptor, draining, serve));
        Ok(Entry {
            settings: settings.clone(),
            address,
            counters,
            manners,
            drain,
            closing,
        })
    }

    /// Whether an entry of a new configuration is this one: it has the same address or, if any port
    /// is allowed, the same name.
    pub fn is(&self, settings: &config::Entry) -> bool {
        self.settings.bind == settings.bind
            && (settings.bind.port() != 0 || self.settings.name == settings.name)
    }

    /// Applies `settings` to new connections.
    pub fn change(&mut self, settings: &config::Entry, limits: &Limits) {
        self.settings = settings.clone();
        let manners = Manners::new(settings, limits, &self.closing);
        self.manners.store(Arc::new(manners));
    }

    /// Accepts no more connections, and waits for responses in progress. Returns whether all ended
    /// in time.
    pub async fn close(self, patience: Duration) -> bool {
        self.closing.store(true, Relaxed);
        self.drain.run(patience).await
    }
}

impl Manners {
    fn new(settings: &config::Entry, limits: &Limits, closing: &Arc<AtomicBool>) -> Manners {
        let head = u32::try_from(limits.head).unwrap_or(u32::MAX);
        // Most responses are small: writing one buffer is faster than two.
        let mut h1 = http1::Builder::new();
        h1.max_buf_size(head as usize).writev(false);
        let mut h2 = http2::Builder::new(TokioExecutor::new());
        h2.timer(TokioTimer::new())
            .keep_alive_interval(settings.idle_timeout)
            .max_concurrent_streams(MOST_STREAMS)
            .max_pending_accept_reset_streams(MOST_RESETS)
            .max_local_error_reset_streams(MOST_RESETS)
            .max_header_list_size(head)
            .initial_stream_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW);
        let mut either = auto::Builder::new(TokioExecutor::new());
        either.http1().max_buf_size(head as usize).writev(false);
        either
            .http2()
            .timer(TokioTimer::new())
            .keep_alive_interval(settings.idle_timeout)
            .max_concurrent_streams(MOST_STREAMS)
            .max_pending_accept_reset_streams(MOST_RESETS)
            .max_local_error_reset_streams(MOST_RESETS)
            .max_header_list_size(head)
            .initial_stream_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW);
        Manners {
            name: settings.name.as_str().into(),
            settings: settings.clone(),
            h1,
            h2,
            either,
            tls: settings
                .tls
                .as_ref()
                .and_then(|tls| tls.config.clone())
                .map(TlsAcceptor::from),
            closing: closing.clone(),
        }
    }
}

/// Serves one connection to its end.
async fn serve(
    gateway: Arc<Gateway>,
    manners: Arc<Manners>,
    stream: Arrival,
    worker: usize,
    draining: Draining,
) -> Result<(), String> {
    let peer = stream
        .peer_addr()
        .map_err(|error| error.to_string())?
        .ip()
        .to_canonical();
    let address = HeaderValue::from_str(&peer.to_string()).map_err(|error| error.to_string())?;
    let door = Arc::new(Door {
        counts: gateway.counts.of_worker(worker),
        gateway,
        worker,
        entry: manners.name.clone(),
        address: peer,
        client: Client {
            address,
            encrypted: manners.tls.is_some(),
            forwarded: manners.settings.forwarded,
        },
        draining: draining.clone(),
        traffic: Traffic::default(),
    });
    let Some(acceptor) = &manners.tls else {
        let protocol = manners.settings.protocol;
        return converse(&manners, protocol, stream, door, draining).await;
    };
    let stream = tokio::time::timeout(HANDSHAKE, acceptor.accept(stream))
        .await
        .map_err(|_| "the handshake took too long".to_owned())?
        .map_err(|error| error.to_string())?;
    // The negotiated protocol need not be detected from the first bytes.
    let protocol = match stream.get_ref().1.alpn_protocol() {
        Some(b"h2") => Protocol::H2,
        // A client that negotiated nothing uses HTTP/1.1, unless that is not offered.
        None if manners.settings.protocol == Protocol::H2 => Protocol::H2,
        _ => Protocol::H1,
    };
    converse(&manners, protocol, stream, door, draining).await
}

async fn converse<S>(
    manners: &Manners,
    protocol: Protocol,
    stream: S,
    door: Arc<Door>,
    draining: Draining,
) -> Result<(), String>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let seen = door.clone();
    let traffic = &seen.traffic;
    let service = service_fn(move |request| answer(door.clone(), request));
    let stream = TokioIo::new(stream);
    match protocol {
        Protocol::H1 => {
            let connection = manners.h1.serve_connection(stream, service).with_upgrades();
            drive(
                connection,
                |it| it.graceful_shutdown(),
                manners,
                traffic,
                draining,
            )
            .await
        }
        Protocol::H2 => {
            let connection = manners.h2.serve_connection(stream, service);
            drive(
                connection,
                |it| it.graceful_shutdown(),
                manners,
                traffic,
                draining,
            )
            .await
        }
        Protocol::Auto => {
            let connection = manners
                .either
                .serve_connection_with_upgrades(stream, service);
            drive(
                connection,
                |it| it.graceful_shutdown(),
                manners,
                traffic,
                draining,
            )
            .await
        }
    }
}

/// Drives a connection to its end, which `end` causes when draining begins, or when there was no
/// request for too long; an incomplete request counts as none.
///
/// Once the connection's task is registered with the drain, checking a flag is enough. The idle
/// time is checked only while no request is in flight. So a request costs neither a timer nor a
/// lock.
async fn drive<C, E>(
    connection: C,
    end: impl Fn(Pin<&mut C>),
    manners: &Manners,
    traffic: &Traffic,
    mut draining: Draining,
) -> Result<(), String>
where
    C: Future<Output = Result<(), E>>,
    E: ToString,
{
    let mut connection = pin!(connection);
    let mut begun = pin!(draining.begun());
    let (mut registered, mut ended) = (false, false);
    let idle = manners.settings.idle_timeout;
    let pause = (idle / 4).min(LONGEST_PAUSE);
    let mut look = pin!(tokio::time::sleep(pause));
    let mut last = (traffic.begun(), Instant::now());
    poll_fn(|context| {
        loop {
            if let Poll::Ready(outcome) = connection.as_mut().poll(context) {
                return Poll::Ready(outcome.map_err(|error| error.to_string()));
            }
            if !ended && (!registered || manners.closing.load(Relaxed)) {
                registered = true;
                if begun.as_mut().poll(context).is_ready() {
                    ended = true;
                    end(connection.as_mut());
                    continue;
                }
            }
            if !traffic.is_idle() || look.as_mut().poll(context).is_pending() {
                return Poll::Pending;
            }
            let now = Instant::now();
            look.as_mut().reset(now + pause);
            if last.0 != traffic.begun() {
                last = (traffic.begun(), now);
            } else if now - last.1 >= idle + pause && ended {
                // It does not end on its own, for example during incomplete request headers.
                return Poll::Ready(Err("no bytes arrived for too long".to_owned()));
            } else if now - last.1 >= idle && !ended {
                ended = true;
                end(connection.as_mut());
            }
        }
    })
    .await
}
