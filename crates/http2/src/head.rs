//! Headers and trailers of responses: collects their fields and checks them.

use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};

/// The headers of a response, or its trailers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Headers {
    /// `None` for trailers.
    pub status: Option<StatusCode>,
    pub fields: HeaderMap,
}

/// Fields that make a message malformed (RFC 9113, section 8.2.2).
const CONNECTION_SPECIFIC: [&[u8]; 5] = [
    b"connection",
    b"keep-alive",
    b"proxy-connection",
    b"transfer-encoding",
    b"upgrade",
];

/// A field as received.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub name: Name,
    /// `None` if the bytes are not a valid header value.
    pub value: Option<HeaderValue>,
    /// Length of the name and the value, plus 32 (RFC 7541, section 4.1).
    pub size: usize,
}

#[derive(Clone, Debug)]
pub(crate) enum Name {
    Plain(HeaderName),
    /// `:status`
    Status,
    /// Another pseudo-field, an invalid name, or a field of HTTP/1.1 connections (RFC 9113, sections
    /// 8.2.1, 8.2.2 and 8.3).
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

    /// Parses a field with this name, whose encoded length is `name_length`.
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
        // Names must be in lower case (RFC 9113, section 8.2.1).
        if name.iter().any(u8::is_ascii_uppercase) || CONNECTION_SPECIFIC.contains(&name) {
            return Name::Wrong;
        }
        HeaderName::from_bytes(name).map_or(Name::Wrong, Name::Plain)
    }
}

/// Reasons why fields are not valid headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Malformed;

impl Headers {
    /// The length that `content-length` announces (RFC 9110, section 8.6). `None` if the field
    /// is missing.
    ///
    /// # Errors
    /// If it is not a number, or if several of them differ.
    pub(crate) fn content_length(&self) -> Result<Option<u64>, Malformed> {
        let mut announced = None;
        for value in self.fields.get_all(http::header::CONTENT_LENGTH) {
            let digits = value.to_str().map_err(|_| Malformed)?;
            // `parse` also accepts a plus sign.
            let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
            let length = digits.parse().ok().filter(|_| is_number);
            let length: u64 = length.ok_or(Malformed)?;
            if announced
                .replace(length)
                .is_some_and(|other| other != length)
            {
                return Err(Malformed);
            }
        }
        Ok(announced)
    }

    /// Adds a field.
    ///
    /// # Errors
    /// If the field is not allowed in a response or at this position.
    pub(crate) fn put(&mut self, field: &Field) -> Result<(), Malformed> {
        let value = field.value.as_ref().ok_or(Malformed)?;
        match &field.name {
            // Section 8.2.2 allows no other value.
            Name::Plain(name) if name == http::header::TE && value != "trailers" => Err(Malformed),
            Name::Plain(name) => {
                let appended = self.fields.try_append(name.clone(), value.clone());
                appended.map(|_| ()).map_err(|_| Malformed)
            }
            // Pseudo-fields must precede other fields (RFC 9113, section 8.3).
            Name::Status if self.status.is_none() && self.fields.is_empty() => {
                let status = StatusCode::from_bytes(value.as_bytes());
                self.status = Some(status.map_err(|_| Malformed)?);
                Ok(())
            }
            Name::Status | Name::Wrong => Err(Malformed),
        }
    }
}
