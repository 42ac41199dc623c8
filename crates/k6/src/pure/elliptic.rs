//! Keys on the curves P-256, P-384 and P-521, for signatures (ECDSA) and key agreement (ECDH).

use p256::elliptic_curve::rand_core::OsRng;

use super::digests::{self, Algorithm};

/// A curve of WebCrypto.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Curve {
    P256,
    P384,
    P521,
}

/// A public key, or a private key together with its public key.
#[derive(Clone)]
pub struct EcKey {
    pub curve: Curve,
    /// The public point, uncompressed: a byte 4 and both coordinates.
    pub point: Vec<u8>,
    /// The private number; `None` for a public key.
    pub scalar: Option<Vec<u8>>,
}

/// Evaluates `$body` with `$c` as the crate of the curve.
macro_rules! on_curve {
    ($curve:expr, $c:ident => $body:expr) => {
        match $curve {
            Curve::P256 => {
                use p256 as $c;
                $body
            }
            Curve::P384 => {
                use p384 as $c;
                $body
            }
            Curve::P521 => {
                use p521 as $c;
                $body
            }
        }
    };
}

impl Curve {
    pub const ALL: [Curve; 3] = [Curve::P256, Curve::P384, Curve::P521];

    /// The curve's name in WebCrypto.
    pub fn name(self) -> &'static str {
        match self {
            Curve::P256 => "P-256",
            Curve::P384 => "P-384",
            Curve::P521 => "P-521",
        }
    }

    /// The length in bytes of a coordinate, of a private number, and of half a signature.
    pub fn size(self) -> usize {
        match self {
            Curve::P256 => 32,
            Curve::P384 => 48,
            Curve::P521 => 66,
        }
    }
}

impl EcKey {
    /// A new private key.
    pub fn generate(curve: Curve) -> EcKey {
        let scalar =
            on_curve!(curve, c => c::SecretKey::random(&mut OsRng).to_bytes().as_slice().to_vec());
        // A generated number is valid, so its point exists.
        Self::private(curve, &scalar).unwrap_or(EcKey {
            curve,
            point: Vec::new(),
            scalar: Some(scalar),
        })
    }

    /// The private key with that number. `None` if it is out of range.
    pub fn private(curve: Curve, scalar: &[u8]) -> Option<EcKey> {
        // An encoder may omit leading zeros.
        let mut padded = vec![0; curve.size().checked_sub(scalar.len())?];
        padded.extend_from_slice(scalar);
        let point = on_curve!(curve, c => {
            use c::elliptic_curve::sec1::ToEncodedPoint;
            let key = c::SecretKey::from_slice(&padded).ok()?;
            key.public_key().to_encoded_point(false).as_bytes().to_vec()
        });
        Some(EcKey {
            curve,
            point,
            scalar: Some(padded),
        })
    }

    /// The public key with that point, compressed or not. `None` if it is not on the curve.
    pub fn public(curve: Curve, point: &[u8]) -> Option<EcKey> {
        let point = on_curve!(curve, c => {
            use c::elliptic_curve::sec1::ToEncodedPoint;
            let key = c::PublicKey::from_sec1_bytes(point).ok()?;
            key.to_encoded_point(false).as_bytes().to_vec()
        });
        Some(EcKey {
            curve,
            point,
            scalar: None,
        })
    }

    /// The public key of a private key.
    pub fn to_public(&self) -> EcKey {
        EcKey {
            scalar: None,
            ..self.clone()
        }
    }

    /// The coordinates of the public point.
    pub fn coordinates(&self) -> (&[u8], &[u8]) {
        let both = self.point.get(1..).unwrap_or_default();
        both.split_at_checked(self.curve.size()).unwrap_or_default()
    }

    /// Reads a private key in PKCS #8.
    pub fn from_pkcs8(curve: Curve, der: &[u8]) -> Option<EcKey> {
        let scalar = on_curve!(curve, c => {
            use c::pkcs8::DecodePrivateKey;
            c::SecretKey::from_pkcs8_der(der).ok()?.to_bytes().as_slice().to_vec()
        });
        Self::private(curve, &scalar)
    }

    /// Reads a public key in a `SubjectPublicKeyInfo`.
    pub fn from_spki(curve: Curve, der: &[u8]) -> Option<EcKey> {
        let point = on_curve!(curve, c => {
            use c::elliptic_curve::sec1::ToEncodedPoint;
            use c::pkcs8::DecodePublicKey;
            let key = c::PublicKey::from_public_key_der(der).ok()?;
            key.to_encoded_point(false).as_bytes().to_vec()
        });
        Self::public(curve, &point)
    }

    /// The private key in PKCS #8; `None` for a public key.
    pub fn to_pkcs8(&self) -> Option<Vec<u8>> {
        let scalar = self.scalar.as_ref()?;
        on_curve!(self.curve, c => {
            use c::pkcs8::EncodePrivateKey;
            let document = c::SecretKey::from_slice(scalar).ok()?.to_pkcs8_der().ok()?;
            Some(document.as_bytes().to_vec())
        })
    }

    /// The public key as a `SubjectPublicKeyInfo`.
    pub fn to_spki(&self) -> Option<Vec<u8>> {
        on_curve!(self.curve, c => {
            use c::pkcs8::EncodePublicKey;
            let key = c::PublicKey::from_sec1_bytes(&self.point).ok()?;
            Some(key.to_public_key_der().ok()?.as_bytes().to_vec())
        })
    }

    /// The signature of `text`: its two numbers, one after the other. `None` for a public key.
    pub fn sign(&self, hash: Algorithm, text: &[u8]) -> Option<Vec<u8>> {
        let scalar = self.scalar.as_ref()?;
        let digest = self.digest(hash, text);
        on_curve!(self.curve, c => {
            use c::ecdsa::signature::hazmat::RandomizedPrehashSigner;
            let key = c::ecdsa::SigningKey::from_slice(scalar).ok()?;
            let signature: c::ecdsa::Signature =
                key.sign_prehash_with_rng(&mut OsRng, &digest).ok()?;
            Some(signature.to_bytes().as_slice().to_vec())
        })
    }

    /// Whether `signature` is a valid signature of `text` by this key.
    pub fn verifies(&self, hash: Algorithm, text: &[u8], signature: &[u8]) -> bool {
        let digest = self.digest(hash, text);
        on_curve!(self.curve, c => {
            use c::ecdsa::signature::hazmat::PrehashVerifier;
            let key = c::ecdsa::VerifyingKey::from_sec1_bytes(&self.point);
            let signature = c::ecdsa::Signature::from_slice(signature);
            match (key, signature) {
                (Ok(key), Ok(signature)) => key.verify_prehash(&digest, &signature).is_ok(),
                _ => false,
            }
        })
    }

    /// The digest of `text`. A digest that is much shorter than the curve's numbers is padded with leading zeros, which
    /// do not change its value. Without them, the crates reject it.
    fn digest(&self, hash: Algorithm, text: &[u8]) -> Vec<u8> {
        let digest = digests::digest(hash, text);
        let mut padded = vec![0; self.curve.size().div_ceil(2).saturating_sub(digest.len())];
        padded.extend_from_slice(&digest);
        padded
    }

    /// The shared secret that both sides derive from their private key and the other side's public key. `None` if this
    /// is not a private key, or if the curves differ.
    pub fn agree(&self, other: &EcKey) -> Option<Vec<u8>> {
        if self.curve != other.curve {
            return None;
        }
        let scalar = self.scalar.as_ref()?;
        on_curve!(self.curve, c => {
            let own = c::SecretKey::from_slice(scalar).ok()?;
            let other = c::PublicKey::from_sec1_bytes(&other.point).ok()?;
            let secret =
                c::elliptic_curve::ecdh::diffie_hellman(own.to_nonzero_scalar(), other.as_affine());
            Some(secret.raw_secret_bytes().as_slice().to_vec())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_agree_and_signatures_verify() {
        for curve in Curve::ALL {
            let (a, b) = (EcKey::generate(curve), EcKey::generate(curve));
            assert_eq!(a.point.len(), 1 + 2 * curve.size());
            let secret = a.agree(&b.to_public()).unwrap();
            assert_eq!(secret.len(), curve.size());
            assert_eq!(Some(secret), b.agree(&a.to_public()));
            assert_eq!(a.to_public().agree(&b), None);
            for hash in [
                Algorithm::Sha1,
                Algorithm::Sha256,
                Algorithm::Sha384,
                Algorithm::Sha512,
            ] {
                let signature = a.sign(hash, b"text").unwrap();
                assert_eq!(signature.len(), 2 * curve.size());
                assert!(a.to_public().verifies(hash, b"text", &signature));
                assert!(!a.verifies(hash, b"other", &signature));
                assert!(!b.verifies(hash, b"text", &signature));
            }
            assert!(!a.verifies(Algorithm::Sha256, b"text", b"short"));
        }
    }

    #[test]
    fn encoded_keys_can_be_decoded() {
        for curve in Curve::ALL {
            let key = EcKey::generate(curve);
            let private = EcKey::from_pkcs8(curve, &key.to_pkcs8().unwrap()).unwrap();
            assert_eq!(private.scalar, key.scalar);
            assert_eq!(private.point, key.point);
            let public = EcKey::from_spki(curve, &key.to_spki().unwrap()).unwrap();
            assert_eq!(public.point, key.point);
            assert_eq!(public.to_pkcs8(), None);
            assert!(EcKey::from_spki(curve, b"\x30\x00").is_none());
            assert!(EcKey::from_pkcs8(curve, &key.to_spki().unwrap()).is_none());
        }
        let key = EcKey::generate(Curve::P256);
        assert!(EcKey::from_spki(Curve::P384, &key.to_spki().unwrap()).is_none());
        assert!(EcKey::private(Curve::P256, &[0; 32]).is_none());
        assert!(EcKey::private(Curve::P256, &[1; 33]).is_none());
        assert!(EcKey::public(Curve::P256, &[4; 65]).is_none());
    }

    /// RFC 6979, A.2.5: P-256 with SHA-256, message "sample".
    #[test]
    fn a_known_signature_verifies() {
        let hex = |text: &str| -> Vec<u8> {
            (0..text.len() / 2)
                .map(|at| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).unwrap())
                .collect()
        };
        let scalar = hex("C9AFA9D845BA75166B5C215767B1D6934E50C3DB36E89B127B8A622B120F6721");
        let key = EcKey::private(Curve::P256, &scalar).unwrap();
        let x = hex("60FED4BA255A9D31C961EB74C6356D68C049B8923B61FA6CE669622E60F29FB6");
        assert_eq!(key.coordinates().0, x);
        let signature = hex(
            "EFD48B2AACB6A8FD1140DD9CD45E81D69D2C877B56AAF991C34D0EA84EAF3716\
             F7CB1C942D657C41D436C7A1B6E29F65F3E900DBB9AFF4064DC4AB2F843ACDA8",
        );
        assert!(key.verifies(Algorithm::Sha256, b"sample", &signature));
    }
}
