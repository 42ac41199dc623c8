//! Entries: listeners, and the connections that come through them.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use hyper::header::HeaderValue;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use serving::counters::{AllCounters, Counters, count};
use serving::drain::{Drain, Draining};
use serving::listeners::{Room, accept, bind};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::runtime::Handle;
use tokio_rustls::TlsAcceptor;

use crate::config::{self, Limits, Protocol};
use crate::forwarding::Client;
use crate::gateway::Gateway;
use crate::proxy::{Door, answer};

/// A handshake that takes longer is given up.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// Requests under way on one HTTP/2 connection, at most.
const MOST_STREAMS: u32 = 1000;

/// Streams that a client may open and abandon before its connection is closed, against
/// floods of resets (CVE-2023-44487, CVE-2025-8671).
const MOST_RESETS: usize = 100;

/// Bytes that a client may send ahead, on a stream and on a connection.
const STREAM_WINDOW: u32 = 256 << 10;
const CONNECTION_WINDOW: u32 = 1 << 20;

/// An entry that is listened on.
pub struct Entry {
    pub settings: config::Entry,
    /// Where it really listens, if any free port was asked for.
    pub address: SocketAddr,
    pub counters: AllCounters,
    manners: Arc<ArcSwap<Manners>>,
    drain: Drain,
}

/// How the next connections are served.
struct Manners {
    name: Arc<str>,
    settings: config::Entry,
    http: auto::Builder<TokioExecutor>,
    tls: Option<TlsAcceptor>,
}

impl Entry {
    /// Listens, and takes up connections from now on.
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
        let manners = Arc::new(ArcSwap::from_pointee(Manners::new(settings, limits)));
        let counters = AllCounters::new(workers.len());
        let room = Room {
            workers: workers.to_vec(),
            counters: counters.clone(),
            // The entry's own limit may change, and is heeded where it is known.
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
        tokio::spawn(accept(listener, room, draining, serve));
        Ok(Entry {
            settings: settings.clone(),
            address,
            counters,
            manners,
            drain,
        })
    }

    /// Whether an entry of a new configuration is this one: the same place, or, where
    /// any place will do, the same name.
    pub fn is(&self, settings: &config::Entry) -> bool {
        self.settings.bind == settings.bind
            && (settings.bind.port() != 0 || self.settings.name == settings.name)
    }

    /// Serves connections to come as `settings` say.
    pub fn change(&mut self, settings: &config::Entry, limits: &Limits) {
        self.settings = settings.clone();
        self.manners.store(Arc::new(Manners::new(settings, limits)));
    }

    /// Takes up no more connections, and waits for answers under way. Returns whether
    /// all were given in time.
    pub async fn close(self, patience: Duration) -> bool {
        self.drain.run(patience).await
    }
}

impl Manners {
    fn new(settings: &config::Entry, limits: &Limits) -> Manners {
        let head = u32::try_from(limits.head).unwrap_or(u32::MAX);
        let mut http = auto::Builder::new(TokioExecutor::new());
        http.http1()
            .timer(TokioTimer::new())
            .header_read_timeout(settings.idle_timeout)
            .max_buf_size(head as usize);
        http.http2()
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
            http,
            tls: settings
                .tls
                .as_ref()
                .map(|tls| TlsAcceptor::from(tls.0.clone())),
        }
    }
}

/// Serves one connection to its end.
async fn serve(
    gateway: Arc<Gateway>,
    manners: Arc<Manners>,
    stream: TcpStream,
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
    });
    let http = manners.http.clone();
    let Some(acceptor) = &manners.tls else {
        let http = match manners.settings.protocol {
            Protocol::Auto => http,
            Protocol::H1 => http.http1_only(),
            Protocol::H2 => http.http2_only(),
        };
        return converse(&http, stream, door, draining).await;
    };
    let stream = tokio::time::timeout(HANDSHAKE, acceptor.accept(stream))
        .await
        .map_err(|_| "the handshake took too long".to_owned())?
        .map_err(|error| error.to_string())?;
    // What was agreed on in the handshake need not be guessed from the first bytes.
    let http = match stream.get_ref().1.alpn_protocol() {
        Some(b"h2") => http.http2_only(),
        // A client that agreed on nothing speaks HTTP/1.1, unless that is not offered.
        None if manners.settings.protocol == Protocol::H2 => http.http2_only(),
        _ => http.http1_only(),
    };
    converse(&http, stream, door, draining).await
}

async fn converse<S>(
    http: &auto::Builder<TokioExecutor>,
    stream: S,
    door: Arc<Door>,
    mut draining: Draining,
) -> Result<(), String>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let service = service_fn(move |request| answer(door.clone(), request));
    let connection = http.serve_connection_with_upgrades(TokioIo::new(stream), service);
    let mut connection = std::pin::pin!(connection);
    tokio::select! {
        biased;
        outcome = connection.as_mut() => return outcome.map_err(|error| error.to_string()),
        () = draining.begun() => connection.as_mut().graceful_shutdown(),
    }
    connection.await.map_err(|error| error.to_string())
}
