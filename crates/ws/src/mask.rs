//! Masking: RFC 6455, sections 5.3 and 10.3.

use std::cell::RefCell;

/// Number of keys that are requested from the system at a time.
const KEYS_PER_REQUEST: usize = 1024;

thread_local! {
    static KEYS: RefCell<Keys> = const { RefCell::new(Keys { bytes: [0; KEYS_PER_REQUEST * 4], used: KEYS_PER_REQUEST * 4 }) };
}

struct Keys {
    bytes: [u8; KEYS_PER_REQUEST * 4],
    used: usize,
}

/// A key that no script and no peer can predict (section 10.3). It is from the system's generator,
/// and many keys share the cost of one request.
#[inline]
pub(crate) fn random_key() -> [u8; 4] {
    KEYS.with_borrow_mut(|keys| {
        if let Some(&key) = keys.bytes.get(keys.used..).and_then(<[u8]>::first_chunk) {
            keys.used += 4;
            return key;
        }
        keys.refill()
    })
}

impl Keys {
    #[cold]
    fn refill(&mut self) -> [u8; 4] {
        if getrandom::fill(&mut self.bytes).is_err() {
            // Without the system's generator, the hasher's random keys are the best remaining source.
            for eight in self.bytes.chunks_exact_mut(8) {
                eight.copy_from_slice(&hasher_random().to_ne_bytes());
            }
        }
        self.used = 4;
        self.bytes.first_chunk().copied().unwrap_or_default()
    }
}

fn hasher_random() -> u64 {
    use std::hash::{BuildHasher, Hasher};
    std::hash::RandomState::new().build_hasher().finish()
}

/// Masks `bytes` with `key`, eight bytes at a time. The compiler vectorizes the loop.
#[inline]
pub(crate) fn apply(key: [u8; 4], bytes: &mut [u8]) {
    let [a, b, c, d] = key;
    let wide = u64::from_ne_bytes([a, b, c, d, a, b, c, d]);
    let mut eights = bytes.chunks_exact_mut(8);
    for eight in &mut eights {
        if let Some(eight) = eight.first_chunk_mut() {
            *eight = (u64::from_ne_bytes(*eight) ^ wide).to_ne_bytes();
        }
    }
    for (byte, key) in eights
        .into_remainder()
        .iter_mut()
        .zip(key.into_iter().cycle())
    {
        *byte ^= key;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn masking_matches_its_definition() {
        let key = [0x37, 0xfa, 0x21, 0x3d];
        for length in 0..70 {
            let plain: Vec<u8> = (0..length).map(|n: u8| n.wrapping_mul(7)).collect();
            let expected: Vec<u8> = plain
                .iter()
                .enumerate()
                .map(|(at, byte)| byte ^ key[at % 4])
                .collect();
            let mut masked = plain.clone();
            apply(key, &mut masked);
            assert_eq!(masked, expected);
            apply(key, &mut masked);
            assert_eq!(masked, plain);
        }
    }

    #[test]
    fn keys_rarely_repeat_across_refills() {
        let keys: HashSet<[u8; 4]> = (0..4 * KEYS_PER_REQUEST).map(|_| random_key()).collect();
        // 4,096 of 2^32: the probability of two equal pairs is one in a hundred thousand.
        assert!(keys.len() >= 4 * KEYS_PER_REQUEST - 2, "{}", keys.len());
    }
}
