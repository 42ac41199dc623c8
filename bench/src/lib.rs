//! Programs for measuring the speed and accuracy of a load generator.
//!
//! - `fixed-server` responds to every request with the same 150 bytes, or delays responses by a
//!   known distribution and reports the actual delays.
//! - `http2-fixed` and `grpc-fixed` do the same over HTTP/2.
//! - `bare-client` sends fixed bytes and counts fixed-length responses: no client with epoll can
//!   be faster on this machine.
//!
//! They share no code with the load generator, so they cannot share a bug with it.

pub mod arguments;
pub mod capacity;
pub mod connection;
pub mod delays;
pub mod exchanges;
pub mod http2;
pub mod line;
pub mod pauses;
pub mod peers;
pub mod quantiles;
pub mod server;
pub mod symbols;
pub mod syscalls;
pub mod touched;
