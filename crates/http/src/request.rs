use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;

use crate::fields::Fields;
use crate::method::Method;
use crate::settings::Protocol;
use crate::url::Url;

/// One request as its user asks for it.
#[derive(Clone, Debug)]
pub struct Request {
    pub method: Method,
    pub url: Rc<Url>,
    /// `Host` replaces the URL's host in the head. `Content-Length` is ours to
    /// set and ignored here.
    pub headers: Fields,
    pub body: Bytes,
    /// Sent beside the jar's.
    pub cookies: Vec<RequestCookie>,
    /// From the start to the last byte of the last leg.
    pub timeout: Duration,
    /// Overrides [`crate::Settings::max_redirects`].
    pub max_redirects: Option<u32>,
    /// Applied to the body in this order.
    pub compression: Vec<Encoding>,
    pub auth: Auth,
    pub body_use: BodyUse,
    /// Overrides [`crate::Settings::protocol`].
    pub protocol: Option<Protocol>,
    /// Why it cannot be sent, where that was found while it was made: sending it fails with this.
    pub invalid: Option<Box<str>>,
}

impl Request {
    /// A request without fields or body, with k6's timeout of 60 s.
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
            protocol: None,
            invalid: None,
        }
    }
}

/// A cookie of one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestCookie {
    pub name: String,
    pub value: String,
    /// Whether it takes the place of the jar's cookie of that name, instead of
    /// being sent beside it.
    pub replace: bool,
}

/// What becomes of the answer's body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BodyUse {
    /// Decoded and handed over.
    #[default]
    Keep,
    /// Counted and dropped, in bounded memory.
    Discard,
}

/// How the URL's user and password are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Auth {
    /// RFC 7617, sent at once.
    #[default]
    Basic,
    /// RFC 7616: a first request fetches the challenge, a second answers it.
    Digest,
    /// Not supported; such a request fails with a clear message.
    Ntlm,
}

/// A content coding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    Gzip,
    Deflate,
    Brotli,
    Zstd,
}

impl Encoding {
    /// Reads one name of a `compression` parameter or `Content-Encoding` field.
    pub fn parse(name: &str) -> Option<Self> {
        Some(match name.trim().to_ascii_lowercase().as_str() {
            "gzip" | "x-gzip" => Encoding::Gzip,
            "deflate" => Encoding::Deflate,
            "br" => Encoding::Brotli,
            "zstd" => Encoding::Zstd,
            _ => return None,
        })
    }

    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Encoding::Gzip => "gzip",
            Encoding::Deflate => "deflate",
            Encoding::Brotli => "br",
            Encoding::Zstd => "zstd",
        }
    }
}
