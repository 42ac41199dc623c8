//! The Huffman code of field values: RFC 7541, appendix B, which QPACK shares (RFC 9204, section
//! 4.1.2). The code is canonical, so the code lengths define it completely.

use std::sync::OnceLock;

/// Code length of each byte in bits; the last entry is the end of a string.
#[rustfmt::skip]
const LENGTHS: [u8; 257] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28,
    28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28,
    6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6,
    5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
    13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
    7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
    15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5,
    6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28,
    20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23,
    24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24,
    22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23,
    21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
    26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25,
    19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27,
    20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23,
    26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
    30,
];
const LONGEST: usize = 30;
const END_OF_STRING: u16 = 256;

/// Symbols in the order of their codes, and the range of each length.
struct Code {
    symbols: Vec<u16>,
    /// By length: the first code, the number of codes, the index of the first symbol.
    lengths: [(u32, u32, usize); LONGEST + 1],
}

fn code() -> &'static Code {
    static CODE: OnceLock<Code> = OnceLock::new();
    CODE.get_or_init(|| {
        let mut symbols: Vec<u16> = (0..=END_OF_STRING).collect();
        let length = |symbol: u16| usize::from(LENGTHS[usize::from(symbol)]);
        symbols.sort_by_key(|symbol| (length(*symbol), *symbol));
        let mut lengths = [(0, 0, 0); LONGEST + 1];
        let mut first = 0u32;
        let mut place = 0usize;
        for (bits, entry) in lengths.iter_mut().enumerate() {
            let count = symbols
                .iter()
                .filter(|symbol| length(**symbol) == bits)
                .count();
            *entry = (first, count as u32, place);
            place += count;
            // At most 2 to the power of 30: no length overflows.
            first = (first + count as u32) << u32::from(bits < LONGEST);
        }
        Code { symbols, lengths }
    })
}

/// Decodes a string of at most `limit` bytes. `None` if it is invalid or longer.
pub fn decode(input: &[u8], limit: usize) -> Option<Vec<u8>> {
    let table = code();
    let mut out = Vec::with_capacity((input.len() * 2).min(limit));
    let (mut bits, mut length, mut only_ones) = (0u32, 0usize, true);
    for byte in input {
        for shift in (0..8).rev() {
            let bit = u32::from(byte >> shift) & 1;
            bits = (bits << 1) | bit;
            length += 1;
            only_ones &= bit == 1;
            let (first, count, place) = *table.lengths.get(length)?;
            let Some(offset) = bits.checked_sub(first).filter(|offset| *offset < count) else {
                continue;
            };
            let symbol = *table.symbols.get(place + offset as usize)?;
            // An encoded end-of-string symbol is an error: RFC 7541, section 5.2.
            let symbol = u8::try_from(symbol).ok()?;
            if out.len() >= limit {
                return None;
            }
            out.push(symbol);
            (bits, length, only_ones) = (0, 0, true);
        }
    }
    // The padding consists of the first bits of the end-of-string code, all ones, and is shorter
    // than a byte.
    (length < 8 && only_ones).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(text: &str) -> Vec<u8> {
        (0..text.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap())
            .collect()
    }

    /// The examples of RFC 7541, appendix C.4 and C.6.
    #[test]
    fn the_rfcs_examples_decode() {
        for (encoded, text) in [
            ("f1e3c2e5f23a6ba0ab90f4ff", "www.example.com"),
            ("a8eb10649cbf", "no-cache"),
            ("25a849e95ba97d7f", "custom-key"),
            ("25a849e95bb8e8b4bf", "custom-value"),
            ("6402", "302"),
            (
                "d07abe941054d444a8200595040b8166e082a62d1bff",
                "Mon, 21 Oct 2013 20:13:21 GMT",
            ),
        ] {
            assert_eq!(decode(&hex(encoded), 1000).unwrap(), text.as_bytes());
        }
    }

    #[test]
    fn wrong_ends_and_long_strings_are_refused() {
        assert_eq!(decode(&hex("6402"), 2), None, "longer than the limit");
        assert_eq!(decode(&hex("6402ff"), 9), None, "a whole byte of filling");
        assert_eq!(decode(&hex("00"), 9), None, "filled with zeroes");
        assert_eq!(decode(&hex("fffffffc"), 9), None, "the end of a string");
        assert_eq!(decode(&[], 0).unwrap(), b"");
    }
}
