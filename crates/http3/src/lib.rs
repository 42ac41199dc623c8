//! HTTP/3 for virtual users: requests on the streams of a QUIC connection. Each connection belongs
//! to one user and stays on that user's worker thread.
//!
//! The QUIC implementation is quinn. This crate parses frames (`frames`) and headers (`qpack`), and
//! limits everything that a server can make it buffer. Each worker has its own [`Endpoints`]. The
//! crate `http` handles cookies, redirects and content codings.

mod connection;
mod control;
mod draining;
mod endpoints;
mod exchange;
mod fault;
mod frames;
#[doc(hidden)]
pub mod in_memory;
mod qpack;
mod static_table;
mod tls;
mod varint;

pub use connection::{Connection, Target};
pub use endpoints::Endpoints;
pub use exchange::{Exchange, ResponseHead};
pub use fault::Fault;
pub use frames::{Frames, Piece};
pub use qpack::{Field, decode as decode_fields};
