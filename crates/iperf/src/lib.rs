//! Measures the throughput of a network path with iperf3's protocol, in both roles.
//!
//! A [`Test`] contains the parameters that client and server agree on. [`client`] requests a test,
//! and [`server`] serves one test at a time. Both use [`session`], which runs the [`flow`]s (each
//! is a socket with its own thread) and reads their counters at every interval. [`text`] and
//! [`json`] print a [`Report`] in iperf3's formats.
//!
//! The protocol on the wire. Everything except the data uses one control connection:
//!
//! ```text
//! client                                server
//! cookie, 36 letters and a zero  ─────►
//!                                ◄─────  PARAM_EXCHANGE        (a state is one byte)
//! length (4, big-endian), JSON ────►
//!                                ◄─────  CREATE_STREAMS
//! n connections, the cookie each ─────►                         (UDP: four bytes, and four in response)
//!                                ◄─────  TEST_START, TEST_RUNNING
//!           … data, in one direction or both …
//! TEST_END                       ─────►
//!                                ◄─────  EXCHANGE_RESULTS
//! length, JSON                   ─────►
//!                                ◄─────  length, JSON, DISPLAY_RESULTS
//! IPERF_DONE                     ─────►
//! ```

pub mod amounts;
mod block;
pub mod client;
mod control;
pub mod datagram;
mod error;
mod flow;
pub mod json;
#[allow(unsafe_code)]
mod kernel;
mod meter;
mod pacer;
pub mod report;
pub mod results;
pub mod server;
mod session;
mod sockets;
pub mod test;
pub mod text;
pub mod wire;

pub use client::TestRequest;
pub use error::Error;
pub use report::Report;
pub use server::ServerSettings;
pub use test::{Direction, End, Protocol, Test};

/// The version of iperf3 whose protocol and output format this crate implements.
pub const VERSION: &str = "3.12";

/// Receives text line by line, including line feeds.
pub type Print<'a> = dyn FnMut(&str) + 'a;
