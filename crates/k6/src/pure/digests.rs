//! Digests and keyed digests with the names that scripts use, and the encodings of their results.

use std::fmt;

use plimsoll_quickjs::pieces;

use super::base64::{self, Dialect};

/// The digests of `k6/crypto`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    Md4,
    Md5,
    Sha1,
    Sha256,
    Sha384,
    Sha512,
    Sha512_224,
    Sha512_256,
    Ripemd160,
}

impl Algorithm {
    pub const ALL: [Algorithm; 9] = [
        Algorithm::Md4,
        Algorithm::Md5,
        Algorithm::Sha1,
        Algorithm::Sha256,
        Algorithm::Sha384,
        Algorithm::Sha512,
        Algorithm::Sha512_224,
        Algorithm::Sha512_256,
        Algorithm::Ripemd160,
    ];

    /// The name in scripts, such as `sha512_256`.
    pub fn name(self) -> &'static str {
        match self {
            Algorithm::Md4 => "md4",
            Algorithm::Md5 => "md5",
            Algorithm::Sha1 => "sha1",
            Algorithm::Sha256 => "sha256",
            Algorithm::Sha384 => "sha384",
            Algorithm::Sha512 => "sha512",
            Algorithm::Sha512_224 => "sha512_224",
            Algorithm::Sha512_256 => "sha512_256",
            Algorithm::Ripemd160 => "ripemd160",
        }
    }

    /// The algorithm with exactly that name.
    pub fn named(name: &str) -> Option<Algorithm> {
        Algorithm::ALL
            .into_iter()
            .find(|algorithm| algorithm.name() == name)
    }

    fn start(self) -> Box<dyn State> {
        match self {
            Algorithm::Md4 => Box::new(md4::Md4::default()),
            Algorithm::Md5 => Box::new(md5::Md5::default()),
            Algorithm::Sha1 => Box::new(sha1::Sha1::default()),
            Algorithm::Sha256 => Box::new(sha2::Sha256::default()),
            Algorithm::Sha384 => Box::new(sha2::Sha384::default()),
            Algorithm::Sha512 => Box::new(sha2::Sha512::default()),
            Algorithm::Sha512_224 => Box::new(sha2::Sha512_224::default()),
            Algorithm::Sha512_256 => Box::new(sha2::Sha512_256::default()),
            Algorithm::Ripemd160 => Box::new(ripemd::Ripemd160::default()),
        }
    }

    /// The block length in bytes. HMAC pads its key to it.
    fn block_size(self) -> usize {
        match self {
            Algorithm::Sha384
            | Algorithm::Sha512
            | Algorithm::Sha512_224
            | Algorithm::Sha512_256 => 128,
            _ => 64,
        }
    }
}

/// An incremental digest of any algorithm. It can be cloned.
trait State: Send {
    fn update(&mut self, bytes: &[u8]);
    fn finalize(self: Box<Self>) -> Box<[u8]>;
    fn box_clone(&self) -> Box<dyn State>;
}

impl<D: digest::Digest + Clone + Send + 'static> State for D {
    fn update(&mut self, bytes: &[u8]) {
        digest::Digest::update(self, bytes);
    }

    fn finalize(self: Box<Self>) -> Box<[u8]> {
        digest::Digest::finalize(*self).to_vec().into_boxed_slice()
    }

    fn box_clone(&self) -> Box<dyn State> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn State> {
    fn clone(&self) -> Self {
        self.as_ref().box_clone()
    }
}

/// A digest, keyed or not, that reads its input in pieces.
pub struct Hasher {
    inner: Box<dyn State>,
    /// For a keyed digest: the outer hash, which has already read its padded key.
    outer: Option<Box<dyn State>>,
}

impl Clone for Hasher {
    fn clone(&self) -> Hasher {
        Hasher {
            inner: self.inner.clone(),
            outer: self.outer.clone(),
        }
    }
}

impl fmt::Debug for Hasher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hasher")
            .field("keyed", &self.outer.is_some())
            .finish_non_exhaustive()
    }
}

impl Hasher {
    pub fn new(algorithm: Algorithm) -> Hasher {
        Hasher {
            inner: algorithm.start(),
            outer: None,
        }
    }

    /// HMAC (RFC 2104): H(K ⊕ opad, H(K ⊕ ipad, text)).
    pub fn keyed(algorithm: Algorithm, key: &[u8]) -> Hasher {
        let mut block = if key.len() > algorithm.block_size() {
            digest(algorithm, key)
        } else {
            key.to_vec()
        };
        block.resize(algorithm.block_size(), 0);
        let padded_with = |pad: u8| {
            let mut digest = algorithm.start();
            digest.update(&block.iter().map(|byte| byte ^ pad).collect::<Vec<u8>>());
            digest
        };
        Hasher {
            inner: padded_with(0x36),
            outer: Some(padded_with(0x5C)),
        }
    }

    pub fn update(&mut self, bytes: &[u8]) {
        for piece in pieces(bytes) {
            self.inner.update(piece);
        }
    }

    /// The digest of all input so far. More input may follow.
    pub fn digest(&self) -> Vec<u8> {
        let inner = self.inner.clone().finalize();
        match self.outer.clone() {
            None => inner.into_vec(),
            Some(mut outer) => {
                outer.update(&inner);
                outer.finalize().into_vec()
            }
        }
    }
}

/// The digest of one input.
pub fn digest(algorithm: Algorithm, bytes: &[u8]) -> Vec<u8> {
    let mut hasher = Hasher::new(algorithm);
    hasher.update(bytes);
    hasher.digest()
}

/// The keyed digest of one input.
pub fn hmac(algorithm: Algorithm, key: &[u8], bytes: &[u8]) -> Vec<u8> {
    let mut hasher = Hasher::keyed(algorithm, key);
    hasher.update(bytes);
    hasher.digest()
}

/// Bytes, or their encoding as a string.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Encoded {
    Text(String),
    Binary(Vec<u8>),
}

/// An unknown output encoding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownEncoding(pub String);

impl fmt::Display for UnknownEncoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "invalid output encoding: {}", self.0)
    }
}

impl std::error::Error for UnknownEncoding {}

/// The bytes in the named encoding: `hex`, `base64`, `base64url`, `base64rawurl` or `binary`.
///
/// # Errors
/// If the name is none of these.
pub fn encode(bytes: Vec<u8>, encoding: &str) -> Result<Encoded, UnknownEncoding> {
    Ok(Encoded::Text(match encoding {
        "hex" => hex(&bytes),
        "base64" => base64::encode(&bytes, Dialect::STD),
        "base64url" => base64::encode(&bytes, Dialect::URL),
        "base64rawurl" => base64::encode(&bytes, Dialect::RAW_URL),
        "binary" => return Ok(Encoded::Binary(bytes)),
        _ => return Err(UnknownEncoding(encoding.to_owned())),
    }))
}

/// Two lowercase hexadecimal digits per byte.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |nibble: u8| char::from(DIGITS[usize::from(nibble & 0xF)]);
    let mut out = String::with_capacity(2 * bytes.len());
    for piece in pieces(bytes) {
        for &byte in piece {
            out.push(digit(byte >> 4));
            out.push(digit(byte));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Name, digest of "hello world", digest of an empty input, and keyed digests of "hello world" with two keys:
    /// "secret", and 200 times `k`.
    type Row = (
        &'static str,
        &'static str,
        &'static str,
        &'static str,
        &'static str,
    );
    #[rustfmt::skip]
    const OBSERVED: &[Row] = &[
        ("md4",
            "aa010fbc1d14c795d86ef98c95479d17",
            "31d6cfe0d16ae931b73c59d7e0c089c0",
            "255a1ee815dbf570a8c8b1e01377749e",
            "197b8209f6e6e906161191917e37f0c7",
        ),
        ("md5",
            "5eb63bbbe01eeed093cb22bb8f5acdc3",
            "d41d8cd98f00b204e9800998ecf8427e",
            "78d6997b1230f38e59b6d1642dfaa3a4",
            "1b0da9b01718678a2b8aa90631663059",
        ),
        ("sha1",
            "2aae6c35c94fcfb415dbe95f408b9ce91ee846ed",
            "da39a3ee5e6b4b0d3255bfef95601890afd80709",
            "03376ee7ad7bbfceee98660439a4d8b125122a5a",
            "e3fec2234f60e9e2841ddcae7a12255cf73ed7ec",
        ),
        ("sha256",
            "b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9",
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            "734cc62f32841568f45715aeb9f4d7891324e6d948e4c6c60c0621cdac48623a",
            "45061c4764b9b0e7906a4c42d3ff3a191419d9d1432ee2b341238c27879c4449",
        ),
        ("sha384",
            "fdbd8e75a67f29f701a4e040385e2e23986303ea10239211af907fcbb83578b3e417cb71ce646efd0819dd8c088de1bd",
            "38b060a751ac96384cd9327eb1b1e36a21fdb71114be07434c0cc7bf63f6e1da274edebfe76f65fbd51ad2f14898b95b",
            "2da3bb177b92aae98c3ab22727d7f60c905be1baff71fb4b00a6e410923e6558376590c1faf922ff51ec49be77409ac6",
            "b90b3cefe30bb984594f8c605648fca67e4ff17cb7207be125cff74f38788861fec77e966f8df3553a3bace3317083b5",
        ),
        ("sha512",
            "309ecc489c12d6eb4cc40f50c902f2b4d0ed77ee511a7c7a9bcd3ca86d4cd86f989dd35bc5ff499670da34255b45b0cfd830e81f605dcf7dc5542e93ae9cd76f",
            "cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e",
            "6d32239b01dd1750557211629313d95e4f4fcb8ee517e443990ac1afc7562bfd74ffa6118387efd9e168ff86d1da5cef4a55edc63cc4ba289c4c3a8b4f7bdfc2",
            "b6fce97a59701ec149ac0e364118832125b218e46ebb75fe992f52845bf8c3e5d92eff3f65f7082a1694f78fd506903bca23ef7364dc90a00d16ac196ccf4daf",
        ),
        ("sha512_224",
            "22e0d52336f64a998085078b05a6e37b26f8120f43bf4db4c43a64ee",
            "6ed0dd02806fa89e25de060c19d3ac86cabb87d6a0ddd05c333b84f4",
            "e4f1c084cf6dcd88c3e4c7c13d01dd8aaeadfefa7de3a7cb65d66888",
            "1baa595605ec86348c21c76610f87c23c0108bad0a13774b717b090d",
        ),
        ("sha512_256",
            "0ac561fac838104e3f2e4ad107b4bee3e938bf15f2b15f009ccccd61a913f017",
            "c672b8d1ef56ed28ab87c3622c5114069bdd3ad7b8f9737498d0c01ecef0967a",
            "4dacc4208e04a15f985ac6a1b0c13bddc8c85d1906a4486783a0df6d5707c5eb",
            "69d5e0a49c5ee28bddf941d9f34b96d371f7f2ecbe66256078fa01c9a083c2ec",
        ),
        ("ripemd160",
            "98c615784ccb5fe5936fbc0cbe9dfdb408d92f0f",
            "9c1185a5c5e9fc54612808977ee8f548b2258d31",
            "43a16d0b8efca993073ed6d6414d64bcefc1e381",
            "2f1c0defb2733bb33aa41848769635e15708b5c7",
        ),
    ];

    #[test]
    fn digests_match_the_published_ones() {
        for &(name, of_text, of_nothing, _, _) in OBSERVED {
            let algorithm = Algorithm::named(name).unwrap();
            assert_eq!(hex(&digest(algorithm, b"hello world")), of_text, "{name}");
            assert_eq!(hex(&digest(algorithm, b"")), of_nothing, "{name}");
        }
        assert_eq!(OBSERVED.len(), Algorithm::ALL.len());
    }

    #[test]
    fn keyed_digests_accept_short_and_long_keys() {
        for &(name, _, _, short_key, long_key) in OBSERVED {
            let algorithm = Algorithm::named(name).unwrap();
            assert_eq!(
                hex(&hmac(algorithm, b"secret", b"hello world")),
                short_key,
                "{name}"
            );
            assert_eq!(
                hex(&hmac(algorithm, &[b'k'; 200], b"hello world")),
                long_key,
                "{name}"
            );
        }
    }

    #[test]
    fn a_digest_can_be_read_and_then_continued() {
        for mut hasher in [
            Hasher::new(Algorithm::Md5),
            Hasher::keyed(Algorithm::Md5, b"k"),
        ] {
            hasher.update(b"a");
            let first = hasher.digest();
            assert_eq!(hasher.digest(), first);
            hasher.update(b"b");
            assert_ne!(hasher.digest(), first);
        }
        let mut hasher = Hasher::new(Algorithm::Md5);
        hasher.update(b"a");
        hasher.update(b"b");
        assert_eq!(hasher.digest(), digest(Algorithm::Md5, b"ab"));
    }

    #[test]
    fn encodings_have_names() {
        let sha1 = || digest(Algorithm::Sha1, b"x9");
        for (name, expected) in [
            ("hex", "316d9aadffdc88688239af8b11b6d6028cd665e3"),
            ("base64", "MW2arf/ciGiCOa+LEbbWAozWZeM="),
            ("base64url", "MW2arf_ciGiCOa-LEbbWAozWZeM="),
            ("base64rawurl", "MW2arf_ciGiCOa-LEbbWAozWZeM"),
        ] {
            assert_eq!(encode(sha1(), name), Ok(Encoded::Text(expected.to_owned())));
        }
        assert_eq!(encode(sha1(), "binary"), Ok(Encoded::Binary(sha1())));
        let error = encode(sha1(), "HEX").unwrap_err();
        assert_eq!(error.to_string(), "invalid output encoding: HEX");
        assert_eq!(Algorithm::named("SHA1"), None);
    }
}
