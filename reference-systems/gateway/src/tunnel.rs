//! Connections that switch to another protocol, such as WebSocket: once both sides have agreed,
//! bytes are forwarded unchanged.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use hyper::header::{CONNECTION, HeaderValue, UPGRADE};
use hyper::http::request::Parts;
use hyper::upgrade::OnUpgrade;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use plimsoll_serving::counters::count;
use plimsoll_serving::drain::Draining;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf, copy_bidirectional};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

use crate::answer::{Answer, Lease, Ticket};
use crate::attempt::Passage;
use crate::outgoing::Outgoing;
use crate::proxy::{Record, prepare, set_host, ticket};
use crate::refusal::Refusal;
use crate::upstream::{Using, exchange_to_upgrade};

const UPGRADING: HeaderValue = HeaderValue::from_static("upgrade");

/// Once one side has ended, maximum time until the other ends.
const HALF_CLOSED: Duration = Duration::from_secs(2);

/// A client's request to switch to another protocol.
pub struct Upgrade {
    protocol: HeaderValue,
    client: OnUpgrade,
}

impl Upgrade {
    /// Removes the upgrade from a request's headers.
    pub fn of(head: &mut Parts) -> Option<Upgrade> {
        Some(Upgrade {
            protocol: head.headers.get(UPGRADE)?.clone(),
            client: head.extensions.remove()?,
        })
    }
}

/// Asks a target to switch, on a separate connection.
pub async fn open(
    passage: Passage<'_>,
    mut request: Request<Outgoing>,
    upgrade: Upgrade,
    record: &mut Record,
) -> Result<Response<Answer>, Refusal> {
    let service = &passage.route.service;
    let (settings, upstream) = (&service.settings, &service.upstream.settings);
    passage.address(&mut request)?;
    request.headers_mut().insert(CONNECTION, UPGRADING);
    request.headers_mut().insert(UPGRADE, upgrade.protocol);
    let deadline = Instant::now() + settings.response_timeout;
    let mut tried = Vec::new();
    let (target, connection) = loop {
        let target = passage.choose(&tried)?;
        match target.connect(upstream).await {
            Ok(connection) => break (target, connection),
            Err(trouble) => {
                target.health.failed();
                count(&passage.door.counts.failed);
                record.trouble(&trouble.reason);
                tried.push(target);
                if tried.len() > settings.retries.attempts as usize || !service.gate.spend() {
                    return Err(Refusal::Unreachable);
                }
            }
        }
    };
    let using = Using::new(target.clone());
    set_host(
        request.headers_mut(),
        passage.host.as_ref(),
        &target.address,
    );
    let responded = timeout_at(deadline, exchange_to_upgrade(connection, request)).await;
    let mut response = responded
        .map_err(|_| Refusal::TooLate)?
        .map_err(|trouble| {
            target.health.failed();
            record.trouble(&trouble.reason);
            Refusal::Broken
        })?;
    target.health.succeeded();
    let status = response.status();
    let ticket = ticket(record, status.as_u16(), passage.permit, using);
    if status != StatusCode::SWITCHING_PROTOCOLS {
        let idle = settings.idle_timeout;
        return Ok(prepare(response, passage.route, |body| {
            Answer::upstream(body, Lease::none(), idle, ticket)
        }));
    }
    let protocol = response.headers().get(UPGRADE).cloned();
    let server = hyper::upgrade::on(&mut response);
    let door = passage.door;
    count(&door.counts.tunnels);
    tokio::spawn(pass_on(
        upgrade.client,
        server,
        settings.idle_timeout,
        door.draining.clone(),
        ticket,
    ));
    let mut response = prepare(response, passage.route, |_| {
        Answer::own(Bytes::new(), Record::none())
    });
    let headers = response.headers_mut();
    headers.insert(CONNECTION, UPGRADING);
    if let Some(protocol) = protocol {
        headers.insert(UPGRADE, protocol);
    }
    Ok(response)
}

/// Forwards bytes until one side ends, nothing has arrived for `idle`, or draining times out: the
/// drain waits for every holder of `draining`.
async fn pass_on(
    client: OnUpgrade,
    server: OnUpgrade,
    idle: Duration,
    draining: Draining,
    ticket: Ticket,
) {
    let (Ok(client), Ok(server)) = tokio::join!(client, server) else {
        return;
    };
    let started = Instant::now();
    let watch = Arc::new(Watch::default());
    let watched = |stream| Watched {
        stream: TokioIo::new(stream),
        started,
        watch: watch.clone(),
    };
    let (mut client, mut server) = (watched(client), watched(server));
    let silence = async {
        loop {
            let ended = watch.ended.load(Relaxed);
            let idle = if ended { idle.min(HALF_CLOSED) } else { idle };
            let last = started + Duration::from_millis(watch.heard.load(Relaxed));
            if last.elapsed() >= idle {
                return;
            }
            tokio::select! {
                () = tokio::time::sleep_until(last + idle) => {}
                () = watch.changed.notified(), if !ended => {}
            }
        }
    };
    tokio::select! {
        // Either side may end it at any time.
        _ = copy_bidirectional(&mut client, &mut server) => {}
        () = silence => {}
    }
    drop((ticket, draining));
}

/// The state of both streams of a tunnel.
#[derive(Default)]
struct Watch {
    /// When data last arrived from either, in milliseconds since the start.
    heard: AtomicU64,
    /// Whether one has ended.
    ended: AtomicBool,
    changed: Notify,
}

/// A stream that records when data last arrived.
struct Watched<S> {
    stream: S,
    started: Instant,
    watch: Arc<Watch>,
}

impl<S: AsyncRead + Unpin> AsyncRead for Watched<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = into.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(context, into);
        if polled.is_ready() {
            let now = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
            self.watch.heard.store(now, Relaxed);
            if into.filled().len() == before {
                self.watch.ended.store(true, Relaxed);
                self.watch.changed.notify_one();
            }
        }
        polled
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Watched<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
