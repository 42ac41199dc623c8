//! The address of the peer.

use std::fmt;
use std::net::Ipv6Addr;

/// A host and a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// A name, or an address without brackets.
    pub host: String,
    pub port: u16,
}

impl Address {
    /// Parses `example.test:443`, `192.0.2.1:80` or `[::1]:8080`.
    ///
    /// # Errors
    /// One sentence about what is missing.
    pub fn parse(text: &str) -> Result<Self, String> {
        const HINT: &str = "write it like example.test:443 or [::1]:8080";
        if text.contains("://") || text.contains('/') {
            return Err(format!("{text:?} is a URL, not HOST:PORT; {HINT}"));
        }
        let (host, port) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((host, port)) => (host, port.strip_prefix(':')),
            None if text.parse::<Ipv6Addr>().is_ok() => (text, None),
            None => match text.rsplit_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (text, None),
            },
        };
        let Some(port) = port else {
            return Err(format!("{text:?} has no port: {HINT}"));
        };
        if host.is_empty() {
            return Err(format!("{text:?} has no host: {HINT}"));
        }
        match port.parse() {
            Ok(port) if port > 0 => Ok(Address {
                host: host.to_owned(),
                port,
            }),
            _ => Err(format!("{port:?} is not a port from 1 to 65535: {HINT}")),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_and_ports_are_read_and_written_alike() {
        for good in ["example.test:443", "192.0.2.1:80", "[::1]:8080"] {
            assert_eq!(
                Address::parse(good).map(|address| address.to_string()),
                Ok(good.to_owned())
            );
        }
        for (bad, part) in [
            ("example.test", "no port"),
            ("::1", "no port"),
            ("[::1]", "no port"),
            (":80", "no host"),
            ("a:0", "not a port from"),
            ("a:65536", "not a port from"),
            ("https://a:1/", "HOST:PORT"),
        ] {
            let error = Address::parse(bad).expect_err(bad);
            assert!(error.contains(part), "{bad}: {error}");
        }
    }
}
