//! AES in the modes that WebCrypto names: CBC, CTR, GCM and key wrap.
//!
//! Implemented over the plain block cipher, since libraries fix parameters that WebCrypto leaves
//! open: the counter bits of CTR, and the lengths of GCM's nonce and tag.

use std::fmt;

use aes::cipher::{BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};
use aes::{Aes128, Aes192, Aes256};
use ghash::GHash;
use ghash::universal_hash::UniversalHash;
use plimsoll_quickjs::{Progress, copy_in_pieces, give_way, pieces};

const BLOCK: usize = 16;
type Block = [u8; BLOCK];

/// Why a text could not be encrypted or decrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CipherError {
    /// Keys are 16, 24 or 32 bytes.
    KeyLength,
    /// The text's length is impossible in this mode.
    TextLength,
    /// The padding, the tag or the check value is wrong: a different key, or a modified text.
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

/// AES with a key of any of its three lengths.
pub enum Aes {
    Aes128(Box<Aes128>),
    Aes192(Box<Aes192>),
    Aes256(Box<Aes256>),
}

impl fmt::Debug for Aes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Aes")
    }
}

impl Aes {
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
        match self {
            Aes::Aes128(aes) => aes.encrypt_block(block.into()),
            Aes::Aes192(aes) => aes.encrypt_block(block.into()),
            Aes::Aes256(aes) => aes.encrypt_block(block.into()),
        }
    }

    fn decrypt(&self, block: &mut Block) {
        match self {
            Aes::Aes128(aes) => aes.decrypt_block(block.into()),
            Aes::Aes192(aes) => aes.decrypt_block(block.into()),
            Aes::Aes256(aes) => aes.decrypt_block(block.into()),
        }
    }

    /// Cipher block chaining with padding (NIST SP 800-38A, 6.2; RFC 5652, 6.3).
    pub fn cbc_encrypt(&self, iv: &Block, text: &[u8]) -> Vec<u8> {
        let padding = BLOCK - text.len() % BLOCK;
        let mut padded = copy_in_pieces(text, padding);
        padded.resize(text.len() + padding, padding as u8);
        let mut before = *iv;
        let mut progress = Progress::from(0);
        for (number, block) in padded.as_chunks_mut::<BLOCK>().0.iter_mut().enumerate() {
            progress.reach(number * BLOCK);
            xor(block, &before);
            self.encrypt(block);
            before = *block;
        }
        padded
    }

    /// # Errors
    /// If the length is not a multiple of the block length, or if the padding is wrong.
    pub fn cbc_decrypt(&self, iv: &Block, text: &[u8]) -> Result<Vec<u8>, CipherError> {
        if text.is_empty() || !text.len().is_multiple_of(BLOCK) {
            return Err(CipherError::TextLength);
        }
        let mut plain = copy_in_pieces(text, 0);
        let mut before = *iv;
        let mut progress = Progress::from(0);
        for (number, block) in plain.as_chunks_mut::<BLOCK>().0.iter_mut().enumerate() {
            progress.reach(number * BLOCK);
            let enciphered = *block;
            self.decrypt(block);
            xor(block, &before);
            before = enciphered;
        }
        let padding = usize::from(plain.last().copied().unwrap_or_default());
        let kept = plain.len().checked_sub(padding).ok_or(CipherError::Wrong)?;
        let right = (1..=BLOCK).contains(&padding)
            && plain
                .iter()
                .skip(kept)
                .all(|&byte| usize::from(byte) == padding);
        if !right {
            return Err(CipherError::Wrong);
        }
        plain.truncate(kept);
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
        let mut number = u128::from_be_bytes(*counter);
        let mut out = copy_in_pieces(text, BLOCK);
        let mut progress = Progress::from(0);
        for (block_number, block) in out.chunks_mut(BLOCK).enumerate() {
            progress.reach(block_number * BLOCK);
            let mut stream = number.to_be_bytes();
            self.encrypt(&mut stream);
            xor(block, &stream);
            number = number & !counting | number.wrapping_add(1) & counting;
        }
        Ok(out)
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
        // The counter is the last four bytes; the first value is the tag's.
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
    /// If `key` is shorter than two blocks of 8 bytes, or not a multiple of 8 bytes.
    pub fn wrap_key(&self, key: &[u8]) -> Result<Vec<u8>, CipherError> {
        if key.len() < BLOCK || !key.len().is_multiple_of(8) {
            return Err(CipherError::TextLength);
        }
        let mut registers = key.as_chunks::<8>().0.to_vec();
        let mut check = u64::from_be_bytes(WRAP_CHECK);
        let mut step = 0;
        for _ in 0..6 {
            for register in &mut registers {
                step += 1;
                let (high, low) = self.wrap_step(check, *register, Aes::encrypt);
                check = high ^ step;
                *register = low;
            }
        }
        Ok([check.to_be_bytes()]
            .iter()
            .chain(&registers)
            .flatten()
            .copied()
            .collect())
    }

    /// # Errors
    /// If the text is not a wrapped key, or was wrapped with another key.
    pub fn unwrap_key(&self, wrapped: &[u8]) -> Result<Vec<u8>, CipherError> {
        let blocks = wrapped.as_chunks::<8>().0;
        let Some((check, registers)) = blocks.split_first() else {
            return Err(CipherError::TextLength);
        };
        if wrapped.len() < BLOCK + 8 || !wrapped.len().is_multiple_of(8) {
            return Err(CipherError::TextLength);
        }
        let mut registers = registers.to_vec();
        let mut check = u64::from_be_bytes(*check);
        let mut step = 6 * registers.len() as u64;
        for _ in 0..6 {
            for register in registers.iter_mut().rev() {
                (check, *register) = self.wrap_step(check ^ step, *register, Aes::decrypt);
                step -= 1;
            }
        }
        if check != u64::from_be_bytes(WRAP_CHECK) {
            return Err(CipherError::Wrong);
        }
        Ok(registers.concat())
    }

    fn wrap_step(&self, high: u64, low: [u8; 8], cipher: fn(&Aes, &mut Block)) -> (u64, [u8; 8]) {
        give_way(BLOCK);
        let joined = u128::from(high) << 64 | u128::from(u64::from_be_bytes(low));
        let mut block = joined.to_be_bytes();
        cipher(self, &mut block);
        let joined = u128::from_be_bytes(block);
        ((joined >> 64) as u64, (joined as u64).to_be_bytes())
    }
}

/// Feeds `bytes` to the hash, padded with zeros to whole blocks.
fn absorb(hash: &mut GHash, bytes: &[u8]) {
    // All pieces but the last are whole blocks.
    for piece in pieces(bytes) {
        hash.update_padded(piece);
    }
}

/// The first bytes of an unwrapped key (RFC 3394, 2.2.3.1).
const WRAP_CHECK: [u8; 8] = [0xA6; 8];

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
        // With four bits, ff is followed by f0, and seventeen blocks are too many.
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
        assert_eq!(Aes::new(&[0; 15]).unwrap_err(), CipherError::KeyLength);
    }
}
