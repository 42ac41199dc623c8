use std::fmt;
use std::rc::Rc;

/// A request method.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub enum Method {
    #[default]
    Get,
    Head,
    Post,
    Put,
    Patch,
    Delete,
    Options,
    Trace,
    Connect,
    /// Any other token of RFC 9110, section 5.6.2.
    Other(Rc<str>),
}

impl Method {
    /// Whether the method may be sent, that is, whether it is a token (RFC 9110, section 5.6.2).
    pub fn is_token(&self) -> bool {
        match self {
            Method::Other(name) => !name.is_empty() && name.bytes().all(is_token_byte),
            _ => true,
        }
    }

    /// Parses a method as written. `None` if it is not a token.
    pub fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "GET" => Method::Get,
            "HEAD" => Method::Head,
            "POST" => Method::Post,
            "PUT" => Method::Put,
            "PATCH" => Method::Patch,
            "DELETE" => Method::Delete,
            "OPTIONS" => Method::Options,
            "TRACE" => Method::Trace,
            "CONNECT" => Method::Connect,
            _ if !text.is_empty() && text.bytes().all(is_token_byte) => Method::Other(text.into()),
            _ => return None,
        })
    }

    /// The method in wire format.
    pub fn as_str(&self) -> &str {
        match self {
            Method::Get => "GET",
            Method::Head => "HEAD",
            Method::Post => "POST",
            Method::Put => "PUT",
            Method::Patch => "PATCH",
            Method::Delete => "DELETE",
            Method::Options => "OPTIONS",
            Method::Trace => "TRACE",
            Method::Connect => "CONNECT",
            Method::Other(name) => name,
        }
    }

    /// Whether repeating the request is harmless by definition (RFC 9110, section 9.2.2), so it may be
    /// retried on a new connection.
    pub fn is_safe(&self) -> bool {
        matches!(
            self,
            Method::Get | Method::Head | Method::Options | Method::Trace
        )
    }

    /// Whether a request with this method sends `Content-Length: 0` if it has no body, because servers
    /// expect that (RFC 9110, section 8.6).
    pub(crate) fn announces_empty_body(&self) -> bool {
        matches!(self, Method::Post | Method::Put | Method::Patch)
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Whether the byte is allowed in a token (RFC 9110, section 5.6.2).
pub(crate) fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}
