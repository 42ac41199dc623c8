//! Base64 as metadata has it: RFC 4648, section 4, written without padding and read with or
//! without.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Without padding.
pub(crate) fn encode(bytes: &[u8]) -> String {
    let mut text = encode_padded(bytes);
    text.truncate(text.trim_end_matches('=').len());
    text
}

/// With padding, as JSON has it.
pub(crate) fn encode_padded(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let at = |index: usize| u32::from(group.get(index).copied().unwrap_or(0));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for place in 0..4 {
            if place <= group.len() {
                let index = (bits >> (18 - 6 * place)) & 63;
                text.push(char::from(ALPHABET[index as usize]));
            } else {
                text.push('=');
            }
        }
    }
    text
}

/// `None` for what is no Base64.
pub(crate) fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let end = text.iter().rposition(|byte| *byte != b'=');
    let text = text.get(..end.map_or(0, |end| end + 1))?;
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3 + 2);
    for group in text.chunks(4) {
        let mut bits = 0u32;
        for byte in group {
            let value = match byte {
                b'A'..=b'Z' => byte - b'A',
                b'a'..=b'z' => byte - b'a' + 26,
                b'0'..=b'9' => byte - b'0' + 52,
                b'+' | b'-' => 62,
                b'/' | b'_' => 63,
                _ => return None,
            };
            bits = bits << 6 | u32::from(value);
        }
        match group.len() {
            4 => bytes.extend([(bits >> 16) as u8, (bits >> 8) as u8, bits as u8]),
            3 => bytes.extend([(bits >> 10) as u8, (bits >> 2) as u8]),
            2 => bytes.push((bits >> 4) as u8),
            _ => return None,
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn follows_the_vectors_of_rfc_4648() {
        let vectors = [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ];
        for (plain, coded) in vectors {
            assert_eq!(encode_padded(plain.as_bytes()), coded);
            assert_eq!(encode(plain.as_bytes()), coded.trim_end_matches('='));
            assert_eq!(decode(coded.as_bytes()).unwrap(), plain.as_bytes());
            let bare = coded.trim_end_matches('=');
            assert_eq!(decode(bare.as_bytes()).unwrap(), plain.as_bytes());
        }
        assert_eq!(decode(b"Zg=a"), None);
        assert_eq!(decode(b"A"), None);
    }
}
