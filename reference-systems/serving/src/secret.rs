//! API keys of a system, compared in constant time and never shown; and addresses of stores without
//! their passwords.

use std::fmt;

use ring::digest::{SHA256, digest};

/// A key. Only its hash is stored, so that no log or dump can show it.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey([u8; 32]);

impl ApiKey {
    pub fn new(key: &str) -> Result<ApiKey, String> {
        if key.is_empty() || key.len() > 256 {
            return Err("an API key has 1 to 256 characters".to_owned());
        }
        Ok(ApiKey(hash(key.as_bytes())))
    }

    /// Whether `given` is this key. Hashes are compared, so the time does not depend on how
    /// much of the key was right.
    pub fn is(&self, given: &[u8]) -> bool {
        self.0 == hash(given)
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("ApiKey(…)")
    }
}

fn hash(text: &[u8]) -> [u8; 32] {
    let mut hash = [0; 32];
    for (byte, value) in hash.iter_mut().zip(digest(&SHA256, text).as_ref()) {
        *byte = *value;
    }
    hash
}

/// The URL of a store for display: without its password.
pub fn masked(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        return url.to_owned();
    };
    let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    let path = path.split('?').next().unwrap_or_default();
    match authority.rsplit_once('@') {
        Some((user, host)) => {
            let user = user.split(':').next().unwrap_or_default();
            format!("{scheme}://{user}@{host}{path}")
        }
        None => format!("{scheme}://{authority}{path}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_never_shown() {
        let key = ApiKey::new("sesame").unwrap();
        assert!(!format!("{key:?}").contains("sesame"));
        assert!(key.is(b"sesame"));
        assert!(!key.is(b"sesam"));
        assert!(ApiKey::new("").is_err());
    }

    #[test]
    fn passwords_are_masked() {
        assert_eq!(
            masked("postgres://me:secret@host:5432/db?password=secret"),
            "postgres://me@host:5432/db"
        );
        assert_eq!(masked("redis://:secret@host/0"), "redis://@host/0");
        assert_eq!(masked("redis://host"), "redis://host");
        assert_eq!(masked("sqlite:file.db"), "sqlite:file.db");
    }
}
