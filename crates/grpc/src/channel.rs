//! Connections to a server: opens them when needed, and starts calls on them.

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::net::IpAddr;
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use plimsoll_http::Alarm;
use plimsoll_http2::{StreamFault, Streams};
use plimsoll_net::{Alpn, Dialed, Network, Steps, TrafficCounter, Wire};
use plimsoll_units::Moment;
use tokio::sync::Semaphore;
use tokio::time::Instant;

use crate::call::{Call, Receiver};
use crate::code::Code;
use crate::endpoint::Endpoint;
use crate::frame::Framed;
use crate::limits::Limits;
use crate::link::Link;
use crate::reply::Reply;
use crate::status::Status;
use crate::template::Template;

/// A channel to one server. It has one connection, which is opened when it is needed and reopened
/// when it was lost. Any number of calls share it.
#[derive(Debug)]
pub struct Channel {
    endpoint: Endpoint,
    network: Rc<Network>,
    local: Option<IpAddr>,
    traffic: Rc<TrafficCounter>,
    limits: Limits,
    current: RefCell<Option<Rc<Link>>>,
    /// Locked by the call that is connecting. Other calls wait for the result.
    dialing: Semaphore,
    /// Timers of finished calls, for reuse.
    alarms: RefCell<Vec<Alarm>>,
    opened: Cell<u64>,
    /// Number of opened connections that [`Channel::take_opened`] has not returned yet.
    opened_untaken: Cell<u64>,
}

/// Timestamps of opening a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Opening {
    pub looking_up: Duration,
    pub connecting: Duration,
    pub securing: Duration,
    /// The wait for the peer's settings, which begin an HTTP/2 connection.
    pub greeting: Duration,
}

impl Opening {
    /// Until the end of the TLS handshake, as for any protocol.
    pub fn total(&self) -> Duration {
        self.looking_up + self.connecting + self.securing
    }

    /// Until the first call may be made.
    pub fn until_ready(&self) -> Duration {
        self.total() + self.greeting
    }
}

impl Channel {
    /// Creates a channel to `endpoint` and does not connect yet. `local` is the address to connect
    /// from, unless the system should choose it.
    pub fn new(
        endpoint: Endpoint,
        network: Rc<Network>,
        local: Option<IpAddr>,
        traffic: Rc<TrafficCounter>,
        limits: Limits,
    ) -> Channel {
        Channel {
            endpoint,
            network,
            local,
            traffic,
            limits,
            current: RefCell::default(),
            dialing: Semaphore::new(1),
            alarms: RefCell::default(),
            opened: Cell::new(0),
            opened_untaken: Cell::new(0),
        }
    }

    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// Number of connections opened so far.
    pub fn opened(&self) -> u64 {
        self.opened.get()
    }

    /// Number of connections opened since the last call of this method.
    pub fn take_opened(&self) -> u64 {
        self.opened_untaken.take()
    }

    /// Takes one of these connections. False if another call has taken it already.
    pub fn take_one_opened(&self) -> bool {
        let opened = self.opened_untaken.get();
        self.opened_untaken.set(opened.saturating_sub(1));
        opened > 0
    }

    /// Bytes on sockets since the last call, for all channels with the same counter.
    pub fn traffic(&self) -> plimsoll_net::Traffic {
        self.traffic.take()
    }

    /// Opens the connection now, if it is not open, and waits until the peer has shown that it uses
    /// HTTP/2.
    ///
    /// # Errors
    /// If it could not be opened.
    pub async fn connect(&self) -> Result<Opening, Status> {
        let mut reply = Reply::starting_at(plimsoll_clock::now());
        let deadline = reply.timeline.started() + self.limits.connect;
        let link = self.link(&mut reply, deadline).await?;
        let linked = plimsoll_clock::now();
        let failed = match before(deadline, link.streams.ready()).await {
            Some(Ok(())) => None,
            Some(Err(fault)) => Some(fault.to_string()),
            None => Some("no settings arrived in time".to_owned()),
        };
        if let Some(reason) = failed {
            self.forget(&link);
            let message =
                format!("connection error: desc = \"error reading server preface: {reason}\"");
            return Err(Status::new(Code::UNAVAILABLE, message));
        }
        let phases = reply.timeline.phases();
        Ok(Opening {
            looking_up: phases.looking_up,
            connecting: phases.connecting,
            securing: phases.securing,
            greeting: plimsoll_clock::now().since(linked),
        })
    }

    /// Uses an open byte stream as the connection instead of opening one.
    pub fn adopt<W: Wire + 'static>(&self, wire: W) {
        let streams = Streams::start(wire);
        *self.current.borrow_mut() = Some(Rc::new(Link {
            streams,
            remote: None,
            tls: None,
        }));
    }

    /// Releases the connection. Calls in flight continue, and the next call opens another connection.
    pub fn close(&self) {
        self.current.take();
    }

    /// Makes a call with one message in each direction. `started` is the time of the call, because the
    /// caller has already read the clock.
    pub async fn unary(&self, template: &Template, message: &Framed, started: Moment) -> Reply {
        let mut reply = Reply::starting_at(started);
        reply.sent = message.message_length();
        let deadline = template.timeout.map(|timeout| started + timeout);
        let mut alarm = self.alarms.borrow_mut().pop().unwrap_or_default();
        let status = {
            let mut work = pin!(self.exchange(template, message, &mut reply, deadline));
            poll_fn(|cx| match work.as_mut().poll(cx) {
                Poll::Ready(ended) => Poll::Ready(Some(ended)),
                Poll::Pending => match deadline {
                    Some(deadline) => alarm.poll(cx, deadline).map(|()| None),
                    None => Poll::Pending,
                },
            })
            .await
        };
        self.alarms.borrow_mut().push(alarm);
        reply.status = match status {
            Some(Ok(())) => return reply,
            Some(Err(status)) => status,
            None => Status::deadline(),
        };
        let line = &mut reply.timeline;
        line.finished(line.sent(), line.first_byte(), plimsoll_clock::now());
        reply
    }

    /// Opens a streaming call.
    ///
    /// # Errors
    /// If it could not be opened.
    pub async fn open(&self, template: &Template, started: Moment) -> Result<Call, Status> {
        let deadline = template.timeout.map(|timeout| started + timeout);
        self.open_by(template, Reply::starting_at(started), deadline)
            .await
    }

    /// Opens a call again that the server did not process ([`Receiver::is_unprocessed`]), see "gRPC
    /// Retry Design", Transparent Retries. The caller must send its messages again. The deadline and
    /// the timestamps of the call stay the same.
    ///
    /// # Errors
    /// If it could not be opened.
    pub async fn open_again(
        &self,
        template: &Template,
        refused: &Receiver,
    ) -> Result<Call, Status> {
        let (reply, deadline) = refused.next_attempt();
        self.open_by(template, reply, deadline).await
    }

    async fn open_by(
        &self,
        template: &Template,
        mut reply: Reply,
        deadline: Option<Moment>,
    ) -> Result<Call, Status> {
        let opening = async {
            let mut is_first = true;
            loop {
                let link = match self.open_link() {
                    Some(link) => link,
                    None => self.link(&mut reply, self.connect_by(deadline)).await?,
                };
                match link.streams.open(&template.head, false).await {
                    Ok((outgoing, incoming)) => return Ok((link, outgoing, incoming)),
                    // The connection no longer accepts new calls: use another one.
                    Err(fault) if is_first && fault.is_unprocessed() => self.forget(&link),
                    Err(fault) => return Err(Status::of_fault(&fault)),
                }
                is_first = false;
            }
        };
        let (link, outgoing, incoming) = match deadline {
            Some(deadline) => before(deadline, opening)
                .await
                .ok_or_else(Status::deadline)?,
            None => opening.await,
        }?;
        let receiver = Receiver::new(link, incoming, self.limits, reply, deadline);
        Ok(Call::new(outgoing, receiver))
    }

    fn connect_by(&self, deadline: Option<Moment>) -> Moment {
        let limit = plimsoll_clock::now() + self.limits.connect;
        deadline.map_or(limit, |deadline| deadline.min(limit))
    }

    async fn exchange(
        &self,
        template: &Template,
        message: &Framed,
        reply: &mut Reply,
        deadline: Option<Moment>,
    ) -> Result<(), Status> {
        self.limits.check_send(message)?;
        let mut first_fault = None;
        loop {
            let link = match self.open_link() {
                Some(link) => link,
                None => {
                    let connect_by = self.connect_by(deadline);
                    // Boxed, because it is rare and large, and the future of every call would need space for it.
                    let linked = Box::pin(self.link(reply, connect_by)).await;
                    // The reason for the first refusal is more informative than the failure to reconnect.
                    linked
                        .map_err(|status| first_fault.as_ref().map_or(status, Status::of_fault))?
                }
            };
            reply.remote = link.remote;
            reply.tls = link.tls;
            let mut is_begun = false;
            let conversing = self.exchange_on(&link, template, message, reply, &mut is_begun);
            let fault = match conversing.await {
                Ok(ended) => return ended,
                Err(fault) => fault,
            };
            // A request that the server did not process may be sent again ("gRPC Retry Design", Transparent
            // Retries).
            if first_fault.is_some() || !fault.is_unprocessed() {
                return Err(Status::of_fault(&fault));
            }
            if !matches!(fault, StreamFault::Reset { .. }) {
                self.forget(&link);
            }
            reply.resent += u32::from(is_begun);
            first_fault = Some(fault);
        }
    }

    async fn exchange_on(
        &self,
        link: &Link,
        template: &Template,
        message: &Framed,
        reply: &mut Reply,
        is_begun: &mut bool,
    ) -> Result<Result<(), Status>, StreamFault> {
        let opened = link.streams.open(&template.head, false).await;
        let (mut outgoing, mut incoming) = opened?;
        *is_begun = true;
        let mut rest = message.0.clone();
        let mut sent = false;
        // The response may arrive before the message is sent completely.
        let parts = poll_fn(|cx| {
            if !sent && let Poll::Ready(ended) = outgoing.poll_send(cx, &mut rest, true) {
                sent = true;
                // A server that has responded may reset the rest of the request.
                if let Err(fault) = ended {
                    return incoming
                        .poll_head(cx)
                        .map(|head| head.map_err(|_| fault.clone()));
                }
            }
            incoming.poll_head(cx)
        })
        .await?;
        let first_byte = plimsoll_clock::now();
        let written = outgoing.written().unwrap_or(first_byte);
        reply.timeline.finished(written, first_byte, first_byte);
        let ended = crate::call::read_single(parts, &mut incoming, self.limits, reply).await;
        reply
            .timeline
            .finished(written, first_byte, plimsoll_clock::now());
        Ok(ended)
    }

    fn open_link(&self) -> Option<Rc<Link>> {
        let current = self.current.borrow();
        current
            .as_ref()
            .filter(|link| link.streams.is_open())
            .cloned()
    }

    fn forget(&self, link: &Rc<Link>) {
        let mut current = self.current.borrow_mut();
        if current
            .as_ref()
            .is_some_and(|known| Rc::ptr_eq(known, link))
        {
            *current = None;
        }
    }

    /// The open connection, or a new one.
    async fn link(&self, reply: &mut Reply, deadline: Moment) -> Result<Rc<Link>, Status> {
        let Ok(_held) = self.dialing.acquire().await else {
            return Err(Status::new(Code::CANCELED, "the channel is closed"));
        };
        // Another call may have opened it in the meantime.
        if let Some(link) = self.open_link() {
            reply.timeline.got_slot(plimsoll_clock::now());
            return Ok(link);
        }
        reply.timeline.got_slot(plimsoll_clock::now());
        let mut steps = Steps::default();
        let dialed = before(deadline, self.dial(&mut steps)).await;
        let now = plimsoll_clock::now();
        if !matches!(dialed, Some(Ok(_))) {
            // The time so far belongs to the step that failed.
            let steps = [
                &mut steps.looked_up,
                &mut steps.connected,
                &mut steps.secured,
            ];
            if let Some(step) = steps.into_iter().find(|step| step.is_none()) {
                *step = Some(now);
            }
        }
        let line = &mut reply.timeline;
        if let Some(at) = steps.looked_up {
            line.looked_up(at);
        }
        if let Some(at) = steps.connected {
            line.connected(at);
        }
        if let Some(at) = steps.secured {
            line.secured(at);
        }
        let link = Rc::new(dialed.unwrap_or_else(|| {
            Err(Status::new(
                Code::UNAVAILABLE,
                format!("connection error: desc = \"transport: error while dialing: dial tcp {}: i/o timeout\"", self.endpoint),
            ))
        })?);
        reply.opened = true;
        self.opened.set(self.opened.get() + 1);
        self.opened_untaken.set(self.opened_untaken.get() + 1);
        *self.current.borrow_mut() = Some(link.clone());
        Ok(link)
    }

    async fn dial(&self, steps: &mut Steps) -> Result<Link, Status> {
        let end = &self.endpoint;
        let dialed = self
            .network
            .dial(
                &end.host,
                end.port,
                self.local,
                &self.traffic,
                end.tls,
                steps,
            )
            .await;
        let Dialed { stream, remote } = dialed.map_err(|error| Status {
            is_exhausted: error.is_local_exhaustion(),
            ..Status::new(
                Code::UNAVAILABLE,
                format!("connection error: desc = \"transport: error while dialing: {error}\""),
            )
        })?;
        let (stream, tls) = if end.tls {
            let secured = self
                .network
                .secure(stream, &end.server_name, Alpn::Http2, steps)
                .await;
            let (stream, facts) = secured.map_err(|error| {
                Status::new(
                    Code::UNAVAILABLE,
                    format!("connection error: desc = \"transport: authentication handshake failed: {error}\""),
                )
            })?;
            if !facts.http2 {
                return Err(Status::new(
                    Code::UNAVAILABLE,
                    "connection error: desc = \"transport: authentication handshake failed: credentials: cannot check peer: missing selected ALPN property\"",
                ));
            }
            (stream, Some(facts))
        } else {
            (stream, None)
        };
        Ok(Link {
            streams: Streams::start(stream),
            remote,
            tls,
        })
    }
}

/// The result of `work` if it completes before `deadline`.
async fn before<T>(deadline: Moment, work: impl Future<Output = T>) -> Option<T> {
    let left = deadline.since(plimsoll_clock::now());
    tokio::time::timeout_at(Instant::now() + left, work)
        .await
        .ok()
}
