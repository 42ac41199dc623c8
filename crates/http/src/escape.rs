//! Percent escapes (RFC 3986, section 2.1).

pub(crate) fn check_escapes(text: &str) -> Result<(), String> {
    match bad_escape(text) {
        Some(bad) => Err(format!("invalid URL escape {bad:?}")),
        None => Ok(()),
    }
}

/// Checks that a host name escapes only non-ASCII bytes.
pub(crate) fn check_escapes_in_host(host: &str) -> Result<(), String> {
    check_escapes(host)?;
    for (at, _) in host.match_indices('%') {
        let escape = host.get(at..at + 3).unwrap_or_default();
        if escape.as_bytes().get(1).is_some_and(|&b| b < b'8') {
            return Err(format!("invalid URL escape {escape:?}"));
        }
    }
    Ok(())
}

fn bad_escape(text: &str) -> Option<&str> {
    text.match_indices('%').find_map(|(at, _)| {
        let bytes = text.as_bytes();
        let hex = |offset: usize| bytes.get(at + offset).is_some_and(u8::is_ascii_hexdigit);
        if hex(1) && hex(2) {
            return None;
        }
        let mut end = (at + 3).min(text.len());
        while !text.is_char_boundary(end) {
            end += 1;
        }
        text.get(at..end)
    })
}

/// Percent-decodes text whose escapes have already been checked. Invalid UTF-8 is replaced.
pub(crate) fn decode(text: &str) -> String {
    if !text.contains('%') {
        return text.to_owned();
    }
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let digit = |offset: usize| {
            bytes
                .get(at + offset)
                .and_then(|&b| char::from(b).to_digit(16))
        };
        match (byte, digit(1), digit(2)) {
            (b'%', Some(high), Some(low)) => {
                out.push((high * 16 + low) as u8);
                at += 3;
            }
            _ => {
                out.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Escapes bytes that a path must not contain (RFC 3986, section 3.3). Everything else stays
/// unchanged, including existing escapes.
pub(crate) fn escape_into(out: &mut String, path: &str) {
    for c in path.chars() {
        if c <= ' ' || "\"<>\\^`{|}".contains(c) || !c.is_ascii() {
            let mut utf8 = [0; 4];
            for byte in c.encode_utf8(&mut utf8).bytes() {
                const HEX: &[u8; 16] = b"0123456789ABCDEF";
                out.push('%');
                for digit in [byte >> 4, byte & 15] {
                    out.push(HEX.get(usize::from(digit)).map_or('0', |&h| char::from(h)));
                }
            }
        } else {
            out.push(c);
        }
    }
}
