//! The address of a page.

use std::net::{IpAddr, SocketAddr, TcpListener, ToSocketAddrs};
use std::time::Duration;

use crate::token::Token;

/// The address of a page, and who may open it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebAddress {
    host: String,
    port: u16,
    /// The duration that a point of the page covers.
    period: Duration,
    /// The token that viewers must present, if the address is not a loopback address.
    token: Option<String>,
}

/// The port of k6's dashboard.
const PORT: u16 = 5665;
/// The port of k6's REST API.
pub const API_PORT: u16 = 6565;
/// The default host.
const HOST: &str = "127.0.0.1";

impl Default for WebAddress {
    fn default() -> WebAddress {
        WebAddress {
            host: HOST.to_owned(),
            port: PORT,
            period: Duration::from_secs(1),
            token: None,
        }
    }
}

impl WebAddress {
    /// Parses `HOST:PORT`, `HOST` or `PORT`. A missing part is 127.0.0.1 or 5665. Port 0 means any free port.
    ///
    /// # Errors
    /// If the text has none of these forms.
    pub fn parse(text: &str) -> Result<WebAddress, String> {
        WebAddress::parse_with(text, PORT)
    }

    /// Parses an address with another default port.
    ///
    /// # Errors
    /// If the text has none of these forms.
    pub fn parse_with(text: &str, default_port: u16) -> Result<WebAddress, String> {
        let wrong = || {
            format!("{text}: not an address; write HOST:PORT, HOST or PORT, like 127.0.0.1:5665")
        };
        let default = WebAddress::default().with_port(default_port);
        if let Ok(port) = text.parse() {
            return Ok(WebAddress { port, ..default });
        }
        if text.bytes().all(|byte| byte.is_ascii_digit()) && !text.is_empty() {
            return Err(format!(
                "{text}: not a port; write a number from 0 to 65535"
            ));
        }
        // An IPv6 address without brackets contains colons that do not separate a port.
        if text.parse::<IpAddr>().is_ok() {
            return Ok(default.with_host(text));
        }
        let (host, port) = match text.rsplit_once(':') {
            Some((host, port)) if !host.ends_with(':') => {
                (host, port.parse().map_err(|_| wrong())?)
            }
            _ => (text, default_port),
        };
        let host = host
            .strip_prefix('[')
            .map_or(Some(host), |rest| rest.strip_suffix(']'))
            .ok_or_else(wrong)?;
        let host = if host.is_empty() { HOST } else { host };
        if host.contains(['/', ' ', '@']) {
            return Err(wrong());
        }
        Ok(WebAddress { port, ..default }.with_host(host))
    }

    /// The same address with another host.
    #[must_use]
    pub fn with_host(mut self, host: &str) -> WebAddress {
        host.clone_into(&mut self.host);
        self
    }

    /// The same address with another port.
    #[must_use]
    pub fn with_port(mut self, port: u16) -> WebAddress {
        self.port = port;
        self
    }

    /// The same address, with points of this length: whole seconds, at least one.
    #[must_use]
    pub fn with_period(mut self, period: Duration) -> WebAddress {
        self.period = Duration::from_secs(period.as_secs().max(1));
        self
    }

    /// The same address with this token, which is only used if a token is required. Without it, a random token is
    /// created.
    #[must_use]
    pub fn with_token(mut self, token: Option<String>) -> WebAddress {
        self.token = token.filter(|token| !token.is_empty());
        self
    }

    /// Host and port to connect to.
    pub(crate) fn host_and_port(&self) -> (&str, u16) {
        (&self.host, self.port)
    }

    /// The duration that a point of the page covers.
    pub fn period(&self) -> Duration {
        self.period
    }

    /// Listens on the address. Returns the token that viewers must present, if any.
    ///
    /// # Errors
    /// If it cannot listen. The error contains the address and how to choose another one.
    pub(crate) fn listen(&self, flag: &str) -> Result<(TcpListener, Option<Token>), String> {
        let failed = |error: std::io::Error| {
            format!(
                "{flag}: cannot listen on {}:{}: {error}. Choose another port, or 0 for any free one",
                self.host, self.port
            )
        };
        let addresses: Vec<SocketAddr> = (self.host.as_str(), self.port)
            .to_socket_addrs()
            .map_err(failed)?
            .collect();
        let listener = TcpListener::bind(&*addresses).map_err(failed)?;
        let bound = listener.local_addr().map_err(failed)?;
        let token = if bound.ip().is_loopback() {
            None
        } else {
            Some(Token::new(self.token.clone()).map_err(|error| format!("{flag}: {error}"))?)
        };
        Ok((listener, token))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_may_be_omitted() {
        let parse = |text: &str| {
            let address = WebAddress::parse(text).unwrap();
            format!("{} {}", address.host, address.port)
        };
        for (text, expected) in [
            ("127.0.0.1:80", "127.0.0.1 80"),
            ("8080", "127.0.0.1 8080"),
            (":8080", "127.0.0.1 8080"),
            ("0.0.0.0", "0.0.0.0 5665"),
            ("example.com:1", "example.com 1"),
            ("[::1]:7", "::1 7"),
            ("::1", "::1 5665"),
            ("[::1]", "::1 5665"),
        ] {
            assert_eq!(parse(text), expected, "{text}");
        }
        for text in ["a:b", "http://a", "a:99999", "[::1:7", "a b"] {
            assert!(WebAddress::parse(text).is_err(), "{text}");
        }
        let error = WebAddress::parse("99999").unwrap_err();
        assert!(error.contains("from 0 to 65535"), "{error}");
    }

    #[test]
    fn only_addresses_other_than_loopback_have_a_token() {
        let listen = |text: &str| {
            let address = WebAddress::parse(text).unwrap().with_token(None);
            address.listen("--web").unwrap().1
        };
        assert!(listen("127.0.0.1:0").is_none());
        assert!(listen("0.0.0.0:0").is_some());
    }

    #[test]
    fn a_used_port_is_reported_with_a_fix() {
        let (listener, _) = WebAddress::parse("0").unwrap().listen("--web").unwrap();
        let port = listener.local_addr().unwrap().port();
        let error = WebAddress::default()
            .with_port(port)
            .listen("--web")
            .unwrap_err();
        assert!(error.contains("0 for any free one"), "{error}");
    }
}
