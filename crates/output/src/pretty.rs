//! Indented JSON.

use serde::Serialize;
use serde_json::Value;
use serde_json::ser::{PrettyFormatter, Serializer};

/// Indents by four spaces per level, as k6 does in its exports.
pub fn pretty_json(value: &Value) -> String {
    indented(value, b"    ")
}

/// Indents by two spaces per level, and escapes `<`, `>` and `&` to make the result safe inside HTML, as k6 does when
/// it shows options. These characters occur only in strings, where JSON allows escapes.
pub fn option_json(value: &Value) -> String {
    indented(value, b"  ")
        .replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
}

fn indented(value: &Value, indent: &[u8]) -> String {
    let mut bytes = Vec::new();
    let mut serializer =
        Serializer::with_formatter(&mut bytes, PrettyFormatter::with_indent(indent));
    // Writing a value to memory cannot fail.
    let _ = value.serialize(&mut serializer);
    String::from_utf8(bytes).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_safe_in_html() {
        let text = option_json(&serde_json::json!({ "a": ["x>1", {}] }));
        assert_eq!(text, "{\n  \"a\": [\n    \"x\\u003e1\",\n    {}\n  ]\n}");
    }
}
