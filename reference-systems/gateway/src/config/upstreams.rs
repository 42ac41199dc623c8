//! Upstreams: the servers behind the gateway, and how to select one.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hyper::http::HeaderName;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, IntoDeserializer, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use tokio_rustls::rustls::ClientConfig;
use tokio_rustls::rustls::pki_types::ServerName;

use super::headers::header_name;
use super::values::{duration, list, number, or_not, path, seconds, text, within};

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Upstream {
    #[serde(skip)]
    pub name: String,
    #[serde(default)]
    pub strategy: Strategy,
    /// The input of `hash`.
    #[serde(default, deserialize_with = "hash_by")]
    pub hash_by: Option<HashBy>,
    #[serde(deserialize_with = "list")]
    pub targets: Vec<Target>,
    #[serde(default, rename = "protocol")]
    pub wire: Wire,
    pub tls: Option<Tls>,
    #[serde(default = "seconds::<1>", deserialize_with = "duration")]
    pub connect_timeout: Duration,
    /// Maximum idle connections per worker and target.
    #[serde(
        default = "number::<1024, _>",
        deserialize_with = "within::<0, 100_000, _, _>"
    )]
    pub keep: usize,
    /// Idle connections are closed after this time.
    #[serde(default = "seconds::<60>", deserialize_with = "duration")]
    pub keep_timeout: Duration,
    /// HTTP/2 connections per worker and target.
    #[serde(default = "number::<1, _>", deserialize_with = "within::<1, 64, _, _>")]
    pub connections: usize,
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
    RoundRobin,
    /// The same.
    Weighted,
    LeastConnections,
    /// The same key goes to the same target, as long as that exists.
    Hash,
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

impl<'de> Deserialize<'de> for Target {
    /// An address, or a mapping of an address and a weight.
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Target, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Weighted {
            #[serde(deserialize_with = "address")]
            address: String,
            #[serde(
                default = "number::<1, _>",
                deserialize_with = "within::<1, 1000, _, _>"
            )]
            weight: u32,
        }

        struct Either;

        impl<'de> Visitor<'de> for Either {
            type Value = Target;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("HOST:PORT, or {address: HOST:PORT, weight: NUMBER}")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Target, E> {
                let address = address(text.into_deserializer())?;
                Ok(Target { address, weight: 1 })
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Target, A::Error> {
                let Weighted { address, weight } =
                    Weighted::deserialize(MapAccessDeserializer::new(map))?;
                Ok(Target { address, weight })
            }
        }

        from.deserialize_any(Either)
    }
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
pub struct Tls {
    pub ca: PathBuf,
    /// The name in the certificate; by default the target's.
    #[serde(default, deserialize_with = "server_name")]
    pub name: Option<ServerName<'static>>,
    /// Trusts `ca`.
    #[serde(skip)]
    pub config: Option<Arc<ClientConfig>>,
}

impl PartialEq for Tls {
    fn eq(&self, other: &Tls) -> bool {
        self.name == other.name && self.ca == other.ca
    }
}

/// The gateway's own requests that check whether a target is healthy.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ActiveCheck {
    #[serde(deserialize_with = "path")]
    pub path: String,
    #[serde(default = "seconds::<2>", deserialize_with = "duration")]
    pub interval: Duration,
    #[serde(default = "seconds::<1>", deserialize_with = "duration")]
    pub timeout: Duration,
    /// Consecutive successful responses that make a target healthy again.
    #[serde(
        default = "number::<2, _>",
        deserialize_with = "within::<1, 100, _, _>"
    )]
    pub healthy: u32,
    /// Consecutive failures that make it unhealthy.
    #[serde(
        default = "number::<3, _>",
        deserialize_with = "within::<1, 100, _, _>"
    )]
    pub unhealthy: u32,
}

/// Health information from clients' requests.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PassiveCheck {
    /// Consecutive failures (no connection, no response, or 502 to 504) after which a target is
    /// excluded; 0 for never.
    #[serde(deserialize_with = "within::<0, 1000, _, _>")]
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

fn hash_by<'de, D: Deserializer<'de>>(from: D) -> Result<Option<HashBy>, D::Error> {
    text(from, |text| {
        match text.split_once(' ').map(|(kind, name)| (kind, name.trim())) {
            None if text == "address" => Ok(Some(HashBy::Address)),
            Some(("header", name)) => Ok(Some(HashBy::Header(header_name(name)?))),
            Some(("cookie", name)) if !name.is_empty() => Ok(Some(HashBy::Cookie(name.to_owned()))),
            _ => Err(format!(
                "'{text}' is none of address, header NAME, cookie NAME"
            )),
        }
    })
}

fn address<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    text(from, |text| {
        let port = text.rsplit_once(':').filter(|(host, _)| !host.is_empty());
        let port = port.and_then(|(_, port)| port.parse().ok());
        let address = port.filter(|port: &u16| *port > 0).map(|_| text.to_owned());
        let expected = "a host and a port, such as 127.0.0.1:9000 or orders.internal:80";
        or_not(address, text, expected)
    })
}

fn server_name<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<ServerName<'static>>, D::Error> {
    text(from, |text| {
        let name = ServerName::try_from(text.to_owned()).ok();
        or_not(name.map(Some), text, "a host's name")
    })
}
