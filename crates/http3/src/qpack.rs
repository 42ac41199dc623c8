//! QPACK (RFC 9204) without a dynamic table: we announce a capacity of 0, so no peer may use one,
//! and our headers never refer to earlier ones. So no request waits for another request's headers.

use plimsoll_http2::huffman;
use plimsoll_http2::primitives::{Input, put_integer};

use crate::static_table::{STATIC, TableMatch, look_up};

/// A field's name and value.
pub type Field = (Vec<u8>, Vec<u8>);

/// Maximum size of response headers: names, values, and 32 bytes for each field.
pub(crate) const MAX_HEAD: usize = 1 << 20;

/// The overhead that RFC 9114, section 4.2.2, counts for each field.
const FIELD_COST: usize = 32;

/// Appends the prefix of an encoded section. It states that the section does not use the dynamic
/// table.
pub(crate) fn begin(out: &mut Vec<u8>) {
    out.extend_from_slice(&[0, 0]);
}

/// Appends a field. The name must be in lower case.
pub(crate) fn encode(out: &mut Vec<u8>, name: &str, value: &[u8]) {
    match look_up(name, value) {
        TableMatch::Field(index) => put_integer(out, 0xc0, 6, index),
        TableMatch::Name(index) => {
            put_integer(out, 0x50, 4, index);
            put_integer(out, 0, 7, value.len());
            out.extend_from_slice(value);
        }
        TableMatch::No => {
            put_integer(out, 0x20, 3, name.len());
            out.extend_from_slice(name.as_bytes());
            put_integer(out, 0, 7, value.len());
            out.extend_from_slice(value);
        }
    }
}

/// Decodes a section whose fields have at most `limit` bytes: names, values, and 32 bytes for each.
///
/// # Errors
/// The reason why the section is invalid.
pub fn decode(section: &[u8], limit: usize) -> Result<Vec<Field>, &'static str> {
    const TRUNCATED: &str = "the header ends within a field";
    const DYNAMIC: &str = "the header refers to a dynamic table, which was not agreed on";
    const UNKNOWN: &str = "the header refers to an entry that is not in the static table";
    let mut input = Input(section);
    if input.integer(8).ok_or(TRUNCATED)? != 0 {
        return Err(DYNAMIC);
    }
    input.integer(7).ok_or(TRUNCATED)?;
    let mut fields = Vec::new();
    let mut left = limit;
    let entry = |index: usize| STATIC.get(index).ok_or(UNKNOWN);
    while let Some(first) = input.0.first().copied() {
        let (name, value) = if first & 0xc0 == 0xc0 {
            let (name, value) = entry(input.integer(6).ok_or(TRUNCATED)?)?;
            (name.as_bytes().to_vec(), value.as_bytes().to_vec())
        } else if first & 0xd0 == 0x50 {
            let (name, _) = entry(input.integer(4).ok_or(TRUNCATED)?)?;
            (name.as_bytes().to_vec(), string(&mut input, 7, left)?)
        } else if first & 0xe0 == 0x20 {
            (string(&mut input, 3, left)?, string(&mut input, 7, left)?)
        } else {
            return Err(DYNAMIC);
        };
        left = left
            .checked_sub(name.len() + value.len() + FIELD_COST)
            .ok_or(TOO_LONG)?;
        fields.push((name, value));
    }
    Ok(fields)
}

const TOO_LONG: &str = "the header is too long";

/// Decodes a string whose length has a prefix of `bits` bits.
fn string(input: &mut Input<'_>, bits: u32, limit: usize) -> Result<Vec<u8>, &'static str> {
    let (text, is_coded) = input
        .string(bits)
        .ok_or("the header ends within a string")?;
    if is_coded {
        return huffman::decode(text, limit)
            .ok_or("a string of the header has an invalid Huffman code, or is too long");
    }
    if text.len() > limit {
        return Err(TOO_LONG);
    }
    Ok(text.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encoding_and_decoding_are_inverse() {
        let long = vec![b'v'; 5000];
        let fields: [(&str, &[u8]); 5] = [
            (":method", b"GET"),
            (":path", b"/a/b?c"),
            ("x-own", b""),
            ("a-name-of-more-than-a-few-bytes", &long),
            ("user-agent", b"x"),
        ];
        let mut section = Vec::new();
        begin(&mut section);
        for (name, value) in fields {
            encode(&mut section, name, value);
        }
        let decoded = decode(&section, 1 << 16).unwrap();
        let decoded: Vec<_> = decoded
            .iter()
            .map(|(name, value)| (std::str::from_utf8(name).unwrap(), &value[..]))
            .collect();
        assert_eq!(decoded, fields);
        assert_eq!(decode(&section, 5000), Err(TOO_LONG));
    }

    /// The first example of RFC 9204, appendix B.
    #[test]
    fn the_rfcs_example_decodes() {
        let section = b"\x00\x00\x51\x0b/index.html";
        let path = (b":path".to_vec(), b"/index.html".to_vec());
        assert_eq!(decode(section, 1000), Ok(vec![path]));
    }

    #[test]
    fn truncated_and_dynamic_fields_are_rejected() {
        for (section, words) in [
            (&b"\x00"[..], "ends within a field"),
            (b"\x03\x81\x10", "dynamic"),
            (b"\x00\x00\x80", "dynamic"),
            (b"\x00\x00\xff\x40", "not in the static table"),
            (b"\x00\x00\x51\x0b/inde", "within a string"),
            (b"\x00\x00\x51\xff\xff\xff\xff\xff\x7f", "within a string"),
            (b"\x00\x00\x51\x82\x00\x00", "Huffman"),
        ] {
            let message = decode(section, 1000).unwrap_err();
            assert!(message.contains(words), "{section:?}: {message}");
        }
    }
}
