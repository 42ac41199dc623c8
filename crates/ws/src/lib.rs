//! WebSocket for virtual users: RFC 6455 over any byte stream, with
//! permessage-deflate (RFC 7692).
//!
//! [`open`] makes the handshake on a user's own [`plimsoll_http::Client`], so that its
//! resolver, TLS, cookies and timeline are those of any request. What it gives is
//! a [`Connection`]: bytes in, [`Event`]s out, polled and never blocking. It
//! answers pings and closes by itself; when to write, and what to do while the
//! peer is slow, is its owner's business.
//!
//! Memory: a connection at rest holds no buffer to read into. Reads go through one
//! buffer a thread, and so do the compressors of connections that agreed to start
//! each message afresh.

mod close;
mod connection;
mod decoder;
mod deflate;
mod encoder;
mod frame;
mod handshake;
mod mask;
mod open;
mod violation;

pub use close::{CloseFrame, code, is_sendable};
pub use connection::{Connection, Ended, Error};
pub use decoder::{Decoder, Event};
pub use deflate::Agreed as AgreedDeflate;
pub use encoder::Kind;
pub use handshake::{Agreed, Offer, OfferDeflate, Refusal};
pub use open::{Opened, Rejected, Socket, open, request_url};
pub use violation::Violation;

/// What a connection accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Longest message, in bytes, also after it was decompressed.
    pub max_message: usize,
}

impl Default for Limits {
    /// 64 MiB: far above what anybody sends, far below what a machine has.
    fn default() -> Self {
        Limits {
            max_message: 64 << 20,
        }
    }
}
