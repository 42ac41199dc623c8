//! Requests that switch a connection to another protocol, such as WebSocket.

use bytes::Bytes;
use plimsoll_net::Stream;

use crate::auth;
use crate::client::Client;
use crate::cookie::{Cookie, CookieJar};
use crate::cookie_header::cookie_header;
use crate::encode::HeadParts;
use crate::error::{ErrorInfo, code};
use crate::exchange::Exchange;
use crate::leg::{HeadSource, Leg};
use crate::outcome::Outcome;
use crate::pool::Slot;
use crate::protocol::Protocol;
use crate::proxy::plain_proxy;
use crate::request::Request;
use crate::response::{Failure, Response};

/// The outcome of a request to switch protocols.
#[derive(Debug)]
pub struct Upgrade {
    /// The exchange, for any outcome.
    pub exchange: Exchange,
    /// The response, and the connection if its status was 101.
    pub outcome: Result<(Response, Option<UpgradedStream>), Failure>,
}

/// A connection that now uses another protocol (RFC 9110, section 7.8).
#[derive(Debug)]
pub struct UpgradedStream {
    pub stream: Stream,
    /// Bytes received after the response headers.
    pub rest: Bytes,
}

impl Client {
    /// Sends a request to switch protocols on a separate HTTP/1.1 connection. Does not follow
    /// redirects. Reads cookies from `jar` and stores cookies in it. Dropping the future closes the
    /// connection.
    pub async fn upgrade(&self, request: &Request, jar: Option<&CookieJar>) -> Upgrade {
        let settings = self.shared.settings();
        let started = plimsoll_clock::now();
        let mut outcome = Outcome::begin(&request.method, &request.url, started);
        let refusal = match &request.invalid {
            Some(reason) => Err(ErrorInfo::new(code::DEFAULT, &**reason)),
            None => request.url.check_usable(),
        };
        if let Err(error) = refusal {
            outcome.exchange.fail(error);
            return conclude(outcome, request, None);
        }
        let cookies = cookie_header(request, request.headers.get("cookie"), jar, &request.url);
        let authorization = auth::basic_of(&request.url);
        let parts = HeadParts {
            method: &request.method,
            url: &request.url,
            fields: &request.headers,
            user_agent: &settings.user_agent,
            body_length: 0,
            cookies: &cookies,
            authorization: authorization.as_deref(),
            close: false,
            proxy: plain_proxy(&settings.proxies, &request.url),
        };
        let leg = Leg {
            head: HeadSource::Parts(&parts),
            method: &request.method,
            url: &request.url,
            body: &request.body,
            keep_body: true,
            cut_body: None,
            watch: None,
            deadline: started + request.timeout,
            protocol: Protocol::Http1,
            is_upgrade: true,
        };
        self.exchange_on_new(&leg, Slot::unlimited(), &mut outcome)
            .await;
        let stream = outcome.switched.take().map(|kept| kept.wire.into_stream());
        if let (Some(jar), Some(head)) = (jar, &outcome.exchange.head) {
            for cookie in head.all("set-cookie").filter_map(Cookie::parse) {
                jar.set(&request.url, &cookie);
            }
        }
        conclude(outcome, request, stream)
    }
}

fn conclude(mut outcome: Outcome, request: &Request, stream: Option<Stream>) -> Upgrade {
    let switched = stream.map(|stream| UpgradedStream {
        stream,
        // A 101 response has no body, so these are the first bytes of the next protocol.
        rest: std::mem::take(&mut outcome.body),
    });
    let exchange = outcome.exchange.clone();
    let head = outcome.sent_head.take();
    Upgrade {
        exchange,
        outcome: outcome
            .conclude(request, head)
            .map(|response| (response, switched)),
    }
}
