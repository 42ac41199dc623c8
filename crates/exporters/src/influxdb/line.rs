//! Formats lines of InfluxDB's line protocol: `measurement,tag=value field=value time`.

use std::collections::BTreeMap;
use std::io::Write;

use plimsoll_output::output::{ShownUrl, shown_tag};
use plimsoll_samples::SampleTags;

use super::Fields;
use super::settings::FieldType;

/// The beginning that all lines of a series share.
pub struct LineStart {
    /// The measurement and its tags.
    start: Vec<u8>,
    /// Fields that are tags in other formats, each preceded by a comma.
    fields: Vec<u8>,
    /// A number that identifies the measurement and its tags.
    pub number: u32,
}

impl LineStart {
    /// Creates the beginning of lines for a metric with these tags. Tags in `fields` become fields.
    pub fn new(metric: &str, tags: &SampleTags, fields: &Fields, shown_url: ShownUrl) -> LineStart {
        let mut line = LineStart {
            start: Vec::new(),
            fields: Vec::new(),
            number: 0,
        };
        escape(&mut line.start, metric, b", ");
        for (key, value) in tags.iter().filter(|(_, value)| !value.is_empty()) {
            let value = shown_tag(shown_url, key, value);
            match fields.iter().find(|(field, _)| field == key) {
                Some((_, kind)) => push_field(&mut line.fields, key, &value, *kind),
                None => {
                    line.start.push(b',');
                    escape(&mut line.start, key, b",= ");
                    line.start.push(b'=');
                    escape(&mut line.start, &value, b",= ");
                }
            }
        }
        line
    }

    /// The measurement and its tags.
    pub fn measurement(&self) -> &[u8] {
        &self.start
    }

    pub fn write(
        &self,
        out: &mut Vec<u8>,
        value: f64,
        metadata: Option<&BTreeMap<String, String>>,
        fields: &Fields,
        at: u128,
    ) {
        out.extend_from_slice(&self.start);
        // Writing to memory cannot fail.
        let _ = write!(out, " value={value}");
        out.extend_from_slice(&self.fields);
        for (key, value) in metadata.into_iter().flatten() {
            if let Some((_, kind)) = fields.iter().find(|(field, _)| field == key) {
                push_field(out, key, value, *kind);
            }
        }
        let _ = writeln!(out, " {at}");
    }
}

/// Omits a value that does not fit its type, because it would make the whole request fail.
fn push_field(out: &mut Vec<u8>, key: &str, value: &str, kind: FieldType) {
    let mut text = Vec::new();
    match kind {
        FieldType::Integer => match value.parse::<i64>() {
            Ok(number) => text.extend_from_slice(format!("{number}i").as_bytes()),
            Err(_) => return,
        },
        FieldType::Float => match value.parse::<f64>() {
            Ok(number) if number.is_finite() => {
                text.extend_from_slice(number.to_string().as_bytes())
            }
            _ => return,
        },
        FieldType::Boolean => match value {
            "true" | "false" => text.extend_from_slice(value.as_bytes()),
            _ => return,
        },
        FieldType::Text => {
            text.push(b'"');
            escape(&mut text, value, b"\"\\");
            text.push(b'"');
        }
    }
    out.push(b',');
    escape(out, key, b",= ");
    out.push(b'=');
    out.extend_from_slice(&text);
}

/// Puts a backslash before `special` characters. A line break would end the line, and a trailing backslash would escape
/// the next character, so both become spaces.
fn escape(out: &mut Vec<u8>, text: &str, special: &[u8]) {
    let is_quoted = special.contains(&b'\\');
    for (place, &byte) in text.as_bytes().iter().enumerate() {
        let is_last_backslash = byte == b'\\' && !is_quoted && place + 1 == text.len();
        let byte = if matches!(byte, b'\n' | b'\r') || is_last_backslash {
            b' '
        } else {
            byte
        };
        if special.contains(&byte) {
            out.push(b'\\');
        }
        out.push(byte);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn escaped(text: &str, special: &[u8]) -> String {
        let mut out = Vec::new();
        escape(&mut out, text, special);
        String::from_utf8(out).expect("UTF-8")
    }

    #[test]
    fn special_characters_are_escaped() {
        assert_eq!(escaped("is 200, a=b", b",= "), r"is\ 200\,\ a\=b");
        assert_eq!(escaped("a\nb\\", b",= "), r"a\ b\ ");
        assert_eq!(escaped(r#"say "x\""#, b"\"\\"), r#"say \"x\\\""#);
    }

    #[test]
    fn fields_have_types() {
        let field = |kind, value| {
            let mut out = Vec::new();
            push_field(&mut out, "k", value, kind);
            String::from_utf8(out).expect("UTF-8")
        };
        assert_eq!(field(FieldType::Integer, "12"), ",k=12i");
        assert_eq!(field(FieldType::Integer, "x"), "");
        assert_eq!(field(FieldType::Float, "1.50"), ",k=1.5");
        assert_eq!(field(FieldType::Boolean, "true"), ",k=true");
        assert_eq!(field(FieldType::Text, "a b"), ",k=\"a b\"");
    }
}
