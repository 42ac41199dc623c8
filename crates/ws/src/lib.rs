//! WebSocket for virtual users: RFC 6455 over any byte stream, with permessage-deflate (RFC 7692).
//!
//! [`open`] performs the handshake with a user's own [`plimsoll_http::Client`], so it uses the same
//! resolver, TLS, cookies and timeline as any request. It returns a [`Connection`]: bytes in,
//! [`Event`]s out. It is polled and never blocks. The connection responds to pings and to close
//! frames automatically. Its owner decides when to write, and what to do while the peer is slow.
//!
//! Memory: an idle connection holds no read buffer. All connections of a thread share one buffer.
//! They also share the compressors of connections that compress each message separately.

mod close;
pub mod code;
mod connection;
mod decoder;
mod deflate;
mod encoder;
mod frame;
mod handshake;
#[doc(hidden)]
pub mod in_memory;
mod mask;
mod open;
mod violation;

pub use close::{CloseFrame, is_sendable};
pub use connection::{Connection, Ended, Error};
pub use decoder::{Decoder, Event};
pub use deflate::Agreed as AgreedDeflate;
pub use encoder::Kind;
pub use handshake::{Agreed, Offer, OfferDeflate, Refusal};
pub use open::{Opened, Rejected, Socket, open, request_url};
pub use violation::Violation;

/// The limits of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum length of a message in bytes, both before and after decompression.
    pub max_message: usize,
}

impl Default for Limits {
    /// 64 MiB: far more than common messages, and far less than a machine's memory.
    fn default() -> Self {
        Limits {
            max_message: 64 << 20,
        }
    }
}
