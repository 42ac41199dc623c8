//! A hash that is the same in every process: FNV-1a over the bytes, then the final step of
//! SplitMix64, which spreads short keys over the whole range.

pub fn hash(bytes: &[u8]) -> u64 {
    let folded = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |state, byte| {
        (state ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    let mixed = (folded ^ (folded >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::hash;

    #[test]
    fn close_keys_are_far_apart() {
        assert_eq!(hash(b"a"), hash(b"a"));
        let differing = (hash(b"user-1") ^ hash(b"user-2")).count_ones();
        assert!((16..48).contains(&differing), "{differing}");
    }
}
