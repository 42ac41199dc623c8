//! Entries: the listeners for clients.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Deserializer};
use tokio_rustls::rustls::ServerConfig;

use super::values::{duration, number, or_not, seconds, text, within};

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    #[serde(skip)]
    pub name: String,
    #[serde(deserialize_with = "address")]
    pub bind: SocketAddr,
    #[serde(default)]
    pub protocol: Protocol,
    pub tls: Option<Tls>,
    #[serde(default)]
    pub forwarded: Forwarded,
    /// Maximum open connections; further ones are closed.
    #[serde(
        default = "number::<50_000, _>",
        deserialize_with = "within::<1, 1_000_000, _, _>"
    )]
    pub max_connections: u64,
    /// A connection without a request for this time is closed.
    #[serde(default = "seconds::<75>", deserialize_with = "duration")]
    pub idle_timeout: Duration,
}

/// The version of HTTP of an entry.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// HTTP/2 if the client requests it (by ALPN, or by prior knowledge).
    #[default]
    Auto,
    H1,
    H2,
}

/// How to treat `X-Forwarded-*` from a client.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Forwarded {
    /// They are dropped: the client is the first hop.
    #[default]
    Replace,
    /// The client is a trusted proxy: its values are kept and extended.
    Append,
}

/// A certificate, which is loaded again on each reload.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tls {
    pub certificate: PathBuf,
    pub key: PathBuf,
    #[serde(skip)]
    pub config: Option<Arc<ServerConfig>>,
}

fn address<'de, D: Deserializer<'de>>(from: D) -> Result<SocketAddr, D::Error> {
    let expected = "an address and a port, such as 127.0.0.1:8080 or [::1]:8080";
    text(from, |text| or_not(text.parse().ok(), text, expected))
}
