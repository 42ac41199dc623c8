use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use plimsoll_units::excerpt;

use crate::ParseError;

/// A contiguous range of IP addresses of one family.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IpRange {
    first: u128,
    last: u128,
    ipv4: bool,
    text: String,
}

impl IpRange {
    /// Parses `10.0.0.0/8`, `10.0.0.1-10.0.0.9` or a single address.
    ///
    /// # Errors
    /// Returns an error for anything else, for a reversed range, or for a range that mixes families.
    pub fn parse(text: &str) -> Result<IpRange, ParseError> {
        let text = text.trim();
        let fault = |what: &str| {
            ParseError(format!(
                "\"{}\" {what}: write an address, a range \"192.168.0.10-192.168.0.25\" or a block \"fd:1::0/120\"",
                excerpt(text)
            ))
        };
        if text.contains('/') {
            return IpRange::parse_block(text).map_err(|_| fault("is not a block of addresses"));
        }
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let read = |part: &str| {
            let part = part.trim().parse::<IpAddr>();
            part.map_err(|_| fault("is not an IP address"))
        };
        let (first, last) = (read(first)?, read(last)?);
        if first.is_ipv4() != last.is_ipv4() {
            return Err(fault("mixes IPv4 and IPv6"));
        }
        if number(first) > number(last) {
            return Err(fault("is a range whose end is before its start"));
        }
        Ok(IpRange {
            first: number(first),
            last: number(last),
            ipv4: first.is_ipv4(),
            text: text.to_owned(),
        })
    }

    /// Parses a block in CIDR notation: `10.0.0.0/8` or `fd00::/8`. Host bits are cleared, and are
    /// not shown in messages.
    ///
    /// # Errors
    /// Returns an error if the string is not in CIDR notation.
    pub fn parse_block(text: &str) -> Result<IpRange, ParseError> {
        let fault = || {
            ParseError(format!(
                "\"{}\" is not a block of addresses: write it like \"10.0.0.0/8\" or \"fd00::/8\"",
                excerpt(text)
            ))
        };
        let (address, prefix) = text.split_once('/').ok_or_else(fault)?;
        let address: IpAddr = address.parse().map_err(|_| fault())?;
        if prefix.is_empty() || !prefix.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(fault());
        }
        let prefix: u32 = prefix.parse().map_err(|_| fault())?;
        let ipv4 = address.is_ipv4();
        let width = if ipv4 { 32 } else { 128 };
        let host_bits = width - Some(prefix).filter(|&p| p <= width).ok_or_else(fault)?;
        let host_mask = 1u128
            .checked_shl(host_bits)
            .map_or(u128::MAX, |size| size - 1);
        let first = number(address) & !host_mask;
        Ok(IpRange {
            first,
            last: first | host_mask,
            ipv4,
            text: format!("{}/{prefix}", address_of(first, ipv4)),
        })
    }

    /// The range without its first and last address, which are the network and broadcast addresses
    /// of a block. A range of one or two addresses does not change.
    #[must_use]
    pub(crate) fn without_ends(mut self) -> IpRange {
        if self.last - self.first > 1 {
            self.first += 1;
            self.last -= 1;
        }
        self
    }

    /// Whether `ip` is in the range. An IPv4-mapped IPv6 address counts as its IPv4 address.
    pub fn contains(&self, ip: IpAddr) -> bool {
        let ip = ip.to_canonical();
        ip.is_ipv4() == self.ipv4 && (self.first..=self.last).contains(&number(ip))
    }

    /// The number of addresses in the range, at most `u128::MAX`.
    pub fn size(&self) -> u128 {
        (self.last - self.first).saturating_add(1)
    }

    /// The address at `index`, counted from 0. Wraps around after the last address.
    pub fn nth(&self, index: u128) -> IpAddr {
        let at = (self.first + index % self.size()).min(self.last);
        address_of(at, self.ipv4)
    }
}

impl From<IpAddr> for IpRange {
    fn from(ip: IpAddr) -> IpRange {
        IpRange {
            first: number(ip),
            last: number(ip),
            ipv4: ip.is_ipv4(),
            text: ip.to_string(),
        }
    }
}

impl fmt::Display for IpRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn number(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(v4) => u128::from(u32::from(v4)),
        IpAddr::V6(v6) => u128::from(v6),
    }
}

fn address_of(number: u128, ipv4: bool) -> IpAddr {
    if ipv4 {
        // IPv4 addresses have 32 bits.
        IpAddr::V4(Ipv4Addr::from(number as u32))
    } else {
        IpAddr::V6(Ipv6Addr::from(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn blocks_clear_their_host_bits_and_contain_their_addresses() {
        let block = IpRange::parse_block("10.1.2.3/8").unwrap();
        assert_eq!(block.to_string(), "10.0.0.0/8");
        assert!(block.contains(ip("10.255.0.1")) && block.contains(ip("::ffff:10.0.0.1")));
        assert!(!block.contains(ip("11.0.0.1")) && !block.contains(ip("::a00:1")));
        let all = IpRange::parse_block("0.0.0.0/0").unwrap();
        assert!(all.contains(ip("255.255.255.255")) && !all.contains(ip("::1")));
        let one = IpRange::parse_block("fd00::1/128").unwrap();
        assert!(one.contains(ip("fd00::1")) && !one.contains(ip("fd00::2")));
        let every = IpRange::parse_block("::/0").unwrap();
        assert!(every.contains(ip("fd00::2")));
        assert_eq!(every.nth(u128::MAX), ip("::"));
        for text in [
            "10.0.0.1",
            "x/8",
            "10.0.0.0/33",
            "::/129",
            "10.0.0.0/",
            "10.0.0.0/+8",
            "10.0.0.0/-1",
        ] {
            assert!(IpRange::parse_block(text).is_err(), "{text}");
        }
    }

    #[test]
    fn ranges_have_one_family_and_run_forwards() {
        let range = IpRange::parse("127.0.0.2-127.0.0.4").unwrap();
        assert_eq!(range.size(), 3);
        assert_eq!(range.nth(4), ip("127.0.0.3"));
        assert_eq!(IpRange::parse("::1").unwrap(), ip("::1").into());
        for text in ["", "x", "1.2.3.4/33", "1.2.3.9-1.2.3.1", "1.2.3.4-::1"] {
            assert!(IpRange::parse(text).is_err(), "{text}");
        }
    }
}
