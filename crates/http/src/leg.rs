//! One exchange of a request: takes a pooled connection or opens one, sends the request and reads the response.

use std::future::Future;
use std::rc::Rc;

use bytes::Bytes;
use plimsoll_http2::RequestHead;
use plimsoll_net::Steps;
use plimsoll_units::Moment;
use tokio::time::Instant;

use crate::body_watch::SharedWatch;
use crate::client::{Client, SentHead};
use crate::connect::Link;
use crate::encode::{HeadParts, write_head};
use crate::error::ErrorInfo;
use crate::fault;
use crate::h1::H1Request;
#[cfg(feature = "http3")]
use crate::h3_connection;
use crate::method::Method;
use crate::multiplexed::Multiplexed;
use crate::multiplexed_request::MultiplexedRequest;
use crate::outcome::Outcome;
use crate::pool::{Place, PooledConnection, Slot};
use crate::prepared::{JOINED_BODY, Prepared, Stamp};
use crate::progress::Progress;
use crate::protocol::Protocol;
use crate::request_head::request_head;
use crate::timeline::Timeline;
use crate::url::Url;

/// The parameters of one exchange.
pub(crate) struct Leg<'a> {
    pub(crate) head: HeadSource<'a>,
    pub(crate) method: &'a Method,
    pub(crate) url: &'a Rc<Url>,
    pub(crate) body: &'a Bytes,
    pub(crate) keep_body: bool,
    /// Maximum number of bytes of the body to keep, if the rest is to be dropped.
    pub(crate) cut_body: Option<u64>,
    /// Observes the body, which is then not kept.
    pub(crate) watch: Option<&'a SharedWatch>,
    pub(crate) deadline: Moment,
    pub(crate) protocol: Protocol,
    /// Whether a 101 response passes the connection to the caller.
    pub(crate) is_upgrade: bool,
}

/// The source of the request headers.
pub(crate) enum HeadSource<'a> {
    Parts(&'a HeadParts<'a>),
    Prepared(&'a Prepared),
    /// The same with one additional field.
    Stamped(&'a Prepared, Stamp),
}

/// Outcome of an exchange on a connection.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ended {
    /// A response, or an error of the request itself.
    Whole,
    /// The server closed the connection before it received the request, or instead of responding.
    Stale {
        /// Whether at least a part of the request was sent.
        was_sent: bool,
    },
}

impl Client {
    /// Performs one exchange, on a pooled connection if there is one. If it turns out that the server has
    /// closed that connection, repeats the exchange on a new one.
    pub(crate) async fn leg(&self, leg: &Leg<'_>, outcome: &mut Outcome) {
        let line = outcome.exchange.timeline;
        loop {
            let place = match self.pool.place(leg.url, leg.protocol) {
                Some(place) => place,
                None => {
                    let waiting = self.pool.wait_for_place(leg.url, leg.protocol);
                    let waited = before(leg.deadline, waiting).await;
                    outcome.exchange.timeline.got_slot(plimsoll_clock::now());
                    match waited {
                        Some(place) => place,
                        None => return outcome.exchange.fail(fault::timeout()),
                    }
                }
            };
            // The server may have closed the connection while it was idle. Like Go, repeat a safe request on a
            // new connection; the lost time stays in the timeline.
            let slot = match place {
                Place::Stream(place) => {
                    match self.exchange_shared(leg, &place.connection, outcome).await {
                        // That connection accepts no more requests. Each connection is tried once.
                        Ended::Stale { was_sent } => {
                            drop(place);
                            outcome.exchange.resent += u32::from(was_sent);
                            outcome.exchange.timeline = line;
                            continue;
                        }
                        Ended::Whole => return,
                    }
                }
                Place::Idle(kept, slot) => {
                    if let Some(kept) = self.live_connection(leg, kept) {
                        let ended = self.exchange(leg, kept, outcome).await;
                        let Ended::Stale { was_sent } = ended else {
                            return;
                        };
                        if !leg.method.is_safe() {
                            return;
                        }
                        outcome.exchange.resent += u32::from(was_sent);
                        outcome.exchange.timeline = line;
                    }
                    slot
                }
                Place::New(slot) => slot,
            };
            Box::pin(self.exchange_on_new(leg, slot, outcome)).await;
            return;
        }
    }

    /// Opens a connection and adds it to the pool.
    pub(crate) async fn open_ahead(
        &self,
        url: &Rc<Url>,
        protocol: Protocol,
        deadline: Moment,
    ) -> Result<(), ErrorInfo> {
        let Some(Place::New(mut slot)) = self.pool.place(url, protocol) else {
            // A connection exists or is being opened.
            return Ok(());
        };
        let mut steps = Steps::default();
        let connecting = self.connect(url, protocol, &mut steps);
        match before(deadline, connecting).await {
            None => Err(fault::timeout()),
            Some(Err(error)) => Err(error),
            Some(Ok(Link::Own(kept))) => {
                slot.opened();
                drop(slot);
                self.pool.give_back(url, protocol, kept);
                Ok(())
            }
            Some(Ok(Link::Shared(connection))) => {
                drop(self.pool.share(url, protocol, &connection, slot));
                Ok(())
            }
        }
    }

    pub(crate) async fn exchange_on_new(
        &self,
        leg: &Leg<'_>,
        mut slot: Slot<'_>,
        outcome: &mut Outcome,
    ) {
        let mut steps = Steps::default();
        let connecting = before(
            leg.deadline,
            self.connect(leg.url, leg.protocol, &mut steps),
        )
        .await;
        let line = &mut outcome.exchange.timeline;
        let error = match connecting {
            #[cfg(feature = "http3")]
            None if leg.protocol == Protocol::Http3 && steps.connected.is_none() => {
                h3_connection::no_response()
            }
            None => fault::timeout(),
            Some(Err(error)) => error,
            Some(Ok(Link::Own(kept))) => {
                record(line, &steps);
                outcome.exchange.opened = true;
                self.opened.set(self.opened.get() + 1);
                slot.opened();
                self.exchange(leg, kept, outcome).await;
                return;
            }
            Some(Ok(Link::Shared(connection))) => {
                record(line, &steps);
                outcome.exchange.opened = true;
                self.opened.set(self.opened.get() + 1);
                let _place = if self.shared.settings.no_connection_reuse {
                    slot.opened();
                    Err(slot)
                } else {
                    Ok(self.pool.share(leg.url, leg.protocol, &connection, slot))
                };
                self.exchange_shared(leg, &connection, outcome).await;
                return;
            }
        };
        // The time so far belongs to the step that failed.
        let now = plimsoll_clock::now();
        let unfinished = [
            &mut steps.looked_up,
            &mut steps.connected,
            &mut steps.secured,
        ];
        if let Some(step) = unfinished.into_iter().find(|step| step.is_none()) {
            *step = Some(now);
        }
        record(line, &steps);
        outcome.exchange.fail(error);
    }

    /// Returns this idle connection, or another one if the peer has closed it.
    #[inline]
    fn live_connection(
        &self,
        leg: &Leg<'_>,
        mut kept: Box<PooledConnection>,
    ) -> Option<Box<PooledConnection>> {
        while kept.wire.is_dead() {
            kept = self.pool.take(leg.url, leg.protocol)?;
        }
        Some(kept)
    }

    /// Performs the exchange on an HTTP/1.x connection.
    #[inline]
    async fn exchange(
        &self,
        leg: &Leg<'_>,
        mut kept: Box<PooledConnection>,
        outcome: &mut Outcome,
    ) -> Ended {
        outcome.exchange.tls = kept.tls;
        outcome.exchange.remote = kept.remote;
        let PooledConnection { wire, out, .. } = &mut *kept;
        let (head, body): (&[u8], &[u8]) = match &leg.head {
            HeadSource::Prepared(prepared) => (&prepared.head, &prepared.body),
            HeadSource::Stamped(prepared, stamp) => {
                out.clear();
                stamp.write(prepared, out);
                (out, &prepared.body)
            }
            HeadSource::Parts(parts) => {
                out.clear();
                write_head(out, parts);
                outcome.sent_head = Some(self.remember_head(out));
                if leg.body.len() <= JOINED_BODY {
                    out.extend_from_slice(leg.body);
                    (out, &[])
                } else {
                    (out, leg.body)
                }
            }
        };
        let ask = H1Request {
            head,
            body,
            is_head: *leg.method == Method::Head,
            keep_body: leg.keep_body,
            max_body: leg.cut_body.unwrap_or(self.shared.settings.max_body),
            cut_body: leg.cut_body.is_some(),
            watch: leg.watch,
            deadline: leg.deadline,
            is_upgrade: leg.is_upgrade,
        };
        let reused = wire.served > 0;
        let mut progress = Progress::default();
        let ended = wire
            .exchange(&ask, &self.shared.scratch, &mut progress)
            .await;
        let reusable = progress.reusable;
        let (error, ended) = match ended {
            Ok(()) => (None, Ended::Whole),
            Err(fault) if reused && fault.is_stale(&progress) => {
                let was_sent = progress.written > 0;
                (Some(fault.into()), Ended::Stale { was_sent })
            }
            Err(fault) => (Some(fault.into()), Ended::Whole),
        };
        outcome.apply(progress, error);
        if leg.is_upgrade && outcome.exchange.status == 101 {
            outcome.switched = Some(kept);
        } else if reusable && !self.shared.settings.no_connection_reuse {
            self.pool.give_back(leg.url, leg.protocol, kept);
        }
        ended
    }

    /// Performs the exchange as one stream of an HTTP/2 or HTTP/3 connection.
    async fn exchange_shared(
        &self,
        leg: &Leg<'_>,
        connection: &Rc<Multiplexed>,
        outcome: &mut Outcome,
    ) -> Ended {
        let (head, body, head_length) = match &leg.head {
            HeadSource::Prepared(prepared) => (
                prepared.multiplexed_head.clone(),
                &prepared.whole_body,
                prepared.head_length,
            ),
            HeadSource::Stamped(prepared, stamp) => (
                Rc::new(stamp.add_to(&prepared.multiplexed_head)),
                &prepared.whole_body,
                prepared.head_length + stamp.length(),
            ),
            HeadSource::Parts(parts) => {
                let mut text = Vec::new();
                write_head(&mut text, parts);
                let sent = self.remember_head(&text);
                let head = self.multiplexed_head(parts, &sent);
                outcome.sent_head = Some(sent);
                (head, leg.body, text.len())
            }
        };
        let request = MultiplexedRequest {
            head,
            body,
            is_safe: leg.method.is_safe(),
            keep_body: leg.keep_body,
            max_body: leg.cut_body.unwrap_or(self.shared.settings.max_body),
            cut_body: leg.cut_body.is_some(),
            watch: leg.watch,
            deadline: leg.deadline,
        };
        outcome.exchange.tls = connection.tls();
        outcome.exchange.remote = connection.remote();
        let reused = connection.is_used();
        let mut progress = Progress {
            // Use the length of the HTTP/1.1 form, because the codec does not report the compressed length.
            written: head_length + body.len(),
            ..Progress::default()
        };
        let mut ended = Ended::Whole;
        let error = connection
            .exchange(request, &mut progress)
            .await
            .err()
            .map(|fault| {
                if reused && fault.may_be_resent && progress.received == 0 {
                    ended = Ended::Stale { was_sent: false };
                }
                if fault.may_be_resent || !connection.is_open() {
                    self.pool.forget(leg.url, leg.protocol, connection);
                }
                fault.error
            });
        if let Ended::Stale { was_sent } = &mut ended {
            *was_sent = progress.is_begun;
        }
        outcome.apply(progress, error);
        ended
    }

    /// The headers as shared bytes, without a copy if they equal the most recently sent headers.
    #[inline]
    fn remember_head(&self, head: &[u8]) -> Rc<[u8]> {
        let mut last = self.last_sent.borrow_mut();
        if **last != *head {
            *last = head.into();
        }
        last.clone()
    }

    /// The headers in the form of HTTP/2 and HTTP/3. `text` is their text form.
    fn multiplexed_head(&self, parts: &HeadParts<'_>, text: &Rc<[u8]>) -> Rc<RequestHead> {
        let mut last = self.last_multiplexed.borrow_mut();
        let is_https = parts.url.is_https();
        if let Some(last) = &*last
            && last.is_https == is_https
            && Rc::ptr_eq(&last.text, text)
        {
            return last.head.clone();
        }
        let head = Rc::new(request_head(parts));
        *last = Some(SentHead {
            text: text.clone(),
            is_https,
            head: head.clone(),
        });
        head
    }
}

fn record(line: &mut Timeline, steps: &Steps) {
    if let Some(at) = steps.looked_up {
        line.looked_up(at);
    }
    if let Some(at) = steps.connected {
        line.connected(at);
    }
    if let Some(at) = steps.secured {
        line.secured(at);
    }
}

/// The result of `work` if it completes before `deadline`.
async fn before<T>(deadline: Moment, work: impl Future<Output = T>) -> Option<T> {
    let left = deadline.since(plimsoll_clock::now());
    tokio::time::timeout_at(Instant::now() + left, work)
        .await
        .ok()
}
