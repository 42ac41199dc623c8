/// RFC 4648, section 4, with padding: enough for keys of 16 and digests of 20 bytes.
pub(crate) fn encode(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let letter = |bits: u32| {
        // Six bits always name one of 64.
        char::from(*LETTERS.get((bits & 63) as usize).unwrap_or(&b'='))
    };
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let at = |place: usize| u32::from(group.get(place).copied().unwrap_or(0));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        text.push(letter(bits >> 18));
        text.push(letter(bits >> 12));
        text.push(if group.len() > 1 {
            letter(bits >> 6)
        } else {
            '='
        });
        text.push(if group.len() > 2 { letter(bits) } else { '=' });
    }
    text
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_vectors_of_rfc_4648() {
        for (plain, encoded) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(super::encode(plain.as_bytes()), encoded);
        }
    }
}
