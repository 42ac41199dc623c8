//! Authentication with a password (MySQL manual, "Authentication Method").

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rsa::pkcs8::DecodePublicKey;
use rsa::rand_core::OsRng;
use rsa::{Oaep, RsaPublicKey};
use sha1::Sha1;
use sha2::{Digest, Sha256};

/// The response that `mysql_native_password` requires.
pub fn native(password: &str, nonce: &[u8]) -> Vec<u8> {
    if password.is_empty() {
        return Vec::new();
    }
    let once = Sha1::digest(password);
    let twice = Sha1::digest(once);
    let mask = Sha1::new().chain_update(nonce).chain_update(twice);
    combine(&once, &mask.finalize())
}

/// The response that `caching_sha2_password` requires first. It is sufficient if the server has cached the user.
pub fn sha256(password: &str, nonce: &[u8]) -> Vec<u8> {
    if password.is_empty() {
        return Vec::new();
    }
    let once = Sha256::digest(password);
    let twice = Sha256::digest(once);
    let mask = Sha256::new().chain_update(twice).chain_update(nonce);
    combine(&once, &mask.finalize())
}

/// The password itself, encrypted with the server's public key, which the server sends as PEM.
///
/// # Errors
/// If the key is malformed or too short.
pub fn encrypted(password: &str, nonce: &[u8], pem: &[u8]) -> Result<Vec<u8>, String> {
    let pem = String::from_utf8_lossy(pem);
    let body: String = pem
        .lines()
        .filter(|line| !line.starts_with("-----"))
        .collect();
    let wrong =
        |error: &dyn std::fmt::Display| format!("the server's public key is malformed: {error}");
    let der = STANDARD
        .decode(body.trim())
        .map_err(|error| wrong(&error))?;
    let key = RsaPublicKey::from_public_key_der(&der).map_err(|error| wrong(&error))?;
    let with_end: Vec<u8> = password.bytes().chain([0]).collect();
    let mask: Vec<u8> = nonce.iter().copied().cycle().take(with_end.len()).collect();
    let hidden = combine(&with_end, &mask);
    key.encrypt(&mut OsRng, Oaep::new::<Sha1>(), &hidden)
        .map_err(|error| wrong(&error))
}

fn combine(one: &[u8], other: &[u8]) -> Vec<u8> {
    one.iter()
        .zip(other)
        .map(|(one, other)| one ^ other)
        .collect()
}

#[cfg(test)]
mod tests {
    use rsa::RsaPrivateKey;
    use rsa::pkcs8::{EncodePublicKey, LineEnding};

    use super::*;

    const NONCE: &[u8] = b"abcdefghijklmnopqrst";

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// The expected values were computed with Python's hashlib.
    #[test]
    fn responses_hide_the_password() {
        let expected = "8817c50fa779daef010ee7577825b0847df9842e";
        assert_eq!(hex(&native("secret", NONCE)), expected);
        let expected = "c76e2898612a4cf042c77fa8c4702c4c64c0c2c557c53c4d75595aaa6abae809";
        assert_eq!(hex(&sha256("secret", NONCE)), expected);
        assert!(native("", NONCE).is_empty() && sha256("", NONCE).is_empty());
    }

    #[test]
    fn a_password_is_encrypted_for_the_server() {
        let key = RsaPrivateKey::new(&mut OsRng, 1024).unwrap();
        let pem = key
            .to_public_key()
            .to_public_key_pem(LineEnding::LF)
            .unwrap();
        let sent = encrypted("secret", NONCE, pem.as_bytes()).unwrap();
        let hidden = key.decrypt(Oaep::new::<Sha1>(), &sent).unwrap();
        assert_eq!(combine(&hidden, NONCE), b"secret\0");
        let wrong = encrypted("secret", NONCE, b"-----BEGIN PUBLIC KEY-----\nAAAA\n");
        assert!(wrong.unwrap_err().contains("malformed"));
    }
}
