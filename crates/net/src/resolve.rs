//! Looks up host names, and caches and selects their addresses.

use std::cell::RefCell;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use plimsoll_address::{DnsPolicy, DnsSelect};
use plimsoll_units::Moment;
use rustc_hash::FxHashMap;

use crate::dns_message::Family;
use crate::error::Error;
use crate::name_server::NameServers;

/// Settings for name lookups.
#[derive(Clone, Copy, Debug)]
pub struct DnsSettings {
    /// How long to cache a response. Zero looks the name up each time; `Duration::MAX` never expires.
    pub ttl: Duration,
    pub select: DnsSelect,
    pub policy: DnsPolicy,
}

impl Default for DnsSettings {
    fn default() -> Self {
        DnsSettings {
            ttl: Duration::from_secs(300),
            select: DnsSelect::default(),
            policy: DnsPolicy::default(),
        }
    }
}

/// The system's resolver or the given name servers, with a cache. Each worker has its own.
#[derive(Debug)]
pub(crate) struct Resolver {
    settings: DnsSettings,
    /// `None` uses the system's resolver.
    servers: Option<NameServers>,
    cache: RefCell<FxHashMap<Box<str>, Answer>>,
    seed: std::cell::Cell<u64>,
}

#[derive(Debug)]
struct Answer {
    addresses: Vec<IpAddr>,
    expires: Moment,
    turn: usize,
}

impl Resolver {
    pub(crate) fn new(settings: DnsSettings, servers: &[SocketAddr]) -> Self {
        Resolver {
            settings,
            servers: NameServers::new(servers),
            cache: RefCell::default(),
            seed: std::cell::Cell::new(plimsoll_clock::now().as_nanos() | 1),
        }
    }

    /// Looks up one address of `host`, which must not be an address literal.
    pub(crate) async fn resolve(&self, host: &str) -> Result<IpAddr, Error> {
        if let Some(ip) = self.cached(host) {
            return Ok(ip);
        }
        let started = plimsoll_clock::now();
        let addresses = match self.query(host).await {
            Ok(found) => self.admit(found.into_iter()),
            Err(source) if is_unknown_host(&source) => Vec::new(),
            Err(source) => {
                return Err(Error::Lookup {
                    host: host.to_owned(),
                    source,
                });
            }
        };
        if addresses.is_empty() {
            return Err(Error::NoSuchHost {
                host: host.to_owned(),
            });
        }
        let mut answer = Answer {
            addresses,
            expires: started + self.settings.ttl,
            turn: 0,
        };
        let ip = self.choose(&mut answer);
        if !self.settings.ttl.is_zero() {
            self.cache.borrow_mut().insert(host.into(), answer);
        }
        ip.ok_or_else(|| Error::NoSuchHost {
            host: host.to_owned(),
        })
    }

    async fn query(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        let Some(servers) = &self.servers else {
            let found = tokio::net::lookup_host((host, 0)).await?;
            return Ok(found.map(|address| address.ip().to_canonical()).collect());
        };
        let families: &[Family] = match self.settings.policy {
            DnsPolicy::OnlyIpv4 => &[Family::V4],
            DnsPolicy::OnlyIpv6 => &[Family::V6],
            DnsPolicy::PreferIpv4 | DnsPolicy::PreferIpv6 | DnsPolicy::Any => {
                &[Family::V4, Family::V6]
            }
        };
        servers.look_up(host, families, self.random() as u16).await
    }

    fn cached(&self, host: &str) -> Option<IpAddr> {
        let mut cache = self.cache.borrow_mut();
        let answer = cache.get_mut(host)?;
        if plimsoll_clock::now() >= answer.expires {
            cache.remove(host);
            return None;
        }
        self.choose(answer)
    }

    /// Keeps the addresses that the policy allows, without duplicates and in their order.
    fn admit(&self, found: impl Iterator<Item = IpAddr>) -> Vec<IpAddr> {
        let mut all: Vec<IpAddr> = Vec::new();
        for ip in found {
            if !all.contains(&ip) {
                all.push(ip);
            }
        }
        let has = |v6: bool| all.iter().any(|ip| ip.is_ipv6() == v6);
        let only = match self.settings.policy {
            DnsPolicy::Any => None,
            DnsPolicy::OnlyIpv4 => Some(false),
            DnsPolicy::OnlyIpv6 => Some(true),
            DnsPolicy::PreferIpv4 => Some(!has(false)),
            DnsPolicy::PreferIpv6 => Some(has(true)),
        };
        if let Some(v6) = only {
            all.retain(|ip| ip.is_ipv6() == v6);
        }
        all
    }

    fn choose(&self, answer: &mut Answer) -> Option<IpAddr> {
        let count = answer.addresses.len();
        let index = match self.settings.select {
            DnsSelect::First => 0,
            DnsSelect::RoundRobin => {
                let turn = answer.turn;
                answer.turn = turn.wrapping_add(1);
                turn % count.max(1)
            }
            DnsSelect::Random => self.random() as usize % count.max(1),
        };
        answer.addresses.get(index).copied()
    }

    /// Marsaglia's xorshift64: random enough to spread connections over addresses.
    fn random(&self) -> u64 {
        let mut x = self.seed.get();
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        self.seed.set(x);
        x
    }
}

/// `getaddrinfo` reports "no such name" as an error without an OS code.
fn is_unknown_host(error: &io::Error) -> bool {
    let text = error.to_string();
    text.contains("not known")
        || text.contains("No address associated")
        || text.contains("nodename nor servname")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolver(select: DnsSelect, policy: DnsPolicy) -> Resolver {
        Resolver::new(
            DnsSettings {
                select,
                policy,
                ..DnsSettings::default()
            },
            &[],
        )
    }

    fn ips(texts: &[&str]) -> Vec<IpAddr> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn policies_allow_only_their_address_families() {
        let both = ["::1", "127.0.0.1", "127.0.0.1"];
        let admitted = |policy, found: &[&str]| {
            resolver(DnsSelect::First, policy).admit(ips(found).into_iter())
        };
        assert_eq!(admitted(DnsPolicy::PreferIpv4, &both), ips(&["127.0.0.1"]));
        assert_eq!(admitted(DnsPolicy::PreferIpv4, &["::1"]), ips(&["::1"]));
        assert_eq!(admitted(DnsPolicy::PreferIpv6, &both), ips(&["::1"]));
        assert_eq!(
            admitted(DnsPolicy::PreferIpv6, &["127.0.0.1"]),
            ips(&["127.0.0.1"])
        );
        assert_eq!(admitted(DnsPolicy::OnlyIpv6, &["127.0.0.1"]), ips(&[]));
        assert_eq!(admitted(DnsPolicy::Any, &both), ips(&["::1", "127.0.0.1"]));
    }

    #[test]
    fn round_robin_rotates_and_first_does_not() {
        let mut answer = Answer {
            addresses: ips(&["127.0.0.1", "127.0.0.2"]),
            expires: Moment::ZERO,
            turn: 0,
        };
        let turns = resolver(DnsSelect::RoundRobin, DnsPolicy::Any);
        let taken: Vec<_> = (0..3).map(|_| turns.choose(&mut answer).unwrap()).collect();
        assert_eq!(taken, ips(&["127.0.0.1", "127.0.0.2", "127.0.0.1"]));
        let first = resolver(DnsSelect::First, DnsPolicy::Any);
        assert_eq!(first.choose(&mut answer), Some(ips(&["127.0.0.1"])[0]));
        let random = resolver(DnsSelect::Random, DnsPolicy::Any);
        let drawn: std::collections::BTreeSet<_> =
            (0..64).filter_map(|_| random.choose(&mut answer)).collect();
        assert_eq!(drawn.len(), 2);
    }
}
