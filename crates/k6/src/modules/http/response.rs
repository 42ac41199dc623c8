//! The response object of scripts, which computes its fields on first use.

use std::cell::RefCell;
use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use plimsoll_http::{TlsFacts, canonical_name};
use plimsoll_quickjs::{
    Assignment, Atom, Call, Class, Context, Entry, InImage, Returned, Slot, Thrown, Value,
};

use super::arguments::ResponseType;
use super::page;
use crate::names;
use crate::pure::{gjson, json_syntax};

/// A response, or its substitute after a failure.
pub struct Response {
    /// `None` if the arguments of the request were invalid.
    response: Option<Box<plimsoll_http::Response>>,
    response_type: ResponseType,
    error: String,
    error_code: u32,
    /// The body until it becomes a JavaScript value.
    body: RefCell<Bytes>,
    /// Fields that were already computed, so that each access returns the same object.
    made: [Slot; SLOTS],
}

/// The fields in the order of [`names::RESPONSE`].
mod field {
    pub const REMOTE_IP: usize = 0;
    pub const REMOTE_PORT: usize = 1;
    pub const URL: usize = 2;
    pub const STATUS: usize = 3;
    pub const STATUS_TEXT: usize = 4;
    pub const PROTO: usize = 5;
    pub const HEADERS: usize = 6;
    pub const COOKIES: usize = 7;
    pub const BODY: usize = 8;
    pub const TIMINGS: usize = 9;
    pub const TLS_VERSION: usize = 10;
    pub const TLS_CIPHER_SUITE: usize = 11;
    pub const OCSP: usize = 12;
    pub const ERROR: usize = 13;
    pub const ERROR_CODE: usize = 14;
    pub const REQUEST: usize = 15;
}

/// The number of fields that are objects or expensive to compute. Each has a slot.
const SLOTS: usize = 7;

fn place_of(field: usize) -> Option<usize> {
    match field {
        field::BODY => Some(0),
        field::HEADERS => Some(1),
        field::TIMINGS => Some(2),
        field::COOKIES => Some(3),
        field::REQUEST => Some(4),
        field::OCSP => Some(5),
        field::STATUS_TEXT => Some(6),
        _ => None,
    }
}

impl Response {
    pub fn new(
        mut response: plimsoll_http::Response,
        response_type: ResponseType,
        error: String,
        error_code: u32,
    ) -> Self {
        let body = std::mem::take(&mut response.body);
        Self {
            response: Some(Box::new(response)),
            response_type,
            error,
            error_code,
            body: RefCell::new(body),
            made: Default::default(),
        }
    }

    /// The response to a request with invalid arguments.
    pub fn refused(error: String, error_code: u32) -> Self {
        Self {
            response: None,
            // As in k6, the body is empty and not null.
            response_type: ResponseType::Text,
            error,
            error_code,
            body: RefCell::default(),
            made: Default::default(),
        }
    }

    fn make<'c>(&self, context: &'c Context, field: usize) -> Returned<'c> {
        match field {
            field::STATUS => {
                Ok(context.number(self.response.as_ref().map_or(0, |response| response.status)))
            }
            field::BODY => self.make_body(context),
            field::HEADERS => self.make_headers(context),
            field::TIMINGS => self.make_timings(context),
            field::ERROR_CODE => Ok(context.number(self.error_code)),
            field::ERROR => context.string(&self.error),
            field::COOKIES => self.make_cookies(context),
            field::OCSP => make_ocsp(context, self.tls().is_some()),
            field::REQUEST => self.make_request(context),
            field::URL => context.string(
                self.response
                    .as_ref()
                    .map_or("", |response| response.url.as_str()),
            ),
            field::REMOTE_PORT => {
                Ok(context.number(self.remote().map_or(0, |remote| remote.port())))
            }
            field::REMOTE_IP => context.string(
                &self
                    .remote()
                    .map_or_else(String::new, |remote| remote.ip().to_string()),
            ),
            field::STATUS_TEXT => context.string(
                &self
                    .response
                    .as_ref()
                    .map_or_else(String::new, |response| response.status_text()),
            ),
            field::PROTO => context.string(
                self.response
                    .as_ref()
                    .map_or("", |response| response.proto.as_str()),
            ),
            field::TLS_VERSION => context.string(self.tls().map_or("", |tls| tls.version)),
            field::TLS_CIPHER_SUITE => {
                context.string(self.tls().map_or("", |tls| tls.cipher_suite))
            }
            _ => Ok(context.undefined()),
        }
    }

    /// The response if it is complete. For an incomplete response, scripts see only the part of the body that was
    /// received.
    fn whole(&self) -> impl Iterator<Item = &plimsoll_http::Response> {
        let failed = !self.error.is_empty();
        self.response
            .iter()
            .map(|response| &**response)
            .filter(move |_| !failed)
    }

    fn remote(&self) -> Option<SocketAddr> {
        self.response.as_ref()?.remote
    }

    fn tls(&self) -> Option<TlsFacts> {
        self.response.as_ref()?.tls
    }

    /// Whether the body is null to the script: discarded, or forbidden for this status (RFC 9110,
    /// sections 15.3.5 and 15.4.5).
    fn has_no_body(&self) -> bool {
        self.response_type == ResponseType::None
            || self
                .response
                .as_ref()
                .is_some_and(|response| matches!(response.status, 204 | 304))
    }

    fn make_body<'c>(&self, context: &'c Context) -> Returned<'c> {
        // The JavaScript value replaces the bytes, so that the body is in memory only once.
        let bytes = self.body.take();
        if self.has_no_body() {
            return Ok(context.null());
        }
        match self.response_type {
            ResponseType::Text => context.string_lossy(&bytes),
            ResponseType::Binary => context.array_buffer(&bytes),
            ResponseType::None => Ok(context.null()),
        }
    }

    /// Calls `body` with the bytes of the response body, whatever form they are stored in.
    fn with_body<R>(
        &self,
        context: &Context,
        body: impl FnOnce(&[u8]) -> Result<R, Thrown>,
    ) -> Result<R, Thrown> {
        let Some(value) = self.made[0].get(context) else {
            let bytes = self.body.borrow().clone();
            return body(&bytes);
        };
        if value.is_string() {
            return body(value.to_text()?.as_bytes());
        }
        body(&value.to_bytes().unwrap_or_default())
    }

    /// The body as a string, and the URL that it came from. `None` if there is no body.
    pub fn page(&self, context: &Context) -> Result<Option<(String, plimsoll_http::Url)>, Thrown> {
        if self.has_no_body() {
            return Ok(None);
        }
        let text = self.with_body(context, |bytes| {
            Ok(String::from_utf8_lossy(bytes).into_owned())
        })?;
        let url = self
            .response
            .as_ref()
            .map(|response| (*response.url).clone());
        Ok(url.map(|url| (text, url)))
    }

    fn make_headers<'c>(&self, context: &'c Context) -> Returned<'c> {
        let headers = context.object()?;
        for (name, values) in self.headers() {
            let value = context.string_lossy(&values.join(&b", "[..]))?;
            headers.define(name.as_str(), value)?;
        }
        Ok(headers)
    }

    /// Fields by their canonical names, in the order of first occurrence.
    fn headers(&self) -> Vec<(String, Vec<&[u8]>)> {
        let mut headers: Vec<(String, Vec<&[u8]>)> = Vec::new();
        let is = |proto| self.whole().any(|response| response.proto == proto);
        let chunked = is(plimsoll_http::Proto::Http11)
            && self
                .whole()
                .flat_map(|response| response.fields())
                .any(|(name, _)| name.eq_ignore_ascii_case("transfer-encoding"));
        // As in Go, `Connection: close` is hidden, except in HTTP/1.0, where closing is the default.
        let closes_by_default = |value: &[u8]| {
            let mut tokens = value.split(|&b| b == b',').map(<[u8]>::trim_ascii);
            is(plimsoll_http::Proto::Http11)
                && tokens.any(|token| token.eq_ignore_ascii_case(b"close"))
        };
        for (name, value) in self.whole().flat_map(|response| response.fields()) {
            let name = canonical_name(name);
            let is_over = match &*name {
                // Transfer codings are not visible to scripts (RFC 9112, section 6.1).
                "Transfer-Encoding" | "Trailer" => true,
                // These are redundant with chunked encoding, or repeated.
                "Content-Length" => chunked || headers.iter().any(|(known, _)| *known == name),
                "Connection" => closes_by_default(value),
                _ => false,
            };
            if is_over {
                continue;
            }
            match headers.iter_mut().find(|(known, _)| *known == name) {
                Some((_, values)) => values.push(value),
                None => headers.push((name.into_owned(), vec![value])),
            }
        }
        headers
    }

    fn make_timings<'c>(&self, context: &'c Context) -> Returned<'c> {
        let phases = self
            .response
            .as_ref()
            .map(|response| response.timeline.phases())
            .unwrap_or_default();
        let blocked = phases.queued + phases.looking_up + phases.connecting + phases.securing;
        let timings = context.object()?;
        let duration = phases.sending + phases.waiting + phases.receiving;
        timings.define("duration", milliseconds(context, duration))?;
        timings.define("blocked", milliseconds(context, blocked))?;
        timings.define("looking_up", milliseconds(context, phases.looking_up))?;
        timings.define("connecting", milliseconds(context, phases.connecting))?;
        timings.define("tls_handshaking", milliseconds(context, phases.securing))?;
        timings.define("sending", milliseconds(context, phases.sending))?;
        timings.define("waiting", milliseconds(context, phases.waiting))?;
        timings.define("receiving", milliseconds(context, phases.receiving))?;
        Ok(timings)
    }

    /// `{ name: [{ name, value, domain, path, http_only, secure, max_age, expires }] }`.
    fn make_cookies<'c>(&self, context: &'c Context) -> Returned<'c> {
        let cookies = context.object()?;
        for cookie in self.whole().flat_map(|response| response.set_cookies()) {
            let object = context.object()?;
            // 0 means that the cookie has no Max-Age, so a Max-Age of 0 becomes -1, which also means "expire now".
            let max_age = cookie
                .max_age
                .map_or(0, |age| if age <= 0 { -1 } else { age });
            object.define("name", context.string(&cookie.name)?)?;
            object.define("value", context.string(&cookie.value)?)?;
            object.define(
                "domain",
                context.string(cookie.domain.as_deref().unwrap_or_default())?,
            )?;
            object.define(
                "path",
                context.string(cookie.path.as_deref().unwrap_or_default())?,
            )?;
            object.define("http_only", context.bool(cookie.http_only))?;
            object.define("secure", context.bool(cookie.secure))?;
            object.define("max_age", context.number(max_age as f64))?;
            let expires = cookie
                .expires
                .and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
            object.define(
                "expires",
                context.number(expires.map_or(NO_DATE, |since| since.as_millis() as f64)),
            )?;
            push(context, &cookies, &cookie.name, object)?;
        }
        Ok(cookies)
    }

    /// `{ method, url, headers, body, cookies }` of the request as sent.
    fn make_request<'c>(&self, context: &'c Context) -> Returned<'c> {
        let Some(response) = &self.response else {
            return Ok(context.null());
        };
        let request = context.object()?;
        let sent = Some(&response.sent);
        request.define("method", context.string(response.sent.method.as_str())?)?;
        request.define("url", context.string(response.sent.url.as_str())?)?;
        let (headers, cookies) = (context.object()?, context.object()?);
        for (name, value) in sent.iter().flat_map(|sent| sent.fields()) {
            let name = canonical_name(name);
            // As in k6, headers that are set by the connection or the URL, not by the script, are hidden.
            let own = match &*name {
                "Host" => sent.is_some_and(|sent| sent.url.authority() != value),
                "Content-Length" | "Connection" => false,
                "Authorization" => !sent.is_some_and(|sent| sent.is_authorized),
                _ => true,
            };
            if !own {
                continue;
            }
            push(context, &headers, &name, context.string(value)?)?;
            if name == "Cookie" {
                for (name, value) in value.split("; ").filter_map(|pair| pair.split_once('=')) {
                    let cookie = context.object()?;
                    cookie.define("name", context.string(name)?)?;
                    cookie.define("value", context.string(value)?)?;
                    // A cookie that is sent never replaces another one.
                    cookie.define("replace", context.bool(false))?;
                    push(context, &cookies, name, cookie)?;
                }
            }
        }
        request.define("headers", headers)?;
        request.define(
            "body",
            context.string_lossy(sent.map_or(&[], |sent| &sent.body))?,
        )?;
        request.define("cookies", cookies)?;
        Ok(request)
    }
}

/// The value of `expires` that k6 shows for a cookie without a date.
const NO_DATE: f64 = -6_795_364_578_871.0;

/// Appends to the array at `key`.
fn push<'c>(
    context: &'c Context,
    object: &Value<'c>,
    key: &str,
    value: Value<'c>,
) -> Result<(), Thrown> {
    let list = object.get(key)?;
    if list.is_array() {
        return list.set(list.length()? as u32, value);
    }
    object.define(key, context.array([value])?)
}

fn milliseconds(context: &Context, span: Duration) -> Value<'_> {
    context.number(span.as_nanos() as f64 / 1e6)
}

/// Stapled OCSP responses are not evaluated.
fn make_ocsp(context: &Context, over_tls: bool) -> Returned<'_> {
    let ocsp = context.object()?;
    for key in ["produced_at", "this_update", "next_update", "revoked_at"] {
        ocsp.define(key, context.number(0))?;
    }
    ocsp.define("revocation_reason", context.string("")?)?;
    let status = if over_tls { "unknown" } else { "" };
    ocsp.define("status", context.string(status)?)?;
    Ok(ocsp)
}

impl Class for Response {
    const IN_IMAGE: InImage<Self> = InImage::Refused("a response");

    const EXOTIC: bool = true;

    const LISTS_METHODS: bool = true;

    fn prototype() -> &'static [Entry] {
        static ENTRIES: &[Entry] = &[
            Entry::function(c"clickLink", 1, page::click_link),
            Entry::function(c"html", 1, page::html),
            Entry::function(c"json", 1, json),
            Entry::function(c"submitForm", 1, page::submit_form),
        ];
        ENTRIES
    }

    fn trace(&self, see: &mut dyn FnMut(&Slot)) {
        self.made.iter().for_each(see);
    }

    #[inline]
    fn get<'c>(
        &self,
        context: &'c Context,
        _: &Value<'c>,
        key: &Atom<'c>,
    ) -> Result<Option<Value<'c>>, Thrown> {
        let Some(field) = key.position_in(names::RESPONSE) else {
            return Ok(None);
        };
        let Some(place) = place_of(field) else {
            return self.make(context, field).map(Some);
        };
        if let Some(value) = self.made[place].get(context) {
            return Ok(Some(value));
        }
        let value = self.make(context, field)?;
        self.made[place].set(value.clone());
        Ok(Some(value))
    }

    fn set<'c>(
        &self,
        _: &'c Context,
        key: &Atom<'c>,
        value: &Value<'c>,
    ) -> Result<Assignment, Thrown> {
        // Fields with a slot are stored there. Any other field is an ordinary property, which the engine finds first.
        match key.position_in(names::RESPONSE).and_then(place_of) {
            Some(place) => {
                self.made[place].set(value.clone());
                Ok(Assignment::Done)
            }
            None => Ok(Assignment::Ordinary),
        }
    }

    fn keys<'c>(&self, context: &'c Context) -> Result<Vec<Atom<'c>>, Thrown> {
        Ok(names::RESPONSE
            .iter()
            .map(|name| Atom::new(context, name))
            .collect())
    }
}

/// `response.json(selector?)`.
fn json<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let this = call.this();
    let Some(response) = this.instance::<Response>() else {
        return Err(context.throw_type("json() is a method of responses"));
    };
    if response.has_no_body() {
        return Err(context.throw_plain(
            "the body is null, so it is not JSON: the request failed, or its responseType is \"none\"",
        ));
    }
    let selector = call.argument(0);
    if call.count() == 0 {
        // Each call returns new objects, because the script may change them.
        return response.with_body(context, |bytes| parse(context, bytes));
    }
    let selector = selector.to_text()?;
    response.with_body(context, |bytes| {
        // As in k6, a selector does not require the rest of the body to be valid.
        match gjson::get(bytes, &selector) {
            Some(found) => parse(context, &found),
            None => Ok(context.undefined()),
        }
    })
}

fn parse<'c>(context: &'c Context, bytes: &[u8]) -> Returned<'c> {
    let text = String::from_utf8_lossy(bytes);
    let parsed = context.parse_json(&text, "response");
    // As in k6, a number that is too large is an error, but only outside of objects.
    if let Ok(value) = &parsed
        && value.as_number().is_some_and(f64::is_infinite)
    {
        return Err(context.throw_plain(format!("cannot parse json: number {text} is too large")));
    }
    parsed.map_err(|thrown| match json_syntax::check(bytes) {
        Err(error) => {
            drop(context.take_exception(thrown));
            context.throw_plain(error.sentence(bytes))
        }
        Ok(()) => thrown,
    })
}
