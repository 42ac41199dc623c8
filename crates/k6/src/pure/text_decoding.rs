//! Decodes bytes to text in pieces, as `TextDecoder` does.
//!
//! WHATWG Encoding Standard, sections 7.1 (the interface), 8 (UTF-8) and 14.3 (UTF-16).

use plimsoll_quickjs::{Progress, extend_in_pieces, give_way};

/// The supported encodings: UTF-8 and both byte orders of UTF-16.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    Utf8,
    Utf16Le,
    Utf16Be,
}

impl Encoding {
    /// The encoding with that label, ignoring case and surrounding whitespace.
    pub fn labeled(label: &str) -> Option<Encoding> {
        let white = |c| matches!(c, '\t' | '\n' | '\x0C' | '\r' | ' ');
        Some(
            match label.trim_matches(white).to_ascii_lowercase().as_str() {
                "utf-8" | "utf8" | "unicode-1-1-utf-8" | "unicode11utf8" | "unicode20utf8"
                | "x-unicode20utf8" => Encoding::Utf8,
                "utf-16" | "utf-16le" | "ucs-2" | "csunicode" | "iso-10646-ucs-2" | "unicode"
                | "unicodefeff" => Encoding::Utf16Le,
                "utf-16be" | "unicodefffe" => Encoding::Utf16Be,
                _ => return None,
            },
        )
    }

    /// The value of `TextDecoder.encoding`.
    pub fn name(self) -> &'static str {
        match self {
            Encoding::Utf8 => "utf-8",
            Encoding::Utf16Le => "utf-16le",
            Encoding::Utf16Be => "utf-16be",
        }
    }
}

/// The number of bytes of UTF-8 to decode at a time.
const PIECE: usize = 16 * 1024;

/// The bytes are invalid in the encoding, and the decoder is in fatal mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Malformed;

/// Decodes bytes to text. Keeps an incomplete character at the end of a piece for the next piece.
#[derive(Clone, Debug)]
pub struct Decoder {
    pub encoding: Encoding,
    /// Fail on malformed input instead of writing U+FFFD.
    pub fatal: bool,
    /// Keep a byte order mark as the character U+FEFF.
    pub ignore_bom: bool,
    pending: Vec<u8>,
    /// Whether the first character of the stream has been seen.
    started: bool,
}

impl Decoder {
    pub fn new(encoding: Encoding, fatal: bool, ignore_bom: bool) -> Decoder {
        Decoder {
            encoding,
            fatal,
            ignore_bom,
            pending: Vec::new(),
            started: false,
        }
    }

    /// The text of the next piece. Set `more` if another piece follows.
    ///
    /// # Errors
    /// If `fatal` is set and the bytes are malformed. After that, the stream starts over.
    pub fn decode(&mut self, bytes: &[u8], more: bool) -> Result<String, Malformed> {
        let mut input = std::mem::take(&mut self.pending);
        input.reserve_exact(bytes.len());
        extend_in_pieces(&mut input, bytes);
        let decoded = match self.encoding {
            Encoding::Utf8 => self.utf8(&input, more),
            Encoding::Utf16Le => self.utf16(&input, more, u16::from_le_bytes),
            Encoding::Utf16Be => self.utf16(&input, more, u16::from_be_bytes),
        };
        if decoded.is_err() {
            self.pending.clear();
            self.started = false;
        }
        let mut text = decoded?;
        if !self.started && !text.is_empty() {
            self.started = true;
            if !self.ignore_bom && text.starts_with('\u{FEFF}') {
                text.remove(0);
            }
        }
        if !more {
            self.started = false;
        }
        Ok(text)
    }

    fn replace(&self, text: &mut String) -> Result<(), Malformed> {
        if self.fatal {
            return Err(Malformed);
        }
        text.push(char::REPLACEMENT_CHARACTER);
        Ok(())
    }

    fn utf8(&mut self, mut input: &[u8], more: bool) -> Result<String, Malformed> {
        let mut text = String::with_capacity(input.len());
        loop {
            // A piece may end within a character. The next piece starts with the rest of it.
            let piece = input.get(..PIECE).unwrap_or(input);
            give_way(piece.len());
            let error = match std::str::from_utf8(piece) {
                Ok(valid) if piece.len() == input.len() => {
                    text.push_str(valid);
                    return Ok(text);
                }
                Ok(valid) => {
                    text.push_str(valid);
                    input = input.get(piece.len()..).unwrap_or_default();
                    continue;
                }
                Err(error) => error,
            };
            let (valid, rest) = input.split_at(error.valid_up_to());
            text.push_str(&String::from_utf8_lossy(valid));
            match error.error_len() {
                None if piece.len() < input.len() => input = rest,
                None if more => {
                    self.pending = rest.to_vec();
                    return Ok(text);
                }
                None => {
                    self.replace(&mut text)?;
                    return Ok(text);
                }
                Some(length) => {
                    self.replace(&mut text)?;
                    input = rest.get(length..).unwrap_or_default();
                }
            }
        }
    }

    fn utf16(
        &mut self,
        input: &[u8],
        more: bool,
        unit: fn([u8; 2]) -> u16,
    ) -> Result<String, Malformed> {
        let (pairs, odd) = input.as_chunks::<2>();
        let mut units: Vec<u16> = Vec::with_capacity(pairs.len());
        for piece in pairs.chunks(PIECE) {
            give_way(2 * piece.len());
            units.extend(piece.iter().map(|&pair| unit(pair)));
        }
        if more {
            // The first half of a surrogate pair waits for the second half, and an odd byte for the next byte.
            let first_half = units
                .last()
                .is_some_and(|unit| (0xD800..0xDC00).contains(unit));
            if first_half {
                units.pop();
            }
            let kept = odd.len() + if first_half { 2 } else { 0 };
            self.pending = input.get(input.len() - kept..).unwrap_or_default().to_vec();
        }
        let mut text = String::with_capacity(units.len());
        let mut progress = Progress::from(0);
        for decoded in char::decode_utf16(units) {
            progress.reach(text.len());
            match decoded {
                Ok(c) => text.push(c),
                Err(_) => self.replace(&mut text)?,
            }
        }
        if !more && !odd.is_empty() {
            self.replace(&mut text)?;
        }
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoder(encoding: Encoding) -> Decoder {
        Decoder::new(encoding, false, false)
    }

    #[test]
    fn labels_name_encodings() {
        for (label, expected) in [
            (" UTF-8 ", Some(Encoding::Utf8)),
            ("utf8", Some(Encoding::Utf8)),
            ("utf-16", Some(Encoding::Utf16Le)),
            ("UTF-16BE", Some(Encoding::Utf16Be)),
            ("latin1", None),
            ("", None),
        ] {
            assert_eq!(Encoding::labeled(label), expected, "{label:?}");
        }
    }

    #[test]
    fn malformed_bytes_become_replacement_characters_or_an_error() {
        for (encoding, bytes, expected) in [
            (Encoding::Utf8, &b"a\xffb\xe2\x82"[..], "a\u{fffd}b\u{fffd}"),
            (Encoding::Utf8, b"\xed\xa0\x80", "\u{fffd}\u{fffd}\u{fffd}"),
            (Encoding::Utf8, b"\xf0\x9f\x98", "\u{fffd}"),
            (Encoding::Utf16Le, b"a\0b", "a\u{fffd}"),
            (Encoding::Utf16Le, b"\x3d\xd8a\0", "\u{fffd}a"),
            (Encoding::Utf16Be, b"\xde\0", "\u{fffd}"),
        ] {
            assert_eq!(
                decoder(encoding).decode(bytes, false).as_deref(),
                Ok(expected)
            );
            let mut strict = Decoder::new(encoding, true, false);
            assert_eq!(strict.decode(bytes, false), Err(Malformed));
        }
    }

    #[test]
    fn a_byte_order_mark_is_removed_only_at_the_start() {
        let mut utf8 = decoder(Encoding::Utf8);
        assert_eq!(utf8.decode(b"\xef\xbb", true).as_deref(), Ok(""));
        assert_eq!(utf8.decode(b"\xbfa", true).as_deref(), Ok("a"));
        assert_eq!(
            utf8.decode(b"\xef\xbb\xbf", false).as_deref(),
            Ok("\u{feff}")
        );
        assert_eq!(utf8.decode(b"\xef\xbb\xbfa", false).as_deref(), Ok("a"));
        let mut kept = Decoder::new(Encoding::Utf16Le, false, true);
        assert_eq!(
            kept.decode(b"\xff\xfea\0", false).as_deref(),
            Ok("\u{feff}a")
        );
    }

    #[test]
    fn the_text_does_not_depend_on_the_size_of_the_pieces() {
        let text = "aé€😀\u{feff}z";
        let le: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let be: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        for (encoding, bytes) in [
            (Encoding::Utf8, text.as_bytes()),
            (Encoding::Utf16Le, &le),
            (Encoding::Utf16Be, &be),
        ] {
            for size in 1..bytes.len() {
                let mut decoder = Decoder::new(encoding, true, false);
                let mut found: String = bytes
                    .chunks(size)
                    .map(|piece| decoder.decode(piece, true).unwrap())
                    .collect();
                found.push_str(&decoder.decode(&[], false).unwrap());
                assert_eq!(found, text, "{encoding:?} by {size}");
            }
        }
    }
}
