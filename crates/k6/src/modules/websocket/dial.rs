//! The arguments for opening a WebSocket: its URL, and the parameters of both modules.

use std::rc::Rc;

use plimsoll_http::{CookieJar, Fields, Method, Request, Url};
use plimsoll_quickjs::{Context, Thrown, Value};
use plimsoll_ws::{Limits, Offer, OfferDeflate, Opened};

use crate::modules::http::Jar;
use crate::modules::sample_tags::SampleTags;
use crate::user::{Work, user};

/// Everything that a handshake needs.
pub struct Dial {
    /// The URL as the script passed it.
    pub url: String,
    pub tags: SampleTags,
    request: Result<Request, String>,
    jar: Rc<CookieJar>,
    offer: Offer,
}

/// The differences between the two modules.
pub struct ModuleDifferences {
    /// Prefix of error messages about tags.
    pub bad_tags: &'static str,
    /// Whether unknown parameters are errors. Otherwise they are ignored.
    pub is_strict: bool,
}

impl Dial {
    /// Reads the parameters. [`Dial::open`] reports an invalid URL.
    ///
    /// # Errors
    /// If a parameter is invalid.
    pub fn new(
        context: &Context,
        url: String,
        protocols: Vec<String>,
        params: &Value<'_>,
        differences: &ModuleDifferences,
    ) -> Result<Dial, Thrown> {
        let user = user(context);
        let mut dial = Dial {
            tags: SampleTags::default(),
            jar: Rc::clone(&user.cookies),
            offer: Offer {
                protocols,
                deflate: None,
                // As in k6, scripts can see which protocol the server chose.
                takes_any_protocol: true,
            },
            request: request(&url),
            url,
        };
        // The characters of a string are unknown parameters.
        if differences.is_strict && params.is_string() && !params.to_text()?.is_empty() {
            return Err(context.throw_plain(unknown_option("0")));
        }
        for (key, value) in params.entries()? {
            match key.as_str() {
                "headers" => dial.read_headers(&value)?,
                "tags" => {
                    let tags = SampleTags::read(&value)?;
                    dial.tags = tags.map_err(|error| {
                        context.throw_plain(format!("{}: {error}", differences.bad_tags))
                    })?;
                }
                "jar" => {
                    if let Some(jar) = value.instance::<Jar>() {
                        dial.jar = Rc::clone(&jar.0);
                    }
                }
                "compression" => dial.read_compression(context, &value, differences)?,
                _ if differences.is_strict => {
                    return Err(context.throw_plain(unknown_option(&key)));
                }
                _ => {}
            }
        }
        Ok(dial)
    }

    fn read_headers(&mut self, headers: &Value<'_>) -> Result<(), Thrown> {
        let mut fields = Fields::new();
        let mut refused = None;
        for (name, value) in headers.entries()? {
            if let Err(reason) = fields.set(&name, &value.to_text()?) {
                refused = Some(reason);
            }
        }
        if let Ok(request) = &mut self.request {
            request.headers = fields;
            request.invalid = refused.map(Into::into);
        }
        Ok(())
    }

    fn read_compression(
        &mut self,
        context: &Context,
        value: &Value<'_>,
        differences: &ModuleDifferences,
    ) -> Result<(), Thrown> {
        if value.is_nullish() && !differences.is_strict {
            return Ok(());
        }
        let name = value.to_text()?;
        match name.trim() {
            "" if !differences.is_strict => {}
            // Each message is compressed separately, as k6 requests it, so users need no compression window.
            "deflate" => {
                self.offer.deflate = Some(OfferDeflate {
                    server_no_context_takeover: true,
                    client_no_context_takeover: true,
                });
            }
            other => {
                return Err(context.throw_plain(format!(
                    "unsupported compression algorithm '{other}', supported algorithm is 'deflate'"
                )));
            }
        }
        Ok(())
    }

    /// Performs the handshake.
    ///
    /// # Errors
    /// If the URL is invalid.
    pub async fn open(&self, work: &Work) -> Result<Opened, String> {
        let request = self.request.clone()?;
        // As in k6, a Cookie header set by the script replaces the cookies of the jar.
        let has_own = request.headers.get("cookie").is_some();
        let jar = (!has_own).then_some(&*self.jar);
        Ok(plimsoll_ws::open(&work.client, request, jar, &self.offer, Limits::default()).await)
    }
}

/// The GET request for the WebSocket's URL (RFC 6455, section 3).
fn request(url: &str) -> Result<Request, String> {
    let malformed = || "malformed ws or wss URL".to_owned();
    let url = plimsoll_ws::request_url(url).ok_or_else(malformed)?;
    let url = Url::parse(&url).map_err(|error| error.to_string())?;
    // A WebSocket URL must not contain user information.
    if url.userinfo().is_some() || url.host().is_empty() {
        return Err(malformed());
    }
    Ok(Request::new(Method::Get, Rc::new(url)))
}

fn unknown_option(key: &str) -> String {
    const KNOWN: [&str; 4] = ["headers", "tags", "jar", "compression"];
    let text = format!("unknown WebSocket's option {key}");
    match plimsoll_units::nearest(key, KNOWN) {
        Some(near) => format!("{text}; did you mean {near}?"),
        None => text,
    }
}
