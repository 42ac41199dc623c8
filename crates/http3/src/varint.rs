//! Variable-length integers (RFC 9000, section 16).

/// The integer at the start of `input`, and its encoded length; `None` if it is incomplete.
pub(crate) fn read(input: &[u8]) -> Option<(u64, usize)> {
    let first = *input.first()?;
    let length = 1usize << (first >> 6);
    let bytes = input.get(..length)?;
    let value = bytes
        .iter()
        .fold(0u64, |value, byte| (value << 8) | u64::from(*byte));
    let bits = 8 * length as u32 - 2;
    Some((value & ((1 << bits) - 1), length))
}

/// Appends `value`, which must be less than 2^62.
pub(crate) fn write(out: &mut Vec<u8>, value: u64) {
    let bytes = value.to_be_bytes();
    let (length, mark) = match value {
        0..0x40 => (1, 0x00),
        0x40..0x4000 => (2, 0x40),
        0x4000..0x4000_0000 => (4, 0x80),
        _ => (8, 0xc0),
    };
    let start = out.len();
    out.extend_from_slice(&bytes[8 - length..]);
    out[start] |= mark;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of RFC 9000, appendix A.1.
    #[test]
    fn the_rfcs_examples_survive_a_round_trip() {
        for (bytes, value) in [
            (
                &[0xc2, 0x19, 0x7c, 0x5e, 0xff, 0x14, 0xe8, 0x8c][..],
                151_288_809_941_952_652,
            ),
            (&[0x9d, 0x7f, 0x3e, 0x7d], 494_878_333),
            (&[0x7b, 0xbd], 15_293),
            (&[0x25], 37),
        ] {
            assert_eq!(read(bytes), Some((value, bytes.len())));
            let mut out = Vec::new();
            write(&mut out, value);
            assert_eq!(out, bytes);
            assert_eq!(read(&bytes[..bytes.len() - 1]), None);
        }
        assert_eq!(read(&[0x40, 0x25]), Some((37, 2)));
    }
}
