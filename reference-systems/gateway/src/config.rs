//! The gateway's configuration file.
//!
//! Values that are the same in two versions of the file compare equal, so a reload can keep unchanged
//! parts.

mod check;
mod values;

use std::net::SocketAddr;
use std::num::NonZero;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hyper::http::{HeaderName, HeaderValue, Method};
use indexmap::IndexMap;
use plimsoll_serving::connection::Protocol;
use regex::Regex;
use serde::Deserialize;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, ServerConfig};

pub use check::{load, read};
use values::{
    bytes, duration, fields, header_name, header_names, hosts, list, methods, number, one, percent,
    rate, seconds, section, server_name, some_path, targets, url_path, yes,
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// `off`, `stderr`, or a file.
    pub access_log: Option<String>,
    #[serde(default)]
    pub limits: Limits,
    #[serde(deserialize_with = "section")]
    pub entries: IndexMap<String, Entry>,
    /// Matched in this order.
    #[serde(deserialize_with = "section")]
    pub routes: IndexMap<String, Route>,
    #[serde(deserialize_with = "section")]
    pub services: IndexMap<String, Service>,
    #[serde(deserialize_with = "section")]
    pub upstreams: IndexMap<String, Upstream>,
}

/// Limits for clients.
#[derive(Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Bytes of a request's headers.
    #[serde(deserialize_with = "bytes")]
    pub head: u64,
    /// Bytes of a request's body.
    #[serde(deserialize_with = "bytes")]
    pub body: u64,
    /// Bodies up to this many bytes are read completely before the request is sent, so they can
    /// also be sent again.
    #[serde(deserialize_with = "bytes")]
    pub buffer: u64,
    /// Maximum time until the next piece of a body.
    #[serde(deserialize_with = "duration")]
    pub body_timeout: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            head: 32 << 10,
            body: 10 << 20,
            buffer: 64 << 10,
            body_timeout: Duration::from_secs(30),
        }
    }
}

/// A listener to which clients connect.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    pub bind: SocketAddr,
    #[serde(default)]
    pub protocol: Protocol,
    pub tls: Option<EntryTls>,
    #[serde(default)]
    pub forwarded: Forwarded,
    /// Maximum open connections; further ones are closed.
    #[serde(default = "number::<50_000, _>")]
    pub max_connections: usize,
    /// A connection without a request for this time is closed.
    #[serde(default = "seconds::<75>", deserialize_with = "duration")]
    pub idle_timeout: Duration,
}

/// How to treat `X-Forwarded-*` from a client.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Forwarded {
    /// Drop them: the client is the first hop.
    #[default]
    Replace,
    /// Keep and extend them: the client is a trusted proxy.
    Append,
}

/// A certificate, which is loaded again on each reload.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EntryTls {
    pub certificate: PathBuf,
    pub key: PathBuf,
    #[serde(skip)]
    pub config: Option<Arc<ServerConfig>>,
}

/// The service for a request. An empty condition matches every request.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Route {
    #[serde(default, deserialize_with = "list")]
    pub entries: Vec<String>,
    /// In lower case, without a port; a leading `*.` matches any subdomain.
    #[serde(default, deserialize_with = "hosts")]
    pub hosts: Vec<String>,
    #[serde(default, deserialize_with = "methods")]
    pub methods: Vec<Method>,
    /// The path begins with this, followed by its end or a slash.
    #[serde(default, deserialize_with = "some_path")]
    pub prefix: Option<String>,
    pub regex: Option<Pattern>,
    pub service: String,
    pub rewrite: Option<Rewrite>,
    #[serde(default)]
    pub request_headers: HeaderRules,
    #[serde(default)]
    pub response_headers: HeaderRules,
    pub rate_limit: Option<RateLimit>,
}

/// A regular expression; equal if the texts are equal.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "String")]
pub struct Pattern(pub Regex);

impl PartialEq for Pattern {
    fn eq(&self, other: &Pattern) -> bool {
        self.0.as_str() == other.0.as_str()
    }
}

impl TryFrom<String> for Pattern {
    type Error = String;

    fn try_from(text: String) -> Result<Pattern, String> {
        Regex::new(&text).map(Pattern).map_err(|error| {
            let why = error.to_string();
            let why = why.lines().last().unwrap_or_default();
            format!("'{text}' is not a regular expression: {why}")
        })
    }
}

/// How the path is rewritten for the upstream: the route's prefix is replaced by `prefix`, or the
/// first match of `regex` by `to`, in which `$1` is what the first group matched.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rewrite {
    #[serde(default, deserialize_with = "some_path")]
    pub prefix: Option<String>,
    pub regex: Option<Pattern>,
    #[serde(default, deserialize_with = "some_path")]
    pub to: Option<String>,
}

/// Changes to a message's headers: first removals, then replacements, then additions.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HeaderRules {
    #[serde(deserialize_with = "header_names")]
    pub remove: Vec<HeaderName>,
    #[serde(deserialize_with = "fields")]
    pub set: Vec<(HeaderName, HeaderValue)>,
    #[serde(deserialize_with = "fields")]
    pub add: Vec<(HeaderName, HeaderValue)>,
}

/// A token bucket for each key.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RateLimit {
    /// A number of requests, and the time in which they are allowed.
    #[serde(deserialize_with = "rate")]
    pub rate: (NonZero<u32>, Duration),
    /// Maximum requests in a burst; by default the number of requests in `rate`.
    pub burst: Option<NonZero<u32>>,
    #[serde(default)]
    pub key: Key,
}

/// What distinguishes requests: for a rate limit, or for the choice of a target by hash. The
/// client's address is used if a header or cookie is missing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum Key {
    All,
    #[default]
    Address,
    Header(HeaderName),
    Cookie(String),
}

impl TryFrom<String> for Key {
    type Error = String;

    fn try_from(text: String) -> Result<Key, String> {
        let (kind, name) = text.split_once(' ').unwrap_or((&text, ""));
        match (kind, name.trim()) {
            ("all", "") => Ok(Key::All),
            ("address", "") => Ok(Key::Address),
            ("header", name) => header_name(name).map(Key::Header),
            ("cookie", name) if !name.is_empty() => Ok(Key::Cookie(name.to_owned())),
            _ => Err(format!(
                "'{text}' is none of all, address, header NAME, cookie NAME"
            )),
        }
    }
}

/// How requests are sent to an upstream.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Service {
    pub upstream: String,
    /// Time limit for the response headers, over all attempts.
    #[serde(default = "seconds::<30>", deserialize_with = "duration")]
    pub response_timeout: Duration,
    /// Maximum time until the next piece of a response body.
    #[serde(default = "seconds::<60>", deserialize_with = "duration")]
    pub idle_timeout: Duration,
    #[serde(default)]
    pub retries: Retries,
    /// Maximum concurrent requests.
    #[serde(default = "number::<4096, _>")]
    pub max_requests: u32,
    /// Maximum requests that wait for one of these to end; further ones get 503.
    #[serde(default = "number::<1024, _>")]
    pub max_queue: u32,
    /// Maximum waiting time.
    #[serde(default = "seconds::<1>", deserialize_with = "duration")]
    pub queue_timeout: Duration,
    /// Whether the upstream gets the host that the client requested.
    #[serde(default = "yes")]
    pub preserve_host: bool,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Retries {
    /// Maximum number of retries.
    pub attempts: u32,
    /// Retries as a share of requests, over time.
    #[serde(rename = "budget", deserialize_with = "percent")]
    pub budget_percent: u32,
}

impl Default for Retries {
    fn default() -> Retries {
        Retries {
            attempts: 1,
            budget_percent: 20,
        }
    }
}

/// The servers behind the gateway, and how to select one.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Upstream {
    #[serde(default)]
    pub strategy: Strategy,
    /// The input of `hash`.
    pub hash_by: Option<Key>,
    #[serde(deserialize_with = "targets")]
    pub targets: Vec<Target>,
    #[serde(default, rename = "protocol")]
    pub wire: Wire,
    pub tls: Option<UpstreamTls>,
    #[serde(default = "seconds::<1>", deserialize_with = "duration")]
    pub connect_timeout: Duration,
    /// Maximum idle connections per worker and target.
    #[serde(default = "number::<1024, _>")]
    pub keep: usize,
    /// Idle connections are closed after this time.
    #[serde(default = "seconds::<60>", deserialize_with = "duration")]
    pub keep_timeout: Duration,
    /// HTTP/2 connections per worker and target.
    #[serde(default = "one")]
    pub connections: NonZero<u8>,
    #[serde(rename = "active_check")]
    pub active: Option<ActiveCheck>,
    #[serde(default, rename = "passive_check")]
    pub passive: PassiveCheck,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Strategy {
    /// In turn, by weight.
    #[default]
    #[serde(alias = "weighted")]
    RoundRobin,
    LeastConnections,
    /// The same key selects the same target while that target exists.
    Hash,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// `host:port`.
    #[serde(deserialize_with = "values::address")]
    pub address: String,
    #[serde(default = "one")]
    pub weight: NonZero<u16>,
}

/// The version of HTTP for the upstream.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Wire {
    #[default]
    H1,
    H2,
}

/// How the upstream's certificate is checked.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UpstreamTls {
    pub ca: PathBuf,
    /// The name in the certificate; by default the target's.
    #[serde(default, deserialize_with = "server_name")]
    pub name: Option<ServerName<'static>>,
    /// The configuration, which trusts `ca`.
    #[serde(skip)]
    pub config: Option<Arc<ClientConfig>>,
}

impl PartialEq for UpstreamTls {
    fn eq(&self, other: &UpstreamTls) -> bool {
        self.name == other.name && self.ca == other.ca
    }
}

/// The gateway's own requests that check whether a target is healthy.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ActiveCheck {
    #[serde(deserialize_with = "url_path")]
    pub path: String,
    #[serde(default = "seconds::<2>", deserialize_with = "duration")]
    pub interval: Duration,
    #[serde(default = "seconds::<1>", deserialize_with = "duration")]
    pub timeout: Duration,
    /// Consecutive successful responses that make a target healthy again.
    #[serde(default = "number::<2, _>")]
    pub healthy: u32,
    /// Consecutive failures that make it unhealthy.
    #[serde(default = "number::<3, _>")]
    pub unhealthy: u32,
}

/// Health information from clients' requests.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PassiveCheck {
    /// Consecutive failures (no connection, no response, or 502 to 504) after which a target is
    /// excluded; 0 for never.
    pub failures: u32,
    /// How long it is excluded.
    #[serde(deserialize_with = "duration")]
    pub leave_out: Duration,
}

impl Default for PassiveCheck {
    fn default() -> PassiveCheck {
        PassiveCheck {
            failures: 5,
            leave_out: Duration::from_secs(5),
        }
    }
}

#[cfg(test)]
mod tests;
