//! An HTTP/2 client (RFC 9113, RFC 7541) with streams in both directions, optimized for many cheap
//! requests. A connection belongs to one worker thread.
//!
//! Request headers are encoded once into references to the peer's table, and copied for later
//! requests. Response headers that arrive again as the same bytes are decoded once and then shared.
//! Memory is limited: bodies by the window of their stream (4 MiB), headers to 1 MiB, and data for
//! a peer that does not read to 1 MiB.
//!
//! [`connection`] implements the protocol without a socket, and [`driver`] connects it to a socket.

mod connection;
mod decoder;
mod driver;
mod encoder;
mod fault;
mod frames;
mod head;
pub mod huffman;
#[doc(hidden)]
pub mod in_memory;
pub mod primitives;
mod request_head;
mod static_table;
mod stream;
mod streams;
mod waiting;

pub use fault::{SocketError, StreamFault, error_name};
pub use head::Headers;
pub use request_head::RequestHead;
pub use streams::{Incoming, Outgoing, Streams};
