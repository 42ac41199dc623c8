//! HPACK decoding: RFC 7541.

use std::collections::VecDeque;
use std::rc::Rc;

use crate::head::{Field, Headers, Malformed};
use crate::huffman;
use crate::primitives::Input;
use crate::static_table::STATIC;

/// Size of the table that we allow the peer to use. This is the setting's default.
const TABLE_SIZE: usize = 4096;
/// Number of header blocks in the cache of decoded blocks.
const CACHED_BLOCKS: usize = 4;
/// Maximum length of a block in the cache.
const MAX_CACHED: usize = 2048;

/// Decodes all header blocks of a connection, in order.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    dynamic: VecDeque<Field>,
    /// The sum of the entries' sizes.
    size: usize,
    /// The size to which the peer limits itself; below [`TABLE_SIZE`].
    limit: Option<usize>,
    /// Blocks that did not change the table, and the fields they decode to while the table stays the
    /// same.
    known: Vec<(Vec<u8>, Rc<Headers>)>,
}

/// The fields that a block decodes to.
#[derive(Clone, Debug)]
pub(crate) enum Decoded {
    Headers(Rc<Headers>),
    /// The block is readable, but its fields are not valid headers.
    Malformed,
}

/// The block cannot be decoded, so no later block can be decoded either.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unreadable;

impl Decoder {
    /// Decodes a block whose fields have at most `longest` bytes: names, values, and 32 bytes for each
    /// field.
    ///
    /// # Errors
    /// If the connection has to end.
    pub fn decode(&mut self, block: &[u8], longest: usize) -> Result<Decoded, Unreadable> {
        if let Some((_, headers)) = self.known.iter().find(|(known, _)| known == block) {
            return Ok(Decoded::Headers(Rc::clone(headers)));
        }
        let mut input = Input(block);
        let mut headers = Headers::default();
        let mut is_well = true;
        let mut left = longest;
        let mut is_table_unchanged = true;
        let mut started = false;
        while let Some(&first) = input.0.first() {
            if first & 0xe0 == 0x20 {
                // Allowed only before the first field (section 4.2).
                if started {
                    return Err(Unreadable);
                }
                let size = input.integer(5).ok_or(Unreadable)?;
                if size > TABLE_SIZE {
                    return Err(Unreadable);
                }
                self.limit = Some(size);
                self.shrink(size);
                is_table_unchanged = false;
                continue;
            }
            started = true;
            let put = |headers: &mut Headers, field: &Field, left: &mut usize| {
                match left.checked_sub(field.size) {
                    Some(rest) => *left = rest,
                    None => return Err(Malformed),
                }
                headers.put(field)
            };
            if first & 0x80 != 0 {
                let index = input.integer(7).ok_or(Unreadable)?;
                match self.entry(index)? {
                    Entry::Kept(field) => is_well &= put(&mut headers, field, &mut left).is_ok(),
                    Entry::Static(name, value) => {
                        let field = Field::new(name.as_bytes(), value.as_bytes());
                        is_well &= put(&mut headers, &field, &mut left).is_ok();
                    }
                }
                continue;
            }
            let is_kept = first & 0xc0 == 0x40;
            let index = input.integer(if is_kept { 6 } else { 4 });
            let index = index.ok_or(Unreadable)?;
            let field = if index == 0 {
                let name = string(&mut input, longest).ok_or(Unreadable)?;
                let value = string(&mut input, longest).ok_or(Unreadable)?;
                Field::new(&name, &value)
            } else {
                let value = string(&mut input, longest).ok_or(Unreadable)?;
                match self.entry(index)? {
                    Entry::Kept(field) => field.with_value(field.name_length(), &value),
                    Entry::Static(name, _) => Field::new(name.as_bytes(), &value),
                }
            };
            is_well &= put(&mut headers, &field, &mut left).is_ok();
            if is_kept {
                self.insert(field);
                is_table_unchanged = false;
            }
        }
        if !is_well {
            return Ok(Decoded::Malformed);
        }
        let headers = Rc::new(headers);
        if is_table_unchanged && block.len() <= MAX_CACHED {
            if self.known.len() >= CACHED_BLOCKS {
                self.known.remove(0);
            }
            self.known.push((block.to_vec(), Rc::clone(&headers)));
        }
        Ok(Decoded::Headers(headers))
    }

    fn entry(&self, index: usize) -> Result<Entry<'_>, Unreadable> {
        let place = index.checked_sub(1).ok_or(Unreadable)?;
        if let Some(&(name, value)) = STATIC.get(place) {
            return Ok(Entry::Static(name, value));
        }
        let kept = self.dynamic.get(place - STATIC.len());
        kept.map(Entry::Kept).ok_or(Unreadable)
    }

    /// Adds a field to the table. A field that is larger than the table empties it (section 4.4).
    fn insert(&mut self, field: Field) {
        let limit = self.limit.unwrap_or(TABLE_SIZE);
        self.shrink(limit.saturating_sub(field.size));
        if field.size <= limit {
            self.size += field.size;
            self.dynamic.push_front(field);
        }
        self.known.clear();
    }

    fn shrink(&mut self, size: usize) {
        while self.size > size {
            let Some(oldest) = self.dynamic.pop_back() else {
                break;
            };
            self.size = self.size.saturating_sub(oldest.size);
            self.known.clear();
        }
    }
}

enum Entry<'a> {
    Static(&'static str, &'static str),
    Kept(&'a Field),
}

/// Decodes a string. A string longer than `longest` is rejected.
fn string(input: &mut Input<'_>, longest: usize) -> Option<Vec<u8>> {
    match input.string(7)? {
        (text, true) => huffman::decode(text, longest),
        (text, false) => (text.len() <= longest).then(|| text.to_vec()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(text: &str) -> Vec<u8> {
        let text: String = text.split_whitespace().collect();
        (0..text.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap())
            .collect()
    }

    fn decode_block(decoder: &mut Decoder, block: &str) -> (u16, Vec<(String, String)>) {
        let Ok(Decoded::Headers(headers)) = decoder.decode(&hex(block), 1 << 14) else {
            panic!("{block} does not decode to headers");
        };
        let fields = headers.fields.iter();
        (
            headers.status.map_or(0, |status| status.as_u16()),
            fields
                .map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()))
                .collect(),
        )
    }

    /// The examples of RFC 7541, appendix C.6: Huffman-coded responses on one connection.
    #[test]
    fn the_responses_of_the_rfc_are_decoded() {
        let mut decoder = Decoder {
            limit: Some(256),
            ..Decoder::default()
        };
        let (status, fields) = decode_block(
            &mut decoder,
            "4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 \
             2d1b ff6e 919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3",
        );
        assert_eq!((status, fields.len()), (302, 3));
        assert_eq!(fields[2].1, "https://www.example.com");
        assert_eq!((decoder.size, decoder.dynamic.len()), (222, 4));
        let (status, fields) = decode_block(&mut decoder, "4883 640e ffc1 c0bf");
        assert_eq!((status, fields.len()), (307, 3));
        assert_eq!(fields[0], ("cache-control".into(), "private".into()));
        assert_eq!((decoder.size, decoder.dynamic.len()), (222, 4));
        let (status, fields) = decode_block(
            &mut decoder,
            "88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab \
             77ad 94e7 821d d7f2 e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f \
             9587 3160 65c0 03ed 4ee5 b106 3d50 07",
        );
        assert_eq!((status, fields.len()), (200, 5));
        assert_eq!(
            fields[4].1,
            "foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1"
        );
        assert_eq!((decoder.size, decoder.dynamic.len()), (215, 3));
    }

    #[test]
    fn decoded_blocks_are_cached_until_the_table_changes() {
        let mut decoder = Decoder::default();
        // :status 200, and x: y to be added to the table.
        decode_block(&mut decoder, "88 40 01 78 01 79");
        let first = decode_block(&mut decoder, "88 be");
        assert_eq!(first, (200, vec![("x".into(), "y".into())]));
        assert_eq!(decoder.known.len(), 1);
        assert_eq!(decode_block(&mut decoder, "88 be"), first);
        // Index 0xbe now refers to another field.
        decode_block(&mut decoder, "88 40 01 61 01 62");
        assert_eq!(
            decode_block(&mut decoder, "88 be"),
            (200, vec![("a".into(), "b".into())])
        );
    }

    #[test]
    fn invalid_blocks_and_invalid_headers_are_distinguished() {
        let mut decoder = Decoder::default();
        for unreadable in [
            "80",
            "c0",
            "ff ff ff ff ff 7f",
            "40 02 78",
            "88 20",
            "3f e2 1f",
            "40",
        ] {
            assert!(
                decoder.decode(&hex(unreadable), 1000).is_err(),
                "{unreadable}"
            );
        }
        // Upper case; an invalid status; a status after a field; another pseudo-field.
        for malformed in [
            "00 01 58 00",
            "08 01 78",
            "00 01 78 00 88",
            "00 02 3a 78 00",
        ] {
            let decoded = decoder.decode(&hex(malformed), 1000);
            assert!(matches!(decoded, Ok(Decoded::Malformed)), "{malformed}");
        }
        let long = decoder.decode(&hex("00 01 78 01 79"), 33);
        assert!(matches!(long, Ok(Decoded::Malformed)));
    }
}
