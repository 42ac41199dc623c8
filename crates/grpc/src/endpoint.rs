use std::fmt;

use plimsoll_address::HostPort;

/// The address of a server, and whether to use TLS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    pub host: String,
    pub port: u16,
    /// Whether to use TLS. Without TLS, HTTP/2 is used with prior knowledge.
    pub tls: bool,
    /// The `:authority` of calls.
    pub authority: String,
    /// The name that the server's certificate must contain.
    pub server_name: String,
}

impl Endpoint {
    /// Parses `host:port`, optionally preceded by `dns:///`, `passthrough:///`, `http://` or
    /// `https://`. The latter two determine whether TLS is used.
    ///
    /// # Errors
    /// A message that says what is wrong with the address.
    pub fn parse(address: &str, tls: bool) -> Result<Endpoint, String> {
        let text = address.trim();
        let schemes = [
            ("dns:///", tls),
            ("passthrough:///", tls),
            ("http://", false),
            ("https://", true),
        ];
        let (text, tls) = schemes
            .iter()
            .find_map(|(scheme, tls)| text.strip_prefix(scheme).map(|rest| (rest, *tls)))
            .unwrap_or((text, tls));
        let text = text.trim_end_matches('/');
        if let Some((scheme, _)) = text.split_once("://") {
            return Err(format!(
                "{address}: unsupported scheme {scheme}; write the address as HOST:PORT"
            ));
        }
        let host = if text.starts_with(':') {
            "localhost"
        } else {
            ""
        };
        let authority = format!("{host}{text}");
        let HostPort { host, port } =
            HostPort::parse(&authority).map_err(|error| error.to_string())?;
        Ok(Endpoint {
            server_name: host.clone(),
            host,
            port,
            tls,
            authority,
        })
    }

    /// Sets the name for `:authority` and for the certificate check.
    #[must_use]
    pub fn with_authority(mut self, authority: &str) -> Endpoint {
        self.authority = authority.to_owned();
        self.server_name = match authority.rsplit_once(':') {
            Some((host, port)) if port.parse::<u16>().is_ok() => host,
            _ => authority,
        }
        .trim_matches(['[', ']'])
        .to_owned();
        self
    }

    pub(crate) fn scheme(&self) -> &'static str {
        if self.tls { "https" } else { "http" }
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (host, port) = (self.host.clone(), self.port);
        HostPort { host, port }.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_parsed_in_all_forms() {
        let parse = |text: &str| {
            let endpoint = Endpoint::parse(text, false).unwrap();
            (
                endpoint.host,
                endpoint.port,
                endpoint.tls,
                endpoint.authority,
            )
        };
        let host = || "a.example".to_owned();
        let authority = || "a.example:50051".to_owned();
        assert_eq!(
            parse("a.example:50051"),
            (host(), 50051, false, authority())
        );
        assert_eq!(
            parse("dns:///a.example:50051"),
            (host(), 50051, false, authority())
        );
        assert_eq!(
            parse("https://a.example:50051/"),
            (host(), 50051, true, authority())
        );
        assert_eq!(
            parse("[::1]:7"),
            ("::1".to_owned(), 7, false, "[::1]:7".to_owned())
        );
    }

    #[test]
    fn an_invalid_address_is_reported() {
        for text in [
            "",
            "host",
            "host:0",
            "host:70000",
            "::1:50",
            "[::1:5",
            "ftp://h:1",
        ] {
            assert!(Endpoint::parse(text, false).is_err(), "{text}");
        }
    }

    #[test]
    fn the_authority_is_also_the_name_in_the_certificate() {
        let endpoint = Endpoint::parse("127.0.0.1:1", true).unwrap();
        let endpoint = endpoint.with_authority("a.example:99");
        assert_eq!(endpoint.server_name, "a.example");
        assert_eq!(endpoint.authority, "a.example:99");
    }
}
