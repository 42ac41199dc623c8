//! Byte streams with timestamps: looks up names, connects to addresses, performs TLS handshakes,
//! and records when each step ended.
//!
//! This crate implements no protocol above TLS. All its values stay on one thread: a [`Network`]
//! belongs to a worker, and the worker's users share it.

pub mod dns_message;
mod error;
pub mod hosts_file;
mod insecure;
mod kernel_io;
mod name_server;
mod network;
#[cfg(not(unix))]
mod no_unix;
mod plain;
mod quic;
mod quic_notes;
mod resolve;
mod rules;
#[cfg(target_os = "linux")]
pub mod stamped;
mod stream;
mod tls;
mod tls_fault;
mod traffic;
#[cfg(unix)]
mod unix;
#[cfg(target_os = "linux")]
mod uring;
mod verify;
mod wire;

pub use error::{Error, TlsError, describe, is_local_exhaustion};
pub use kernel_io::Io;
pub use name_server::{query, refusal};
pub use network::{Dialed, Network, NetworkSettings, Steps};
#[cfg(not(unix))]
pub use no_unix::UnixPath;
pub use plain::{Plain, Tcp};
pub use quic_notes::QuicNotes;
pub use resolve::DnsSettings;
pub use rules::{HostRules, allow_only};
pub use stream::Stream;
pub use tls::{Alpn, ClientCertificate, TlsFacts, TlsSettings};
pub use tls_fault::tls_fault;
pub use traffic::{Traffic, TrafficCounter};
#[cfg(unix)]
pub use unix::{UnixPath, UnixSocket};
#[cfg(target_os = "linux")]
pub use uring::check as check_uring;
pub use wire::Wire;

/// Checks that [`Io::Uring`] works on this system.
///
/// # Errors
/// Always: only Linux has io_uring.
#[cfg(not(target_os = "linux"))]
pub fn check_uring() -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}
