//! Basic and digest authentication (RFC 7617, RFC 7616 with MD5 and `qop=auth`).

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use md5::{Digest as _, Md5};

const NONCE: &str = "dcd98b7102dd2f0e8b11d0f600bfb0c093";

/// The challenge for digest authentication.
pub fn digest_challenge() -> String {
    format!(
        "Digest realm=\"cases\", qop=\"auth\", nonce=\"{NONCE}\", opaque=\"5ccc069c403ebaf9f0171e9517f40e41\", algorithm=MD5"
    )
}

/// Whether an `Authorization` value contains this user and password for basic authentication.
pub fn basic_allows(authorization: &str, user: &str, password: &str) -> bool {
    let wanted = STANDARD.encode(format!("{user}:{password}"));
    authorization.strip_prefix("Basic ") == Some(wanted.as_str())
}

/// Whether an `Authorization` value is the correct response to our challenge for this user and password.
pub fn digest_allows(authorization: &str, method: &str, user: &str, password: &str) -> bool {
    let Some(fields) = authorization.strip_prefix("Digest ") else {
        return false;
    };
    let fields: BTreeMap<&str, &str> = fields
        .split(',')
        .filter_map(|field| field.trim().split_once('='))
        .map(|(name, value)| (name, value.trim_matches('"')))
        .collect();
    let field = |name: &str| fields.get(name).copied().unwrap_or_default();
    // RFC 7616, section 3.4.1: response = H(H(A1):nonce:nc:cnonce:qop:H(A2)).
    let secret = hash(&format!("{user}:{}:{password}", field("realm")));
    let request_hash = hash(&format!("{method}:{}", field("uri")));
    let expected = hash(&format!(
        "{secret}:{NONCE}:{}:{}:{}:{request_hash}",
        field("nc"),
        field("cnonce"),
        field("qop")
    ));
    field("username") == user && field("nonce") == NONCE && field("response") == expected
}

fn hash(text: &str) -> String {
    let digest = Md5::digest(text.as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn basic_needs_the_right_password() {
        assert!(basic_allows("Basic dXNlcjpwYXNz", "user", "pass"));
        assert!(!basic_allows("Basic dXNlcjpwYXNz", "user", "word"));
    }

    #[test]
    fn digest_needs_the_right_password() {
        let secret = hash("user:cases:pass");
        let request_hash = hash("GET:/digest/user/pass");
        let response = hash(&format!(
            "{secret}:{NONCE}:00000001:0a4f:auth:{request_hash}"
        ));
        let sent = format!(
            "Digest username=\"user\", realm=\"cases\", nonce=\"{NONCE}\", uri=\"/digest/user/pass\", qop=auth, nc=00000001, cnonce=\"0a4f\", response=\"{response}\""
        );
        assert!(digest_allows(&sent, "GET", "user", "pass"));
        assert!(!digest_allows(&sent, "GET", "user", "word"));
        assert!(!digest_allows(&sent, "POST", "user", "pass"));
    }
}
