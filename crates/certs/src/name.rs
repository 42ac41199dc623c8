//! The names in a certificate.

use std::net::IpAddr;

use rcgen::SanType;
use rcgen::string::Ia5String;

/// A host name or address in a certificate, as in RFC 5280 §4.2.1.6.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Name {
    /// May begin with `*.`, which matches one label.
    Dns(Ia5String),
    Ip(IpAddr),
}

impl Name {
    /// The names in every server certificate, followed by these.
    pub fn with_usual(more: &[Name]) -> Vec<Name> {
        let usual = crate::USUAL_NAMES.iter();
        let mut names: Vec<Name> = usual.filter_map(|name| Name::parse(name).ok()).collect();
        for name in more {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
        names
    }

    /// Parses `example.test`, `*.example.test`, `192.0.2.1` or `::1`.
    ///
    /// # Errors
    /// Returns a message with the reason if the name is invalid.
    pub fn parse(text: &str) -> Result<Self, String> {
        let bare = text
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'));
        if let Ok(address) = bare.unwrap_or(text).parse::<IpAddr>() {
            return Ok(Name::Ip(address));
        }
        if text.contains("://") || text.contains('/') {
            return Err(format!(
                "{text:?} is a URL; a certificate has host names, \
                like example.test or 192.0.2.1"
            ));
        }
        if text.contains(':') {
            return Err(format!(
                "{text:?} has a port: remove it, because a certificate is valid for all ports"
            ));
        }
        // No client would take it for a host name (WHATWG URL, "ends in a number").
        if text
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.')
            && text.contains('.')
            && !text.starts_with('.')
        {
            return Err(format!("{text:?} is not an IP address"));
        }
        let labels = text.strip_prefix("*.").unwrap_or(text);
        // RFC 1035 §2.3.4: a label has at most 63 octets, and a name in this notation has at most
        // 253. RFC 1123 does not allow underscores in host names, but they are in use.
        let valid = |label: &str| {
            (1..=63).contains(&label.len())
                && !label.starts_with('-')
                && !label.ends_with('-')
                && label
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
        };
        if text.len() > 253 || !labels.split('.').all(valid) {
            return Err(format!(
                "{text:?} is not a host name: write it like example.test, *.example.test or 192.0.2.1"
            ));
        }
        Ia5String::try_from(text)
            .map(Name::Dns)
            .map_err(|_| format!("{text:?} is not a host name"))
    }

    pub(crate) fn subject(&self) -> SanType {
        match self {
            Name::Dns(name) => SanType::DnsName(name.clone()),
            Name::Ip(address) => SanType::IpAddress(*address),
        }
    }
}

impl std::fmt::Display for Name {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Name::Dns(name) => f.pad(name.as_str()),
            Name::Ip(address) => address.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_read_and_invalid_ones_are_reported() {
        for good in [
            "localhost",
            "a.b-c.test",
            "*.example.test",
            "10.0.0.1",
            "::1",
        ] {
            assert_eq!(
                Name::parse(good).map(|name| name.to_string()),
                Ok(good.to_owned())
            );
        }
        assert_eq!(Name::parse("[::1]"), Name::parse("::1"));
        for (bad, part) in [
            ("https://example.test/", "is a URL"),
            ("example.test:443", "remove it"),
            ("-a.test", "not a host name"),
            ("a..test", "not a host name"),
            ("a.*.test", "not a host name"),
            ("bücher.test", "not a host name"),
            ("", "not a host name"),
            ("999.1.1.1", "not an IP address"),
        ] {
            let error = Name::parse(bad).expect_err(bad);
            assert!(error.contains(part), "{bad}: {error}");
        }
        assert!(Name::parse(&"a".repeat(64)).is_err());
        assert!(Name::parse(&"a.".repeat(200)).is_err());
    }
}
