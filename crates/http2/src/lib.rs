//! An HTTP/2 client (RFC 9113, RFC 7541) with streams in both directions, optimized for many cheap
//! requests. A connection belongs to one worker thread.
//!
//! Request headers are encoded once into references to the peer's table, and then copied. Response
//! headers that arrive again as the same bytes are decoded once, and then shared. Bodies are bounded by
//! the window of their stream (4 MiB), headers by 1 MiB, and data for a peer that does not read by
//! 1 MiB.
//!
//! [`connection`] is the protocol without a socket, [`driver`] has the socket.

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
pub use head::Heading;
pub use request_head::RequestHead;
pub use streams::{Incoming, Outgoing, Streams};
