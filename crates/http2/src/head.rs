use std::hash::BuildHasher;

use http::{HeaderMap, HeaderName, HeaderValue, Request, StatusCode};
use rustc_hash::FxBuildHasher;

/// The headers of a request in the order in which they are sent: pseudo-fields first. Built once,
/// sent often.
#[derive(Debug)]
pub struct RequestHead {
    pub(crate) fields: Vec<Sent>,
    /// Hash of the fields.
    hash: u64,
}

/// A field to be sent.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Sent {
    pub name: Vec<u8>,
    pub value: Vec<u8>,
    /// No table may hold it, neither here nor in an intermediary: RFC 7541, section 7.1.3.
    pub is_secret: bool,
}

impl RequestHead {
    /// The headers of a request whose URL has a scheme and an authority (RFC 9113, section 8.3.1).
    /// The caller must leave out connection-specific fields.
    pub fn of(request: &Request<()>) -> RequestHead {
        let uri = request.uri();
        let mut fields = Vec::with_capacity(4 + request.headers().len());
        let mut put = |name: &str, value: &[u8], is_secret| {
            fields.push(Sent {
                name: name.as_bytes().to_vec(),
                value: value.to_vec(),
                is_secret,
            });
        };
        put(":method", request.method().as_str().as_bytes(), false);
        put(
            ":scheme",
            uri.scheme_str().unwrap_or("http").as_bytes(),
            false,
        );
        if let Some(authority) = uri.authority() {
            put(":authority", authority.as_str().as_bytes(), false);
        }
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        put(":path", path.as_bytes(), false);
        for (name, value) in request.headers() {
            let is_secret = value.is_sensitive() || name == http::header::AUTHORIZATION;
            put(name.as_str(), value.as_bytes(), is_secret);
        }
        let hash = FxBuildHasher.hash_one(&fields);
        RequestHead { fields, hash }
    }

    /// The first value of that field, if any.
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        let mut fields = self.fields.iter();
        let field = fields.find(|field| field.name == name.as_bytes())?;
        Some(&field.value)
    }

    /// Whether both have the same fields.
    pub(crate) fn is_like(&self, other: &RequestHead) -> bool {
        std::ptr::eq(self, other) || self.hash == other.hash && self.fields == other.fields
    }
}

/// The headers of a response, or its trailers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Heading {
    /// `None` for trailers.
    pub status: Option<StatusCode>,
    pub fields: HeaderMap,
}

/// A field as received.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub name: Name,
    /// `None` if the bytes are not a valid value.
    pub value: Option<HeaderValue>,
    /// Bytes of name and value, and 32: RFC 7541, section 4.1.
    pub size: usize,
}

#[derive(Clone, Debug)]
pub(crate) enum Name {
    Plain(HeaderName),
    /// `:status`
    Status,
    /// Another pseudo-field, or an invalid name: RFC 9113, sections 8.2.1 and 8.3.
    Wrong,
}

impl Field {
    pub fn new(name: &[u8], value: &[u8]) -> Field {
        Field {
            size: name.len() + value.len() + 32,
            name: Name::read(name),
            value: HeaderValue::from_bytes(value).ok(),
        }
    }

    /// A field with this name, whose encoded length is `name_length`.
    pub fn with_value(&self, name_length: usize, value: &[u8]) -> Field {
        Field {
            size: name_length + value.len() + 32,
            name: self.name.clone(),
            value: HeaderValue::from_bytes(value).ok(),
        }
    }

    pub fn name_length(&self) -> usize {
        let value = self.value.as_ref().map_or(0, HeaderValue::len);
        match &self.name {
            Name::Plain(name) => name.as_str().len(),
            Name::Status => ":status".len(),
            Name::Wrong => self.size.saturating_sub(32 + value),
        }
    }
}

impl Name {
    fn read(name: &[u8]) -> Name {
        if name == b":status" {
            return Name::Status;
        }
        // Names are in lower case: RFC 9113, section 8.2.1.
        if name.iter().any(u8::is_ascii_uppercase) {
            return Name::Wrong;
        }
        HeaderName::from_bytes(name).map_or(Name::Wrong, Name::Plain)
    }
}

/// Why fields are not valid headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Malformed;

impl Heading {
    /// Adds a field.
    ///
    /// # Errors
    /// For a field that is not allowed in a response, or not in that place.
    pub(crate) fn put(&mut self, field: &Field) -> Result<(), Malformed> {
        let value = field.value.as_ref().ok_or(Malformed)?;
        match &field.name {
            Name::Plain(name) => {
                let appended = self.fields.try_append(name.clone(), value.clone());
                appended.map(|_| ()).map_err(|_| Malformed)
            }
            // Pseudo-fields must come before others: RFC 9113, section 8.3.
            Name::Status if self.status.is_none() && self.fields.is_empty() => {
                let status = StatusCode::from_bytes(value.as_bytes());
                self.status = Some(status.map_err(|_| Malformed)?);
                Ok(())
            }
            Name::Status | Name::Wrong => Err(Malformed),
        }
    }
}
