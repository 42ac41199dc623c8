//! The body of a response while it is sent to the client. It drives the upstream's connection,
//! returns it when the body has ended, and then completes the request's records.

use std::error::Error;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use tokio::sync::OwnedSemaphorePermit;

use crate::patience::Patience;
use crate::proxy::Record;
use crate::upstream::{Connection, Target, Using};

type BoxError = Box<dyn Error + Send + Sync>;

pub enum Answer {
    /// From the gateway itself.
    Own {
        body: Option<Bytes>,
        _record: Record,
    },
    Upstream(UpstreamBody),
}

pub struct UpstreamBody {
    body: Incoming,
    lease: Lease,
    patience: Patience,
    ticket: Option<Ticket>,
}

/// A connection to return to its pool. HTTP/2 needs none: its connections drive themselves.
pub struct Lease(Option<(Box<Connection>, Arc<Target>, usize)>);

/// Kept as long as the request lasts.
pub struct Ticket {
    record: Record,
    _permit: OwnedSemaphorePermit,
    _using: Using,
}

impl Ticket {
    pub fn new(record: Record, permit: OwnedSemaphorePermit, using: Using) -> Ticket {
        Ticket {
            record,
            _permit: permit,
            _using: using,
        }
    }
}

impl Lease {
    pub fn none() -> Lease {
        Lease(None)
    }

    /// A worker's connection to a target.
    pub fn of(connection: Box<Connection>, target: Arc<Target>, worker: usize) -> Lease {
        Lease(Some((connection, target, worker)))
    }

    fn drive(&mut self, context: &mut Context<'_>) {
        if let Some((connection, ..)) = &mut self.0 {
            connection.drive(context);
        }
    }

    /// Returns the connection, unless the target or an incomplete request has made it unusable.
    fn give_back(&mut self) {
        if let Some((mut connection, target, worker)) = self.0.take()
            && connection.is_open()
        {
            target.keep(worker, connection);
        }
    }
}

impl Answer {
    pub fn own(body: Bytes, mut record: Record) -> Answer {
        if let Some(line) = &mut record.line {
            line.bytes = body.len() as u64;
        }
        Answer::Own {
            body: Some(body),
            _record: record,
        }
    }

    /// A body from an upstream, with at most `idle` between two pieces.
    pub fn upstream(body: Incoming, lease: Lease, idle: Duration, ticket: Ticket) -> Answer {
        let mut body = UpstreamBody {
            body,
            lease,
            patience: Patience::of(idle),
            ticket: Some(ticket),
        };
        if body.body.is_end_stream() {
            body.end();
        }
        Answer::Upstream(body)
    }
}

impl UpstreamBody {
    fn end(&mut self) {
        self.lease.give_back();
        self.ticket = None;
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let mut frame = Pin::new(&mut self.body).poll_frame(context);
        if frame.is_pending() {
            // The connection delivers the body while it is driven.
            self.lease.drive(context);
            frame = Pin::new(&mut self.body).poll_frame(context);
        }
        self.patience
            .limit(frame, context)
            .map(|outcome| match outcome {
                Some(Some(Ok(frame))) => {
                    if let (Some(Ticket { record, .. }), Some(data)) =
                        (&mut self.ticket, frame.data_ref())
                        && let Some(line) = &mut record.line
                    {
                        line.bytes += data.len() as u64;
                    }
                    if self.body.is_end_stream() {
                        self.end();
                    }
                    Some(Ok(frame))
                }
                Some(None) => {
                    self.end();
                    None
                }
                Some(Some(Err(error))) => Some(Err(self.fail(error.to_string()))),
                None => Some(Err(
                    self.fail("the response body arrived too slowly".to_owned())
                )),
            })
    }

    /// The client notices because its response is cut off.
    fn fail(&mut self, reason: String) -> BoxError {
        self.lease = Lease::none();
        if let Some(mut ticket) = self.ticket.take() {
            ticket.record.trouble(&reason);
        }
        reason.into()
    }
}

impl Body for Answer {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        match self.get_mut() {
            Answer::Own { body, .. } => Poll::Ready(body.take().map(|body| Ok(Frame::data(body)))),
            Answer::Upstream(body) => body.poll(context),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Answer::Own { body, .. } => body.as_ref().is_none_or(Bytes::is_empty),
            Answer::Upstream(body) => body.body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Answer::Own { body, .. } => {
                SizeHint::with_exact(body.as_ref().map_or(0, |body| body.len() as u64))
            }
            Answer::Upstream(body) => body.body.size_hint(),
        }
    }
}

impl Drop for UpstreamBody {
    fn drop(&mut self) {
        if let Some(ticket) = &mut self.ticket {
            ticket.record.trouble("the client went away");
        }
    }
}
