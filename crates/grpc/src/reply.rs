use std::net::SocketAddr;
use std::rc::Rc;

use bytes::Bytes;
use plimsoll_http::Timeline;
use plimsoll_http2::Headers;
use plimsoll_net::TlsFacts;
use plimsoll_units::Moment;

use crate::metadata::Metadata;
use crate::status::Status;

/// The outcome of a call with a single response message.
#[derive(Debug)]
pub struct Reply {
    pub status: Status,
    /// The decompressed response message; `None` if the call failed before it arrived.
    pub message: Option<Bytes>,
    /// Number of bytes of the request message before compression.
    pub sent: usize,
    /// Whether the response message was compressed.
    pub packed: bool,
    /// The duration from the start of the call to its status.
    pub timeline: Timeline,
    /// Whether this call opened the connection.
    pub opened: bool,
    /// How often the request was sent before to a server that did not process it.
    pub resent: u32,
    pub remote: Option<SocketAddr>,
    pub tls: Option<TlsFacts>,
    pub(crate) head: Option<Rc<Headers>>,
    pub(crate) trailer: Option<Rc<Headers>>,
}

impl Reply {
    pub(crate) fn starting_at(started: Moment) -> Reply {
        Reply {
            status: Status::ok(),
            message: None,
            sent: 0,
            packed: false,
            timeline: Timeline::started_at(started),
            opened: false,
            resent: 0,
            remote: None,
            tls: None,
            head: None,
            trailer: None,
        }
    }

    /// Number of bytes of the request and response messages, uncompressed and without framing. `None`
    /// if the call failed.
    pub fn payload(&self) -> Option<(u64, u64)> {
        let received = self.message.as_ref().map_or(0, Bytes::len);
        let is_good = self.status.code.is_ok();
        is_good.then_some((self.sent as u64, received as u64))
    }

    /// Whether the server sent anything for this call.
    pub fn has_response(&self) -> bool {
        self.head.is_some() || self.trailer.is_some()
    }

    /// The metadata at the start of the response.
    pub fn headers(&self) -> Metadata {
        Metadata::of(self.head.as_deref())
    }

    /// The metadata at the end of the response.
    pub fn trailers(&self) -> Metadata {
        Metadata::of(self.trailer.as_deref())
    }
}
