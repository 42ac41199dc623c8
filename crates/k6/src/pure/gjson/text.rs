//! Skips over JSON without parsing it.
//!
//! Everything here accepts any bytes. An index past the end is treated as the end.

use plimsoll_quickjs::{Progress, give_way};
use std::borrow::Cow;

/// The type of a value, which its first byte determines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// No value.
    Missing,
    Null,
    False,
    True,
    Number,
    String,
    Object,
    Array,
}

pub(super) fn kind(value: &[u8]) -> Kind {
    match value.first() {
        None => Kind::Missing,
        Some(b'{') => Kind::Object,
        Some(b'[') => Kind::Array,
        Some(b'"') => Kind::String,
        Some(b't') => Kind::True,
        Some(b'f') => Kind::False,
        Some(b'n') => Kind::Null,
        Some(_) => Kind::Number,
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

/// The text without surrounding whitespace.
pub(super) fn trim(mut text: &[u8]) -> &[u8] {
    while let [first, rest @ ..] = text
        && is_space(*first)
    {
        text = rest;
    }
    while let [rest @ .., last] = text
        && is_space(*last)
    {
        text = rest;
    }
    text
}

fn skip_space(json: &[u8], mut at: usize) -> usize {
    while json.get(at).is_some_and(|&b| is_space(b)) {
        at += 1;
    }
    at
}

/// The index just past the string whose opening quote is at `at`.
pub(super) fn string_end(json: &[u8], at: usize) -> usize {
    let mut i = at + 1;
    let mut progress = Progress::from(at);
    while let Some(&byte) = json.get(i) {
        progress.reach(i);
        match byte {
            b'"' => return i + 1,
            b'\\' => i += 2,
            _ => i += 1,
        }
    }
    json.len()
}

/// The index just past the value that starts at `at`. Brackets of all kinds are only counted, so
/// the same function also matches the brackets of a path.
pub(super) fn value_end(json: &[u8], at: usize) -> usize {
    match json.get(at) {
        Some(b'"') => string_end(json, at),
        Some(b'{' | b'[' | b'(') => nested_end(json, at),
        _ => {
            let rest = json.get(at..).unwrap_or_default();
            let ends = |&b: &u8| matches!(b, b',' | b']' | b'}' | b':') || is_space(b);
            at + rest.iter().position(ends).unwrap_or(rest.len())
        }
    }
}

fn nested_end(json: &[u8], at: usize) -> usize {
    let mut depth = 0_usize;
    let mut i = at;
    let mut progress = Progress::from(at);
    while let Some(&byte) = json.get(i) {
        progress.reach(i);
        match byte {
            b'"' => {
                i = string_end(json, i);
                continue;
            }
            b'{' | b'[' | b'(' => depth += 1,
            b'}' | b']' | b')' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return i + 1;
                }
            }
            _ => {}
        }
        i += 1;
    }
    json.len()
}

/// The elements of an array, without surrounding whitespace. The text of the array includes the brackets.
pub(super) fn elements(array: &[u8]) -> impl Iterator<Item = &[u8]> {
    Values { json: array, at: 1 }
}

/// The values of a string in JSON Lines format.
pub(super) fn lines(json: &[u8]) -> impl Iterator<Item = &[u8]> {
    Values { json, at: 0 }
}

/// The members of an object: the key with its quotes, and the value. The text of the object includes the braces.
pub(super) fn members(object: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let mut values = Values {
        json: object,
        at: 1,
    };
    std::iter::from_fn(move || Some((values.next()?, values.next()?)))
}

/// The cost of finding a short value, as the number of bytes that could be read in the same time.
const VALUE: usize = 32;

struct Values<'a> {
    json: &'a [u8],
    at: usize,
}

impl<'a> Iterator for Values<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        // Between two values there are only whitespace and one comma or colon.
        self.at = skip_space(self.json, self.at);
        if matches!(self.json.get(self.at), Some(b',' | b':')) {
            self.at = skip_space(self.json, self.at + 1);
        }
        let end = value_end(self.json, self.at);
        // `value_end` reports its cost only for long values.
        give_way(VALUE);
        let value = self.json.get(self.at..end)?;
        self.at = end;
        (!value.is_empty()).then_some(value)
    }
}

/// The content of a string. The text of the string includes the quotes.
pub(super) fn unquote(string: &[u8]) -> Cow<'_, str> {
    let inner = string.strip_prefix(b"\"").unwrap_or(string);
    let inner = inner.strip_suffix(b"\"").unwrap_or(inner);
    if !inner.contains(&b'\\') {
        return String::from_utf8_lossy(inner);
    }
    let mut out = Vec::with_capacity(inner.len());
    let mut rest = inner;
    let mut progress = Progress::from(0);
    while let [byte, tail @ ..] = rest {
        progress.reach(out.len());
        rest = tail;
        if *byte != b'\\' {
            out.push(*byte);
            continue;
        }
        let Some((&escape, tail)) = rest.split_first() else {
            break;
        };
        rest = tail;
        match escape {
            b'b' => out.push(8),
            b'f' => out.push(12),
            b'n' => out.push(b'\n'),
            b'r' => out.push(b'\r'),
            b't' => out.push(b'\t'),
            b'u' => {
                let c = unicode_escape(&mut rest);
                out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            }
            other => out.push(other),
        }
    }
    Cow::Owned(String::from_utf8_lossy(&out).into_owned())
}

/// Reads the digits of `\uXXXX`, and the second half of a surrogate pair if there is one.
fn unicode_escape(rest: &mut &[u8]) -> char {
    let Some(first) = four_hex_digits(rest) else {
        return char::REPLACEMENT_CHARACTER;
    };
    if (0xD800..0xDC00).contains(&first) && rest.starts_with(b"\\u") {
        let mut after = rest.get(2..).unwrap_or_default();
        if let Some(second @ 0xDC00..0xE000) = four_hex_digits(&mut after) {
            *rest = after;
            let code = 0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00);
            return char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
        }
    }
    char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER)
}

fn four_hex_digits(rest: &mut &[u8]) -> Option<u32> {
    let (digits, tail) = rest.split_at_checked(4)?;
    let code = u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    *rest = tail;
    Some(code)
}

/// `content` as a JSON string with its quotes.
pub(super) fn quote(content: &str) -> String {
    let mut out = String::with_capacity(content.len() + 2);
    out.push('"');
    for c in content.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            // Like GJSON, also escape characters that a page would read as markup.
            '\0'..='\u{1F}' | '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                out.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            _ => out.push(c),
        }
    }
    out.push('"');
    out
}
