use std::net::IpAddr;

use crate::{IpRange, ParseError};

/// The local addresses that users send from, as in `--local-ips`. User n uses the address (n − 1)
/// modulo the size of the pool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IpPool {
    text: String,
    ranges: Vec<IpRange>,
}

impl IpPool {
    /// Parses addresses, `first-last` ranges and CIDR blocks, separated by commas. As in k6, a
    /// block does not include its network and broadcast addresses.
    ///
    /// # Errors
    /// Returns an error if a part is none of these.
    pub fn parse(text: &str) -> Result<IpPool, ParseError> {
        let range = |part: &str| {
            let range = IpRange::parse(part)?;
            let is_block = part.contains('/');
            Ok(if is_block {
                range.without_ends()
            } else {
                range
            })
        };
        Ok(IpPool {
            text: text.to_owned(),
            ranges: text.split(',').map(range).collect::<Result<_, _>>()?,
        })
    }

    /// The number of addresses, at most `u128::MAX`.
    pub fn size(&self) -> u128 {
        let sizes = self.ranges.iter().map(IpRange::size);
        sizes.fold(0, u128::saturating_add)
    }

    /// The address of the user with this number, counted from 1. `None` if the pool is empty.
    pub fn of_user(&self, user: u64) -> Option<IpAddr> {
        let mut index = u128::from(user.saturating_sub(1)).checked_rem(self.size())?;
        for range in &self.ranges {
            if index < range.size() {
                return Some(range.nth(index));
            }
            index -= range.size();
        }
        None
    }

    /// The pool as written.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl From<IpAddr> for IpPool {
    fn from(ip: IpAddr) -> IpPool {
        IpPool {
            text: ip.to_string(),
            ranges: vec![ip.into()],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
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
}
