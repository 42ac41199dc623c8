//! Hides the value of a JSON key in text, and nothing after it.

use super::HIDDEN;

/// Hides the JSON value at the start of the text and returns the rest. `null`, `true`, `false` and empty containers
/// contain no secret and stay. In JSON inside a JSON string, quotes are escaped. `None` if the text is not JSON.
pub(super) fn hide<'a>(text: &'a str, is_escaped: bool, out: &mut String) -> Option<&'a str> {
    let quote = if is_escaped { "\\\"" } else { "\"" };
    let value = text.trim_start();
    let rest = if let Some(inner) = value.strip_prefix(quote) {
        let end = end_of_string(inner, quote);
        // An incomplete string has no closing quote.
        return Some({
            out.push_str(&text[..text.len() - value.len()]);
            out.push_str(quote);
            out.push_str(HIDDEN);
            &inner[end..]
        });
    } else if value.starts_with(['{', '[']) {
        let end = end_of_container(value, quote);
        if value[1..end].trim_end_matches(['}', ']']).trim().is_empty() {
            return Some(text);
        }
        &value[end..]
    } else {
        let end = value
            .find(|c: char| c.is_whitespace() || matches!(c, ',' | '}' | ']'))
            .unwrap_or(value.len());
        match &value[..end] {
            "null" | "true" | "false" => return Some(text),
            number if number.parse::<f64>().is_ok() => &value[end..],
            _ => return None,
        }
    };
    out.push_str(&text[..text.len() - value.len()]);
    for part in [quote, HIDDEN, quote] {
        out.push_str(part);
    }
    Some(rest)
}

/// The index of the closing quote, or the length of the text.
fn end_of_string(text: &str, quote: &str) -> usize {
    let mut from = 0;
    while let Some(at) = text[from..].find(quote) {
        let at = from + at;
        let before = text[..at].bytes().rev();
        let backslashes = before.take_while(|byte| *byte == b'\\').count();
        // In escaped JSON, each backslash is escaped as well.
        if (backslashes / quote.len()).is_multiple_of(2) {
            return at;
        }
        from = at + quote.len();
    }
    text.len()
}

/// The index after the bracket that closes the object or list, or the length of the text.
fn end_of_container(text: &str, quote: &str) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        if let Some(inner) = rest.strip_prefix(quote) {
            let end = end_of_string(inner, quote);
            at += (quote.len() + end + quote.len()).min(rest.len());
            continue;
        }
        match rest.as_bytes()[0] {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
        at += rest.chars().next().map_or(1, char::len_utf8);
    }
    text.len()
}
