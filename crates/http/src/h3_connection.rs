use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;

use plimsoll_http3::Fault as Http3Fault;

use crate::alarm::Alarm;
use crate::error::{ErrorInfo, code};
use crate::h1::Progress;
use crate::h2_connection::{Ask, Fault};
use crate::head::{Framing, Head};
use crate::response::Proto;

/// One HTTP/3 connection of a user. Requests share it.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) quic: plimsoll_http3::Connection,
    served: Cell<u64>,
    /// Requests in flight.
    pub(crate) streams: Cell<usize>,
    /// The headers of the last response.
    known: RefCell<Option<Rc<Head>>>,
    /// Timers of finished requests, for reuse.
    alarms: RefCell<Vec<Alarm>>,
}

/// Advice for users who did not mean to use HTTP/3, or meant another port.
const WAY_OUT: &str = "does the server speak HTTP/3 on that UDP port? Without --h3 (--http3 of attack, --protocol http3, \
     or a request's protocol 'http3') requests go over TCP";

impl Connection {
    pub(crate) fn new(quic: plimsoll_http3::Connection) -> Self {
        Connection {
            quic,
            served: Cell::new(0),
            streams: Cell::new(0),
            known: RefCell::default(),
            alarms: RefCell::default(),
        }
    }

    pub(crate) fn is_used(&self) -> bool {
        self.served.get() > 0
    }

    /// Sends the request and reads the response. Dropping the future cancels the request; the
    /// connection stays open.
    pub(crate) async fn exchange(
        &self,
        ask: Ask<'_>,
        progress: &mut Progress,
    ) -> Result<(), Fault> {
        let mut alarm = self.alarms.borrow_mut().pop().unwrap_or_default();
        let deadline = ask.deadline;
        let is_safe = ask.request.method().is_safe();
        let ended = {
            let mut work = pin!(self.converse(ask, progress));
            poll_fn(|cx| match work.as_mut().poll(cx) {
                Poll::Ready(ended) => Poll::Ready(Some(ended)),
                Poll::Pending => alarm.poll(cx, deadline).map(|()| None),
            })
            .await
        };
        self.alarms.borrow_mut().push(alarm);
        match ended {
            Some(Ok(())) => {
                self.served.set(self.served.get() + 1);
                Ok(())
            }
            other => {
                progress.done = Some(plimsoll_clock::now());
                Err(match other {
                    Some(Err(Stop::Fault(fault))) => Fault {
                        is_unprocessed: fault.is_unprocessed()
                            || (is_safe && fault.is_of_connection()),
                        error: info(&fault),
                    },
                    Some(Err(Stop::Ours(error))) => error.into(),
                    _ => crate::fault::timeout().into(),
                })
            }
        }
    }

    async fn converse(&self, ask: Ask<'_>, progress: &mut Progress) -> Result<(), Stop> {
        let mut exchange = self.quic.begin(&ask.request, ask.body).await?;
        progress.is_begun = true;
        let ended = self.read(&ask, &mut exchange, progress).await;
        progress.sent = exchange.sent();
        progress.first_byte = exchange.first_byte();
        progress.done = exchange.last_byte();
        ended
    }

    async fn read(
        &self,
        ask: &Ask<'_>,
        exchange: &mut plimsoll_http3::Exchange<'_>,
        progress: &mut Progress,
    ) -> Result<(), Stop> {
        let answer = exchange.answer().await?;
        let head = self.head_of(&answer)?;
        progress.received += head.raw().len() as u64;
        let announced = match head.framing {
            Framing::Length(length) if !ask.is_head && !matches!(answer.status, 204 | 304) => {
                Some(length)
            }
            _ => None,
        };
        progress.head = Some(head);
        let mut kept = Vec::new();
        while let Some(mut piece) = exchange.data().await? {
            progress.received += piece.len() as u64;
            progress.payload += piece.len() as u64;
            if !ask.keep_body {
                continue;
            }
            if ask.cut_body {
                let room = ask.max_body.saturating_sub(kept.len() as u64);
                piece.truncate(usize::try_from(room).unwrap_or(usize::MAX));
            }
            let length = piece.len() as u64;
            if kept.is_empty() && announced == Some(length) && length <= ask.max_body {
                // A body that arrived as one piece needs no copy.
                progress.body = piece;
                continue;
            }
            if kept.len() as u64 + piece.len() as u64 > ask.max_body {
                return Err(Stop::Ours(ErrorInfo::new(
                    code::DEFAULT,
                    format!(
                        "the body exceeds the {} bytes that are kept; discard response bodies to read past them",
                        ask.max_body
                    ),
                )));
            }
            kept.extend_from_slice(&piece);
        }
        if !kept.is_empty() {
            progress.body = kept.into();
        }
        // RFC 9114, section 4.1.2: such a response is malformed.
        match announced {
            Some(length) if progress.payload < length => Err(Http3Fault::EndedInside.into()),
            Some(length) if progress.payload > length => Err(Http3Fault::Violation(
                "the body is longer than its Content-Length".to_owned(),
            )
            .into()),
            _ => Ok(()),
        }
    }

    /// The response headers, shared with the last ones if they are equal.
    fn head_of(&self, answer: &plimsoll_http3::Answer) -> Result<Rc<Head>, Stop> {
        let fields = || {
            answer.fields.iter().map(|(name, value)| {
                (
                    std::str::from_utf8(name).unwrap_or_default(),
                    value.as_slice(),
                )
            })
        };
        let mut known = self.known.borrow_mut();
        match &*known {
            Some(head) if head.is_made_of(answer.status, fields()) => Ok(head.clone()),
            _ => {
                let head = Head::from_parts(Proto::Http3, answer.status, fields());
                let head = Rc::new(head.map_err(Stop::Ours)?);
                *known = Some(head.clone());
                Ok(head)
            }
        }
    }
}

/// Why an exchange stopped.
enum Stop {
    Fault(Http3Fault),
    Ours(ErrorInfo),
}

impl From<Http3Fault> for Stop {
    fn from(fault: Http3Fault) -> Self {
        Stop::Fault(fault)
    }
}

/// The timeout passed before the server sent anything.
pub(crate) fn unanswered() -> ErrorInfo {
    ErrorInfo::new(code::H3_DIAL, NO_ANSWER).with_detail(format!(
        "no QUIC response within the request's timeout: {WAY_OUT}"
    ))
}

const NO_ANSWER: &str = "http3: no QUIC response came from the server";

/// Converts a fault to the error type that all versions of HTTP share.
pub(crate) fn info(fault: &Http3Fault) -> ErrorInfo {
    let (code, message) = match fault {
        Http3Fault::Network(error) => return ErrorInfo::from(error),
        Http3Fault::NoAnswer { .. } => (code::H3_DIAL, NO_ANSWER.to_owned()),
        Http3Fault::Refused { .. } => (
            code::H3_DIAL,
            "http3: nothing listens on the UDP port".to_owned(),
        ),
        Http3Fault::NotHttp3 => (
            code::H3,
            "http3: the server does not speak HTTP/3: it did not choose h3 in the TLS handshake"
                .to_owned(),
        ),
        Http3Fault::Ended | Http3Fault::EndedInside => (code::DEFAULT, fault.to_string()),
        Http3Fault::GoAway => (code::H3_GOAWAY, format!("http3: {fault}")),
        Http3Fault::Reset { .. } => (code::H3_STREAM, format!("http3: {fault}")),
        Http3Fault::Closed { .. } => (code::H3_CONNECTION, format!("http3: {fault}")),
        Http3Fault::Broken(_) | Http3Fault::Silent => {
            (code::H3_CONNECTION, format!("http3: {fault}"))
        }
        Http3Fault::Violation(_) => (code::H3, format!("http3: {fault}")),
    };
    match fault {
        Http3Fault::NoAnswer { .. } | Http3Fault::Refused { .. } => {
            ErrorInfo::new(code, message).with_detail(format!("{fault}: {WAY_OUT}"))
        }
        _ => ErrorInfo::new(code, message),
    }
}
