use std::cell::OnceCell;

use http::{Cookie, ErrorInfo, RequestCookie, code};

use super::params::ResponseType;
use super::planned::Unsendable;
use super::timings::Timings;
use super::{cookies, request_echo};
use crate::pure::{gjson, json_syntax};
use crate::quickjs::{Call, Class, Context, Entry, Returned, Slot, Value};

/// A request's outcome, from which all parts of a [`Response`] are made.
pub(super) struct Answer {
    /// Absent where the request could not be sent.
    pub response: Option<http::Response>,
    pub error: Option<ErrorInfo>,
    pub response_type: ResponseType,
    /// Method and URL of a request that could not be sent.
    pub unsent: Option<(String, String)>,
    pub cookies: Vec<RequestCookie>,
}

impl Answer {
    /// The outcome of a request that could not be sent.
    pub fn unsent(unsendable: Unsendable) -> Answer {
        Answer {
            response: None,
            error: Some(unsendable.error),
            response_type: ResponseType::Text,
            unsent: Some((unsendable.method, unsendable.url)),
            cookies: Vec::new(),
        }
    }

    pub fn method(&self) -> &str {
        match (&self.unsent, &self.response) {
            (Some((method, _)), _) => method,
            (None, Some(response)) => response.sent.method.as_str(),
            (None, None) => "",
        }
    }

    pub fn requested_url(&self) -> String {
        match (&self.unsent, &self.response) {
            (Some((_, url)), _) => url.clone(),
            (None, Some(response)) => response.url.masked().into_owned(),
            (None, None) => String::new(),
        }
    }

    pub fn status(&self) -> u16 {
        self.response.as_ref().map_or(0, |response| response.status)
    }

    fn head(&self) -> Option<&http::Head> {
        self.response.as_ref()?.head.as_deref()
    }

    fn remote(&self) -> Option<std::net::SocketAddr> {
        self.response.as_ref()?.remote
    }

    fn tls(&self) -> Option<http::TlsFacts> {
        self.response.as_ref()?.tls
    }

    fn body(&self) -> &[u8] {
        self.response.as_ref().map_or(&[], |response| &response.body)
    }

    /// The failure in a sentence, as the log and exceptions have it.
    pub fn describe(&self, error: &ErrorInfo) -> String {
        let Some(response) = &self.response else { return error.detail().to_owned() };
        let method = self.method();
        let mut title = method.get(..1).unwrap_or_default().to_owned();
        title.push_str(&method.get(1..).unwrap_or_default().to_lowercase());
        format!("{title} {:?}: {}", response.url.masked(), error.detail())
    }
}

/// An answer as scripts hold it. Its parts are made when they are first asked
/// for, and kept.
pub(super) struct Response {
    answer: Answer,
    slots: OnceCell<Box<Slots>>,
}

/// Parts that were made.
#[derive(Default)]
struct Slots([Slot; 6]);

const BODY: usize = 0;
const HEADERS: usize = 1;
const COOKIES: usize = 2;
const TIMINGS: usize = 3;
const REQUEST: usize = 4;
const JSON: usize = 5;

static PROTOTYPE: &[Entry] = &[
    Entry::getter(c"remote_ip", remote_ip),
    Entry::getter(c"remote_port", remote_port),
    Entry::accessor(c"url", url, ignore),
    Entry::accessor(c"status", status, ignore),
    Entry::getter(c"status_text", status_text),
    Entry::getter(c"proto", proto),
    Entry::accessor(c"headers", headers, set::<HEADERS>),
    Entry::accessor(c"cookies", cookies_of, set::<COOKIES>),
    Entry::accessor(c"body", body, set::<BODY>),
    Entry::getter(c"timings", timings),
    Entry::getter(c"tls_version", tls_version),
    Entry::getter(c"tls_cipher_suite", tls_cipher_suite),
    Entry::getter(c"ocsp", ocsp),
    Entry::getter(c"error", error),
    Entry::getter(c"error_code", error_code),
    Entry::getter(c"request", request),
    Entry::function(c"json", 1, json),
    Entry::function(c"html", 1, html),
    Entry::function(c"submitForm", 1, html),
    Entry::function(c"clickLink", 1, html),
    Entry::function(c"toJSON", 0, to_json),
];

impl Class for Response {
    fn prototype() -> &'static [Entry] {
        PROTOTYPE
    }

    fn slots(&self) -> &[Slot] {
        self.slots.get().map_or(&[], |slots| &slots.0)
    }
}

impl Response {
    pub fn new(answer: Answer) -> Self {
        Response { answer, slots: OnceCell::new() }
    }

    fn slot(&self, place: usize) -> &Slot {
        &self.slots.get_or_init(Box::default).0[place]
    }

    /// A part that is made once.
    fn kept<'c>(
        &self,
        context: &'c Context,
        place: usize,
        make: impl FnOnce(&Answer) -> Returned<'c>,
    ) -> Returned<'c> {
        if let Some(value) = self.slot(place).get(context) {
            return Ok(value);
        }
        let value = make(&self.answer)?;
        self.slot(place).set(value.clone());
        Ok(value)
    }
}

/// Runs `body` on the response that a getter was called on.
#[inline]
fn with<'c>(
    context: &'c Context,
    call: &Call<'c>,
    body: impl FnOnce(&Response) -> Returned<'c>,
) -> Returned<'c> {
    match call.this().instance::<Response>() {
        Some(response) => body(&response),
        None => Ok(context.undefined()),
    }
}

fn ignore<'c>(context: &'c Context, _: &Call<'c>) -> Returned<'c> {
    Ok(context.undefined())
}

fn set<'c, const PLACE: usize>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    with(context, call, |response| {
        response.slot(PLACE).set((*call.argument(0)).clone());
        Ok(context.undefined())
    })
}

fn remote_ip<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    with(context, call, |r| match r.answer.remote() {
        Some(remote) => context.string(&remote.ip().to_string()),
        None => context.string(""),
    })
}

fn remote_port<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    with(context, call, |r| {
        Ok(context.number(r.answer.remote().map_or(0.0, |remote| f64::from(remote.port()))))
    })
}

fn url<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    with(context, call, |r| context.string(&r.answer.requested_url()))
}

fn status<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    with(context, call, |r| Ok(context.number(f64::from(r.answer.status()))))
}

fn status_text<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    with(context, call, |r| match r.answer.head() {
        Some(head) if r.answer.status() > 0 => {
            context.string(&format!("{} {}", r.answer.status(), head.reason()))
        }
        _ => context.string(""),
    })
}

fn proto<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    with(context, call, |r| context.string(r.answer.response.as_ref().map_or("", |response| response.proto.as_str())))
}

fn headers<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    with(context, call, |response| {
        response.kept(context, HEADERS, |answer| {
            let object = context.object()?;
            let Some(head) = answer.head() else { return Ok(object) };
            let mut joined: Vec<(std::borrow::Cow<'_, str>, Vec<u8>)> = Vec::new();
            for (name, value) in head.fields() {
                let name = http::canonical_name(name);
                match joined.iter_mut().find(|(known, _)| *known == name) {
                    Some((_, values)) => {
                        values.extend_from_slice(b", ");
                        values.extend_from_slice(value);
                    }
                    None => joined.push((name, value.to_vec())),
                }
            }
            for (name, values) in joined {
                object.define(&*name, context.string_lossy(&values)?)?;
            }
            Ok(object)
        })
    })
}

fn cookies_of<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    with(context, call, |response| {
        response.kept(context, COOKIES, |answer| {
            let object = context.object()?;
            let Some(head) = answer.head() else { return Ok(object) };
            let set: Vec<Cookie> = head.all("set-cookie").filter_map(Cookie::parse).collect();
            for (place, cookie) in set.iter().enumerate() {
                if set[..place].iter().any(|earlier| earlier.name == cookie.name) {
                    continue;
                }
                let mut same = Vec::new();
                for other in set.iter().filter(|other| other.name == cookie.name) {
                    same.push(cookies::show(context, other)?);
                }
                object.define(cookie.name.as_str(), context.array(same)?)?;
            }
            Ok(object)
        })
    })
}

fn body<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    with(context, call, |response| {
        response.kept(context, BODY, |answer| {
            let body = answer.body();
            match answer.response_type {
                _ if answer.error.is_some() || answer.unsent.is_some() => Ok(context.null()),
                ResponseType::None => Ok(context.null()),
                ResponseType::Binary => context.array_buffer(body),
                ResponseType::Text => context.string_lossy(body),
            }
        })
    })
}

fn timings<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    with(context, call, |response| {
        response.kept(context, TIMINGS, |answer| context.instance(Timings(answer.response.as_ref().map(|response| response.timeline))))
    })
}

fn tls_version<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    with(context, call, |r| context.string(r.answer.tls().map_or("", |tls| tls.version)))
}

fn tls_cipher_suite<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    with(context, call, |r| context.string(r.answer.tls().map_or("", |tls| tls.cipher_suite)))
}

/// No stapled OCSP answer is asked for.
fn ocsp<'c>(context: &'c Context, _: &Call<'c>) -> Returned<'c> {
    let object = context.object()?;
    for moment in ["produced_at", "this_update", "next_update", "revoked_at"] {
        object.define(moment, context.number(0.0))?;
    }
    object.define("revocation_reason", context.string("")?)?;
    object.define("status", context.string("")?)?;
    Ok(object)
}

fn error<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    with(context, call, |r| {
        context.string(r.answer.error.as_ref().map_or("", |error| error.message.as_str()))
    })
}

fn error_code<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    with(context, call, |r| {
        let code = match &r.answer.error {
            Some(error) => error.code,
            None => code::of_status(r.answer.status()),
        };
        Ok(context.number(f64::from(code)))
    })
}

fn request<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    with(context, call, |response| {
        response.kept(context, REQUEST, |answer| request_echo::show(context, answer))
    })
}

fn json<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let selector = call.argument(0);
    with(context, call, |response| {
        let bytes = response.answer.body();
        if response.answer.response_type == ResponseType::None || response.answer.error.is_some() {
            return Err(context.throw_plain(
                "the body is null so we can't transform it to JSON - this likely was because of a request error getting the response",
            ));
        }
        if selector.is_undefined() {
            return response.kept(context, JSON, |_| parse(context, bytes));
        }
        let selector = selector.to_text()?;
        if !json_syntax::is_valid(bytes) {
            return Ok(context.undefined());
        }
        match gjson::get(bytes, &selector) {
            Some(found) => parse(context, &found),
            None => Ok(context.undefined()),
        }
    })
}

fn parse<'c>(context: &'c Context, bytes: &[u8]) -> Returned<'c> {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return context.parse_json(&String::from_utf8_lossy(bytes), "body");
    };
    context.parse_json(text, "body").map_err(|thrown| {
        // The engine's own words give way to those that scripts know.
        match json_syntax::check(bytes) {
            Err(fault) => {
                drop(context.take_exception(thrown));
                context.throw_plain(fault.sentence(bytes))
            }
            Ok(()) => thrown,
        }
    })
}

fn html<'c>(context: &'c Context, _: &Call<'c>) -> Returned<'c> {
    Err(context.throw_plain("k6/html is not there yet: html(), submitForm() and clickLink() need it"))
}

fn to_json<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    list_getters::<Response>(context, &call.this())
}

/// An ordinary object with all that the getters of `T` give.
pub(super) fn list_getters<'c, T: Class>(context: &'c Context, this: &Value<'c>) -> Returned<'c> {
    let object = context.object()?;
    for entry in T::prototype() {
        let value = this.get(entry.name())?;
        if !value.is_function() {
            object.define(entry.name(), value)?;
        }
    }
    Ok(object)
}
