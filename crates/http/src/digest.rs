//! HTTP Digest authentication (RFC 7616).

use md5::{Digest as _, Md5};
use sha2::{Sha256, Sha512_256};

use crate::url::{Url, UserInfo};

/// The supported parts of a server's challenge.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Challenge {
    realm: String,
    nonce: String,
    opaque: Option<String>,
    algorithm: Algorithm,
    /// As the server sent it, because the response must repeat it exactly.
    algorithm_name: Option<String>,
    session: bool,
    qop: Qop,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Algorithm {
    Md5,
    Sha256,
    Sha512_256,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Qop {
    /// The server offers no `qop` (RFC 2069).
    None,
    Auth,
    AuthInt,
}

impl Challenge {
    /// Parses a `WWW-Authenticate` value; `None` if it is not a supported digest challenge.
    pub(crate) fn parse(value: &str) -> Option<Challenge> {
        let (scheme, rest) = value.trim().split_once(' ')?;
        if !scheme.eq_ignore_ascii_case("digest") {
            return None;
        }
        let mut challenge = Challenge {
            realm: String::new(),
            nonce: String::new(),
            opaque: None,
            algorithm: Algorithm::Md5,
            algorithm_name: None,
            session: false,
            qop: Qop::None,
        };
        for (key, value) in parameters(rest) {
            match key.to_ascii_lowercase().as_str() {
                "realm" => challenge.realm = value,
                "nonce" => challenge.nonce = value,
                "opaque" => challenge.opaque = Some(value),
                "algorithm" => {
                    let name = value.to_ascii_uppercase();
                    let plain = name.strip_suffix("-SESS");
                    challenge.session = plain.is_some();
                    challenge.algorithm = match plain.unwrap_or(&name) {
                        "MD5" => Algorithm::Md5,
                        "SHA-256" => Algorithm::Sha256,
                        "SHA-512-256" => Algorithm::Sha512_256,
                        _ => return None,
                    };
                    challenge.algorithm_name = Some(value);
                }
                "qop" => {
                    let offers = |wanted: &str| {
                        value
                            .split(',')
                            .any(|offer| offer.trim().eq_ignore_ascii_case(wanted))
                    };
                    challenge.qop = if offers("auth") {
                        Qop::Auth
                    } else if offers("auth-int") {
                        Qop::AuthInt
                    } else {
                        return None;
                    };
                }
                _ => {}
            }
        }
        (!challenge.nonce.is_empty()).then_some(challenge)
    }

    /// The `Authorization` value for the first request after this challenge (RFC 7616, section 3.4).
    pub(crate) fn respond(
        &self,
        user: &UserInfo,
        method: &str,
        url: &Url,
        body: &[u8],
        cnonce: &str,
    ) -> String {
        let password = user.password.as_deref().unwrap_or_default();
        let hash = |text: &str| self.algorithm.hash(text.as_bytes());
        let mut a1 = format!("{}:{}:{password}", user.name, self.realm);
        if self.session {
            a1 = format!("{}:{}:{cnonce}", hash(&a1), self.nonce);
        }
        let uri = url.target();
        let a2 = match self.qop {
            Qop::AuthInt => format!("{method}:{uri}:{}", self.algorithm.hash(body)),
            _ => format!("{method}:{uri}"),
        };
        const COUNT: &str = "00000001";
        let (ha1, ha2) = (hash(&a1), hash(&a2));
        let response = match self.qop.name() {
            None => hash(&format!("{ha1}:{}:{ha2}", self.nonce)),
            Some(qop) => hash(&format!(
                "{ha1}:{}:{COUNT}:{cnonce}:{qop}:{ha2}",
                self.nonce
            )),
        };
        let mut out = format!(
            "Digest username={}, realm={}, nonce={}, uri={}, response=\"{response}\"",
            quoted(&user.name),
            quoted(&self.realm),
            quoted(&self.nonce),
            quoted(uri),
        );
        if let Some(name) = &self.algorithm_name {
            out.push_str(&format!(", algorithm={name}"));
        }
        if let Some(opaque) = &self.opaque {
            out.push_str(&format!(", opaque={}", quoted(opaque)));
        }
        if let Some(qop) = self.qop.name() {
            out.push_str(&format!(
                ", qop={qop}, nc={COUNT}, cnonce={}",
                quoted(cnonce)
            ));
        }
        out
    }
}

impl Qop {
    fn name(self) -> Option<&'static str> {
        match self {
            Qop::None => None,
            Qop::Auth => Some("auth"),
            Qop::AuthInt => Some("auth-int"),
        }
    }
}

impl Algorithm {
    fn hash(self, bytes: &[u8]) -> String {
        match self {
            Algorithm::Md5 => hex(&Md5::digest(bytes)),
            Algorithm::Sha256 => hex(&Sha256::digest(bytes)),
            Algorithm::Sha512_256 => hex(&Sha512_256::digest(bytes)),
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Parses `key=value, key="quoted, value"`.
fn parameters(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    while let Some((key, after)) = rest.split_once('=') {
        let mut value = String::new();
        let mut left = after.trim_start();
        if let Some(inside) = left.strip_prefix('"') {
            let mut escaped = false;
            let mut end = inside.len();
            for (at, c) in inside.char_indices() {
                match c {
                    _ if escaped => {
                        value.push(c);
                        escaped = false;
                    }
                    '\\' => escaped = true,
                    '"' => {
                        end = at + 1;
                        break;
                    }
                    _ => value.push(c),
                }
            }
            left = inside.get(end..).unwrap_or_default();
        } else {
            let end = left.find(',').unwrap_or(left.len());
            let (bare, after) = left.split_at(end);
            value.push_str(bare.trim());
            left = after;
        }
        found.push((key.trim().to_owned(), value));
        rest = left.trim_start_matches([',', ' ', '\t']);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example_user() -> UserInfo {
        UserInfo {
            name: "Mufasa".into(),
            password: Some("Circle of Life".into()),
        }
    }

    /// The examples of RFC 7616, section 3.9.1, for both algorithms.
    #[test]
    fn the_examples_of_the_standard() {
        let url = Url::parse("http://www.example.org/dir/index.html").unwrap();
        let cnonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ";
        for (algorithm, response) in [
            ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
            (
                "SHA-256",
                "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1",
            ),
        ] {
            let challenge = Challenge::parse(&format!(
                "Digest realm=\"http-auth@example.org\", qop=\"auth, auth-int\", algorithm={algorithm}, nonce=\"7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v\", opaque=\"FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS\""
            ))
            .unwrap();
            let value = challenge.respond(&example_user(), "GET", &url, b"", cnonce);
            assert!(
                value.contains(&format!("response=\"{response}\"")),
                "{value}"
            );
            assert!(value.contains("qop=auth, nc=00000001"));
            assert!(value.contains("opaque=\"FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS\""));
        }
    }

    /// The example of RFC 2069, section 2.4, with the value of its erratum.
    #[test]
    fn a_challenge_without_qop() {
        let challenge = Challenge::parse(
            "Digest realm=\"testrealm@host.com\", nonce=\"dcd98b7102dd2f0e8b11d0f600bfb0c093\"",
        )
        .unwrap();
        let user = UserInfo {
            name: "Mufasa".into(),
            password: Some("CircleOfLife".into()),
        };
        let url = Url::parse("http://host.com/dir/index.html").unwrap();
        let value = challenge.respond(&user, "GET", &url, b"", "x");
        assert!(
            value.contains("response=\"1949323746fe6a43ef61f9606e7febea\""),
            "{value}"
        );
        assert!(!value.contains("qop"));
    }

    #[test]
    fn other_schemes_and_algorithms_are_not_a_challenge() {
        assert_eq!(Challenge::parse("Basic realm=\"x\""), None);
        assert_eq!(Challenge::parse("Digest realm=\"x\""), None);
        assert_eq!(
            Challenge::parse("Digest nonce=\"n\", algorithm=ROT13"),
            None
        );
    }
}
