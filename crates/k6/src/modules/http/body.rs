//! The body argument: a string, bytes, or an object that is sent as a form.

use plimsoll_http::Request;
use plimsoll_quickjs::{
    Thrown, Value, copy_in_pieces, extend_in_pieces, give_way, reserve_text_in_pieces,
};

use super::file::FileData;
use crate::modules::go_value;
use crate::pure::form::push_escaped;

/// Sets the request's body and its content type.
///
/// # Errors
/// Why the value cannot be a body.
pub fn read_body(request: &mut Request, body: &Value<'_>) -> Result<Result<(), String>, Thrown> {
    if body.is_nullish() {
        return Ok(Ok(()));
    }
    if body.is_string() {
        request.body = copy_in_pieces(body.to_text()?.as_bytes(), 0).into();
        return Ok(Ok(()));
    }
    if body.is_symbol() {
        request.body = go_value::text(body)?.into();
        return Ok(Ok(()));
    }
    // As in k6, only binary data is sent unchanged. A DataView counts as an object without fields.
    let is_bytes = match body.element_type() {
        Some(element) => element == "uint8",
        None => body.is_array_buffer(),
    };
    if is_bytes && let Some(bytes) = body.to_bytes() {
        request.body = bytes.into();
        return Ok(Ok(()));
    }
    let kind = go_value::kind(body);
    if kind != go_value::OBJECT {
        return Ok(Err(format!("unknown request body type {kind}")));
    }
    let mut entries = body.entries()?;
    if entries.first().is_some_and(|(key, _)| key == "0") && go_value::is_boxed_text(body)? {
        entries.clear();
    }
    let has_file = entries
        .iter()
        .any(|(_, value)| value.instance::<FileData>().is_some());
    let (bytes, content_type) = if has_file {
        let boundary = boundary();
        let bytes = multipart(&entries, &boundary)?;
        (bytes, format!("multipart/form-data; boundary={boundary}"))
    } else {
        (
            urlencoded(entries)?.into_bytes(),
            "application/x-www-form-urlencoded".to_owned(),
        )
    };
    request.body = bytes.into();
    Ok(request.headers.set("Content-Type", &content_type))
}

/// The cost of reading a field, as the number of bytes that could be read in the same time.
const FIELD: usize = 64;
/// The cost of comparing two keys, in the same unit.
const COMPARISON: usize = 16;

/// Encodes a form as `application/x-www-form-urlencoded`, sorted by key.
fn urlencoded(mut entries: Vec<(String, Value<'_>)>) -> Result<String, Thrown> {
    entries.sort_by(|(a, _), (b, _)| {
        give_way(COMPARISON);
        a.cmp(b)
    });
    let mut text = String::new();
    // Free each value as soon as it has been read: freeing a million values together takes long.
    for (key, value) in entries {
        if value.is_array() {
            for place in 0..value.length()? {
                give_way(FIELD);
                push_pair(&mut text, &key, &field_text(&value.at(place as u32)?)?);
            }
        } else {
            give_way(FIELD);
            push_pair(&mut text, &key, &field_text(&value)?);
        }
    }
    Ok(text)
}

/// A field as a string. Other values are converted as k6 converts them.
fn field_text(value: &Value<'_>) -> Result<String, Thrown> {
    match value.is_string() {
        true => Ok(value.to_text()?.into_string()),
        false => go_value::text(value),
    }
}

fn push_pair(text: &mut String, key: &str, value: &str) {
    // Each byte needs three bytes at most.
    reserve_text_in_pieces(text, 3 * (key.len() + value.len()) + 2);
    if !text.is_empty() {
        text.push('&');
    }
    push_escaped(text, key);
    text.push('=');
    push_escaped(text, value);
}

/// Encodes a form as `multipart/form-data` (RFC 7578).
fn multipart(entries: &[(String, Value<'_>)], boundary: &str) -> Result<Vec<u8>, Thrown> {
    let mut body = Vec::new();
    for (key, value) in entries {
        give_way(FIELD);
        let name = quoted(key);
        body.extend_from_slice(
            format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"").as_bytes(),
        );
        if value.instance::<FileData>().is_some() {
            let filename = value.get("filename")?.to_text()?.into_string();
            let content_type = value.get("content_type")?.to_text()?.into_string();
            let head = format!(
                "; filename=\"{}\"\r\nContent-Type: {content_type}\r\n\r\n",
                quoted(&filename)
            );
            body.extend_from_slice(head.as_bytes());
            extend_in_pieces(&mut body, &FileData::bytes(value)?.unwrap_or_default());
        } else {
            body.extend_from_slice(b"\r\n\r\n");
            match value.to_bytes() {
                Some(bytes) => extend_in_pieces(&mut body, &bytes),
                None if value.is_nullish() => {}
                None => extend_in_pieces(&mut body, value.to_text()?.as_bytes()),
            }
        }
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    Ok(body)
}

/// Escapes a quoted value of Content-Disposition: it cannot contain quotes, backslashes or line breaks.
fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace(['\r', '\n'], "_")
}

/// A random boundary that no body contains by chance.
fn boundary() -> String {
    use std::hash::{BuildHasher, RandomState};
    (0..4)
        .map(|part| format!("{:015x}", RandomState::new().hash_one(part) >> 4))
        .collect()
}
