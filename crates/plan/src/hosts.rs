//! Names and addresses: `hosts`, `blockHostnames`, `blacklistIPs`,
//! `--local-ips`.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::collections::BTreeMap;
use std::fmt;

use crate::error::{Fault, excerpt};

/// The `hosts` option: addresses for names, with or without a port. Keys are in lower case, with an
/// optional leading `*` and an optional `:port`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hosts(pub BTreeMap<String, HostAddress>);

/// The address for a name in `hosts`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostAddress {
    /// The address itself.
    pub ip: IpAddr,
    /// `None` keeps the requested port.
    pub port: Option<u16>,
}

impl HostAddress {
    /// Parses `1.2.3.4`, `1.2.3.4:443`, `::1` or `[::1]:443`.
    ///
    /// # Errors
    /// When it is none of these.
    pub fn parse(text: &str) -> Result<HostAddress, Fault> {
        if let Ok(ip) = text.parse::<IpAddr>() {
            return Ok(HostAddress { ip, port: None });
        }
        if let Ok(socket) = text.parse::<core::net::SocketAddr>() {
            return Ok(HostAddress {
                ip: socket.ip(),
                port: Some(socket.port()),
            });
        }
        Err(Fault::at(
            "",
            format!(
                "\"{}\" is not an IP address with an optional port: write \"1.2.3.4\", \"1.2.3.4:443\" or \"[::1]:443\"",
                excerpt(text)
            ),
        ))
    }
}

impl fmt::Display for HostAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.ip, self.port) {
            (ip, None) => write!(f, "{ip}"),
            (ip, Some(port)) => write!(f, "{}", core::net::SocketAddr::new(ip, port)),
        }
    }
}

/// A host name with an optional leading `*`, as in `blockHostnames`. Kept as written; matching
/// ignores case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostPattern(String);

impl HostPattern {
    /// Parses `host.example` or `*.example`.
    ///
    /// # Errors
    /// When a character is not allowed in host names, or `*` is not
    /// at the start.
    pub fn parse(text: &str) -> Result<HostPattern, Fault> {
        let name = text.strip_prefix('*').unwrap_or(text);
        if text == "*" || is_host_name(name) {
            return Ok(HostPattern(text.to_owned()));
        }
        Err(Fault::at(
            "",
            format!(
                "\"{}\" is not a host name pattern: write a name such as \"test.example\", or \"*.example\" with one star in front",
                excerpt(text)
            ),
        ))
    }

    /// The pattern as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn is_host_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 255
        && name
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '-' | '.' | '_'))
}

/// Parses a key of `hosts`: a host pattern with an optional `:port`, converted
/// to lower case.
///
/// # Errors
/// When the pattern or the port is invalid.
pub fn parse_hosts_key(text: &str) -> Result<String, Fault> {
    let (name, port) = match text.rsplit_once(':') {
        Some((name, port)) => (name, Some(port)),
        None => (text, None),
    };
    HostPattern::parse(name)?;
    if let Some(port) = port
        && !port.parse::<u16>().is_ok_and(|p| p > 0)
    {
        return Err(Fault::at(
            "",
            format!(
                "\"{}\" names no port: write \"host:443\" with a port from 1 to 65535",
                excerpt(text)
            ),
        ));
    }
    Ok(text.to_lowercase())
}

/// A block of addresses in CIDR notation; the host bits are cleared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IpNetwork {
    /// The first address of the block.
    pub address: IpAddr,
    /// Number of leading bits that all its addresses share.
    pub prefix: u8,
}

impl IpNetwork {
    /// Parses `10.0.0.0/8` or `fd00::/8`.
    ///
    /// # Errors
    /// When it is not CIDR notation.
    pub fn parse(text: &str) -> Result<IpNetwork, Fault> {
        let fault = || {
            Fault::at(
                "",
                format!(
                    "\"{}\" is not a block of addresses: write it like \"10.0.0.0/8\" or \"fd00::/8\"",
                    excerpt(text)
                ),
            )
        };
        let (address, prefix) = text.split_once('/').ok_or_else(fault)?;
        let address: IpAddr = address.parse().map_err(|_| fault())?;
        if prefix.is_empty() || !prefix.bytes().all(|b| b.is_ascii_digit()) {
            return Err(fault());
        }
        let prefix: u8 = prefix.parse().map_err(|_| fault())?;
        if prefix > width(address) {
            return Err(fault());
        }
        let host_bits = u32::from(width(address) - prefix);
        let number = number(address).checked_shr(host_bits).unwrap_or(0);
        let number = number.checked_shl(host_bits).unwrap_or(0);
        Ok(IpNetwork {
            address: address_of(number, address.is_ipv4()),
            prefix,
        })
    }

    /// Whether `address` is in the block. An IPv4 address in its IPv6-mapped form counts as that
    /// IPv4 address.
    pub fn contains(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        if address.is_ipv4() != self.address.is_ipv4() {
            return false;
        }
        let host_bits = u32::from(width(address) - self.prefix);
        let differing = number(address) ^ number(self.address);
        differing.checked_shr(host_bits).unwrap_or(0) == 0
    }
}

impl fmt::Display for IpNetwork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.prefix)
    }
}

/// The local addresses that users connect from: `--local-ips`. User n uses address (n − 1) mod the
/// size of the pool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IpPool {
    written: String,
    /// First and last address of each range, as numbers, with the address family.
    ranges: Vec<Range>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Range {
    first: u128,
    last: u128,
    ipv4: bool,
}

impl IpPool {
    /// Parses addresses, `first-last` ranges and CIDR blocks, separated by
    /// commas. A block excludes its network and broadcast addresses.
    ///
    /// # Errors
    /// When a part is none of these or a range is reversed.
    pub fn parse(text: &str) -> Result<IpPool, Fault> {
        let ranges = text
            .split(',')
            .map(|part| Range::parse(part.trim()))
            .collect::<Result<_, _>>()?;
        Ok(IpPool {
            written: text.to_owned(),
            ranges,
        })
    }

    /// Number of addresses; saturates at `u128::MAX`.
    pub fn size(&self) -> u128 {
        self.ranges
            .iter()
            .fold(0u128, |sum, range| sum.saturating_add(range.size()))
    }

    /// The address of a user; users are counted from 1.
    pub fn of_user(&self, user: u64) -> Option<IpAddr> {
        let size = self.size();
        if size == 0 {
            return None;
        }
        let mut index = u128::from(user.saturating_sub(1)) % size;
        for range in &self.ranges {
            if index < range.size() {
                return Some(address_of(range.first + index, range.ipv4));
            }
            index -= range.size();
        }
        None
    }

    /// The text as written.
    pub fn as_str(&self) -> &str {
        &self.written
    }
}

impl Range {
    fn parse(text: &str) -> Result<Range, Fault> {
        let fault = |what: &str| {
            Fault::at(
                "",
                format!(
                    "\"{}\" {what}: write an address, a range \"192.168.0.10-192.168.0.25\" or a block \"fd:1::0/120\"",
                    excerpt(text)
                ),
            )
        };
        if text.contains('/') {
            let block = IpNetwork::parse(text).map_err(|_| fault("is not a block of addresses"))?;
            return Ok(Range::of_block(block));
        }
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let read = |part: &str| {
            part.trim()
                .parse::<IpAddr>()
                .map_err(|_| fault("is not an IP address"))
        };
        let (first, last) = (read(first)?, read(last)?);
        if first.is_ipv4() != last.is_ipv4() {
            return Err(fault("mixes IPv4 and IPv6"));
        }
        if number(first) > number(last) {
            return Err(fault("is a range that runs backwards"));
        }
        Ok(Range {
            first: number(first),
            last: number(last),
            ipv4: first.is_ipv4(),
        })
    }

    /// The addresses of a block. If it has more than two, network and broadcast address are
    /// excluded.
    fn of_block(block: IpNetwork) -> Range {
        let host_bits = u32::from(width(block.address) - block.prefix);
        let span = 1u128
            .checked_shl(host_bits)
            .map_or(u128::MAX, |size| size - 1);
        let first = number(block.address);
        let last = first.saturating_add(span);
        let inner = u128::from(span > 1);
        Range {
            first: first + inner,
            last: last - inner,
            ipv4: block.address.is_ipv4(),
        }
    }

    fn size(self) -> u128 {
        (self.last - self.first).saturating_add(1)
    }
}

fn width(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

fn number(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(v4) => u128::from(u32::from(v4)),
        IpAddr::V6(v6) => u128::from(v6),
    }
}

fn address_of(number: u128, ipv4: bool) -> IpAddr {
    if ipv4 {
        // Numbers of the IPv4 family never exceed 32 bits.
        IpAddr::V4(Ipv4Addr::from(number as u32))
    } else {
        IpAddr::V6(Ipv6Addr::from(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn hosts_lead_to_addresses_with_and_without_port() {
        for text in ["1.2.3.4", "1.2.3.4:443", "::1", "[::1]:443"] {
            assert_eq!(HostAddress::parse(text).unwrap().to_string(), text);
        }
        for text in [
            "",
            "x",
            "1.2.3",
            "1.2.3.4:",
            "1.2.3.4:99999",
            "::1:x",
            "host:80",
        ] {
            assert!(HostAddress::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn keys_are_lower_case_patterns_with_an_optional_port() {
        assert_eq!(parse_hosts_key("*.A.com:80").unwrap(), "*.a.com:80");
        assert_eq!(parse_hosts_key("Test").unwrap(), "test");
        for text in ["", ":80", "a:", "a:0", "a:x", "a:65536", "a*", "a b"] {
            assert!(parse_hosts_key(text).is_err(), "{text}");
        }
    }

    #[test]
    fn patterns_have_one_star_in_front() {
        for text in [
            "*",
            "*.k6.io",
            "foo.com",
            "FOO_1-x",
            "*foo",
            "bücher.example",
        ] {
            assert_eq!(HostPattern::parse(text).unwrap().as_str(), text);
        }
        for text in ["", "a*b", "*.*.com", "f oo", "a/b", "**"] {
            assert!(HostPattern::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn blocks_clear_their_host_bits_and_contain_their_addresses() {
        let block = IpNetwork::parse("10.1.2.3/8").unwrap();
        assert_eq!(block.to_string(), "10.0.0.0/8");
        assert!(block.contains(ip("10.255.0.1")) && block.contains(ip("::ffff:10.0.0.1")));
        assert!(!block.contains(ip("11.0.0.1")) && !block.contains(ip("::a00:1")));
        let all = IpNetwork::parse("0.0.0.0/0").unwrap();
        assert!(all.contains(ip("255.255.255.255")) && !all.contains(ip("::1")));
        let one = IpNetwork::parse("fd00::1/128").unwrap();
        assert!(one.contains(ip("fd00::1")) && !one.contains(ip("fd00::2")));
        assert!(IpNetwork::parse("::/0").unwrap().contains(ip("fd00::2")));
        for text in [
            "10.0.0.1",
            "x/8",
            "10.0.0.0/33",
            "::/129",
            "10.0.0.0/",
            "10.0.0.0/+8",
            "10.0.0.0/-1",
        ] {
            assert!(IpNetwork::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn users_take_local_addresses_in_turn() {
        let pool = IpPool::parse("192.168.0.10-192.168.0.12, 10.0.0.1,10.1.0.0/30").unwrap();
        assert_eq!(pool.size(), 6);
        let taken: Vec<_> = (1..=8)
            .map(|user| pool.of_user(user).unwrap().to_string())
            .collect();
        assert_eq!(
            taken,
            [
                "192.168.0.10",
                "192.168.0.11",
                "192.168.0.12",
                "10.0.0.1",
                "10.1.0.1",
                "10.1.0.2",
                "192.168.0.10",
                "192.168.0.11",
            ]
        );
        assert_eq!(IpPool::parse("::/0").unwrap().of_user(1), Some(ip("::1")));
        assert_eq!(IpPool::parse("10.0.0.0/31").unwrap().size(), 2);
        assert_eq!(
            IpPool::parse("10.0.0.7/32").unwrap().of_user(9),
            Some(ip("10.0.0.7"))
        );
        assert_eq!(IpPool::default().of_user(1), None);
        for text in [
            "",
            "x",
            "10.0.0.2-10.0.0.1",
            "10.0.0.1-::1",
            "10.0.0.1-",
            "10.0.0.0/33",
            "1.1.1.1,",
        ] {
            assert!(IpPool::parse(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_answered(text in "[0-9a-f.:/*, -]{0,30}") {
            let _ = HostAddress::parse(&text);
            let _ = HostPattern::parse(&text);
            let _ = parse_hosts_key(&text);
            let _ = IpNetwork::parse(&text);
            if let Ok(pool) = IpPool::parse(&text) {
                prop_assert!(pool.of_user(u64::MAX).is_some());
            }
        }
    }
}
