//! The common part of connections that handle several requests concurrently: HTTP/2 and HTTP/3.

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;

use bytes::Bytes;
use plimsoll_http2::RequestHead;
use plimsoll_units::Moment;

use crate::alarm::Alarm;
use crate::body_watch::SharedWatch;
use crate::error::{ErrorInfo, code};
use crate::fault::timeout;

/// The parameters of one exchange.
pub(crate) struct MultiplexedRequest<'a> {
    pub(crate) head: Rc<RequestHead>,
    pub(crate) body: &'a Bytes,
    /// Whether sending it twice has the same effect as sending it once (RFC 9110, section 9.2.2).
    pub(crate) is_safe: bool,
    pub(crate) keep_body: bool,
    pub(crate) max_body: u64,
    pub(crate) cut_body: bool,
    /// Observes the body, which is then not kept.
    pub(crate) watch: Option<&'a SharedWatch>,
    pub(crate) deadline: Moment,
}

impl MultiplexedRequest<'_> {
    pub(crate) fn body_buffer(&self) -> BodyBuffer {
        BodyBuffer {
            keeps: self.keep_body,
            max: self.max_body,
            cuts: self.cut_body,
            kept: Vec::new(),
        }
    }
}

/// Reasons why an exchange failed.
#[derive(Debug)]
pub(crate) struct RequestFault {
    pub(crate) error: ErrorInfo,
    /// The request may be sent again: the server did not process it, or sending it twice does no harm.
    pub(crate) may_be_resent: bool,
}

impl From<ErrorInfo> for RequestFault {
    fn from(error: ErrorInfo) -> Self {
        RequestFault {
            error,
            may_be_resent: false,
        }
    }
}

/// The counters and timers of a connection. They outlive its requests.
#[derive(Debug, Default)]
pub(crate) struct Usage {
    served: Cell<u64>,
    /// Number of requests in flight.
    pub(crate) in_flight: Cell<usize>,
    /// Timers of finished requests, for reuse.
    alarms: RefCell<Vec<Alarm>>,
}

impl Usage {
    /// Whether the connection has completed a request before.
    pub(crate) fn is_used(&self) -> bool {
        self.served.get() > 0
    }

    /// Runs an exchange until it ends or the deadline passes.
    pub(crate) async fn before<F>(
        &self,
        deadline: Moment,
        exchanging: F,
    ) -> Result<(), RequestFault>
    where
        F: Future<Output = Result<(), RequestFault>>,
    {
        let mut alarm = self.alarms.borrow_mut().pop().unwrap_or_default();
        let ended = {
            let mut exchanging = pin!(exchanging);
            poll_fn(|cx| match exchanging.as_mut().poll(cx) {
                Poll::Ready(ended) => Poll::Ready(ended),
                Poll::Pending => alarm.poll(cx, deadline).map(|()| Err(timeout().into())),
            })
            .await
        };
        self.alarms.borrow_mut().push(alarm);
        if ended.is_ok() {
            self.served.set(self.served.get() + 1);
        }
        ended
    }
}

/// The part of a response body that is kept.
pub(crate) struct BodyBuffer {
    keeps: bool,
    max: u64,
    /// Whether bytes beyond `max` are dropped instead of causing an error.
    cuts: bool,
    kept: Vec<u8>,
}

impl BodyBuffer {
    /// Adds a piece. If `is_last` is true, a body that arrived as one piece is not copied.
    ///
    /// # Errors
    /// If the body exceeds the limit.
    pub(crate) fn add(
        &mut self,
        mut piece: Bytes,
        is_last: bool,
    ) -> Result<Option<Bytes>, ErrorInfo> {
        if !self.keeps {
            return Ok(None);
        }
        let left = self.max.saturating_sub(self.kept.len() as u64);
        if piece.len() as u64 > left {
            if !self.cuts {
                return Err(ErrorInfo::new(
                    code::DEFAULT,
                    format!(
                        "the body exceeds the {} bytes that are kept; discard response bodies to read past them",
                        self.max
                    ),
                ));
            }
            piece.truncate(usize::try_from(left).unwrap_or(usize::MAX));
        }
        if self.kept.is_empty() && is_last {
            return Ok(Some(piece));
        }
        self.kept.extend_from_slice(&piece);
        Ok(None)
    }

    /// The kept bytes, unless [`BodyBuffer::add`] has already returned the body.
    pub(crate) fn finish(self) -> Option<Bytes> {
        (!self.kept.is_empty()).then(|| self.kept.into())
    }
}
