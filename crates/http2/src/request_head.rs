//! Request headers in the form that is encoded for each request.

use std::hash::BuildHasher;

use rustc_hash::FxBuildHasher;

/// The headers of a request in the order in which they are sent, pseudo-fields first. They are
/// built once and sent many times.
#[derive(Clone, Debug, Default)]
pub struct RequestHead {
    /// Names and values, one after another.
    text: Vec<u8>,
    spans: Vec<Span>,
    /// Hash of the fields.
    hash: u64,
    is_head_method: bool,
}

#[derive(Clone, Copy, Debug)]
struct Span {
    start: usize,
    value: usize,
    end: usize,
    is_secret: bool,
    hash: u64,
}

/// A field to send.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SentField<'a> {
    pub name: &'a [u8],
    pub value: &'a [u8],
    /// No table may contain the field, neither here nor in an intermediary (RFC 7541, section 7.1.3).
    pub is_secret: bool,
    /// Hash of name and value.
    pub hash: u64,
}

impl RequestHead {
    /// The pseudo-fields of a request (RFC 9113, section 8.3.1). A CONNECT request has neither a scheme
    /// nor a path (section 8.5).
    pub fn new(method: &str, scheme: &str, authority: &str, path: &str) -> RequestHead {
        let mut head = RequestHead {
            text: Vec::with_capacity(256),
            spans: Vec::with_capacity(10),
            is_head_method: method == "HEAD",
            ..RequestHead::default()
        };
        head.add(":method", method.as_bytes());
        if method != "CONNECT" {
            head.add(":scheme", scheme.as_bytes());
        }
        head.add(":authority", authority.as_bytes());
        if method != "CONNECT" {
            head.add(":path", path.as_bytes());
        }
        head
    }

    /// Appends a field. Its name is sent in lower case. The caller must omit fields that are specific
    /// to HTTP/1.1 connections (section 8.2.2).
    pub fn add(&mut self, name: &str, value: &[u8]) {
        let start = self.text.len();
        let lower = name.bytes().map(|byte| byte.to_ascii_lowercase());
        self.text.extend(lower);
        let middle = self.text.len();
        self.text.extend_from_slice(value);
        let text = self.text.get(start..).unwrap_or_default();
        let hash = FxBuildHasher.hash_one((middle - start, text));
        let name = self.text.get(start..middle).unwrap_or_default();
        self.spans.push(Span {
            start,
            value: middle,
            end: self.text.len(),
            is_secret: matches!(name, b"authorization" | b"proxy-authorization"),
            hash,
        });
        self.hash = FxBuildHasher.hash_one((self.hash, hash));
    }

    /// The same headers without the fields of the given name.
    #[must_use]
    pub fn without(&self, name: &str) -> RequestHead {
        let mut rest = RequestHead {
            is_head_method: self.is_head_method,
            ..RequestHead::default()
        };
        for (known, value) in self.fields().filter(|(known, _)| *known != name) {
            rest.add(known, value);
        }
        rest
    }

    /// Names and values in order.
    pub fn fields(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.sent().map(|field| {
            let name = std::str::from_utf8(field.name).unwrap_or_default();
            (name, field.value)
        })
    }

    /// The first value of the given field, if any.
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        let mut fields = self.fields();
        fields.find_map(|(known, value)| (known == name).then_some(value))
    }

    pub(crate) fn sent(&self) -> impl Iterator<Item = SentField<'_>> {
        self.spans.iter().map(|span| SentField {
            name: self.text.get(span.start..span.value).unwrap_or_default(),
            value: self.text.get(span.value..span.end).unwrap_or_default(),
            is_secret: span.is_secret,
            hash: span.hash,
        })
    }

    /// Whether the response never has a body, whatever its headers announce.
    pub fn is_head_method(&self) -> bool {
        self.is_head_method
    }

    /// Whether both contain the same fields.
    pub(crate) fn has_same_fields(&self, other: &RequestHead) -> bool {
        if std::ptr::eq(self, other) {
            return true;
        }
        let ends = |span: &Span| (span.value, span.end);
        self.hash == other.hash
            && self.text == other.text
            && self.spans.iter().map(ends).eq(other.spans.iter().map(ends))
    }
}
