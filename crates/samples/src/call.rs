//! Requests of scripts with other protocols than HTTP: gRPC calls and WebSocket handshakes.

use std::time::Duration;

use plimsoll_units::Moment;

/// One gRPC call or WebSocket handshake. Its times are recorded as separate metrics.
#[derive(Clone, Copy, Debug, Default)]
pub struct CallFacts<'a> {
    /// The time that determines the second in which it counts.
    pub counted: Moment,
    /// Its name and method in the results by name. Without a name, it is not listed there.
    pub name: &'a str,
    pub method: &'a str,
    /// Its duration in the results by name.
    pub took: Duration,
    /// The status: [`GRPC_STATUS`](crate::GRPC_STATUS) plus the code, or the HTTP status of a handshake; 0 if there is
    /// none.
    pub status: u16,
    /// The protocol of the response; empty if there was none.
    pub proto: &'a str,
    /// `tls1.3` and so on; empty without TLS.
    pub tls_version: &'a str,
    /// `TLS_AES_128_GCM_SHA256` and so on; empty without TLS.
    pub tls_cipher_suite: &'a str,
    /// How many times it was sent before to a server that did not process it.
    pub resent: u32,
    /// The error; empty if there was none.
    pub error: &'a str,
    /// The gRPC error code; 0 for success.
    pub error_code: u32,
    /// Whether it failed because this machine had no local port or file descriptor left.
    pub exhausted: bool,
}
