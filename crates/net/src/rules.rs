use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use plimsoll_address::{HostAddress, HostPattern, IpRange};

/// Rules for which hosts and addresses are allowed, and for names that map to other addresses than
/// the resolver returns.
#[derive(Clone, Debug, Default)]
pub struct HostRules {
    /// `hosts`: applied before the resolver. The most specific match wins: `name:port`, then `name`,
    /// then `*` patterns, longest first.
    overrides: Vec<(HostPattern, Option<u16>, HostAddress)>,
    blocked: Vec<HostPattern>,
    blacklist: Vec<IpRange>,
    /// Counts lookups of names with several targets. All clones of the rules share the counter.
    turns: Arc<AtomicUsize>,
}

/// The only hosts to which this process may connect; unset if all are allowed.
static ALLOWED: OnceLock<Vec<HostPattern>> = OnceLock::new();

/// Restricts the connections of this process for its whole lifetime, regardless of scripts and
/// options. Only the first call has an effect.
pub fn allow_only(hosts: Vec<HostPattern>) {
    let _ = ALLOWED.set(hosts);
}

/// Whether this process may connect to a host: a name, or an address.
pub(crate) fn is_allowed(host: &str) -> bool {
    let allowed = ALLOWED.get();
    allowed.is_none_or(|allowed| allowed.iter().any(|pattern| pattern.matches(host)))
}

impl HostRules {
    /// Adds one entry of `hosts`: hosts that match `pattern`, at `port` if given, map to `address`. An
    /// entry that is given several times maps to its addresses round-robin.
    pub fn add_override(&mut self, pattern: HostPattern, port: Option<u16>, address: HostAddress) {
        self.overrides.push((pattern, port, address));
    }

    /// Adds one pattern of `blockHostnames`.
    pub fn block_host(&mut self, pattern: HostPattern) {
        self.blocked.push(pattern);
    }

    /// Adds one range of `blacklistIPs`.
    pub fn blacklist(&mut self, range: IpRange) {
        self.blacklist.push(range);
    }

    /// The pattern that blocks `host`, if any. The longest match wins.
    pub fn blocking(&self, host: &str) -> Option<&HostPattern> {
        self.blocked
            .iter()
            .filter(|pattern| pattern.matches(host))
            .max_by_key(|pattern| pattern.as_str().len())
    }

    /// The range that blocks `ip`, if any.
    pub fn blacklisting(&self, ip: IpAddr) -> Option<&IpRange> {
        self.blacklist.iter().find(|range| range.contains(ip))
    }

    /// The target of `host:port` in `hosts`. If the entry has several targets, they are used
    /// round-robin.
    pub fn lookup(&self, host: &str, port: u16) -> Option<HostAddress> {
        let fitting = || {
            let overrides = self.overrides.iter();
            overrides
                .filter(|(pattern, at, _)| at.is_none_or(|at| at == port) && pattern.matches(host))
        };
        let rank = |(pattern, at, _): &(HostPattern, Option<u16>, HostAddress)| {
            (at.is_some(), !pattern.is_wildcard(), pattern.as_str().len())
        };
        // Matches of the same rank have the same key.
        let best = fitting().map(rank).max()?;
        let mut places = fitting().filter(|rule| rank(rule) == best);
        let turn = match places.clone().count() {
            0 | 1 => 0,
            count => self.turns.fetch_add(1, Ordering::Relaxed) % count,
        };
        places.nth(turn).map(|(_, _, target)| *target)
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_address::HostKey;

    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn rules(entries: &[(&str, &str)]) -> HostRules {
        let mut rules = HostRules::default();
        for (key, address) in entries {
            let key = HostKey::parse(key).unwrap();
            let address = HostAddress::parse(address).unwrap();
            rules.add_override(key.pattern(), key.port(), address);
        }
        rules
    }

    #[test]
    fn the_most_specific_override_wins() {
        let rules = rules(&[
            ("*.example.com", "10.0.0.1"),
            ("api.example.com", "10.0.0.2"),
            ("api.example.com:443", "10.0.0.3:8443"),
        ]);
        let at = |host, port| rules.lookup(host, port).map(|t| (t.ip, t.port));
        assert_eq!(at("www.example.com", 80), Some((ip("10.0.0.1"), None)));
        assert_eq!(at("API.example.com", 80), Some((ip("10.0.0.2"), None)));
        assert_eq!(
            at("api.example.com", 443),
            Some((ip("10.0.0.3"), Some(8443)))
        );
        assert_eq!(at("example.com", 80), None);
    }

    #[test]
    fn several_addresses_are_used_round_robin_by_all_users() {
        let mut rules = rules(&[
            ("a.test:80", "127.0.0.1:1"),
            ("a.test:80", "127.0.0.1:2"),
            ("a.test:80", "127.0.0.1:3"),
            ("a.test", "127.0.0.9"),
        ]);
        let address = HostAddress::parse("127.0.0.8").unwrap();
        rules.add_override(ip("::1").into(), Some(80), address);
        let other = rules.clone();
        let taken: Vec<_> = [&rules, &other, &rules, &other]
            .map(|rules| rules.lookup("a.test", 80).unwrap().port)
            .into();
        assert_eq!(taken, [Some(1), Some(2), Some(3), Some(1)]);
        assert_eq!(rules.lookup("a.test", 81).unwrap().ip, ip("127.0.0.9"));
        assert_eq!(rules.lookup("::1", 80).unwrap().ip, ip("127.0.0.8"));
    }

    #[test]
    fn blocked_hosts_match_case_insensitively() {
        let mut rules = HostRules::default();
        rules.block_host(HostPattern::parse("*.k6.io").unwrap());
        assert!(rules.blocking("TEST.K6.IO").is_some());
        assert!(rules.blocking("k6.io").is_none());
    }
}
