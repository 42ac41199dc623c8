use std::fmt;
use std::net::Ipv6Addr;

use plimsoll_units::excerpt;

use crate::ParseError;

/// The host and the port of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostPort {
    /// A name, or an IP address without brackets.
    pub host: String,
    pub port: u16,
}

impl HostPort {
    /// Parses `example.test:443`, `192.0.2.1:80` or `[::1]:8080`.
    ///
    /// # Errors
    /// Returns an error if a part is missing or invalid.
    pub fn parse(text: &str) -> Result<HostPort, ParseError> {
        let wrong = |what: &str| {
            Err(ParseError(format!(
                "\"{}\" {what}: write it like example.test:443 or [::1]:8080",
                excerpt(text)
            )))
        };
        if text.contains('/') {
            return wrong("is a URL, not HOST:PORT");
        }
        // An IPv6 address must be in brackets: RFC 3986, section 3.2.2.
        let (host, port) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((host, port)) => (host, port.strip_prefix(':')),
            None if text.parse::<Ipv6Addr>().is_ok() => (text, None),
            None => match text.rsplit_once(':') {
                Some((host, _)) if host.contains([':', '[']) => {
                    return wrong("has too many colons, or no brackets around an IPv6 address");
                }
                Some((host, port)) => (host, Some(port)),
                None => (text, None),
            },
        };
        let Some(port) = port else {
            return wrong("has no port");
        };
        if host.is_empty() {
            return wrong("has no host");
        }
        match port.parse() {
            Ok(port) if port > 0 => Ok(HostPort {
                host: host.to_owned(),
                port,
            }),
            _ => wrong("has no port from 1 to 65535"),
        }
    }
}

impl fmt::Display for HostPort {
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
    fn hosts_and_ports_survive_a_round_trip() {
        for good in ["example.test:443", "192.0.2.1:80", "[::1]:8080"] {
            let read = HostPort::parse(good).map(|address| address.to_string());
            assert_eq!(read, Ok(good.to_owned()));
        }
        for (bad, part) in [
            ("", "no port"),
            ("example.test", "no port"),
            ("::1", "no port"),
            ("[::1]", "no port"),
            (":80", "no host"),
            ("a:0", "no port from"),
            ("a:65536", "no port from"),
            ("[::1:5", "brackets"),
            ("a:b:5", "too many colons"),
            ("https://a:1/", "HOST:PORT"),
        ] {
            let error = HostPort::parse(bad).expect_err(bad).to_string();
            assert!(error.contains(part), "{bad}: {error}");
        }
    }
}
