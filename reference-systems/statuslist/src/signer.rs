//! The key that signs lists: ECDSA on P-256 with SHA-256 (ES256).

use std::io::Write;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::digest::{SHA256, digest};
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair};
use serde_json::json;

const BEGIN: &str = "-----BEGIN PRIVATE KEY-----";
const END: &str = "-----END PRIVATE KEY-----";

/// A key pair and its name.
pub struct Signer {
    pair: EcdsaKeyPair,
    random: SystemRandom,
    /// The thumbprint of the public key (RFC 7638).
    key_id: String,
    x: String,
    y: String,
}

impl Signer {
    /// A new key that is not stored.
    pub fn ephemeral() -> Result<Signer, String> {
        Signer::from_pkcs8(&generate()?)
    }

    /// The key in a PEM file (PKCS#8), which is created if it does not exist.
    pub fn of_file(file: &Path) -> Result<Signer, String> {
        let explain = |error: &dyn std::fmt::Display| {
            format!("cannot use the signing key {}: {error}", file.display())
        };
        let pem = match std::fs::read_to_string(file) {
            Ok(pem) => pem,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let body = STANDARD.encode(generate()?);
                let pem = format!("{BEGIN}\n{body}\n{END}\n");
                write_new(file, &pem).map_err(|error| explain(&error))?;
                pem
            }
            Err(error) => return Err(explain(&error)),
        };
        let body: String = pem
            .split_once(BEGIN)
            .and_then(|(_, rest)| rest.split_once(END))
            .ok_or_else(|| explain(&"it is not a PEM file with a PKCS#8 private key"))?
            .0
            .split_whitespace()
            .collect();
        let pkcs8 = STANDARD
            .decode(body)
            .map_err(|_| explain(&"its PEM is damaged"))?;
        Signer::from_pkcs8(&pkcs8).map_err(|error| explain(&error))
    }

    fn from_pkcs8(pkcs8: &[u8]) -> Result<Signer, String> {
        let random = SystemRandom::new();
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8, &random)
            .map_err(|error| format!("it is not a key for P-256: {error}"))?;
        // An uncompressed point: 4, then x and y of 32 bytes each (SEC 1, section 2.3.3).
        let (x, y) = match pair.public_key().as_ref() {
            [4, point @ ..] if point.len() == 64 => {
                let (x, y) = point.split_at(32);
                (URL_SAFE_NO_PAD.encode(x), URL_SAFE_NO_PAD.encode(y))
            }
            _ => return Err("its public key has an unknown form".to_owned()),
        };
        // Members in lexicographic order, without white space (RFC 7638, section 3).
        let canonical = format!(r#"{{"crv":"P-256","kty":"EC","x":"{x}","y":"{y}"}}"#);
        let key_id = URL_SAFE_NO_PAD.encode(digest(&SHA256, canonical.as_bytes()));
        Ok(Signer {
            pair,
            random,
            key_id,
            x,
            y,
        })
    }

    pub fn key_id(&self) -> &str {
        &self.key_id
    }

    /// Signs: r and s, 32 bytes each (RFC 7518, section 3.4).
    pub fn sign(&self, message: &[u8]) -> Result<Vec<u8>, String> {
        self.pair
            .sign(&self.random, message)
            .map(|signature| signature.as_ref().to_vec())
            .map_err(|_| "the operating system provided no random numbers".to_owned())
    }

    /// The public key as a JSON Web Key Set (RFC 7517).
    pub fn key_set(&self) -> String {
        json!({"keys": [{
            "kty": "EC",
            "crv": "P-256",
            "x": self.x,
            "y": self.y,
            "kid": self.key_id,
            "alg": "ES256",
            "use": "sig",
        }]})
        .to_string()
    }
}

fn generate() -> Result<Vec<u8>, String> {
    EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new())
        .map(|key| key.as_ref().to_vec())
        .map_err(|_| "the operating system provided no random numbers for a key".to_owned())
}

/// Writes a new file that only its owner may read.
fn write_new(file: &Path, text: &str) -> std::io::Result<()> {
    use std::os::unix::fs::OpenOptionsExt;
    std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(file)?
        .write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use ring::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};

    use super::*;

    #[test]
    fn a_key_is_made_once_and_read_again() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("key.pem");
        let first = Signer::of_file(&file).unwrap();
        let second = Signer::of_file(&file).unwrap();
        assert_eq!(first.key_id(), second.key_id());
        let signature = second.sign(b"message").unwrap();
        UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, first.pair.public_key().as_ref())
            .verify(b"message", &signature)
            .unwrap();
        assert_ne!(first.key_id(), Signer::ephemeral().unwrap().key_id());
    }

    #[test]
    fn a_damaged_key_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("key.pem");
        std::fs::write(&file, "nothing").unwrap();
        let error = Signer::of_file(&file).err().unwrap();
        assert!(
            error.contains("key.pem") && error.contains("PKCS#8"),
            "{error}"
        );
    }
}
