//! Sends a request with everything that it requires: cookies, compression, redirects and authentication.

use std::borrow::Cow;
use std::future::Future;
use std::rc::Rc;

use bytes::Bytes;
use plimsoll_units::Moment;

use crate::auth;
use crate::client::Client;
use crate::coding;
use crate::cookie::{Cookie, CookieJar};
use crate::cookie_header::cookie_header;
use crate::digest::Challenge;
use crate::encode::HeadParts;
use crate::error::{ErrorInfo, code};
use crate::exchange::Exchange;
use crate::fields::Fields;
use crate::head::Head;
use crate::leg::{HeadSource, Leg};
use crate::message_log::{MessageLog, log_request};
use crate::method::Method;
use crate::outcome::Outcome;
use crate::proxy::plain_proxy;
use crate::redirect::{Redirect, redirect_of, referer};
use crate::request::{Auth, BodyUse, Request};
use crate::response::{Failure, Response};
use crate::url::Url;

/// A request between its redirect hops.
struct Hop<'a> {
    method: Method,
    url: Rc<Url>,
    fields: Cow<'a, Fields>,
    body: Bytes,
    authorization: Option<String>,
    /// Whether the request's own cookies are sent. They are not sent to another host.
    own_cookies: bool,
}

impl Client {
    /// Sends a request and follows redirects. Passes each exchange to `each_exchange` when it ends.
    /// Reads cookies from `jar` and stores cookies in it. Dropping the future closes the connection in
    /// use.
    ///
    /// # Errors
    /// A [`Failure`] if no complete response arrived. Its exchange was passed to `each_exchange` as
    /// well.
    pub fn send<'a>(
        &'a self,
        request: &'a Request,
        jar: Option<&'a CookieJar>,
        each_exchange: &'a mut dyn FnMut(&Exchange),
    ) -> impl Future<Output = Result<Response, Failure>> + 'a {
        self.send_logged(request, jar, each_exchange, None)
    }

    /// Sends a request as [`Client::send`] does, and logs its messages if `log` is given.
    ///
    /// # Errors
    /// The same.
    pub async fn send_logged(
        &self,
        request: &Request,
        jar: Option<&CookieJar>,
        each_exchange: &mut dyn FnMut(&Exchange),
        log: Option<&dyn MessageLog>,
    ) -> Result<Response, Failure> {
        let settings = self.shared.settings();
        if let Some(limit) = &settings.rate_limit {
            limit.wait().await;
        }
        let mut started = plimsoll_clock::now();
        let deadline = started + request.timeout;
        let mut hop = Hop::first(request);
        if let Err(error) = hop.prepare(request) {
            let mut outcome = Outcome::begin(&request.method, &request.url, started);
            outcome.exchange.fail(error);
            each_exchange(&outcome.exchange);
            return outcome.conclude(request, None);
        }
        let max_redirects = request.max_redirects.unwrap_or(settings.max_redirects);
        let watch = request.watch.as_ref();
        let keep_body = watch.is_some()
            || request.body_use == BodyUse::Keep && !settings.discard_response_bodies;
        let mut followed = 0;
        let mut first_head = None;
        loop {
            let cookies = hop.cookies(request, jar);
            let parts = HeadParts {
                method: &hop.method,
                url: &hop.url,
                fields: &hop.fields,
                user_agent: &settings.user_agent,
                body_length: hop.body.len(),
                cookies: &cookies,
                authorization: hop.authorization.as_deref(),
                close: settings.no_connection_reuse,
                proxy: plain_proxy(&settings.proxies, &hop.url),
            };
            let leg = Leg {
                head: HeadSource::Parts(&parts),
                method: &hop.method,
                url: &hop.url,
                body: &hop.body,
                keep_body: keep_body || log.is_some_and(MessageLog::needs_body),
                cut_body: None,
                watch,
                deadline,
                protocol: request.protocol.unwrap_or(settings.protocol),
                is_upgrade: false,
            };
            let mut outcome = Outcome::begin(&hop.method, &hop.url, started);
            outcome.exchange.body_sent = hop.body.len() as u64;
            if let Some(log) = log {
                log_request(log, &parts, &hop.body);
            }
            match hop.url.check_usable() {
                Ok(()) => self.leg(&leg, &mut outcome).await,
                Err(error) => outcome.exchange.fail(error),
            }
            if let (Some(log), Some(head)) = (log, &outcome.exchange.head) {
                log.response(head, &outcome.body);
                if !keep_body {
                    outcome.body = Bytes::new();
                }
            }
            let next = self.after_leg(request, &hop, jar, &mut outcome);
            let follows = match &next {
                Some(Next::Redirect(_)) => followed < max_redirects,
                Some(Next::Authorize(_)) => true,
                None => false,
            };
            // Do not decode the body of a response that is followed by another request: no caller sees it.
            if keep_body && !follows && outcome.is_encoded() {
                Box::pin(self.decode_body(&mut outcome, deadline)).await;
            }
            each_exchange(&outcome.exchange);
            if first_head.is_none() {
                first_head = outcome.sent_head.take();
            }
            match next {
                Some(Next::Redirect(redirect)) if followed < max_redirects => {
                    followed += 1;
                    hop.follow(redirect);
                    if jar.is_some() {
                        // As in k6, a user with a jar sends its own Cookie header only once.
                        hop.fields.to_mut().remove("Cookie");
                    }
                }
                Some(Next::Authorize(authorization)) => hop.authorization = Some(authorization),
                _ => return outcome.conclude(request, first_head),
            }
            if let Some(limit) = &settings.rate_limit {
                limit.wait().await;
            }
            started = plimsoll_clock::now();
        }
    }

    /// Processes a response except its body, and returns the next request to send.
    fn after_leg(
        &self,
        request: &Request,
        hop: &Hop<'_>,
        jar: Option<&CookieJar>,
        outcome: &mut Outcome,
    ) -> Option<Next> {
        let exchange = &mut outcome.exchange;
        let head = match &exchange.head {
            Some(head) if exchange.error.is_none() => head.clone(),
            _ => return None,
        };
        if head.sets_cookies
            && let Some(jar) = jar
        {
            for cookie in head.all("set-cookie").filter_map(Cookie::parse) {
                jar.set(&hop.url, &cookie);
            }
        }
        let mut next = None;
        match head.status() {
            300..=399 if request.max_redirects != Some(0) => {
                match redirect_of(&head, &hop.method, &hop.url) {
                    Ok(redirect) => next = redirect.map(Next::Redirect),
                    Err(error) => exchange.fail(error),
                }
            }
            401 if request.auth == Auth::Digest && hop.authorization.is_none() => {
                next = hop.respond_to_challenge(&head).map(Next::Authorize);
            }
            _ => {}
        }
        next
    }

    /// Removes the content codings of the response, within its deadline.
    async fn decode_body(&self, outcome: &mut Outcome, deadline: Moment) {
        let Some(head) = &outcome.exchange.head else {
            return;
        };
        let encodings = coding::codings(head);
        let body = std::mem::take(&mut outcome.body);
        let limits = self.shared.settings().decode_limits();
        match coding::decode(body, encodings, limits, deadline).await {
            Ok(body) => outcome.body = body,
            Err(error) => outcome.exchange.fail(error),
        }
    }
}

impl Request {
    /// The request that follows from a response to this one. `None` if the response is not a redirect.
    ///
    /// # Errors
    /// If its target is not a usable URL.
    pub fn redirected_by(&self, head: &Head) -> Result<Option<Request>, ErrorInfo> {
        let mut hop = Hop::first(self);
        let Some(redirect) = redirect_of(head, &hop.method, &hop.url)? else {
            return Ok(None);
        };
        hop.follow(redirect);
        hop.url.check_usable()?;
        Ok(Some(Request {
            method: hop.method,
            url: hop.url,
            headers: hop.fields.into_owned(),
            body: hop.body,
            ..self.clone()
        }))
    }
}

/// The additional request that a response requires.
enum Next {
    Redirect(Redirect),
    Authorize(String),
}

impl<'a> Hop<'a> {
    #[inline]
    fn first(request: &'a Request) -> Self {
        Hop {
            method: request.method.clone(),
            url: request.url.clone(),
            fields: Cow::Borrowed(&request.headers),
            body: request.body.clone(),
            authorization: match request.auth {
                Auth::Basic => auth::basic_of(&request.url),
                Auth::Digest | Auth::Ntlm => None,
            },
            own_cookies: true,
        }
    }

    /// Prepares the parts that only a few requests need.
    #[inline]
    fn prepare(&mut self, request: &Request) -> Result<(), ErrorInfo> {
        if let Some(reason) = &request.invalid {
            return Err(ErrorInfo::new(code::DEFAULT, &**reason));
        }
        if request.auth == Auth::Ntlm {
            return Err(ErrorInfo::new(
                code::DEFAULT,
                "NTLM authentication is not supported; use basic or digest",
            ));
        }
        if request.compression.is_empty() {
            return Ok(());
        }
        self.compress(request)
    }

    #[cold]
    fn compress(&mut self, request: &Request) -> Result<(), ErrorInfo> {
        let encoded = coding::encode(&request.body, &request.compression)
            .map_err(|error| ErrorInfo::new(code::DEFAULT, error.to_string()))?;
        self.body = encoded.into();
        if request.headers.get("content-encoding").is_some() {
            return Ok(());
        }
        let names: Vec<_> = request.compression.iter().map(|c| c.as_str()).collect();
        self.fields
            .to_mut()
            .set("Content-Encoding", &names.join(", "))
            .map_err(|error| ErrorInfo::new(code::DEFAULT, error))
    }

    #[inline]
    fn cookies(&self, request: &Request, jar: Option<&CookieJar>) -> String {
        let own_field = self.fields.get("cookie");
        if self.own_cookies {
            return cookie_header(request, own_field, jar, &self.url);
        }
        let bare = Request::new(Method::Get, self.url.clone());
        cookie_header(&bare, own_field, jar, &self.url)
    }

    fn follow(&mut self, redirect: Redirect) {
        let fields = self.fields.to_mut();
        if !redirect.keeps_body {
            self.body = Bytes::new();
            for name in [
                "Content-Encoding",
                "Content-Language",
                "Content-Location",
                "Content-Type",
                "Content-Length",
            ] {
                fields.remove(name);
            }
        }
        if redirect.leaves_host {
            for name in ["Authorization", "Www-Authenticate", "Cookie", "Cookie2"] {
                fields.remove(name);
            }
            self.own_cookies = false;
            self.authorization = None;
        }
        if !redirect.keeps_host_field {
            fields.remove("Host");
        }
        if let Some(referer) = referer(&self.url, &redirect.url) {
            // It consists of parts that were valid in a request line.
            let _ = fields.set("Referer", &referer);
        }
        self.authorization = auth::basic_of(&redirect.url).or(self.authorization.take());
        self.method = redirect.method;
        self.url = redirect.url;
    }

    /// The `Authorization` value for a digest challenge in `WWW-Authenticate`, if the URL contains a
    /// user.
    fn respond_to_challenge(&self, head: &Head) -> Option<String> {
        let user = self.url.userinfo()?;
        let challenge = head
            .all("www-authenticate")
            .find_map(|value| Challenge::parse(&String::from_utf8_lossy(value)))?;
        let cnonce = format!("{:016x}{:016x}", random(), random());
        Some(challenge.respond(user, self.method.as_str(), &self.url, &self.body, &cnonce))
    }
}

/// A number that a peer cannot easily guess, because the standard library's hash keys are random.
fn random() -> u64 {
    use std::hash::{BuildHasher, Hasher};
    let mut hasher = std::hash::RandomState::new().build_hasher();
    hasher.write_u64(plimsoll_clock::now().as_nanos());
    hasher.finish()
}
