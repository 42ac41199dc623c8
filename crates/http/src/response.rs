//! Responses as callers receive them.

use std::net::SocketAddr;
use std::rc::Rc;

use bytes::Bytes;
use plimsoll_net::TlsFacts;

use crate::cookie::Cookie;
use crate::error::ErrorInfo;
use crate::head::Head;
use crate::method::Method;
use crate::proto::Proto;
use crate::timeline::Timeline;
use crate::url::Url;

/// The response to a request, or the known part of it if the request failed.
#[derive(Clone, Debug)]
pub struct Response {
    /// 0 if the request failed.
    pub status: u16,
    pub proto: Proto,
    /// Status line and fields, shared with the connection while they stay the same.
    pub head: Option<Rc<Head>>,
    /// The decoded body; empty if it was discarded.
    pub body: Bytes,
    /// The URL of the last hop.
    pub url: Rc<Url>,
    pub remote: Option<SocketAddr>,
    /// The timeline of the last leg.
    pub timeline: Timeline,
    pub tls: Option<TlsFacts>,
    /// The request as it was first sent, before any redirect.
    pub sent: Sent,
}

/// A request as it was sent.
#[derive(Clone, Debug)]
pub struct Sent {
    pub method: Method,
    pub url: Rc<Url>,
    /// Whether `Authorization` was derived from the user and password in the URL.
    pub is_authorized: bool,
    /// Request line and fields in the HTTP/1.1 wire format; empty if nothing was sent.
    pub head: Rc<[u8]>,
    /// The body before compression.
    pub body: Bytes,
}

/// A request that received no complete response.
#[derive(Clone, Debug)]
pub struct Failure {
    pub error: ErrorInfo,
    /// The known data: the URL, the sent bytes, the remote address, and the status (0 if no response
    /// started).
    pub response: Box<Response>,
}

impl Response {
    /// The status code and its reason phrase: `200 OK`.
    pub fn status_text(&self) -> String {
        match &self.head {
            // Without a protocol, there was no complete response.
            Some(head) if self.proto != Proto::None => {
                let text = format!("{:03} {}", self.status, head.reason());
                text.trim_end().to_owned()
            }
            _ => String::new(),
        }
    }

    /// The cookies that the response sets, in order.
    pub fn set_cookies(&self) -> impl Iterator<Item = Cookie> {
        self.head
            .iter()
            .flat_map(|head| head.all("set-cookie"))
            .filter_map(Cookie::parse)
    }

    /// Header fields as received: names as sent, values as bytes.
    pub fn fields(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.head.iter().flat_map(|head| head.fields())
    }
}

impl Sent {
    /// Header fields of the request as sent.
    pub fn fields(&self) -> impl Iterator<Item = (&str, &str)> {
        std::str::from_utf8(&self.head)
            .unwrap_or_default()
            .split("\r\n")
            .skip(1)
            .filter_map(|line| line.split_once(": "))
    }
}
