//! Sends requests that were encoded in advance.

use bytes::Bytes;
use plimsoll_units::Moment;

use crate::client::Client;
use crate::coding::DecodeLimits;
use crate::error::ErrorInfo;
use crate::exchange::Exchange;
use crate::leg::{HeadSource, Leg};
use crate::outcome::Outcome;
use crate::prepared::{Prepared, Stamp};

impl Client {
    /// Opens a connection for `prepared`, which later requests use.
    ///
    /// # Errors
    /// If the connection could not be opened.
    pub async fn connect_ahead(&self, prepared: &Prepared) -> Result<(), ErrorInfo> {
        let deadline = plimsoll_clock::now() + prepared.timeout;
        self.open_ahead(&prepared.url, prepared.protocol, deadline)
            .await
    }

    /// Sends a prepared request. `started` is the time of the call, because the caller has already read
    /// the clock.
    pub async fn send_prepared(&self, prepared: &Prepared, started: Moment) -> Exchange {
        let leg = Leg {
            head: HeadSource::Prepared(prepared),
            method: &prepared.method,
            url: &prepared.url,
            body: &prepared.body,
            keep_body: false,
            cut_body: None,
            watch: None,
            deadline: started + prepared.timeout,
            protocol: prepared.protocol,
            is_upgrade: false,
        };
        let mut outcome = Outcome::begin(&prepared.method, &prepared.url, started);
        outcome.exchange.body_sent = prepared.body_length();
        self.leg(&leg, &mut outcome).await;
        outcome.exchange
    }

    /// Sends a prepared request with one additional header field, and keeps the body of the response.
    /// Performs one exchange; the caller must follow redirects itself ([`Request::redirected_by`]).
    pub async fn send_stamped(
        &self,
        prepared: &Prepared,
        stamp: Stamp,
        limit: BodyLimit,
        started: Moment,
    ) -> PreparedResponse {
        let keep = match limit {
            BodyLimit::None => None,
            BodyLimit::Cut(bytes) => Some(bytes),
        };
        let leg = Leg {
            head: HeadSource::Stamped(prepared, stamp),
            method: &prepared.method,
            url: &prepared.url,
            body: &prepared.body,
            keep_body: keep != Some(0),
            cut_body: keep,
            watch: None,
            deadline: started + prepared.timeout,
            protocol: prepared.protocol,
            is_upgrade: false,
        };
        let mut outcome = Outcome::begin(&prepared.method, &prepared.url, started);
        outcome.exchange.body_sent = prepared.body_length();
        self.leg(&leg, &mut outcome).await;
        PreparedResponse {
            exchange: outcome.exchange,
            body: outcome.body,
        }
    }
}

/// How much of a response body is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyLimit {
    /// The complete body, up to [`crate::Settings::max_body`]. A longer body fails the exchange.
    None,
    /// This many bytes. The rest is read and dropped.
    Cut(u64),
}

/// The outcome of one exchange.
#[derive(Clone, Debug)]
pub struct PreparedResponse {
    pub exchange: Exchange,
    /// The body as received, not decoded.
    pub body: Bytes,
}

impl PreparedResponse {
    /// Decompresses gzip as far as the body was kept, and keeps as much as `limit` allows. Returns
    /// false if gzip is not the only coding of the response.
    pub async fn gunzip(
        &mut self,
        settings: &crate::Settings,
        limit: BodyLimit,
        deadline: Moment,
    ) -> bool {
        let Some(head) = self.exchange.head.clone().filter(|head| head.has_encoding) else {
            return false;
        };
        let mut codings = head.all("content-encoding");
        let only = codings
            .next()
            .is_some_and(|name| name.eq_ignore_ascii_case(b"gzip"));
        if !only || codings.next().is_some() {
            return false;
        }
        let limits = settings.decode_limits();
        let limits = DecodeLimits {
            max: match limit {
                BodyLimit::None => limits.max,
                BodyLimit::Cut(bytes) => limits.max.min(bytes),
            },
            cut: true,
            ..limits
        };
        let body = std::mem::take(&mut self.body);
        match crate::coding::gunzip(body, limits, deadline).await {
            Ok(body) => self.body = body,
            Err(error) => self.exchange.fail(error),
        }
        true
    }
}
