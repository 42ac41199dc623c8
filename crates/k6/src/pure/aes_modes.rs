//! AES in the modes of WebCrypto: CBC, CTR, GCM and key wrap.
//!
//! The crates of the modes process one piece at a time, because a script must not hold up its worker. GCM is built from
//! CTR and GHASH here: the crate `aes-gcm` encrypts the whole text in one call, and has fixed lengths for the nonce and
//! the tag, which WebCrypto lets scripts choose.

use std::fmt;

use aes::cipher::array::Array;
use aes::cipher::block_padding::Pkcs7;
use aes::cipher::{
    BlockCipherEncrypt, BlockModeDecrypt, BlockModeEncrypt, InnerIvInit, KeyInit, StreamCipher,
};
use aes::{Aes128, Aes192, Aes256};
use aes_kw::{AesKw, InnerInit};
use ctr::{Ctr128BE, CtrCore};
use ghash::GHash;
use ghash::universal_hash::UniversalHash;
use plimsoll_quickjs::{copy_in_pieces, give_way, pieces};

const BLOCK: usize = 16;
type Block = [u8; BLOCK];

/// The number of bytes to encrypt between two clock readings. A multiple of the block length.
const PIECE: usize = 16 * 1024;

/// The maximum length of a key to wrap, in bytes. Each block of a wrapped key depends on all others, so the crate
/// cannot pause. This many bytes take about a millisecond.
const LONGEST_WRAPPED: usize = 64 * 1024;

/// Why data could not be encrypted or decrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CipherError {
    /// Keys are 16, 24 or 32 bytes.
    KeyLength,
    /// The data's length is impossible in this mode.
    TextLength,
    /// The padding, the tag or the check value is wrong: the key differs, or the data was modified.
    Wrong,
    /// The counter would wrap around to its first value.
    CounterExhausted,
}

impl fmt::Display for CipherError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            CipherError::KeyLength => "an AES key must be 16, 24 or 32 bytes long",
            CipherError::TextLength => "the data's length is impossible for this algorithm",
            CipherError::Wrong => "the data cannot be decrypted with this key and these parameters",
            CipherError::CounterExhausted => "the data is too long for the counter's length",
        })
    }
}

impl std::error::Error for CipherError {}

/// AES with a key of one of the three lengths.
pub enum Aes {
    Aes128(Box<Aes128>),
    Aes192(Box<Aes192>),
    Aes256(Box<Aes256>),
}

/// Evaluates an expression with the cipher, whose type depends on the key's length.
macro_rules! each_length {
    ($self:expr, $aes:ident => $do:expr) => {
        match $self {
            Aes::Aes128($aes) => {
                let $aes = &**$aes;
                $do
            }
            Aes::Aes192($aes) => {
                let $aes = &**$aes;
                $do
            }
            Aes::Aes256($aes) => {
                let $aes = &**$aes;
                $do
            }
        }
    };
}

impl fmt::Debug for Aes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Aes")
    }
}

impl Aes {
    /// Creates a cipher with this key.
    ///
    /// # Errors
    /// If `key` is not 16, 24 or 32 bytes long.
    pub fn new(key: &[u8]) -> Result<Aes, CipherError> {
        let wrong = |_| CipherError::KeyLength;
        Ok(match key.len() {
            16 => Aes::Aes128(Box::new(Aes128::new_from_slice(key).map_err(wrong)?)),
            24 => Aes::Aes192(Box::new(Aes192::new_from_slice(key).map_err(wrong)?)),
            32 => Aes::Aes256(Box::new(Aes256::new_from_slice(key).map_err(wrong)?)),
            _ => return Err(CipherError::KeyLength),
        })
    }

    fn encrypt(&self, block: &mut Block) {
        each_length!(self, aes => aes.encrypt_block(block.into()));
    }

    /// Cipher block chaining with padding (NIST SP 800-38A, 6.2; RFC 5652, 6.3).
    pub fn cbc_encrypt(&self, iv: &Block, text: &[u8]) -> Vec<u8> {
        let rest = text.len() % BLOCK;
        let mut padded = copy_in_pieces(text, BLOCK - rest);
        padded.resize(text.len() + BLOCK - rest, 0);
        let (whole, last) = padded.split_at_mut(text.len() - rest);
        each_length!(self, aes => {
            let mut cbc = cbc::Encryptor::inner_iv_init(aes, iv.into());
            for piece in whole.chunks_mut(PIECE) {
                give_way(piece.len());
                cbc.encrypt_blocks(Array::slice_as_chunks_mut(piece).0);
            }
            // The last block has space for the padding.
            _ = cbc.encrypt_padded::<Pkcs7>(last, rest);
        });
        padded
    }

    /// Decrypts in CBC mode and removes the padding.
    ///
    /// # Errors
    /// If the length is not a multiple of the block length, or if the padding is wrong.
    pub fn cbc_decrypt(&self, iv: &Block, text: &[u8]) -> Result<Vec<u8>, CipherError> {
        if text.is_empty() || !text.len().is_multiple_of(BLOCK) {
            return Err(CipherError::TextLength);
        }
        let mut plain = copy_in_pieces(text, 0);
        let (whole, last) = plain.split_at_mut(text.len() - BLOCK);
        let kept = each_length!(self, aes => {
            let mut cbc = cbc::Decryptor::inner_iv_init(aes, iv.into());
            for piece in whole.chunks_mut(PIECE) {
                give_way(piece.len());
                cbc.decrypt_blocks(Array::slice_as_chunks_mut(piece).0);
            }
            cbc.decrypt_padded::<Pkcs7>(last).map(<[u8]>::len)
        });
        let kept = kept.map_err(|_| CipherError::Wrong)?;
        plain.truncate(text.len() - BLOCK + kept);
        Ok(plain)
    }

    /// Counter mode (NIST SP 800-38A, 6.5), for both directions. The rightmost `counter_bits` (1 to
    /// 128) of the counter block are incremented.
    ///
    /// # Errors
    /// If there are more blocks than the counter has values.
    pub fn ctr(
        &self,
        counter: &Block,
        counter_bits: u32,
        text: &[u8],
    ) -> Result<Vec<u8>, CipherError> {
        let blocks = text.len().div_ceil(BLOCK);
        if counter_bits < usize::BITS && blocks > 1 << counter_bits {
            return Err(CipherError::CounterExhausted);
        }
        let counting = u128::MAX
            .checked_shr(128 - counter_bits.min(128))
            .unwrap_or(0);
        let number = u128::from_be_bytes(*counter);
        // The crate's counter has 128 bits. It starts again at zero at the same point as this one.
        let before_zero = (counting - (number & counting)).saturating_add(1);
        let before_zero = usize::try_from(before_zero)
            .map_or(text.len(), |blocks| blocks.saturating_mul(BLOCK))
            .min(text.len());
        let mut out = copy_in_pieces(text, BLOCK);
        let (first, second) = out.split_at_mut(before_zero);
        self.ctr_with_wide_counter(number, first);
        self.ctr_with_wide_counter(number & !counting, second);
        Ok(out)
    }

    fn ctr_with_wide_counter(&self, number: u128, text: &mut [u8]) {
        each_length!(self, aes => {
            let core = CtrCore::inner_iv_init(aes, &number.to_be_bytes().into());
            let mut ctr = Ctr128BE::from_core(core);
            for piece in text.chunks_mut(PIECE) {
                give_way(piece.len());
                ctr.apply_keystream(piece);
            }
        });
    }

    /// Galois/counter mode (NIST SP 800-38D, 7.1): the encrypted text, followed by a tag of that
    /// many bytes (at most 16).
    pub fn gcm_encrypt(
        &self,
        nonce: &[u8],
        extra: &[u8],
        tag_bytes: usize,
        text: &[u8],
    ) -> Vec<u8> {
        let first = self.gcm_first_counter(nonce);
        let mut out = self.gcm_counter_mode(&first, text);
        let tag = self.gcm_tag(&first, extra, &out);
        out.extend(tag.into_iter().take(tag_bytes));
        out
    }

    /// Checks the tag at the end of `text`, and decrypts in GCM mode.
    ///
    /// # Errors
    /// If the tag is missing or wrong.
    pub fn gcm_decrypt(
        &self,
        nonce: &[u8],
        extra: &[u8],
        tag_bytes: usize,
        text: &[u8],
    ) -> Result<Vec<u8>, CipherError> {
        let split = text
            .len()
            .checked_sub(tag_bytes)
            .ok_or(CipherError::TextLength)?;
        let (enciphered, tag) = text.split_at(split);
        let first = self.gcm_first_counter(nonce);
        if !self.gcm_tag(&first, extra, enciphered).starts_with(tag) {
            return Err(CipherError::Wrong);
        }
        Ok(self.gcm_counter_mode(&first, enciphered))
    }

    /// J₀ of the standard.
    fn gcm_first_counter(&self, nonce: &[u8]) -> Block {
        let mut first = [0; BLOCK];
        if let Ok(twelve) = <[u8; 12]>::try_from(nonce) {
            first[..12].copy_from_slice(&twelve);
            first[15] = 1;
            return first;
        }
        let mut hash = self.ghash();
        absorb(&mut hash, nonce);
        hash.update(&[lengths(0, nonce.len()).into()]);
        hash.finalize().into()
    }

    fn gcm_counter_mode(&self, first: &Block, text: &[u8]) -> Vec<u8> {
        // The counter is the last four bytes. Its first value is used for the tag.
        let number = u128::from_be_bytes(*first);
        let low = u128::from(u32::MAX);
        let second = number & !low | number.wrapping_add(1) & low;
        // A text longer than 2³² blocks does not fit into a script's memory.
        self.ctr(&second.to_be_bytes(), 32, text)
            .unwrap_or_default()
    }

    fn gcm_tag(&self, first: &Block, extra: &[u8], enciphered: &[u8]) -> Block {
        let mut hash = self.ghash();
        absorb(&mut hash, extra);
        absorb(&mut hash, enciphered);
        hash.update(&[lengths(extra.len(), enciphered.len()).into()]);
        let mut tag: Block = hash.finalize().into();
        let mut mask = *first;
        self.encrypt(&mut mask);
        xor(&mut tag, &mask);
        tag
    }

    fn ghash(&self) -> GHash {
        let mut key = [0; BLOCK];
        self.encrypt(&mut key);
        GHash::new(&key.into())
    }

    /// Key wrap (RFC 3394, 2.2.1).
    ///
    /// # Errors
    /// If `key` is shorter than two blocks of 8 bytes, longer than 64 KiB, or not a multiple of
    /// 8 bytes.
    pub fn wrap_key(&self, key: &[u8]) -> Result<Vec<u8>, CipherError> {
        if !(BLOCK..=LONGEST_WRAPPED).contains(&key.len()) {
            return Err(CipherError::TextLength);
        }
        let mut wrapped = vec![0; key.len() + 8];
        each_length!(self, aes => {
            AesKw::inner_init(aes).wrap_key(key, &mut wrapped).map(|_| ())
        })
        .map_err(wrap_error)?;
        Ok(wrapped)
    }

    /// Unwraps a key (RFC 3394).
    ///
    /// # Errors
    /// If the text is not a wrapped key, or was wrapped with another key.
    pub fn unwrap_key(&self, wrapped: &[u8]) -> Result<Vec<u8>, CipherError> {
        if !(BLOCK + 8..=LONGEST_WRAPPED + 8).contains(&wrapped.len()) {
            return Err(CipherError::TextLength);
        }
        let mut key = vec![0; wrapped.len() - 8];
        each_length!(self, aes => {
            AesKw::inner_init(aes).unwrap_key(wrapped, &mut key).map(|_| ())
        })
        .map_err(wrap_error)?;
        Ok(key)
    }
}

fn wrap_error(error: aes_kw::Error) -> CipherError {
    match error {
        aes_kw::Error::IntegrityCheckFailed => CipherError::Wrong,
        _ => CipherError::TextLength,
    }
}

/// Feeds `bytes` to the hash, padded with zeros to whole blocks.
fn absorb(hash: &mut GHash, bytes: &[u8]) {
    // All pieces except the last are whole blocks.
    for piece in pieces(bytes) {
        hash.update_padded(piece);
    }
}

fn xor(block: &mut [u8], with: &Block) {
    for (byte, other) in block.iter_mut().zip(with) {
        *byte ^= other;
    }
}

/// The two lengths in bits that are the last input of GHASH.
fn lengths(extra: usize, text: usize) -> Block {
    (((extra as u128) << 67) | ((text as u128) << 3)).to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pure::digests::hex;

    fn bytes(hex: &str) -> Vec<u8> {
        (0..hex.len() / 2)
            .map(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).unwrap())
            .collect()
    }

    fn block(hex: &str) -> Block {
        bytes(hex).try_into().unwrap()
    }

    /// NIST SP 800-38A, F.2.1 and F.5.5: the first two blocks.
    const TEXT: &str = "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51";

    #[test]
    fn cbc_gives_the_published_blocks_and_pads() {
        let aes = Aes::new(&bytes("2b7e151628aed2a6abf7158809cf4f3c")).unwrap();
        let iv = block("000102030405060708090a0b0c0d0e0f");
        let enciphered = aes.cbc_encrypt(&iv, &bytes(TEXT));
        assert_eq!(
            hex(&enciphered[..32]),
            "7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b2"
        );
        assert_eq!(enciphered.len(), 48);
        assert_eq!(aes.cbc_decrypt(&iv, &enciphered), Ok(bytes(TEXT)));
        assert_eq!(
            aes.cbc_decrypt(&iv, &enciphered[..32]),
            Err(CipherError::Wrong)
        );
        assert_eq!(
            aes.cbc_decrypt(&iv, &enciphered[..31]),
            Err(CipherError::TextLength)
        );
        assert_eq!(aes.cbc_decrypt(&iv, b""), Err(CipherError::TextLength));
    }

    #[test]
    fn ctr_gives_the_published_blocks_and_counts_only_its_bits() {
        let key = bytes("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4");
        let aes = Aes::new(&key).unwrap();
        let counter = block("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff");
        let expected = "601ec313775789a5b7a7f504bbf3d228f443e3ca4d62b59aca84e990cacaf5c5";
        for bits in [16, 64, 128] {
            assert_eq!(
                hex(&aes.ctr(&counter, bits, &bytes(TEXT)).unwrap()),
                expected
            );
        }
        // With a counter of four bits, ff is followed by f0, and seventeen blocks are too many.
        let narrow = aes.ctr(&counter, 4, &[0; 32]).unwrap();
        let second = aes
            .ctr(&block("f0f1f2f3f4f5f6f7f8f9fafbfcfdfef0"), 4, &[0; 16])
            .unwrap();
        assert_eq!(narrow[16..], second);
        assert!(aes.ctr(&counter, 4, &[0; 256]).is_ok());
        assert_eq!(
            aes.ctr(&counter, 4, &[0; 257]),
            Err(CipherError::CounterExhausted)
        );
    }

    /// The GCM specification's test cases 4 (nonce of 12 bytes) and 5 and 6 (of 8 and 60 bytes).
    #[test]
    fn gcm_gives_the_published_texts_and_tags() {
        let aes = Aes::new(&bytes("feffe9928665731c6d6a8f9467308308")).unwrap();
        let text = bytes(
            "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72\
             1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39",
        );
        let extra = bytes("feedfacedeadbeeffeedfacedeadbeefabaddad2");
        for (nonce, tag) in [
            (
                "cafebabefacedbaddecaf888",
                "5bc94fbc3221a5db94fae95ae7121a47",
            ),
            ("cafebabefacedbad", "3612d2e79e3b0785561be14aaca2fccb"),
            (
                "9313225df88406e555909c5aff5269aa6a7a9538534f7da1e4c303d2a318a728\
                 c3c0c95156809539fcf0e2429a6b525416aedbf5a0de6a57a637b39b",
                "619cc5aefffe0bfa462af43c1699d050",
            ),
        ] {
            let nonce = bytes(nonce);
            let enciphered = aes.gcm_encrypt(&nonce, &extra, 16, &text);
            assert_eq!(hex(&enciphered[text.len()..]), tag);
            assert_eq!(
                aes.gcm_decrypt(&nonce, &extra, 16, &enciphered),
                Ok(text.clone())
            );
            let short = &enciphered[..enciphered.len() - 4];
            assert_eq!(aes.gcm_decrypt(&nonce, &extra, 12, short), Ok(text.clone()));
            assert_eq!(
                aes.gcm_decrypt(&nonce, b"", 16, &enciphered),
                Err(CipherError::Wrong)
            );
            assert_eq!(
                aes.gcm_decrypt(&nonce, b"", 16, b"x"),
                Err(CipherError::TextLength)
            );
        }
    }

    /// RFC 3394, 4.1 and 4.6.
    #[test]
    fn key_wrap_gives_the_published_texts() {
        for (size, key, expected) in [
            (
                16,
                "00112233445566778899aabbccddeeff",
                "1fa68b0a8112b447aef34bd8fb5a7b829d3e862371d2cfe5",
            ),
            (
                32,
                "00112233445566778899aabbccddeeff000102030405060708090a0b0c0d0e0f",
                "28c9f404c4b810f4cbccb35cfb87f8263f5786e2d80ed326cbc7f0e71a99f43bfb988b9b7a02dd21",
            ),
        ] {
            let with: Vec<u8> = (0..size).collect();
            let aes = Aes::new(&with).unwrap();
            let wrapped = aes.wrap_key(&bytes(key)).unwrap();
            assert_eq!(hex(&wrapped), expected);
            assert_eq!(aes.unwrap_key(&wrapped), Ok(bytes(key)));
            let mut changed = wrapped.clone();
            changed[3] ^= 1;
            assert_eq!(aes.unwrap_key(&changed), Err(CipherError::Wrong));
            assert_eq!(aes.unwrap_key(&wrapped[..8]), Err(CipherError::TextLength));
        }
        let aes = Aes::new(&[0; 16]).unwrap();
        for length in [0, 8, 17, LONGEST_WRAPPED + 8] {
            let refused = aes.wrap_key(&vec![0; length]);
            assert_eq!(refused, Err(CipherError::TextLength), "{length}");
        }
        assert!(aes.wrap_key(&vec![0; LONGEST_WRAPPED]).is_ok());
        assert_eq!(Aes::new(&[0; 15]).unwrap_err(), CipherError::KeyLength);
    }
}
