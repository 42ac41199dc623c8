//! Bodies that pass through the gateway.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Either, Full, Limited};
use hyper::body::{Body, Frame, Incoming, SizeHint};
use tokio::time::{Sleep, sleep};

use crate::config::Limits;
use crate::record::Record;
use crate::refusal::Refusal;

/// The body of a request to an upstream: complete in memory, so that it can be sent again, or
/// streamed, which is rare and larger.
pub type Outgoing = Either<Full<Bytes>, Box<Limited<Timed>>>;

/// The body of a response: the gateway's own, or an upstream's.
pub type Reply = Either<Full<Bytes>, UpstreamBody>;

/// A received body, with a time limit for its next piece. A timer is only created if the body has to wait
/// for data, which never happens with small bodies.
pub struct Timed {
    body: Incoming,
    limit: Duration,
    timer: Option<Pin<Box<Sleep>>>,
}

impl Timed {
    fn new(body: Incoming, limit: Duration) -> Timed {
        Timed {
            body,
            limit,
            timer: None,
        }
    }

    /// The next piece, which may have to be read with `drive` first.
    fn poll(
        &mut self,
        context: &mut Context<'_>,
        drive: impl FnOnce(&mut Context<'_>),
    ) -> Poll<Option<Result<Frame<Bytes>, Refusal>>> {
        let mut frame = Pin::new(&mut self.body).poll_frame(context);
        if frame.is_pending() {
            drive(context);
            frame = Pin::new(&mut self.body).poll_frame(context);
        }
        if let Poll::Ready(frame) = frame {
            self.timer = None;
            let broken = |error| Refusal::broken_body(&error);
            return Poll::Ready(frame.map(|frame| frame.map_err(broken)));
        }
        let limit = self.limit;
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep(limit)));
        let late = timer.as_mut().poll(context);
        late.map(|()| Some(Err(Refusal::TOO_SLOW)))
    }
}

impl Body for Timed {
    type Data = Bytes;
    type Error = Refusal;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Refusal>>> {
        self.get_mut().poll(context, |_| {})
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

pub fn whole(bytes: Bytes) -> Outgoing {
    Either::Left(Full::new(bytes))
}

/// A copy, if it is complete in memory.
pub fn again(body: &Outgoing) -> Option<Outgoing> {
    match body {
        Either::Left(whole) => Some(Either::Left(whole.clone())),
        Either::Right(_) => None,
    }
}

/// Receives a small body of an announced length completely; another one is streamed.
pub async fn receive(
    body: Incoming,
    length: Option<u64>,
    limits: &Limits,
) -> Result<Outgoing, Refusal> {
    if body.is_end_stream() {
        return Ok(whole(Bytes::new()));
    }
    if length > Some(limits.body) {
        return Err(Refusal::TOO_LARGE);
    }
    let mut body = Timed::new(body, limits.body_timeout);
    if length.is_none_or(|length| length > limits.buffer) {
        let most = usize::try_from(limits.body).unwrap_or(usize::MAX);
        return Ok(Either::Right(Box::new(Limited::new(body, most))));
    }
    let mut gathered = Vec::new();
    while let Some(frame) = body.frame().await {
        let data = frame?.into_data().unwrap_or_default();
        // A body is usually a single chunk, which need not be copied.
        if gathered.is_empty() && body.is_end_stream() {
            return Ok(whole(data));
        }
        gathered.extend_from_slice(&data);
        if body.is_end_stream() {
            break;
        }
    }
    Ok(whole(gathered.into()))
}

/// An upstream's body while it is sent to the client. It drives the upstream's connection, and
/// returns it when the body has ended.
pub struct UpstreamBody {
    body: Timed,
    record: Option<Record>,
}

impl UpstreamBody {
    /// A body with at most `idle` between two pieces.
    pub fn new(body: Incoming, idle: Duration, record: Record) -> UpstreamBody {
        let mut body = UpstreamBody {
            body: Timed::new(body, idle),
            record: Some(record),
        };
        if body.is_end_stream() {
            body.end();
        }
        body
    }

    fn end(&mut self) {
        if let Some(lease) = self
            .record
            .take()
            .and_then(|mut record| record.lease.take())
        {
            lease.give_back();
        }
    }
}

impl Body for UpstreamBody {
    type Data = Bytes;
    type Error = Refusal;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Refusal>>> {
        let this = self.get_mut();
        let frame = ready!(this.body.poll(context, |context| {
            if let Some(lease) = this
                .record
                .as_mut()
                .and_then(|record| record.lease.as_mut())
            {
                lease.drive(context);
            }
        }));
        match &frame {
            Some(Ok(frame)) => {
                if let (Some(record), Some(data)) = (&mut this.record, frame.data_ref()) {
                    record.bytes += data.len();
                }
                if this.is_end_stream() {
                    this.end();
                }
            }
            None => this.end(),
            // The client detects this because its response is cut off.
            Some(Err(trouble)) => {
                if let Some(mut record) = this.record.take() {
                    record.trouble(&trouble.message);
                }
            }
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for UpstreamBody {
    fn drop(&mut self) {
        if let Some(record) = &mut self.record {
            record.trouble("the client went away");
        }
    }
}
