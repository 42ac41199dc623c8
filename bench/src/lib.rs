//! The programs that the speed and truth of a load generator are measured against.
//!
//! - `fixed-server` answers every request with the same 150 bytes, or holds answers back by a
//!   known law and reports the delays it really gave.
//! - `bare-client` sends fixed bytes and counts fixed-length answers: the limit that a client on
//!   this machine can reach with epoll.
//!
//! They share nothing with the load generator, so a fault there cannot hide here.

pub mod arguments;
pub mod capacity;
pub mod connection;
pub mod delays;
pub mod exchanges;
pub mod line;
pub mod peers;
pub mod quantiles;
pub mod server;
pub mod syscalls;
