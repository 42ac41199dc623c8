//! Turns the arguments of a call into a request.

use std::rc::Rc;
use std::time::Duration;

use plimsoll_http::{
    Auth, BodyUse, CookieJar, Encoding, Method, Protocol, Request, RequestCookie, Url,
};
use plimsoll_quickjs::{Context, Thrown, Value};

use super::body::read_body;
use super::cookies::Jar;
use super::expected::Expected;
use super::url::TaggedUrl;
use crate::http_state::Callback;
use crate::modules::go_value;
use crate::modules::sample_tags::SampleTags;
use crate::names;
use crate::trace::TraceContext;
use crate::user::user;

/// A request that is ready to be sent, and how to process its response.
pub struct Prepared {
    pub request: Request,
    pub tags: SampleTags,
    /// The `name` tag, which replaces the URL in samples.
    pub name: Option<Rc<str>>,
    pub callback: Callback,
    pub jar: Rc<CookieJar>,
    pub response_type: ResponseType,
    pub throw: bool,
    /// The request's span, if requests are traced.
    pub trace: Option<TraceContext>,
}

/// The type of a response's body for scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ResponseType {
    #[default]
    Text,
    Binary,
    None,
}

/// Why a request cannot be sent.
pub enum Refused {
    /// An exception thrown by the script's own code, such as a getter.
    Thrown(Thrown),
    /// The arguments are invalid. This counts as a failed request like any other, except that only the run's options
    /// can turn on `throw` for it.
    Invalid {
        code: u32,
        message: String,
        throw: bool,
    },
}

impl From<Thrown> for Refused {
    fn from(thrown: Thrown) -> Self {
        Refused::Thrown(thrown)
    }
}

/// Why a parameter is not accepted.
enum Fault {
    Thrown(Thrown),
    Message(String),
}

impl From<Thrown> for Fault {
    fn from(thrown: Thrown) -> Self {
        Fault::Thrown(thrown)
    }
}

impl From<String> for Fault {
    fn from(message: String) -> Self {
        Fault::Message(message)
    }
}

/// Builds a request from `(method, url, body, params)`.
pub fn prepare<'c>(
    context: &'c Context,
    method: Method,
    url: &Value<'c>,
    body: &Value<'c>,
    params: &Value<'c>,
) -> Result<Prepared, Refused> {
    let user = user(context);
    let options = user.http_options();
    let throw = match params.is_object() {
        true => {
            let throw = params.get(names::THROW)?;
            if throw.is_undefined() {
                options.throw
            } else {
                throw.is_truthy()
            }
        }
        false => options.throw,
    };
    let (url, name) = match read_url(context, url)? {
        Ok(read) => read,
        Err(message) => {
            return Err(Refused::Invalid {
                code: plimsoll_http::code::INVALID_URL,
                message,
                throw: options.throw,
            });
        }
    };
    // A `name` among the user's own tags takes precedence over a URL template.
    let name = name.filter(|_| user.tags.get("name").is_none());
    let mut request = Request::new(method, url);
    if !request.method.is_token() {
        let method = request.method.as_str();
        request.invalid = Some(format!("net/http: invalid method {method:?}").into());
    }
    let mut prepared = Prepared {
        request,
        tags: SampleTags::default(),
        name,
        callback: user.http.callback.borrow().clone(),
        jar: Rc::clone(&user.cookies),
        response_type: if options.discard_bodies {
            ResponseType::None
        } else {
            ResponseType::Text
        },
        throw,
        trace: None,
    };
    let read = read_body(&mut prepared.request, body).map_err(Fault::from);
    let read = match read {
        Ok(Ok(())) if params.is_object() => read_params(&mut prepared, params),
        Ok(Ok(())) => Ok(()),
        Ok(Err(message)) => Err(Fault::Message(message)),
        Err(fault) => Err(fault),
    };
    if !prepared.request.compression.is_empty() {
        match body.is_nullish() {
            true => prepared.request.compression.clear(),
            false => check_encoding(context, &prepared.request),
        }
    }
    if prepared.response_type == ResponseType::None {
        prepared.request.body_use = BodyUse::Discard;
    }
    if let Some(share) = user.traced_share() {
        prepared.trace = TraceContext::of_request(&mut prepared.request.headers, share);
    }
    match read {
        Ok(()) => Ok(prepared),
        Err(Fault::Thrown(thrown)) => Err(Refused::Thrown(thrown)),
        Err(Fault::Message(message)) => Err(Refused::Invalid {
            code: 0,
            message,
            throw: options.throw,
        }),
    }
}

/// A URL, and its name if it has one.
type NamedUrl = (Rc<Url>, Option<Rc<str>>);

/// Reads a URL argument: a string, or the result of `http.url`.
fn read_url<'c>(
    context: &'c Context,
    value: &Value<'c>,
) -> Result<Result<NamedUrl, String>, Thrown> {
    if value.is_string() {
        let text = value.to_text()?;
        let url = user(context)
            .http
            .url(&text)
            .map_err(|error| error.to_string());
        return Ok(url.map(|url| (url, None)));
    }
    if let Some(tagged) = value.instance::<TaggedUrl>() {
        let url = user(context)
            .http
            .url(&tagged.url)
            .map_err(|error| error.to_string());
        return Ok(url.map(|url| (url, Some(Rc::clone(&tagged.name)))));
    }
    Ok(Err(format!("invalid URL: '#{}'", go_value::text(value)?)))
}

/// Reads the parameters object. Unknown keys are ignored, as in k6.
fn read_params(prepared: &mut Prepared, params: &Value<'_>) -> Result<(), Fault> {
    for key in params.keys()? {
        let Some(place) = key.position_in(names::PARAMS) else {
            continue;
        };
        let value = params.get(&key)?;
        // As in k6, these must not be null.
        let is_required = matches!(
            place,
            PARAM_CALLBACK | PARAM_TIMEOUT | PARAM_RESPONSE_TYPE | PARAM_COMPRESSION
        );
        if value.is_nullish() && !is_required {
            continue;
        }
        match place {
            PARAM_HEADERS => read_headers(&mut prepared.request, &value)?,
            PARAM_TAGS => read_tags(prepared, &value)?,
            PARAM_TIMEOUT => prepared.request.timeout = read_timeout(&value)?,
            PARAM_COOKIES => read_cookies(&mut prepared.request, &value)?,
            PARAM_JAR => {
                if let Some(jar) = value.instance::<Jar>() {
                    prepared.jar = Rc::clone(&jar.0);
                }
            }
            PARAM_REDIRECTS => {
                let limit = value.to_number()?;
                prepared.request.max_redirects = Some(limit.clamp(0.0, f64::from(u32::MAX)) as u32);
            }
            PARAM_RESPONSE_TYPE => prepared.response_type = read_response_type(&value)?,
            PARAM_CALLBACK => prepared.callback = read_callback(&value)?,
            PARAM_COMPRESSION => prepared.request.compression = read_compression(&value)?,
            PARAM_PLIMSOLL => read_own(&mut prepared.request, &value)?,
            PARAM_AUTH => {
                prepared.request.auth = match &*value.to_text()? {
                    "digest" => Auth::Digest,
                    "ntlm" => Auth::Ntlm,
                    _ => Auth::Basic,
                }
            }
            _ => {}
        }
    }
    Ok(())
}

// The indexes of the parameters in `names::PARAMS`.
const PARAM_HEADERS: usize = 0;
const PARAM_TAGS: usize = 1;
const PARAM_TIMEOUT: usize = 2;
const PARAM_COOKIES: usize = 3;
const PARAM_JAR: usize = 4;
const PARAM_REDIRECTS: usize = 5;
const PARAM_RESPONSE_TYPE: usize = 6;
const PARAM_CALLBACK: usize = 7;
const PARAM_COMPRESSION: usize = 8;
const PARAM_AUTH: usize = 9;
const PARAM_PLIMSOLL: usize = 10;

/// `plimsoll: { protocol }`: a parameter that k6 does not have and ignores.
fn read_own(request: &mut Request, own: &Value<'_>) -> Result<(), Fault> {
    for (key, value) in own.entries()? {
        if key != "protocol" {
            return Err(
                format!("unknown parameter plimsoll.{key}; there is plimsoll.protocol").into(),
            );
        }
        request.protocol = Some(match &*value.to_text()? {
            "auto" => Protocol::Auto,
            "http1" => Protocol::Http1,
            "http2" => Protocol::Http2,
            "h2c" => Protocol::H2c,
            "http3" => Protocol::Http3,
            other => {
                return Err(format!(
                    "unknown plimsoll.protocol {other:?}: give auto, http1, http2 (over TLS), h2c (without) or http3"
                )
                .into());
            }
        });
    }
    Ok(())
}

fn read_headers(request: &mut Request, headers: &Value<'_>) -> Result<(), Fault> {
    for key in headers.keys()? {
        let value = headers.get(&key)?;
        let value = value.to_text()?;
        key.with_text(|name| {
            if name.eq_ignore_ascii_case("content-length") {
                check_length(headers, request, &value);
            } else if let Err(reason) = request.headers.set(name, &value) {
                request.invalid = Some(reason.into());
            }
        });
    }
    Ok(())
}

/// Warns if the script sets a Content-Length header that differs from the body's length. Such a header is never sent.
fn check_length(headers: &Value<'_>, request: &Request, value: &str) {
    let length = request.body.len();
    if value.trim().parse() != Ok(length) {
        let text = format!(
            "the Content-Length {value:?} of the {} request for {} is not its body's length, {length}, and is ignored",
            request.method,
            request.url.masked(),
        );
        user(headers.context()).log(log::Level::Warn, &text);
    }
}

fn read_tags(prepared: &mut Prepared, tags: &Value<'_>) -> Result<(), Fault> {
    let tags = SampleTags::read(tags)?
        .map_err(|error| format!("invalid HTTP request metric tags: {error}"))?;
    if let Some(name) = tags.get("name") {
        prepared.name = Some(name.into());
    }
    prepared.tags = tags;
    Ok(())
}

/// Names of content codings, separated by commas.
fn read_compression(value: &Value<'_>) -> Result<Vec<Encoding>, Fault> {
    let names = value.to_text()?;
    if names.trim().is_empty() {
        return Ok(Vec::new());
    }
    let encodings = names.split(',').map(str::trim).map(|name| {
        let known = Encoding::parse(name).filter(|encoding| encoding.as_str() == name);
        known.ok_or_else(|| {
            format!(
                "unknown compression algorithm {name}, supported algorithms are [gzip deflate zstd br]"
            )
        })
    });
    Ok(encodings.collect::<Result<_, String>>()?)
}

/// Warns if the script sets a Content-Encoding header that does not name the codings that are applied.
fn check_encoding(context: &Context, request: &Request) {
    let Some(written) = request.headers.get("content-encoding") else {
        return;
    };
    let names: Vec<_> = request.compression.iter().map(|c| c.as_str()).collect();
    if written != names.join(", ") {
        let text = format!(
            "the Content-Encoding {written:?} of the {} request for {} is sent, although its compression is {}",
            request.method,
            request.url.masked(),
            names.join(", "),
        );
        user(context).log(log::Level::Warn, &text);
    }
}

/// A number of milliseconds, or a duration as a string. As in k6, a timeout of zero or less expires immediately.
fn read_timeout(value: &Value<'_>) -> Result<Duration, Fault> {
    if let Some(milliseconds) = value.as_number() {
        return Ok(Duration::try_from_secs_f64(milliseconds / 1000.0).unwrap_or_default());
    }
    if !value.is_string() {
        let kind = go_value::kind(value);
        return Err(format!(
            "invalid timeout value: unable to use type {kind} as a duration value"
        )
        .into());
    }
    let text = value.to_text()?;
    if let Ok(milliseconds) = text.parse() {
        return Ok(Duration::from_millis(milliseconds));
    }
    plimsoll_units::duration::parse(&text).map_err(|_| {
        let text = &*text;
        let reason = match unknown_unit(text) {
            Some(unit) => format!("unknown unit {unit:?} in duration {text:?}"),
            None => format!("invalid duration {text:?}"),
        };
        format!("invalid timeout value: time: {reason}").into()
    })
}

/// The unit of a duration's first number, if it is not a valid unit.
fn unknown_unit(text: &str) -> Option<&str> {
    let is_digit = |letter: char| letter.is_ascii_digit() || letter == '.';
    let unit = text.trim_start_matches(is_digit);
    let unit = unit.get(..unit.find(is_digit).unwrap_or(unit.len()))?;
    let is_unit = ["ns", "us", "µs", "ms", "s", "m", "h", "d"].contains(&unit);
    (unit.len() < text.len() && !unit.is_empty() && !is_unit).then_some(unit)
}

fn read_cookies(request: &mut Request, cookies: &Value<'_>) -> Result<(), Fault> {
    for key in cookies.keys()? {
        let value = cookies.get(&key)?;
        if value.is_nullish() {
            continue;
        }
        let (value, replace) = if value.is_object() && !value.is_array() {
            (
                value.get("value")?.to_text()?.into_string(),
                value.get("replace")?.is_truthy(),
            )
        } else {
            (value.to_text()?.into_string(), false)
        };
        request.cookies.push(RequestCookie {
            name: key.text(),
            value,
            replace,
        });
    }
    Ok(())
}

fn read_response_type(value: &Value<'_>) -> Result<ResponseType, Fault> {
    match &*value.to_text()? {
        "text" => Ok(ResponseType::Text),
        "binary" => Ok(ResponseType::Binary),
        "none" => Ok(ResponseType::None),
        other => Err(format!("{other} does not belong to ResponseType values").into()),
    }
}

fn read_callback(value: &Value<'_>) -> Result<Callback, Fault> {
    if value.is_undefined() {
        return Ok(user(value.context()).http.callback.borrow().clone());
    }
    if value.is_null() {
        return Ok(Callback::Off);
    }
    match value.instance::<Expected>() {
        Some(expected) => Ok(Callback::Statuses(Rc::clone(&expected.0))),
        None => Err("unsupported responseCallback".to_owned().into()),
    }
}
