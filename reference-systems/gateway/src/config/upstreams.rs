//! Upstreams: the servers behind the gateway, and how to select one.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hyper::http::HeaderName;
use tokio_rustls::rustls::ClientConfig;
use tokio_rustls::rustls::pki_types::ServerName;

use super::fields::{Field, Fields, Problems};
use super::headers::header_name;
use super::routes::path;
use crate::tls;

#[derive(Debug, Clone, PartialEq)]
pub struct Upstream {
    pub name: String,
    pub strategy: Strategy,
    pub targets: Vec<Target>,
    pub wire: Wire,
    pub tls: Option<Tls>,
    pub connect_timeout: Duration,
    /// Maximum idle connections per worker and target.
    pub keep: usize,
    /// Idle connections are closed after this time.
    pub keep_timeout: Duration,
    /// HTTP/2 connections per worker and target.
    pub connections: usize,
    pub active: Option<ActiveCheck>,
    pub passive: PassiveCheck,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Strategy {
    /// In turn, by weight.
    RoundRobin,
    LeastConnections,
    /// The same key goes to the same target, as long as that exists.
    Hash(HashBy),
}

/// The hashed value; the client's address if it is missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HashBy {
    Address,
    Header(HeaderName),
    Cookie(String),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Target {
    /// `host:port`.
    pub address: String,
    pub weight: u32,
}

/// The version of HTTP for the upstream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wire {
    H1,
    H2,
}

/// How the upstream's certificate is checked.
#[derive(Debug, Clone)]
pub struct Tls {
    pub config: Arc<ClientConfig>,
    /// The name in the certificate; by default the target's.
    pub name: Option<ServerName<'static>>,
    ca: std::path::PathBuf,
}

impl PartialEq for Tls {
    fn eq(&self, other: &Tls) -> bool {
        self.name == other.name && self.ca == other.ca
    }
}

/// The gateway's own requests that check whether a target is healthy.
#[derive(Debug, Clone, PartialEq)]
pub struct ActiveCheck {
    pub path: String,
    pub interval: Duration,
    pub timeout: Duration,
    /// Consecutive successful responses that make a target healthy again.
    pub healthy: u32,
    /// Consecutive failures that make it unhealthy.
    pub unhealthy: u32,
}

/// Health information from clients' requests.
#[derive(Debug, Clone, PartialEq)]
pub struct PassiveCheck {
    /// Consecutive failures (no connection, no response, or 502 to 504) after which a target is
    /// excluded; 0 for never.
    pub failures: u32,
    /// How long it is excluded.
    pub leave_out: Duration,
}

const KEYS: [&str; 11] = [
    "strategy",
    "hash_by",
    "targets",
    "protocol",
    "tls",
    "connect_timeout",
    "keep",
    "keep_timeout",
    "connections",
    "active_check",
    "passive_check",
];

pub fn read(
    name: &str,
    field: &Field<'_>,
    folder: &Path,
    problems: &mut Problems,
) -> Option<Upstream> {
    let fields = field.fields(&KEYS, problems);
    let strategy = strategy(&fields, problems);
    let wire = fields.get("protocol").map_or(Some(Wire::H1), |field| {
        field.choice(&[("h1", Wire::H1), ("h2", Wire::H2)], problems)
    });
    let targets = match fields.need("targets", problems) {
        Some(field) => targets(field, problems),
        None => Vec::new(),
    };
    let mut count = |key, range, default| {
        let number = fields
            .get(key)
            .and_then(|field| field.number(range, problems));
        number.map_or(default, |number| usize::try_from(number).unwrap_or(default))
    };
    let (keep, connections) = (
        count("keep", 0..=100_000, 1024),
        count("connections", 1..=64, 1),
    );
    let tls = fields
        .get("tls")
        .map(|field| client_tls(field, wire?, folder, problems));
    let mut time = |key, default| {
        let time = fields.get(key).and_then(|field| field.duration(problems));
        time.unwrap_or(Duration::from_secs(default))
    };
    let (connect_timeout, keep_timeout) = (time("connect_timeout", 1), time("keep_timeout", 60));
    Some(Upstream {
        name: name.to_owned(),
        strategy: strategy?,
        targets,
        wire: wire?,
        tls: match tls {
            Some(tls) => Some(tls?),
            None => None,
        },
        connect_timeout,
        keep,
        keep_timeout,
        connections,
        active: fields
            .get("active_check")
            .and_then(|field| active(field, problems)),
        passive: passive(fields.get("passive_check"), problems),
    })
}

fn strategy(fields: &Fields<'_>, problems: &mut Problems) -> Option<Strategy> {
    let Some(field) = fields.get("strategy") else {
        return Some(Strategy::RoundRobin);
    };
    // `weighted` is the same as `round_robin`, which respects weights, and says so.
    let words = [
        ("round_robin", Strategy::RoundRobin),
        ("weighted", Strategy::RoundRobin),
        ("least_connections", Strategy::LeastConnections),
        ("hash", Strategy::Hash(HashBy::Address)),
    ];
    let indices: Vec<_> = words
        .iter()
        .enumerate()
        .map(|(index, (word, _))| (*word, index))
        .collect();
    let chosen = field.choice(&indices, problems)?;
    let (_, strategy) = words.into_iter().nth(chosen)?;
    match (strategy, fields.get("hash_by")) {
        (Strategy::Hash(_), Some(field)) => Some(Strategy::Hash(hash_by(field, problems)?)),
        (Strategy::Hash(_), None) => {
            problems.add(
                field,
                "'hash' needs 'hash_by': address, header NAME or cookie NAME",
            );
            None
        }
        (strategy, None) => Some(strategy),
        (_, Some(field)) => {
            problems.add(field, "only the strategy 'hash' hashes");
            None
        }
    }
}

fn hash_by(field: &Field<'_>, problems: &mut Problems) -> Option<HashBy> {
    let text = field.text(problems)?;
    match text.split_once(' ').map(|(kind, name)| (kind, name.trim())) {
        None if text == "address" => Some(HashBy::Address),
        Some(("header", name)) => Some(HashBy::Header(header_name(name, field, problems)?)),
        Some(("cookie", name)) if !name.is_empty() => Some(HashBy::Cookie(name.to_owned())),
        _ => {
            problems.add(
                field,
                format!("'{text}' is none of address, header NAME, cookie NAME"),
            );
            None
        }
    }
}

fn targets(field: &Field<'_>, problems: &mut Problems) -> Vec<Target> {
    let items = field.items();
    if items.is_empty() {
        problems.add(field, "there must be at least one");
    }
    items
        .iter()
        .filter_map(|item| target(item, problems))
        .collect()
}

fn target(field: &Field<'_>, problems: &mut Problems) -> Option<Target> {
    let read = |field: &Field<'_>, problems: &mut Problems| {
        field.read(
            "a host and a port, such as 127.0.0.1:9000 or orders.internal:80",
            problems,
            |text| {
                let (host, port) = text.rsplit_once(':')?;
                let port: u16 = port.parse().ok()?;
                (!host.is_empty() && port > 0).then(|| text.to_owned())
            },
        )
    };
    if !matches!(field.node.value, super::document::Value::Map(_)) {
        return read(field, problems).map(|address| Target { address, weight: 1 });
    }
    let fields = field.fields(&["address", "weight"], problems);
    let address = fields
        .need("address", problems)
        .and_then(|field| read(field, problems));
    let weight = match fields.get("weight") {
        Some(field) => field.number(1..=1000, problems)?,
        None => 1,
    };
    Some(Target {
        address: address?,
        weight: u32::try_from(weight).unwrap_or(1),
    })
}

fn client_tls(
    field: &Field<'_>,
    wire: Wire,
    folder: &Path,
    problems: &mut Problems,
) -> Option<Tls> {
    let fields = field.fields(&["ca", "name"], problems);
    let ca = folder.join(fields.need("ca", problems)?.text(problems)?);
    let name = match fields.get("name") {
        Some(field) => Some(field.read("a host's name", problems, |text| {
            ServerName::try_from(text.to_owned()).ok()
        })?),
        None => None,
    };
    match tls::client(&ca, wire) {
        Ok(config) => Some(Tls {
            config: Arc::new(config),
            name,
            ca,
        }),
        Err(what) => {
            problems.add(field, what);
            None
        }
    }
}

fn active(field: &Field<'_>, problems: &mut Problems) -> Option<ActiveCheck> {
    let fields = field.fields(
        &["path", "interval", "timeout", "healthy", "unhealthy"],
        problems,
    );
    let path = fields
        .need("path", problems)
        .and_then(|field| path(field, problems));
    let mut time = |key, default| {
        let time = fields.get(key).and_then(|field| field.duration(problems));
        time.unwrap_or(Duration::from_secs(default))
    };
    let (interval, timeout) = (time("interval", 2), time("timeout", 1));
    let mut count = |key, default| {
        let number = fields
            .get(key)
            .and_then(|field| field.number(1..=100, problems));
        number.map_or(default, |number| u32::try_from(number).unwrap_or(default))
    };
    Some(ActiveCheck {
        path: path?,
        interval,
        timeout,
        healthy: count("healthy", 2),
        unhealthy: count("unhealthy", 3),
    })
}

fn passive(field: Option<&Field<'_>>, problems: &mut Problems) -> PassiveCheck {
    let mut check = PassiveCheck {
        failures: 5,
        leave_out: Duration::from_secs(5),
    };
    let Some(field) = field else { return check };
    let fields = field.fields(&["failures", "leave_out"], problems);
    if let Some(failures) = fields
        .get("failures")
        .and_then(|field| field.number(0..=1000, problems))
    {
        check.failures = u32::try_from(failures).unwrap_or(check.failures);
    }
    if let Some(time) = fields
        .get("leave_out")
        .and_then(|field| field.duration(problems))
    {
        check.leave_out = time;
    }
    check
}
