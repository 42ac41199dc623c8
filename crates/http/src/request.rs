//! Requests as callers specify them.

use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;

use crate::body_watch::SharedWatch;
use crate::encoding::Encoding;
use crate::fields::Fields;
use crate::method::Method;
use crate::protocol::Protocol;
use crate::url::Url;

/// A request as its user specified it.
#[derive(Clone, Debug)]
pub struct Request {
    pub method: Method,
    pub url: Rc<Url>,
    /// `Host` replaces the URL's host in the headers. `Content-Length` is ignored: the client sets
    /// it.
    pub headers: Fields,
    pub body: Bytes,
    /// Cookies that are sent in addition to those of the jar.
    pub cookies: Vec<RequestCookie>,
    /// Limit of the time from the start to the last byte of the last leg.
    pub timeout: Duration,
    /// Overrides [`crate::Settings::max_redirects`].
    pub max_redirects: Option<u32>,
    /// The codings to apply to the body, in this order.
    pub compression: Vec<Encoding>,
    pub auth: Auth,
    pub body_use: BodyUse,
    /// Observes the response body while it arrives. Then `body_use` has no effect.
    pub watch: Option<SharedWatch>,
    /// Overrides [`crate::Settings::protocol`].
    pub protocol: Option<Protocol>,
    /// Why the request cannot be sent, if that was detected while it was built. Sending it fails with
    /// this message.
    pub invalid: Option<Box<str>>,
}

impl Request {
    /// A request without headers or body, with k6's timeout of 60 s.
    pub fn new(method: Method, url: Rc<Url>) -> Self {
        Request {
            method,
            url,
            headers: Fields::new(),
            body: Bytes::new(),
            cookies: Vec::new(),
            timeout: Duration::from_secs(60),
            max_redirects: None,
            compression: Vec::new(),
            auth: Auth::Basic,
            body_use: BodyUse::Keep,
            watch: None,
            protocol: None,
            invalid: None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestCookie {
    pub name: String,
    pub value: String,
    /// Whether it replaces the jar's cookie of the same name instead of being sent in addition.
    pub replace: bool,
}

/// What the client does with the response body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BodyUse {
    /// The body is decoded and returned.
    #[default]
    Keep,
    /// The body is counted and dropped, in bounded memory.
    Discard,
}

/// How the client uses the user and password in the URL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Auth {
    /// Basic authentication (RFC 7617), sent immediately.
    #[default]
    Basic,
    /// Digest authentication (RFC 7616): a first request fetches the challenge, and a second one uses
    /// it.
    Digest,
    /// Not supported: such a request fails with a clear message.
    Ntlm,
}
