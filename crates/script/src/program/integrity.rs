//! Digests of modules from the network, in the format of web pages (W3C, "Subresource Integrity").

use std::fmt;

use plimsoll_k6::pure::base64::{self, Dialect};
use sha2::{Digest, Sha256, Sha384, Sha512};

/// A digest, such as `sha384-oqVuAf…`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Integrity {
    algorithm: Algorithm,
    digest: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Algorithm {
    Sha256,
    Sha384,
    Sha512,
}

impl Algorithm {
    const ALL: [(&'static str, Algorithm); 3] = [
        ("sha256", Algorithm::Sha256),
        ("sha384", Algorithm::Sha384),
        ("sha512", Algorithm::Sha512),
    ];

    fn digest(self, bytes: &[u8]) -> Vec<u8> {
        match self {
            Algorithm::Sha256 => Sha256::digest(bytes).to_vec(),
            Algorithm::Sha384 => Sha384::digest(bytes).to_vec(),
            Algorithm::Sha512 => Sha512::digest(bytes).to_vec(),
        }
    }
}

impl Integrity {
    /// The digest of these bytes.
    pub fn of(bytes: &[u8]) -> Integrity {
        let algorithm = Algorithm::Sha384;
        Integrity {
            algorithm,
            digest: algorithm.digest(bytes),
        }
    }

    /// Parses a digest.
    ///
    /// # Errors
    /// If it is malformed.
    pub fn parse(text: &str) -> Result<Integrity, String> {
        let malformed = || format!("{text:?} is not a digest such as sha384-… in base64");
        let (name, digest) = text.split_once('-').ok_or_else(malformed)?;
        let known = Algorithm::ALL.iter().find(|(known, _)| *known == name);
        let (_, algorithm) = known.ok_or_else(malformed)?;
        let digest = base64::decode(digest.as_bytes(), Dialect::STD).map_err(|_| malformed())?;
        Ok(Integrity {
            algorithm: *algorithm,
            digest,
        })
    }

    /// Checks the content of `address`.
    ///
    /// # Errors
    /// If its digest differs.
    pub fn check(&self, address: &str, bytes: &[u8]) -> Result<(), String> {
        let found = Integrity {
            algorithm: self.algorithm,
            digest: self.algorithm.digest(bytes),
        };
        if found == *self {
            return Ok(());
        }
        Err(format!(
            "the content of {address} has changed: its digest is {found}, and the import map requires {self}. If the \
             change is intended, write the copies and the import map again: plimsoll vendor SCRIPT"
        ))
    }
}

impl fmt::Display for Integrity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut known = Algorithm::ALL.iter();
        let known = known.find(|(_, algorithm)| *algorithm == self.algorithm);
        let name = known.map_or("", |(name, _)| name);
        write!(f, "{name}-{}", base64::encode(&self.digest, Dialect::STD))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `printf text | openssl dgst -sha384 -binary | base64 -w0`
    const TEXT: &str = "sha384-MTp+MyKsZVwnazoKnmsnxEjFcHsbDiADe0Krd2G6JRYvdlnU/+Hq/ZlmIEwbQftz";

    #[test]
    fn digests_match_those_of_openssl() {
        let digest = Integrity::parse(TEXT).unwrap();
        assert_eq!(digest, Integrity::of(b"text"));
        assert_eq!(digest.to_string(), TEXT);
        assert!(digest.check("https://a.example/x.js", b"text").is_ok());
        let error = digest
            .check("https://a.example/x.js", b"other")
            .unwrap_err();
        assert!(
            error.contains("https://a.example/x.js has changed"),
            "{error}"
        );
        for malformed in ["", "sha384", "md5-x", "sha384-?"] {
            assert!(Integrity::parse(malformed).is_err(), "{malformed}");
        }
    }
}
