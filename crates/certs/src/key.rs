//! Private keys.

use rcgen::{KeyPair, PKCS_ECDSA_P256_SHA256, PKCS_RSA_SHA256};
use rsa::pkcs8::EncodePrivateKey;

/// The kind of a private key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyKind {
    /// ECDSA over P-256: small, fast, and supported everywhere.
    EcdsaP256,
    /// RSA with this number of bits: one of [`RSA_BITS`].
    Rsa(u32),
}

/// The RSA key sizes that TLS libraries accept and that are still in use.
pub const RSA_BITS: [u32; 3] = [2048, 3072, 4096];

impl KeyKind {
    /// Parses `ecdsa`, `rsa` (2048 bits), `rsa3072` or `rsa4096`.
    ///
    /// # Errors
    /// Returns a message with the valid names.
    pub fn parse(text: &str) -> Result<Self, String> {
        let lower = text.to_ascii_lowercase();
        if ["ecdsa", "ecdsa-p256", "p256"].contains(&lower.as_str()) {
            return Ok(KeyKind::EcdsaP256);
        }
        let bits = match lower.strip_prefix("rsa") {
            Some("") => Some(2048),
            Some(bits) => bits.trim_start_matches(['-', ':']).parse().ok(),
            None => None,
        };
        match bits {
            Some(bits) if RSA_BITS.contains(&bits) => Ok(KeyKind::Rsa(bits)),
            Some(bits) => Err(format!(
                "RSA keys of {bits} bits are not supported: use rsa2048, rsa3072 or rsa4096"
            )),
            None => Err(format!(
                "unknown kind of key {text:?}: use ecdsa (P-256), rsa2048, rsa3072 or rsa4096"
            )),
        }
    }

    pub(crate) fn generate(self) -> Result<KeyPair, String> {
        match self {
            KeyKind::EcdsaP256 => KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256)
                .map_err(|error| format!("cannot create an ECDSA key: {error}")),
            KeyKind::Rsa(bits) => rsa_key(bits),
        }
    }
}

fn rsa_key(bits: u32) -> Result<KeyPair, String> {
    let failed = |error: &dyn std::fmt::Display| format!("cannot create an RSA key: {error}");
    let key = rsa::RsaPrivateKey::new(&mut rsa::rand_core::OsRng, bits as usize)
        .map_err(|error| failed(&error))?;
    let der = key.to_pkcs8_der().map_err(|error| failed(&error))?;
    KeyPair::from_pkcs8_der_and_sign_algo(&der.as_bytes().into(), &PKCS_RSA_SHA256)
        .map_err(|error| failed(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_read_and_others_refused_with_a_list() {
        assert_eq!(KeyKind::parse("ecdsa"), Ok(KeyKind::EcdsaP256));
        assert_eq!(KeyKind::parse("RSA"), Ok(KeyKind::Rsa(2048)));
        assert_eq!(KeyKind::parse("rsa-4096"), Ok(KeyKind::Rsa(4096)));
        for (text, part) in [
            ("rsa1024", "1024 bits are not supported"),
            ("rsa99999999999999", "unknown kind of key"),
            ("ed25519", "use ecdsa"),
            ("", "unknown kind of key"),
        ] {
            let error = KeyKind::parse(text).expect_err(text);
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
