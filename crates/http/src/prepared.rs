use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use plimsoll_http2::RequestHead;

use crate::encode::{HeadParts, decimal, write_head};
use crate::error::ErrorInfo;
use crate::method::Method;
use crate::protocol::Protocol;
use crate::proxy::plain_proxy;
use crate::request::Request;
use crate::request_head::request_head;
use crate::settings::Settings;
use crate::url::Url;

/// A request that is encoded once and sent unchanged many times. It follows no redirects and uses
/// no cookies. The body of the response is counted and not kept.
#[derive(Clone, Debug)]
pub struct Prepared {
    pub(crate) method: Method,
    pub(crate) url: Rc<Url>,
    /// The headers, and the body if it is small enough for the same buffer.
    pub(crate) head: Bytes,
    pub(crate) body: Bytes,
    pub(crate) timeout: Duration,
    pub(crate) protocol: Protocol,
    /// The headers in the form of HTTP/2 and HTTP/3.
    pub(crate) multiplexed_head: Rc<RequestHead>,
    pub(crate) whole_body: Bytes,
    pub(crate) head_length: usize,
}

/// Bodies up to this size are appended to their headers and sent in the same write.
pub(crate) const JOINED_BODY: usize = 8 * 1024;

impl Prepared {
    /// Encodes a request.
    ///
    /// # Errors
    /// If the URL is not usable.
    pub fn new(request: &Request, settings: &Settings) -> Result<Self, ErrorInfo> {
        request.url.check_usable()?;
        let mut head = Vec::new();
        let authorization = crate::auth::basic_of(&request.url);
        let parts = HeadParts {
            method: &request.method,
            url: &request.url,
            fields: &request.headers,
            user_agent: &settings.user_agent,
            body_length: request.body.len(),
            cookies: request.headers.get("cookie").unwrap_or_default(),
            authorization: authorization.as_deref(),
            close: settings.no_connection_reuse,
            proxy: plain_proxy(&settings.proxies, &request.url),
        };
        write_head(&mut head, &parts);
        let head_length = head.len();
        let mut body = request.body.clone();
        if body.len() <= JOINED_BODY {
            head.extend_from_slice(&body);
            body.clear();
        }
        Ok(Prepared {
            method: request.method.clone(),
            url: request.url.clone(),
            head: head.into(),
            body,
            timeout: request.timeout,
            protocol: request.protocol.unwrap_or(settings.protocol),
            multiplexed_head: Rc::new(request_head(&parts)),
            whole_body: request.body.clone(),
            head_length,
        })
    }

    /// The same request with a chunked body (RFC 9112, section 7.1) if the connection uses HTTP/1.1. A
    /// request without a body stays unchanged.
    pub fn chunked(mut self) -> Self {
        const LENGTH: &[u8] = b"\r\nContent-Length: ";
        if self.whole_body.is_empty() {
            return self;
        }
        let head = self.head.get(..self.head_length).unwrap_or_default();
        let Some(start) = memchr::memmem::find(head, LENGTH) else {
            return self;
        };
        let (before, after) = head.split_at(start);
        let rest = after.get(LENGTH.len()..).unwrap_or_default();
        let end = memchr::memchr(b'\r', rest).unwrap_or(rest.len());
        let mut whole = before.to_vec();
        whole.extend_from_slice(b"\r\nTransfer-Encoding: chunked");
        whole.extend_from_slice(rest.get(end..).unwrap_or_default());
        self.head_length = whole.len();
        whole.extend_from_slice(format!("{:x}\r\n", self.whole_body.len()).as_bytes());
        whole.extend_from_slice(&self.whole_body);
        whole.extend_from_slice(b"\r\n0\r\n\r\n");
        self.head = whole.into();
        self.body = Bytes::new();
        self.multiplexed_head = Rc::new(self.multiplexed_head.without("content-length"));
        self
    }

    pub fn url(&self) -> &Rc<Url> {
        &self.url
    }

    /// Bytes of the request body.
    pub fn body_length(&self) -> u64 {
        self.whole_body.len() as u64
    }

    pub fn method(&self) -> &Method {
        &self.method
    }
}

/// An additional field of a prepared request: a number that changes with each request.
#[derive(Clone, Copy, Debug)]
pub struct Stamp {
    /// The field's name in canonical form: `X-Request-Number`.
    pub name: &'static str,
    pub number: u64,
}

impl Stamp {
    /// Appends the prepared request with this field as the last header, followed by the body if it is
    /// sent with the headers.
    #[inline]
    pub(crate) fn write(self, prepared: &Prepared, out: &mut Vec<u8>) {
        const END: usize = 2;
        let (head, body) = prepared
            .head
            .split_at_checked(prepared.head_length)
            .unwrap_or((&prepared.head, &[]));
        out.extend_from_slice(head.get(..head.len() - END).unwrap_or_default());
        out.extend_from_slice(self.name.as_bytes());
        out.extend_from_slice(b": ");
        decimal(out, self.number);
        out.extend_from_slice(b"\r\n\r\n");
        out.extend_from_slice(body);
    }

    /// The headers with this field in the form of HTTP/2 and HTTP/3.
    pub(crate) fn add_to(self, head: &RequestHead) -> RequestHead {
        let mut digits = Vec::new();
        decimal(&mut digits, self.number);
        let mut head = head.clone();
        head.add(self.name, &digits);
        head
    }

    /// Number of bytes that the field adds to the headers.
    pub(crate) fn length(self) -> usize {
        let digits = self.number.checked_ilog10().unwrap_or(0) as usize + 1;
        self.name.len() + ": \r\n".len() + digits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prepared(body: &'static [u8]) -> Prepared {
        let url = Rc::new(Url::parse("http://h/p").unwrap());
        let mut request = Request::new(Method::Post, url);
        request.body = Bytes::from_static(body);
        Prepared::new(&request, &Settings::default()).unwrap()
    }

    #[test]
    fn the_timestamp_is_the_last_header() {
        let stamp = Stamp {
            name: "X-Seq",
            number: 10,
        };
        let mut out = Vec::new();
        let prepared = prepared(b"hello");
        stamp.write(&prepared, &mut out);
        assert_eq!(
            String::from_utf8_lossy(&out),
            "POST /p HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nX-Seq: 10\r\n\r\nhello"
        );
        assert_eq!(out.len(), prepared.head.len() + stamp.length());
        let head = stamp.add_to(&prepared.multiplexed_head);
        assert_eq!(head.get("x-seq"), Some(&b"10"[..]));
    }

    #[test]
    fn a_chunked_body_is_one_chunk() {
        let chunked = prepared(b"hello").chunked();
        assert_eq!(
            String::from_utf8_lossy(&chunked.head),
            "POST /p HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
        );
        let bodyless = prepared(b"").chunked();
        assert!(bodyless.head.ends_with(b"Content-Length: 0\r\n\r\n"));
    }
}
