use std::rc::Rc;

use bytes::Bytes;
use plimsoll_net::Traffic;
use plimsoll_units::Moment;

use crate::error::ErrorInfo;
use crate::exchange::Exchange;
use crate::method::Method;
use crate::pool::PooledConnection;
use crate::progress::Progress;
use crate::proto::Proto;
use crate::request::{Auth, Request};
use crate::response::{Failure, Response, Sent};
use crate::timeline::Timeline;
use crate::url::Url;

/// The outcome of an exchange. It is created before the exchange and filled in during it, so it
/// is never moved while it grows.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) exchange: Exchange,
    pub(crate) body: Bytes,
    /// The headers as sent, unless the request was prepared.
    pub(crate) sent_head: Option<Rc<[u8]>>,
    /// The connection, if the response switched it to another protocol.
    pub(crate) switched: Option<Box<PooledConnection>>,
}

impl Outcome {
    /// The outcome of an exchange that starts at `started`, before anything has happened.
    #[inline]
    pub(crate) fn begin(method: &Method, url: &Rc<Url>, started: Moment) -> Self {
        Outcome {
            exchange: Exchange {
                timeline: Timeline::started_at(started),
                method: method.clone(),
                url: url.clone(),
                status: 0,
                proto: Proto::None,
                tls: None,
                remote: None,
                opened: false,
                resent: 0,
                bytes: Traffic::default(),
                body_sent: 0,
                body_received: 0,
                head: None,
                error: None,
            },
            body: Bytes::new(),
            sent_head: None,
            switched: None,
        }
    }

    /// Adds the results of an exchange on a connection.
    #[inline]
    pub(crate) fn apply(&mut self, progress: Progress, error: Option<ErrorInfo>) {
        let exchange = &mut self.exchange;
        let done = progress.done.unwrap_or_else(plimsoll_clock::now);
        let first_byte = progress.first_byte.unwrap_or(done);
        let sent = progress.sent.unwrap_or(first_byte);
        exchange.timeline.finished(sent, first_byte, done);
        // As in k6, an incomplete response has no status.
        (exchange.status, exchange.proto) = match &progress.head {
            Some(head) if error.is_none() => (head.status(), head.proto()),
            _ => (0, Proto::None),
        };
        // A request that is sent again was on the network twice.
        exchange.bytes.sent += progress.written as u64;
        exchange.bytes.received += progress.received;
        exchange.body_received = progress.payload;
        exchange.head = progress.head;
        exchange.error = error;
        self.body = progress.body;
    }

    /// Whether the response is complete and its body has a content coding.
    #[inline]
    pub(crate) fn is_encoded(&self) -> bool {
        let head = self.exchange.head.as_ref();
        let is_whole = match &self.exchange.error {
            Some(error) => error.of_redirect,
            None => true,
        };
        is_whole && !self.body.is_empty() && head.is_some_and(|head| head.has_encoding)
    }

    /// The result of the complete request, for its sender. `sent_head` contains the headers of the
    /// first leg.
    pub(crate) fn conclude(
        mut self,
        request: &Request,
        sent_head: Option<Rc<[u8]>>,
    ) -> Result<Response, Failure> {
        let error = self.exchange.error.take();
        let exchange = self.exchange;
        let response = Response {
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
                url: request.url.clone(),
                is_authorized: request.auth == Auth::Basic
                    && request.url.userinfo().is_some()
                    && request.headers.get("authorization").is_none(),
                head: sent_head.unwrap_or_default(),
                body: request.body.clone(),
            },
        };
        match error {
            None => Ok(response),
            Some(error) => Err(Failure {
                error,
                response: Box::new(response),
            }),
        }
    }
}
