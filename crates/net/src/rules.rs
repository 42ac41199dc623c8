use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Rules about which hosts and addresses are allowed, and about names that lead to other addresses
/// than the resolver's.
#[derive(Clone, Debug, Default)]
pub struct HostRules {
    /// `hosts`: used before the resolver. The most specific match wins: `name:port`, then `name`,
    /// then `*` patterns, longest first.
    overrides: Vec<(HostPattern, Option<u16>, Target)>,
    blocked: Vec<HostPattern>,
    blacklist: Vec<IpRange>,
    /// Counts lookups of names with several targets, across all clones of the rules.
    turns: Arc<AtomicUsize>,
}

/// A host name, or `*` and the end of one. Case is ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostPattern {
    text: String,
}

/// The target of an override: an address, and a port if given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    pub ip: IpAddr,
    pub port: Option<u16>,
}

/// A contiguous range of addresses of one family.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IpRange {
    first: u128,
    last: u128,
    v6: bool,
    text: String,
}

impl HostRules {
    /// Adds one entry of `hosts`: `name`, `name:port`, `*.name` or
    /// `*.name:port` leads to `ip` or `ip:port`. A key that is given several
    /// times uses its targets in turn.
    ///
    /// # Errors
    /// When the key is not a host pattern or the target not an address.
    pub fn add_override(&mut self, key: &str, target: &str) -> Result<(), String> {
        let (pattern, port) = match key.rsplit_once(':') {
            // With more than one colon it is an IPv6 address without a port.
            Some((name, port)) if !name.contains(':') || name.ends_with(']') => {
                let port = port
                    .parse()
                    .map_err(|_| format!("hosts: `{key}` has no port after its colon"))?;
                (name, Some(port))
            }
            _ => (key, None),
        };
        // An IPv6 address with a port is written in brackets.
        let pattern = pattern
            .strip_prefix('[')
            .and_then(|pattern| pattern.strip_suffix(']'))
            .unwrap_or(pattern);
        let pattern = HostPattern::parse(pattern)?;
        let target = Target::parse(target).ok_or_else(|| {
            format!("hosts: `{key}` leads to `{target}`, which is not an IP or IP:port")
        })?;
        self.overrides.push((pattern, port, target));
        Ok(())
    }

    /// Adds one pattern of `blockHostnames`.
    ///
    /// # Errors
    /// When the text is not a host pattern.
    pub fn block_host(&mut self, pattern: &str) -> Result<(), String> {
        self.blocked.push(HostPattern::parse(pattern)?);
        Ok(())
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
            .max_by_key(|pattern| pattern.text.len())
    }

    /// The range that blocks `ip`, if any.
    pub fn blacklisting(&self, ip: IpAddr) -> Option<&IpRange> {
        self.blacklist.iter().find(|range| range.contains(ip))
    }

    /// The target of `host:port` in `hosts`. If there are several, the next one in turn.
    pub fn lookup(&self, host: &str, port: u16) -> Option<Target> {
        let fitting = || {
            let overrides = self.overrides.iter();
            overrides
                .filter(|(pattern, at, _)| at.is_none_or(|at| at == port) && pattern.matches(host))
        };
        let rank = |(pattern, at, _): &(HostPattern, Option<u16>, Target)| {
            (at.is_some(), !pattern.is_wild(), pattern.text.len())
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

impl HostPattern {
    /// # Errors
    /// When a `*` is not the first character, or the name is empty.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim().to_ascii_lowercase();
        let rest = text.strip_prefix('*').unwrap_or(&text);
        if text.is_empty() || rest.contains('*') {
            return Err(format!(
                "invalid hostname pattern `{text}`: give a name, or one `*` and the end of a name"
            ));
        }
        Ok(HostPattern { text })
    }

    fn is_wild(&self) -> bool {
        self.text.starts_with('*')
    }

    /// Whether `host` is the name, or ends like the pattern.
    pub fn matches(&self, host: &str) -> bool {
        let host = host.as_bytes();
        match self.text.strip_prefix('*') {
            None => host.eq_ignore_ascii_case(self.text.as_bytes()),
            Some(end) => host
                .len()
                .checked_sub(end.len())
                .and_then(|at| host.get(at..))
                .is_some_and(|tail| tail.eq_ignore_ascii_case(end.as_bytes())),
        }
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Target {
    fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if let Ok(address) = text.parse::<std::net::SocketAddr>() {
            return Some(Target {
                ip: address.ip(),
                port: Some(address.port()),
            });
        }
        let bare = text
            .strip_prefix('[')
            .and_then(|t| t.strip_suffix(']'))
            .unwrap_or(text);
        bare.parse().ok().map(|ip| Target { ip, port: None })
    }
}

impl IpRange {
    /// Parses `10.0.0.0/8`, `10.0.0.1-10.0.0.9` or one address.
    ///
    /// # Errors
    /// When it is none of these, or the range is reversed or mixes families.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let wrong = || format!("`{text}` is not an IP, a range IP-IP or a CIDR such as 10.0.0.0/8");
        let (first, last, v6) = if let Some((network, bits)) = text.split_once('/') {
            let network: IpAddr = network.parse().map_err(|_| wrong())?;
            let bits: u32 = bits.parse().map_err(|_| wrong())?;
            let width = if network.is_ipv6() { 128 } else { 32 };
            let host_bits = width - Some(bits).filter(|&b| b <= width).ok_or_else(wrong)?;
            let host_mask = 1u128
                .checked_shl(host_bits)
                .map_or(u128::MAX, |top| top - 1);
            let first = number(network) & !host_mask;
            (first, first | host_mask, network.is_ipv6())
        } else if let Some((from, to)) = text.split_once('-') {
            let from: IpAddr = from.trim().parse().map_err(|_| wrong())?;
            let to: IpAddr = to.trim().parse().map_err(|_| wrong())?;
            if from.is_ipv6() != to.is_ipv6() || number(from) > number(to) {
                return Err(wrong());
            }
            (number(from), number(to), from.is_ipv6())
        } else {
            let ip: IpAddr = text.parse().map_err(|_| wrong())?;
            (number(ip), number(ip), ip.is_ipv6())
        };
        Ok(IpRange {
            first,
            last,
            v6,
            text: text.to_owned(),
        })
    }

    /// Whether `ip` is in the range. An IPv4 address that is mapped into IPv6 counts as that IPv4
    /// address.
    pub fn contains(&self, ip: IpAddr) -> bool {
        let ip = ip.to_canonical();
        ip.is_ipv6() == self.v6 && (self.first..=self.last).contains(&number(ip))
    }

    /// How many addresses the range has; saturates.
    pub fn len(&self) -> u128 {
        (self.last - self.first).saturating_add(1)
    }

    /// Always false: a range has at least one address.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The address at `index`, counted from 0 and wrapped to the length of the range.
    pub fn nth(&self, index: u128) -> IpAddr {
        let at = (self.first + index % self.len()).min(self.last);
        if self.v6 {
            Ipv6Addr::from(at).into()
        } else {
            Ipv4Addr::from(at as u32).into()
        }
    }
}

impl fmt::Display for IpRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn number(ip: IpAddr) -> u128 {
    match ip {
        IpAddr::V4(ip) => u32::from(ip).into(),
        IpAddr::V6(ip) => u128::from(ip),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn the_most_specific_override_wins() {
        let mut rules = HostRules::default();
        rules.add_override("*.example.com", "10.0.0.1").unwrap();
        rules.add_override("api.example.com", "10.0.0.2").unwrap();
        rules
            .add_override("api.example.com:443", "10.0.0.3:8443")
            .unwrap();
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
    fn several_places_take_turns_among_all_who_share_the_rules() {
        let mut rules = HostRules::default();
        for port in 1..=3 {
            rules
                .add_override("a.test:80", &format!("127.0.0.1:{port}"))
                .unwrap();
        }
        rules.add_override("a.test", "127.0.0.9").unwrap();
        rules.add_override("[::1]:80", "127.0.0.8").unwrap();
        let other = rules.clone();
        let taken: Vec<_> = [&rules, &other, &rules, &other]
            .map(|rules| rules.lookup("a.test", 80).unwrap().port)
            .into();
        assert_eq!(taken, [Some(1), Some(2), Some(3), Some(1)]);
        assert_eq!(rules.lookup("a.test", 81).unwrap().ip, ip("127.0.0.9"));
        assert_eq!(rules.lookup("::1", 80).unwrap().ip, ip("127.0.0.8"));
    }

    #[test]
    fn bad_overrides_say_what_is_wrong() {
        let mut rules = HostRules::default();
        assert!(
            rules
                .add_override("a.b", "nowhere")
                .unwrap_err()
                .contains("a.b")
        );
        assert!(rules.add_override("a.*.b", "1.2.3.4").is_err());
        assert!(rules.add_override("a:x", "1.2.3.4").is_err());
    }

    #[test]
    fn blocked_hosts_match_without_regard_to_case() {
        let mut rules = HostRules::default();
        rules.block_host("*.k6.io").unwrap();
        assert!(rules.blocking("TEST.K6.IO").is_some());
        assert!(rules.blocking("k6.io").is_none());
    }

    #[test]
    fn ranges_contain_what_they_say() {
        let range = IpRange::parse("10.1.0.0/16").unwrap();
        assert!(range.contains(ip("10.1.255.255")));
        assert!(range.contains(ip("::ffff:10.1.2.3")));
        assert!(!range.contains(ip("10.2.0.0")));
        assert!(!range.contains(ip("::1")));
        let all = IpRange::parse("0.0.0.0/0").unwrap();
        assert!(all.contains(ip("255.1.2.3")));
        let v6 = IpRange::parse("::/0").unwrap();
        assert!(v6.contains(ip("ffff::1")));
        let pool = IpRange::parse("127.0.0.2-127.0.0.4").unwrap();
        assert_eq!(pool.len(), 3);
        assert_eq!(pool.nth(4), ip("127.0.0.3"));
        for bad in ["", "x", "1.2.3.4/33", "1.2.3.9-1.2.3.1", "1.2.3.4-::1"] {
            assert!(IpRange::parse(bad).is_err(), "{bad}");
        }
    }
}
