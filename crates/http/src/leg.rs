use std::future::Future;
use std::rc::Rc;

use bytes::Bytes;
use net::{Steps, Traffic};
use tokio::time::Instant;
use units::Moment;

use crate::client::Client;
use crate::connect::Link;
use crate::encode::{HeadParts, write_head};
use crate::error::ErrorInfo;
use crate::exchange::Exchange;
use crate::fault;
use crate::h1::{Ask, Progress};
use crate::h2_connection::{self, request_of};
use crate::method::Method;
use crate::pool::Kept;
use crate::prepared::{JOINED_BODY, Prepared};
use crate::request::Request;
use crate::response::{Proto, Response, Sent};
use crate::timeline::Timeline;
use crate::url::Url;

/// One round trip to be made.
pub(crate) struct Leg<'a> {
    pub(crate) head: HeadSource<'a>,
    pub(crate) method: &'a Method,
    pub(crate) url: &'a Rc<Url>,
    pub(crate) body: &'a Bytes,
    pub(crate) keep_body: bool,
    pub(crate) deadline: Moment,
}

/// Where the head of the request comes from.
pub(crate) enum HeadSource<'a> {
    Parts(HeadParts<'a>),
    Prepared(&'a Prepared),
}

/// What came of a round trip.
pub(crate) struct Outcome {
    pub(crate) exchange: Exchange,
    pub(crate) body: Bytes,
    /// The head as it was sent, unless it was a prepared one.
    pub(crate) sent_head: Option<Rc<[u8]>>,
}

impl Outcome {
    pub(crate) fn into_response(self, request: &Request, sent_head: Rc<[u8]>) -> Response {
        let exchange = self.exchange;
        Response {
            status: exchange.status,
            proto: exchange.proto,
            head: exchange.head,
            body: self.body,
            url: exchange.url,
            remote: exchange.remote,
            timeline: exchange.timeline,
            tls: exchange.tls,
            sent: Sent {
                method: request.method.clone(),
                head: sent_head,
                body: request.body.clone(),
            },
        }
    }
}

impl Client {
    /// Makes one round trip: on a kept connection if there is one, and once
    /// more on a fresh one if the server turns out to have closed it.
    pub(crate) async fn leg(&self, leg: &Leg<'_>, started: Moment) -> Outcome {
        let mut line = Timeline::started_at(started);
        let slot = match self.pool.slot(leg.url) {
            Some(slot) => slot,
            None => {
                let waited = before(leg.deadline, self.pool.wait_for_slot(leg.url)).await;
                line.got_slot(clock::now());
                match waited {
                    Some(slot) => slot,
                    None => return failed(leg, line, fault::timeout()),
                }
            }
        };
        let outcome = if let Some(kept) = self.live_connection(leg.url) {
            match self.exchange(leg, kept, line).await {
                Ended::Whole(outcome) => outcome,
                // The server closed the connection while it was idle. Go
                // repeats such a request on a fresh connection, and so do we;
                // the lost time stays in the timeline.
                Ended::Stale(_) if leg.method.is_safe() => {
                    Box::pin(self.exchange_on_fresh(leg, line)).await
                }
                Ended::Stale(outcome) => outcome,
            }
        } else if let Some(connection) = self.pool.shared(leg.url) {
            match self.exchange_shared(leg, &connection, line).await {
                Ended::Whole(outcome) => outcome,
                Ended::Stale(_) => Box::pin(self.exchange_on_fresh(leg, line)).await,
            }
        } else {
            Box::pin(self.exchange_on_fresh(leg, line)).await
        };
        drop(slot);
        outcome
    }

    async fn exchange_on_fresh(&self, leg: &Leg<'_>, mut line: Timeline) -> Outcome {
        let mut steps = Steps::default();
        let connecting = before(leg.deadline, self.connect(leg.url, &mut steps)).await;
        let error = match connecting {
            None => fault::timeout(),
            Some(Err(error)) => error,
            Some(Ok(link)) => {
                record(&mut line, &steps);
                let ended = match link {
                    Link::Own(kept) => self.exchange(leg, kept, line).await,
                    Link::Shared(connection) => {
                        if !self.shared.settings.no_connection_reuse {
                            self.pool.share(leg.url, &connection);
                        }
                        self.exchange_shared(leg, &connection, line).await
                    }
                };
                return match ended {
                    Ended::Whole(outcome) | Ended::Stale(outcome) => outcome,
                };
            }
        };
        // The lost time belongs to the step that failed.
        let now = clock::now();
        let unfinished = [
            &mut steps.looked_up,
            &mut steps.connected,
            &mut steps.secured,
        ];
        if let Some(step) = unfinished.into_iter().find(|step| step.is_none()) {
            *step = Some(now);
        }
        record(&mut line, &steps);
        failed(leg, line, error)
    }

    /// An idle connection that the peer has not closed.
    #[inline]
    fn live_connection(&self, url: &Rc<Url>) -> Option<Box<Kept>> {
        loop {
            let mut kept = self.pool.take(url)?;
            if !kept.wire.is_dead() {
                return Some(kept);
            }
        }
    }

    #[inline]
    async fn exchange(&self, leg: &Leg<'_>, mut kept: Box<Kept>, mut line: Timeline) -> Ended {
        let mut progress = Progress::default();
        let Kept { wire, out, .. } = &mut *kept;
        let (head, body): (&[u8], &[u8]) = match &leg.head {
            HeadSource::Prepared(prepared) => (&prepared.head, &prepared.body),
            HeadSource::Parts(parts) => {
                out.clear();
                write_head(out, parts);
                let head_length = out.len();
                let small = leg.body.len() <= JOINED_BODY;
                if small {
                    out.extend_from_slice(leg.body);
                }
                progress.head_length = head_length;
                (out, if small { &[] } else { leg.body })
            }
        };
        let ask = Ask {
            head,
            body,
            is_head: *leg.method == Method::Head,
            keep_body: leg.keep_body,
            max_body: self.shared.settings.max_body,
            deadline: leg.deadline,
        };
        let reused = wire.served > 0;
        let ended = wire
            .exchange(&ask, &self.shared.scratch, &mut progress)
            .await;
        let done = progress.done.unwrap_or_else(clock::now);
        let first_byte = progress.first_byte.unwrap_or(done);
        line.finished(progress.sent.unwrap_or(first_byte), first_byte, done);
        let (error, stale) = match ended {
            Ok(()) => (None, false),
            Err(fault) => {
                let stale = reused && fault.is_stale(&progress);
                (Some(ErrorInfo::from(fault)), stale)
            }
        };
        let sent_head = match &leg.head {
            HeadSource::Prepared(_) => None,
            HeadSource::Parts(_) => {
                Some(self.remember_head(kept.out.get(..progress.head_length).unwrap_or_default()))
            }
        };
        // As scripts know it: an answer that did not come whole has no status.
        let (status, proto) = match &progress.head {
            Some(head) if error.is_none() => (head.status(), head.proto()),
            _ => (0, Proto::None),
        };
        let outcome = Outcome {
            exchange: Exchange {
                timeline: line,
                method: leg.method.clone(),
                url: leg.url.clone(),
                status,
                proto,
                tls: kept.tls,
                remote: Some(kept.remote),
                bytes: Traffic {
                    sent: progress.written as u64,
                    received: progress.received,
                },
                head: progress.head,
                error,
            },
            body: progress.body,
            sent_head,
        };
        if progress.reusable && !self.shared.settings.no_connection_reuse {
            self.pool.give_back(leg.url, kept);
        }
        if stale {
            Ended::Stale(outcome)
        } else {
            Ended::Whole(outcome)
        }
    }

    /// Makes the round trip as one stream of an HTTP/2 connection.
    async fn exchange_shared(
        &self,
        leg: &Leg<'_>,
        connection: &Rc<h2_connection::Connection>,
        mut line: Timeline,
    ) -> Ended {
        let mut progress = Progress::default();
        let (request, body, sent_head) = match &leg.head {
            HeadSource::Prepared(prepared) => {
                (Ok(prepared.request.clone()), &prepared.whole_body, None)
            }
            HeadSource::Parts(parts) => {
                let mut text = Vec::new();
                write_head(&mut text, parts);
                (request_of(parts), leg.body, Some(self.remember_head(&text)))
            }
        };
        let request = match request {
            Ok(request) => request,
            Err(error) => return Ended::Whole(failed(leg, line, error)),
        };
        let ask = h2_connection::Ask {
            request,
            body,
            keep_body: leg.keep_body,
            max_body: self.shared.settings.max_body,
            deadline: leg.deadline,
        };
        let reused = connection.is_used();
        let ended = connection.exchange(ask, &mut progress).await;
        let done = progress.done.unwrap_or_else(clock::now);
        let first_byte = progress.first_byte.unwrap_or(done);
        line.finished(progress.sent.unwrap_or(first_byte), first_byte, done);
        let mut stale = false;
        let error = ended.err().map(|fault| {
            stale = reused && fault.is_unprocessed && progress.received == 0;
            if fault.is_unprocessed || !connection.is_open() {
                self.pool.forget(leg.url, connection);
            }
            fault.error
        });
        let (status, proto) = match &progress.head {
            Some(head) if error.is_none() => (head.status(), Proto::Http2),
            _ => (0, Proto::None),
        };
        let head_length = sent_head.as_ref().map_or(0, |head| head.len());
        let outcome = Outcome {
            exchange: Exchange {
                timeline: line,
                method: leg.method.clone(),
                url: leg.url.clone(),
                status,
                proto,
                tls: connection.tls,
                remote: Some(connection.remote),
                bytes: Traffic {
                    sent: (head_length + body.len()) as u64,
                    received: progress.received,
                },
                head: progress.head,
                error,
            },
            body: progress.body,
            sent_head,
        };
        if stale {
            Ended::Stale(outcome)
        } else {
            Ended::Whole(outcome)
        }
    }

    /// The head as shared bytes, without a copy if it is the one sent last.
    fn remember_head(&self, head: &[u8]) -> Rc<[u8]> {
        let mut last = self.last_sent.borrow_mut();
        if **last != *head {
            *last = head.into();
        }
        last.clone()
    }
}

/// How an exchange on a connection ended.
enum Ended {
    /// With an answer, or with an error that is the request's own.
    Whole(Outcome),
    /// The connection had been closed by the server before the request came.
    Stale(Outcome),
}

/// A round trip that never had a connection.
fn failed(leg: &Leg<'_>, line: Timeline, error: ErrorInfo) -> Outcome {
    let mut outcome = unsent(leg.method, leg.url, line.started(), error);
    outcome.exchange.timeline = line;
    outcome
}

/// A round trip that was never begun.
pub(crate) fn unsent(method: &Method, url: &Rc<Url>, at: Moment, error: ErrorInfo) -> Outcome {
    Outcome {
        exchange: Exchange {
            timeline: Timeline::started_at(at),
            method: method.clone(),
            url: url.clone(),
            status: 0,
            proto: Proto::None,
            tls: None,
            remote: None,
            bytes: Traffic::default(),
            head: None,
            error: Some(error),
        },
        body: Bytes::new(),
        sent_head: None,
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

/// The outcome of `work` if it ends before `deadline`.
pub(crate) async fn before<T>(deadline: Moment, work: impl Future<Output = T>) -> Option<T> {
    let left = deadline.since(clock::now());
    tokio::time::timeout_at(Instant::now() + left, work)
        .await
        .ok()
}
