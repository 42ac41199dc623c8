//! vegeta's CSV: twelve columns, without a header line. The response body and headers may contain any bytes, so they
//! are in base64.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::date::Date;
use crate::hit::{Headers, Hit};
use crate::json::nanos;

const COLUMNS: usize = 12;

/// Appends a hit in vegeta's format, with the line ending.
pub fn write(hit: &Hit, out: &mut String) {
    use std::fmt::Write;
    // Writing to a string cannot fail.
    let _ = write!(
        out,
        "{},{},{},{},{},",
        hit.date.unix_nanos(),
        hit.code,
        hit.latency.as_nanos(),
        hit.bytes_out,
        hit.bytes_in
    );
    field(&hit.error, out);
    out.push(',');
    STANDARD.encode_string(hit.body.as_deref().unwrap_or_default(), out);
    out.push(',');
    field(&hit.attack, out);
    let _ = write!(out, ",{},", hit.seq);
    field(&hit.method, out);
    out.push(',');
    field(&hit.url, out);
    out.push(',');
    if let Some(headers) = &hit.headers {
        STANDARD.encode_string(wire(headers), out);
    }
    out.push('\n');
}

/// Headers in the format of HTTP/1, sorted by name, with the empty line.
fn wire(headers: &Headers) -> String {
    let mut fields: Vec<_> = headers.0.iter().collect();
    fields.sort_by(|(first, _), (second, _)| first.cmp(second));
    let mut text = String::new();
    for (name, values) in fields {
        for value in values {
            // A line break in a value would start another header field.
            let value = value.replace(['\r', '\n'], " ");
            for part in [name, ": ", value.trim(), "\r\n"] {
                text.push_str(part);
            }
        }
    }
    text.push_str("\r\n");
    text
}

/// Appends a field, and quotes it if RFC 4180 or Go's writer requires that.
fn field(text: &str, out: &mut String) {
    let quoted = text == "\\."
        || text.starts_with(char::is_whitespace)
        || text.contains([',', '"', '\r', '\n']);
    if !quoted {
        out.push_str(text);
        return;
    }
    out.push('"');
    out.push_str(&text.replace('"', "\"\""));
    out.push('"');
}

/// Whether a line ends inside quotes. The next line belongs to the same record then.
pub(crate) fn is_open(line: &[u8]) -> bool {
    line.iter().filter(|&&byte| byte == b'"').count() % 2 == 1
}

/// Parses a record.
///
/// # Errors
/// Why it is not a result, in one sentence.
pub fn read(record: &[u8], hit: &mut Hit) -> Result<(), String> {
    let record = std::str::from_utf8(record).map_err(|error| format!("{error}"))?;
    let fields = split(record)?;
    let [
        date,
        code,
        latency,
        bytes_out,
        bytes_in,
        error,
        body,
        attack,
        seq,
        method,
        url,
        headers,
    ] = <[String; COLUMNS]>::try_from(fields)
        .map_err(|fields| format!("there are {} columns instead of {COLUMNS}", fields.len()))?;
    let number = |what: &str, text: &str| {
        text.parse::<u64>()
            .map_err(|_| format!("the {what} {text:?} is not a whole number"))
    };
    let signed = |what: &str, text: &str| {
        text.parse::<i64>()
            .map_err(|_| format!("the {what} {text:?} is not a whole number"))
    };
    let bytes = |what: &str, text: &str| {
        STANDARD
            .decode(text)
            .map_err(|error| format!("the {what} is not in base64: {error}"))
    };
    *hit = Hit {
        attack,
        seq: number("sequence number", &seq)?,
        code: u16::try_from(number("status code", &code)?)
            .map_err(|_| format!("{code} is not a status code"))?,
        date: Date::from_unix_nanos(signed("timestamp", &date)?),
        latency: nanos(signed("latency", &latency)?)?,
        service: None,
        bytes_out: number("number of bytes out", &bytes_out)?,
        bytes_in: number("number of bytes in", &bytes_in)?,
        error,
        body: Some(bytes("body", &body)?),
        method,
        url,
        headers: match headers.is_empty() {
            true => None,
            false => Some(unwire(&bytes("header", &headers)?)),
        },
    };
    Ok(())
}

fn unwire(bytes: &[u8]) -> Headers {
    let mut headers = Headers::default();
    for line in String::from_utf8_lossy(bytes).lines() {
        if let Some((name, value)) = line.split_once(':') {
            headers.append(name, value.trim());
        }
    }
    headers
}

/// The fields of a record. The format is RFC 4180, but as in vegeta, leading spaces are removed.
fn split(record: &str) -> Result<Vec<String>, String> {
    let record = record
        .strip_suffix("\r\n")
        .or_else(|| record.strip_suffix('\n'))
        .unwrap_or(record);
    let mut fields = Vec::new();
    let mut rest = record;
    loop {
        rest = rest.trim_start_matches([' ', '\t']);
        let (field, after) = match rest.strip_prefix('"') {
            Some(quoted) => unquote(quoted)?,
            None => {
                let end = rest.find(',').unwrap_or(rest.len());
                let (field, after) = rest.split_at(end);
                if field.contains('"') {
                    return Err(format!("there is a quote within the unquoted {field:?}"));
                }
                (field.to_owned(), after)
            }
        };
        fields.push(field);
        match after.strip_prefix(',') {
            Some(next) => rest = next,
            None if after.is_empty() => return Ok(fields),
            None => return Err("there is text after a closing quote".to_owned()),
        }
        if fields.len() > COLUMNS {
            return Ok(fields);
        }
    }
}

/// A field after its opening quote, and the rest of the record.
fn unquote(quoted: &str) -> Result<(String, &str), String> {
    let mut field = String::new();
    let mut rest = quoted;
    loop {
        let (part, after) = rest
            .split_once('"')
            .ok_or("a quote is opened and not closed")?;
        field.push_str(part);
        match after.strip_prefix('"') {
            Some(more) => {
                field.push('"');
                rest = more;
            }
            None => return Ok((field.replace("\r\n", "\n"), after)),
        }
    }
}
