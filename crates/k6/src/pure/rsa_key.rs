//! RSA keys: signatures (PKCS #1 1.5 and PSS) and encryption (OAEP).

use rsa::pkcs8::{DecodePrivateKey, DecodePublicKey, EncodePrivateKey, EncodePublicKey};
use rsa::rand_core::OsRng;
use rsa::traits::{PrivateKeyParts, PublicKeyParts};
use rsa::{BigUint, Oaep, Pkcs1v15Sign, Pss, RsaPrivateKey, RsaPublicKey};

use super::digests::{self, Algorithm};

/// A public key, or a private key together with its public key.
#[derive(Clone)]
pub struct RsaKey {
    public: RsaPublicKey,
    /// `None` for a public key.
    private: Option<Box<RsaPrivateKey>>,
}

/// The big-endian numbers of a private key, as in JSON Web Keys.
pub struct PrivateNumbers {
    pub d: Vec<u8>,
    pub p: Vec<u8>,
    pub q: Vec<u8>,
    pub dp: Vec<u8>,
    pub dq: Vec<u8>,
    pub qi: Vec<u8>,
}

/// Evaluates `$body` with `$digest` as a digest's type; `None` for digests that WebCrypto does not use with RSA.
macro_rules! with_digest {
    ($hash:expr, $digest:ident => $body:expr) => {
        match $hash {
            Algorithm::Sha1 => {
                type $digest = sha1_rsa::Sha1;
                Some($body)
            }
            Algorithm::Sha256 => {
                type $digest = sha2_rsa::Sha256;
                Some($body)
            }
            Algorithm::Sha384 => {
                type $digest = sha2_rsa::Sha384;
                Some($body)
            }
            Algorithm::Sha512 => {
                type $digest = sha2_rsa::Sha512;
                Some($body)
            }
            _ => None,
        }
    };
}

impl RsaKey {
    /// Creates a private key with `bits` bits. With 2048 bits, this takes about 0.1 s. The time grows with the fourth
    /// power of the length.
    ///
    /// `None` if no key has that length and exponent. The exponent must be odd, at least 3, and below 2³³.
    pub fn generate(bits: usize, exponent: &[u8]) -> Option<RsaKey> {
        let exponent = BigUint::from_bytes_be(exponent);
        // For an even exponent, the library would search for suitable primes forever.
        let is_odd = exponent
            .to_bytes_le()
            .first()
            .is_some_and(|low| low % 2 == 1);
        if !is_odd || exponent < BigUint::from(3_u8) || exponent.bits() > 33 {
            return None;
        }
        RsaPrivateKey::new_with_exp(&mut OsRng, bits, &exponent)
            .ok()
            .map(Self::of_private)
    }

    fn of_private(private: RsaPrivateKey) -> RsaKey {
        RsaKey {
            public: private.to_public_key(),
            private: Some(Box::new(private)),
        }
    }

    /// The public key with that modulus and exponent, which are big-endian.
    pub fn public(n: &[u8], e: &[u8]) -> Option<RsaKey> {
        let (n, e) = (BigUint::from_bytes_be(n), BigUint::from_bytes_be(e));
        // More bits than servers use, but bounded.
        let public = RsaPublicKey::new_with_max_size(n, e, 16_384).ok()?;
        Some(RsaKey {
            public,
            private: None,
        })
    }

    /// The private key with those numbers, which are big-endian.
    pub fn private(n: &[u8], e: &[u8], d: &[u8], primes: [&[u8]; 2]) -> Option<RsaKey> {
        let [n, e, d] = [n, e, d].map(BigUint::from_bytes_be);
        let primes = primes.map(BigUint::from_bytes_be).to_vec();
        let mut key = RsaPrivateKey::from_components(n, e, d, primes).ok()?;
        key.validate().ok()?;
        key.precompute().ok()?;
        Some(Self::of_private(key))
    }

    pub fn from_pkcs8(der: &[u8]) -> Option<RsaKey> {
        RsaPrivateKey::from_pkcs8_der(der)
            .ok()
            .map(Self::of_private)
    }

    pub fn from_spki(der: &[u8]) -> Option<RsaKey> {
        let public = RsaPublicKey::from_public_key_der(der).ok()?;
        Some(RsaKey {
            public,
            private: None,
        })
    }

    /// The private key in PKCS #8; `None` for a public key.
    pub fn to_pkcs8(&self) -> Option<Vec<u8>> {
        let document = self.private.as_ref()?.to_pkcs8_der().ok()?;
        Some(document.as_bytes().to_vec())
    }

    /// The public key as a `SubjectPublicKeyInfo`.
    pub fn to_spki(&self) -> Option<Vec<u8>> {
        Some(self.public.to_public_key_der().ok()?.as_bytes().to_vec())
    }

    /// The public key of a private key.
    pub fn to_public(&self) -> RsaKey {
        RsaKey {
            public: self.public.clone(),
            private: None,
        }
    }

    pub fn is_private(&self) -> bool {
        self.private.is_some()
    }

    /// The length of the modulus in bits.
    pub fn bits(&self) -> usize {
        self.public.n().bits()
    }

    /// The modulus, big-endian.
    pub fn modulus(&self) -> Vec<u8> {
        self.public.n().to_bytes_be()
    }

    /// The public exponent, big-endian.
    pub fn exponent(&self) -> Vec<u8> {
        self.public.e().to_bytes_be()
    }

    /// The numbers of a private key with two primes.
    pub fn private_numbers(&self) -> Option<PrivateNumbers> {
        let mut key = self.private.as_deref()?.clone();
        key.precompute().ok()?;
        let [p, q] = key.primes() else {
            return None;
        };
        Some(PrivateNumbers {
            d: key.d().to_bytes_be(),
            p: p.to_bytes_be(),
            q: q.to_bytes_be(),
            dp: key.dp()?.to_bytes_be(),
            dq: key.dq()?.to_bytes_be(),
            qi: key.crt_coefficient()?.to_bytes_be(),
        })
    }

    /// The PKCS #1 1.5 signature; `None` for a public key, or if the key is too short.
    pub fn sign(&self, hash: Algorithm, text: &[u8]) -> Option<Vec<u8>> {
        let scheme = with_digest!(hash, D => Pkcs1v15Sign::new::<D>())?;
        let digest = digests::digest(hash, text);
        self.private.as_ref()?.sign(scheme, &digest).ok()
    }

    pub fn verifies(&self, hash: Algorithm, text: &[u8], signature: &[u8]) -> bool {
        let scheme = with_digest!(hash, D => Pkcs1v15Sign::new::<D>());
        let digest = digests::digest(hash, text);
        scheme.is_some_and(|scheme| self.public.verify(scheme, &digest, signature).is_ok())
    }

    /// The PSS signature with a salt of this number of bytes; `None` in the same cases as for [`Self::sign`].
    pub fn sign_pss(&self, hash: Algorithm, salt: usize, text: &[u8]) -> Option<Vec<u8>> {
        if salt > self.public.size() {
            return None;
        }
        let scheme = with_digest!(hash, D => Pss::new_with_salt::<D>(salt))?;
        let digest = digests::digest(hash, text);
        let private = self.private.as_ref()?;
        private.sign_with_rng(&mut OsRng, scheme, &digest).ok()
    }

    pub fn verifies_pss(
        &self,
        hash: Algorithm,
        salt: usize,
        text: &[u8],
        signature: &[u8],
    ) -> bool {
        if salt > self.public.size() {
            return false;
        }
        let scheme = with_digest!(hash, D => Pss::new_with_salt::<D>(salt));
        let digest = digests::digest(hash, text);
        scheme.is_some_and(|scheme| self.public.verify(scheme, &digest, signature).is_ok())
    }

    /// Encrypts `text` with OAEP; `None` if it is too long for the key.
    pub fn encrypt(&self, hash: Algorithm, label: Option<&str>, text: &[u8]) -> Option<Vec<u8>> {
        let padding = oaep(hash, label)?;
        self.public.encrypt(&mut OsRng, padding, text).ok()
    }

    /// Decrypts with OAEP; `None` for a public key, or if the text was not encrypted for this key.
    pub fn decrypt(&self, hash: Algorithm, label: Option<&str>, text: &[u8]) -> Option<Vec<u8>> {
        let padding = oaep(hash, label)?;
        let private = self.private.as_ref()?;
        private.decrypt_blinded(&mut OsRng, padding, text).ok()
    }
}

fn oaep(hash: Algorithm, label: Option<&str>) -> Option<Oaep> {
    with_digest!(hash, D => match label {
        Some(label) => Oaep::new_with_label::<D, _>(label),
        None => Oaep::new::<D>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HASHES: [Algorithm; 4] = [
        Algorithm::Sha1,
        Algorithm::Sha256,
        Algorithm::Sha384,
        Algorithm::Sha512,
    ];

    #[test]
    fn signatures_verify_and_encrypted_texts_are_decrypted() {
        let key = RsaKey::generate(2048, &[1, 0, 1]).unwrap();
        let public = key.to_public();
        assert_eq!((public.bits(), public.is_private()), (2048, false));
        for hash in HASHES {
            let signature = key.sign(hash, b"text").unwrap();
            assert!(public.verifies(hash, b"text", &signature));
            assert!(!public.verifies(hash, b"other", &signature));
            let signature = key.sign_pss(hash, 20, b"text").unwrap();
            assert!(public.verifies_pss(hash, 20, b"text", &signature));
            assert!(!public.verifies_pss(hash, 20, b"other", &signature));
            for label in [None, Some("label")] {
                let encrypted = public.encrypt(hash, label, b"text").unwrap();
                let decrypted = key.decrypt(hash, label, &encrypted);
                assert_eq!(decrypted.as_deref(), Some(&b"text"[..]));
                assert_eq!(key.decrypt(hash, Some("other"), &encrypted), None);
                assert_eq!(public.decrypt(hash, label, &encrypted), None);
            }
        }
        assert_eq!(public.sign(Algorithm::Sha256, b"text"), None);
        assert_eq!(key.sign_pss(Algorithm::Sha256, 100_000, b"text"), None);
        assert_eq!(public.encrypt(Algorithm::Sha256, None, &[0; 300]), None);
    }

    #[test]
    fn invalid_exponents_are_refused() {
        for exponent in [&[][..], &[0], &[1], &[2], &[1, 0, 0], &[1; 9]] {
            assert!(RsaKey::generate(512, exponent).is_none(), "{exponent:?}");
        }
    }

    #[test]
    fn encoded_keys_can_be_decoded() {
        let key = RsaKey::generate(1024, &[1, 0, 1]).unwrap();
        let private = RsaKey::from_pkcs8(&key.to_pkcs8().unwrap()).unwrap();
        let public = RsaKey::from_spki(&private.to_spki().unwrap()).unwrap();
        assert_eq!(public.modulus(), key.modulus());
        let numbers = key.private_numbers().unwrap();
        let primes = [&*numbers.p, &*numbers.q];
        let again = RsaKey::private(&key.modulus(), &key.exponent(), &numbers.d, primes).unwrap();
        assert_eq!(again.to_pkcs8(), key.to_pkcs8());
        assert!(RsaKey::from_spki(b"\x30\x00").is_none());
        assert!(RsaKey::private(&[9], &[1, 0, 1], &[3], [&[3], &[3]]).is_none());
    }
}
