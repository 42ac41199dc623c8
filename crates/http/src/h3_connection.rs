//! Exchanges on HTTP/3 connections.

use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;

use plimsoll_http3::Fault as Http3Fault;

use crate::body_watch::SharedWatch;
use crate::error::{ErrorInfo, code};
use crate::head::{Framing, Head};
use crate::multiplexed_request::{MultiplexedRequest, RequestFault, Usage};
use crate::progress::Progress;
use crate::proto::Proto;

/// One HTTP/3 connection of a user, which its requests share.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) quic: plimsoll_http3::Connection,
    pub(crate) usage: Usage,
    /// The headers of the last response.
    known: RefCell<Option<Rc<Head>>>,
}

/// Advice for users who did not intend to use HTTP/3, or intended another port.
const HINT: &str = "does the server speak HTTP/3 on that UDP port? Without --h3 (--http3 of attack, --protocol http3, \
     or a request's protocol 'http3') requests go over TCP";

impl Connection {
    pub(crate) fn new(quic: plimsoll_http3::Connection) -> Self {
        Connection {
            quic,
            usage: Usage::default(),
            known: RefCell::default(),
        }
    }

    /// Sends the request and reads the response. Dropping the future cancels the request, but the
    /// connection stays open.
    pub(crate) async fn exchange(
        &self,
        request: MultiplexedRequest<'_>,
        progress: &mut Progress,
    ) -> Result<(), RequestFault> {
        let exchanging = async {
            let ended = self.exchange_in_time(&request, &mut *progress).await;
            ended.map_err(|stop| match stop {
                Stop::Fault(fault) => RequestFault {
                    may_be_resent: fault.is_unprocessed()
                        || (request.is_safe && fault.is_of_connection()),
                    error: info(&fault),
                },
                Stop::Ours(error) => error.into(),
            })
        };
        let ended = self.usage.before(request.deadline, exchanging).await;
        if ended.is_err() {
            progress.done = Some(plimsoll_clock::now());
        }
        ended
    }

    async fn exchange_in_time(
        &self,
        request: &MultiplexedRequest<'_>,
        progress: &mut Progress,
    ) -> Result<(), Stop> {
        let mut exchange = self.quic.begin(&request.head, request.body).await?;
        progress.is_begun = true;
        let ended = self.read(request, &mut exchange, progress).await;
        progress.sent = exchange.sent();
        progress.first_byte = exchange.first_byte();
        progress.done = exchange.last_byte();
        ended
    }

    async fn read(
        &self,
        request: &MultiplexedRequest<'_>,
        exchange: &mut plimsoll_http3::Exchange<'_>,
        progress: &mut Progress,
    ) -> Result<(), Stop> {
        let response = exchange.response_head().await?;
        let head = self.head_of(&response)?;
        progress.received += head.raw().len() as u64;
        let is_bodyless = request.head.is_head_method() || matches!(response.status, 204 | 304);
        let announced = match head.framing {
            Framing::Length(length) if !is_bodyless => Some(length),
            _ => None,
        };
        if let Some(watch) = request.watch {
            progress.head = Some(head.clone());
            return watched(watch, &head, exchange, progress).await;
        }
        progress.head = Some(head);
        let mut body = request.body_buffer();
        while let Some(piece) = exchange.data().await? {
            progress.received += piece.len() as u64;
            progress.payload += piece.len() as u64;
            let is_last = announced == Some(piece.len() as u64);
            if let Some(whole) = body.add(piece, is_last).map_err(Stop::Ours)? {
                progress.body = whole;
            }
        }
        if let Some(kept) = body.finish() {
            progress.body = kept;
        }
        // Such a response is malformed (RFC 9114, section 4.1.2).
        match announced {
            Some(length) if progress.payload < length => Err(Http3Fault::EndedInside.into()),
            Some(length) if progress.payload > length => Err(Http3Fault::Violation(
                "the body is longer than its Content-Length".to_owned(),
            )
            .into()),
            _ => Ok(()),
        }
    }

    /// The response headers. They are shared with the previous ones if they are equal.
    fn head_of(&self, response: &plimsoll_http3::ResponseHead) -> Result<Rc<Head>, Stop> {
        let fields = || {
            response.fields.iter().map(|(name, value)| {
                (
                    std::str::from_utf8(name).unwrap_or_default(),
                    value.as_slice(),
                )
            })
        };
        let mut known = self.known.borrow_mut();
        match &*known {
            Some(head) if head.has_parts(response.status, fields()) => Ok(head.clone()),
            _ => {
                let head = Head::from_parts(Proto::Http3, response.status, fields());
                let head = Rc::new(head.map_err(Stop::Ours)?);
                *known = Some(head.clone());
                Ok(head)
            }
        }
    }
}

/// Passes the body to its watch until the watch needs no more of it.
async fn watched(
    watch: &SharedWatch,
    head: &Rc<Head>,
    exchange: &mut plimsoll_http3::Exchange<'_>,
    progress: &mut Progress,
) -> Result<(), Stop> {
    watch.0.head(head);
    loop {
        watch.processed().await;
        let piece = {
            let mut data = pin!(exchange.data());
            poll_fn(|cx| match watch.0.is_over() {
                true => Poll::Ready(Ok(None)),
                false => data.as_mut().poll(cx),
            })
            .await?
        };
        let Some(piece) = piece else {
            return Ok(());
        };
        progress.received += piece.len() as u64;
        progress.payload += piece.len() as u64;
        let at = exchange.last_byte().unwrap_or_else(plimsoll_clock::now);
        watch.0.data(head, &piece, at);
    }
}

/// Reasons why an exchange stopped.
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
pub(crate) fn no_response() -> ErrorInfo {
    ErrorInfo::new(code::H3_DIAL, NO_RESPONSE).with_detail(format!(
        "no QUIC response within the request's timeout: {HINT}"
    ))
}

const NO_RESPONSE: &str = "http3: the server sent no QUIC response";

/// Converts a fault to the error type that all HTTP versions share.
pub(crate) fn info(fault: &Http3Fault) -> ErrorInfo {
    let (code, message) = match fault {
        Http3Fault::Network(error) => return ErrorInfo::from(error),
        Http3Fault::NoResponse { .. } => (code::H3_DIAL, NO_RESPONSE.to_owned()),
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
        Http3Fault::NoResponse { .. } | Http3Fault::Refused { .. } => {
            ErrorInfo::new(code, message).with_detail(format!("{fault}: {HINT}"))
        }
        _ => ErrorInfo::new(code, message),
    }
}
