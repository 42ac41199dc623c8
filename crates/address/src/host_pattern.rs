//! Patterns of host names, such as `*.example`, and keys of the option `hosts`.

use std::fmt;
use std::net::IpAddr;

use plimsoll_units::excerpt;

use crate::ParseError;

/// A host name, or a `*` followed by the end of a host name. Matches regardless of case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostPattern(String);

impl HostPattern {
    /// Parses `host.example`, `*.example` or `*`.
    ///
    /// # Errors
    /// Returns an error if a character is not allowed in host names, or if a `*` is not the first
    /// character.
    pub fn parse(text: &str) -> Result<HostPattern, ParseError> {
        let name = text.strip_prefix('*').unwrap_or(text);
        if text == "*" || is_host_name(name) {
            return Ok(HostPattern(text.to_owned()));
        }
        Err(ParseError(format!(
            "\"{}\" is not a host name pattern: write a name such as \"test.example\", or \"*.example\" with one leading star",
            excerpt(text)
        )))
    }

    /// The pattern as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the pattern begins with `*`.
    pub fn is_wildcard(&self) -> bool {
        self.0.starts_with('*')
    }

    /// Whether the pattern matches `host`.
    pub fn matches(&self, host: &str) -> bool {
        let host = host.as_bytes();
        match self.0.strip_prefix('*') {
            None => host.eq_ignore_ascii_case(self.0.as_bytes()),
            Some(end) => host
                .len()
                .checked_sub(end.len())
                .and_then(|at| host.get(at..))
                .is_some_and(|tail| tail.eq_ignore_ascii_case(end.as_bytes())),
        }
    }
}

/// A pattern that matches one IP address, as written in a URL but without brackets.
impl From<IpAddr> for HostPattern {
    fn from(ip: IpAddr) -> HostPattern {
        HostPattern(ip.to_string())
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn is_host_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 255
        && name
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '-' | '.' | '_'))
}

/// A key of the option `hosts`: a host pattern with an optional port, in lower case. Keys sort like
/// strings, as in k6's JSON.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HostKey {
    text: String,
    port: Option<u16>,
}

impl HostKey {
    /// Parses `host.example` or `*.example`, either of them optionally followed by a port such as `:443`.
    ///
    /// # Errors
    /// Returns an error if the pattern or the port is invalid.
    pub fn parse(text: &str) -> Result<HostKey, ParseError> {
        let (name, port) = match text.rsplit_once(':') {
            Some((name, port)) => (name, Some(port)),
            None => (text, None),
        };
        HostPattern::parse(name)?;
        let port = match port.map(str::parse::<u16>) {
            None => None,
            Some(Ok(port)) if port > 0 => Some(port),
            Some(_) => {
                return Err(ParseError(format!(
                    "\"{}\" has no valid port: write \"host:443\" with a port from 1 to 65535",
                    excerpt(text)
                )));
            }
        };
        Ok(HostKey {
            text: text.to_lowercase(),
            port,
        })
    }

    /// The pattern without the port.
    pub fn pattern(&self) -> HostPattern {
        let name = match self.port {
            Some(_) => self.text.rsplit_once(':').map_or("", |(name, _)| name),
            None => &self.text,
        };
        HostPattern(name.to_owned())
    }

    /// The only port that the key matches, or `None` if it matches every port.
    pub fn port(&self) -> Option<u16> {
        self.port
    }
}

impl fmt::Display for HostKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_lower_case_patterns_with_an_optional_port() {
        let key = HostKey::parse("*.A.com:80").unwrap();
        assert_eq!(key.to_string(), "*.a.com:80");
        assert_eq!((key.pattern().as_str(), key.port()), ("*.a.com", Some(80)));
        let key = HostKey::parse("Test").unwrap();
        assert_eq!((key.pattern().as_str(), key.port()), ("test", None));
        for text in ["", ":80", "a:", "a:0", "a:x", "a:65536", "a*", "a b"] {
            assert!(HostKey::parse(text).is_err(), "{text}");
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
    fn patterns_match_without_regard_to_case() {
        let pattern = HostPattern::parse("*.K6.io").unwrap();
        assert!(pattern.is_wildcard());
        assert!(pattern.matches("TEST.k6.IO"));
        assert!(!pattern.matches("k6.io"));
        let address = HostPattern::from("::1".parse::<IpAddr>().unwrap());
        assert!(address.matches("::1") && !address.matches("::2"));
    }
}
