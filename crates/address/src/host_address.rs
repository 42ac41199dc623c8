use std::fmt;
use std::net::{IpAddr, SocketAddr};

use plimsoll_units::excerpt;

use crate::ParseError;

/// The address that replaces a host name: an IP address with an optional port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostAddress {
    pub ip: IpAddr,
    /// `None` keeps the port of the request.
    pub port: Option<u16>,
}

impl HostAddress {
    /// Parses `1.2.3.4`, `1.2.3.4:443`, `::1` or `[::1]:443`.
    ///
    /// # Errors
    /// Returns an error for anything else.
    pub fn parse(text: &str) -> Result<HostAddress, ParseError> {
        if let Ok(ip) = text.parse() {
            return Ok(HostAddress { ip, port: None });
        }
        if let Ok(socket) = text.parse::<SocketAddr>() {
            return Ok(socket.into());
        }
        Err(ParseError(format!(
            "\"{}\" is not an IP address with an optional port: write \"1.2.3.4\", \"1.2.3.4:443\" or \"[::1]:443\"",
            excerpt(text)
        )))
    }
}

impl From<SocketAddr> for HostAddress {
    fn from(socket: SocketAddr) -> HostAddress {
        HostAddress {
            ip: socket.ip(),
            port: Some(socket.port()),
        }
    }
}

impl fmt::Display for HostAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.ip, self.port) {
            (ip, None) => write!(f, "{ip}"),
            (ip, Some(port)) => write!(f, "{}", SocketAddr::new(ip, port)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_an_optional_port() {
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
}
