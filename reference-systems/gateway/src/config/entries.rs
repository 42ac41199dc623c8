//! Entries: the listeners for clients.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio_rustls::rustls::ServerConfig;

use super::fields::{Field, Problems};
use crate::tls;

#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    pub name: String,
    pub line: usize,
    pub bind: SocketAddr,
    pub protocol: Protocol,
    pub tls: Option<Tls>,
    pub forwarded: Forwarded,
    /// Maximum open connections; further ones are closed.
    pub max_connections: u64,
    /// A connection without a request for this time is closed.
    pub idle_timeout: Duration,
}

/// The version of HTTP of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// HTTP/2 if the client asks for it (by ALPN, or by prior knowledge).
    Auto,
    H1,
    H2,
}

/// How to treat `X-Forwarded-*` from a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Forwarded {
    /// They are dropped: the client is the first hop.
    Replace,
    /// The client is a trusted proxy: its values are kept and extended.
    Append,
}

/// A loaded certificate. It is loaded again on each reload, so it never equals another.
#[derive(Debug, Clone)]
pub struct Tls(pub Arc<ServerConfig>);

impl PartialEq for Tls {
    fn eq(&self, other: &Tls) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

const KEYS: [&str; 6] = [
    "bind",
    "protocol",
    "tls",
    "forwarded",
    "max_connections",
    "idle_timeout",
];

pub fn read(
    name: &str,
    field: &Field<'_>,
    folder: &Path,
    problems: &mut Problems,
) -> Option<Entry> {
    let fields = field.fields(&KEYS, problems);
    let bind = fields.need("bind", problems).and_then(|field| {
        field.read(
            "an address and a port, such as 127.0.0.1:8080 or [::1]:8080",
            problems,
            |text| text.parse().ok(),
        )
    });
    let words = [
        ("auto", Protocol::Auto),
        ("h1", Protocol::H1),
        ("h2", Protocol::H2),
    ];
    let protocol = fields
        .get("protocol")
        .map_or(Some(Protocol::Auto), |field| field.choice(&words, problems));
    let tls = fields.get("tls").map(|field| {
        let fields = field.fields(&["certificate", "key"], problems);
        let mut path = |key| {
            let text = fields.need(key, problems)?.text(problems)?;
            Some(folder.join(text))
        };
        let (certificate, key) = (path("certificate")?, path("key")?);
        match tls::server(&certificate, &key, protocol?) {
            Ok(config) => Some(Tls(Arc::new(config))),
            Err(what) => {
                problems.add(field, what);
                None
            }
        }
    });
    let words = [
        ("replace", Forwarded::Replace),
        ("append", Forwarded::Append),
    ];
    let forwarded = fields
        .get("forwarded")
        .and_then(|field| field.choice(&words, problems))
        .unwrap_or(Forwarded::Replace);
    let max_connections = fields
        .get("max_connections")
        .and_then(|field| field.number(1..=1_000_000, problems))
        .unwrap_or(50_000);
    let idle_timeout = fields
        .get("idle_timeout")
        .and_then(|field| field.duration(problems))
        .unwrap_or(Duration::from_secs(75));
    Some(Entry {
        name: name.to_owned(),
        line: field.node.line,
        bind: bind?,
        protocol: protocol?,
        tls: match tls {
            Some(tls) => Some(tls?),
            None => None,
        },
        forwarded,
        max_connections,
        idle_timeout,
    })
}
