//! Encodes URL forms: `application/x-www-form-urlencoded`.

use plimsoll_quickjs::Progress;

/// `name=value` with both parts escaped.
pub fn pair(name: &str, value: &str) -> String {
    let mut text = String::new();
    push_escaped(&mut text, name);
    text.push('=');
    push_escaped(&mut text, value);
    text
}

/// Appends a string in the URL standard's application/x-www-form-urlencoded format, with Go's set of unescaped bytes.
pub fn push_escaped(out: &mut String, text: &str) {
    use std::fmt::Write as _;
    let mut progress = Progress::from(0);
    for (place, byte) in text.bytes().enumerate() {
        progress.reach(place);
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                out.push(byte as char)
            }
            b' ' => out.push('+'),
            _ => {
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
}
