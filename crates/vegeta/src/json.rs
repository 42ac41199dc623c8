//! vegeta's JSON: one object per line.

use std::borrow::Cow;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};

use crate::date::Date;
use crate::hit::{Headers, Hit};

/// Appends a hit in vegeta's format, with the line ending.
pub fn write(hit: &Hit, out: &mut String) {
    use std::fmt::Write;
    out.push_str("{\"attack\":");
    text(&hit.attack, out);
    // Writing to a string cannot fail.
    let _ = write!(
        out,
        ",\"seq\":{},\"code\":{},\"timestamp\":\"{}\",\"latency\":{},\"bytes_out\":{},\"bytes_in\":{},\"error\":",
        hit.seq,
        hit.code,
        hit.date,
        hit.latency.as_nanos(),
        hit.bytes_out,
        hit.bytes_in
    );
    text(&hit.error, out);
    out.push_str(",\"body\":");
    match &hit.body {
        Some(body) => {
            out.push('"');
            STANDARD.encode_string(body, out);
            out.push('"');
        }
        None => out.push_str("null"),
    }
    out.push_str(",\"method\":");
    text(&hit.method, out);
    out.push_str(",\"url\":");
    text(&hit.url, out);
    out.push_str(",\"headers\":");
    match &hit.headers {
        Some(headers) => {
            out.push('{');
            for (place, (name, values)) in headers.0.iter().enumerate() {
                comma(place, out);
                text(name, out);
                out.push_str(":[");
                for (place, value) in values.iter().enumerate() {
                    comma(place, out);
                    text(value, out);
                }
                out.push(']');
            }
            out.push('}');
        }
        None => out.push_str("null"),
    }
    out.push_str("}\n");
}

fn comma(place: usize, out: &mut String) {
    if place > 0 {
        out.push(',');
    }
}

/// Appends a string as Go writes it, which is also safe inside HTML and JavaScript.
pub(crate) fn text(text: &str, out: &mut String) {
    use std::fmt::Write;
    out.push('"');
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\0'..' ' | '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                let _ = write!(out, "\\u{:04x}", u32::from(letter));
            }
            letter => out.push(letter),
        }
    }
    out.push('"');
}

/// A number as Go writes a 64-bit float in JSON.
pub(crate) fn number(value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && (!(1e-6..1e21).contains(&size)) {
        format!("{value:e}")
    } else if value.is_finite() {
        format!("{value}")
    } else {
        "0".to_owned()
    }
}

#[derive(Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
#[derive(Default)]
struct Object<'a> {
    #[serde(borrow)]
    attack: Cow<'a, str>,
    seq: u64,
    code: u16,
    #[serde(borrow)]
    timestamp: Option<Cow<'a, str>>,
    latency: i64,
    bytes_out: u64,
    bytes_in: u64,
    #[serde(borrow)]
    error: Cow<'a, str>,
    #[serde(borrow)]
    body: Option<Cow<'a, str>>,
    #[serde(borrow)]
    method: Cow<'a, str>,
    #[serde(borrow)]
    url: Cow<'a, str>,
    headers: Option<Headers>,
}

impl<'de> Deserialize<'de> for Headers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;

        impl<'de> Visitor<'de> for Fields {
            type Value = Headers;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object of lists of texts")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Headers, A::Error> {
                let mut headers = Headers::default();
                while let Some(field) = map.next_entry()? {
                    headers.0.push(field);
                }
                Ok(headers)
            }
        }

        deserializer.deserialize_map(Fields)
    }
}

/// Parses a line.
///
/// # Errors
/// Why it is not a result, in one sentence.
pub fn read(line: &[u8], hit: &mut Hit) -> Result<(), String> {
    let object: Object<'_> = serde_json::from_slice(line)
        .map_err(|error| format!("this is not a result of vegeta's in JSON: {error}"))?;
    let body = object.body.map(|body| STANDARD.decode(body.as_bytes()));
    let date = match object.timestamp {
        Some(text) => Date::parse(&text).ok_or_else(|| {
            format!("\"timestamp\": {text:?} is not a date like 2026-01-02T03:04:05Z")
        })?,
        None => Date::default(),
    };
    *hit = Hit {
        attack: object.attack.into_owned(),
        seq: object.seq,
        code: object.code,
        date,
        latency: nanos(object.latency)?,
        service: None,
        bytes_out: object.bytes_out,
        bytes_in: object.bytes_in,
        error: object.error.into_owned(),
        body: body
            .transpose()
            .map_err(|error| format!("\"body\" is not in base64: {error}"))?,
        method: object.method.into_owned(),
        url: object.url.into_owned(),
        headers: object.headers,
    };
    Ok(())
}

/// Converts a latency in nanoseconds.
///
/// # Errors
/// If the latency is negative.
pub(crate) fn nanos(latency: i64) -> Result<Duration, String> {
    u64::try_from(latency)
        .map(Duration::from_nanos)
        .map_err(|_| format!("the latency {latency} ns is negative"))
}
