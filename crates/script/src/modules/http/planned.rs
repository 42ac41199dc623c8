use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::time::Duration;

use http::{BodyUse, CookieJar, ErrorInfo, Method, Request, Url};

use super::body::Body;
use super::expected::Expected;
use super::named_url::NamedUrl;
use super::params::{Params, ResponseType};
use crate::quickjs::{Context, Thrown, Value};
use crate::user::user;

/// A request that is ready to be sent, and all that bears on how it is
/// recorded.
pub(super) struct Planned {
    pub request: Result<Request, Unsendable>,
    pub jar: Rc<CookieJar>,
    pub name: Option<String>,
    pub tags: Vec<(String, String)>,
    pub expected: Rc<Expected>,
    pub response_type: ResponseType,
    pub throw: bool,
}

/// A request whose URL leads nowhere.
pub(super) struct Unsendable {
    pub method: String,
    pub url: String,
    pub error: ErrorInfo,
}

const TIMEOUT: Duration = Duration::from_secs(60);

impl Planned {
    /// Reads a call's arguments. `body` is absent for the methods that take
    /// none.
    pub fn new<'c>(
        context: &'c Context,
        method: &str,
        url: &Value<'c>,
        body: Option<&Value<'c>>,
        params: &Value<'c>,
    ) -> Result<Planned, Thrown> {
        let user = user(context);
        user.working(context, "making http requests")?;
        let mut params = Params::read(context, params)?;
        let options = user.http.options.get();
        let response_type = params.response_type.take().unwrap_or(match options.discard_bodies {
            true => ResponseType::None,
            false => ResponseType::Text,
        });
        let (text, url_name) = address(url)?;
        let request = match (Method::parse(method), parse_url(&text)) {
            (Some(method), Ok(url)) => {
                let body = match body {
                    Some(body) => Body::read(context, body)?,
                    None => Body::default(),
                };
                let mut request = Request::new(method, url);
                request.headers = params.headers;
                if let Some(content_type) = body.content_type
                    && request.headers.get("Content-Type").is_none()
                {
                    request
                        .headers
                        .set("Content-Type", &content_type)
                        .map_err(|error| context.throw_plain(error))?;
                }
                request.body = body.bytes;
                request.timeout = params.timeout.unwrap_or(TIMEOUT);
                request.max_redirects = params.redirects;
                request.compression = params.compression;
                request.auth = params.auth;
                request.cookies = params.cookies;
                request.body_use = match response_type {
                    ResponseType::None => BodyUse::Discard,
                    _ => BodyUse::Keep,
                };
                Ok(request)
            }
            (None, _) => return Err(context.throw_plain(format!("net/http: invalid method \"{method}\""))),
            (_, Err(error)) => Err(Unsendable { method: method.to_owned(), url: text, error }),
        };
        Ok(Planned {
            request,
            jar: params.jar.unwrap_or_else(|| Rc::clone(&user.cookies)),
            name: params.name.or(url_name),
            tags: params.tags,
            expected: params.expected.unwrap_or_else(|| Rc::clone(&user.http.expected.borrow())),
            response_type,
            throw: params.throw.unwrap_or(options.throw),
        })
    }
}

/// A URL's text, and the name it has if it was made by ``http.url`…` ``.
fn address(value: &Value<'_>) -> Result<(String, Option<String>), Thrown> {
    match value.instance::<NamedUrl>() {
        Some(named) => Ok((named.url.clone(), Some(named.name.clone()))),
        None => Ok((value.to_text()?.into_string(), None)),
    }
}

/// How many URLs a worker remembers in parsed form.
const URLS_KEPT: usize = 1024;

thread_local! {
    /// URLs that the users of this worker asked for lately.
    static URLS: RefCell<HashMap<Box<str>, Rc<Url>>> = RefCell::default();
}

fn parse_url(text: &str) -> Result<Rc<Url>, ErrorInfo> {
    URLS.with_borrow_mut(|urls| {
        if let Some(url) = urls.get(text) {
            return Ok(Rc::clone(url));
        }
        let url = Rc::new(Url::parse(text)?);
        // A script may make up a new URL for each request; then remembering
        // helps nobody, and starting over is as good as anything.
        if urls.len() >= URLS_KEPT {
            urls.clear();
        }
        urls.insert(text.into(), Rc::clone(&url));
        Ok(url)
    })
}
