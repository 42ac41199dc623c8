use bytes::Bytes;

use super::file::FileData;
use crate::pure::logline::Level;
use crate::quickjs::{Context, Thrown, Value};
use crate::user::user;

/// A request's body, and the `Content-Type` it has where the script sets none.
#[derive(Default)]
pub(super) struct Body {
    pub bytes: Bytes,
    pub content_type: Option<String>,
}

const FORM: &str = "application/x-www-form-urlencoded";

impl Body {
    /// Reads what a script passed as a body: text, bytes, or an object of
    /// form fields, which becomes multipart where one of them is a file.
    pub fn read<'c>(context: &'c Context, value: &Value<'c>) -> Result<Body, Thrown> {
        if value.is_nullish() {
            return Ok(Body::default());
        }
        if let Some(bytes) = value.to_bytes() {
            return Ok(Body { bytes: bytes.into(), content_type: None });
        }
        if let Some(file) = value.instance::<FileData>() {
            return Ok(Body { bytes: file.data.clone().into(), content_type: None });
        }
        if value.is_string() {
            let text = value.to_text()?;
            return Ok(Body { bytes: Bytes::copy_from_slice(text.as_bytes()), content_type: None });
        }
        if value.is_object() && !value.is_array() && !value.is_function() {
            return fields(context, value);
        }
        Err(context.throw_type("unknown request body type: use a string, an ArrayBuffer or an object"))
    }
}

fn fields<'c>(context: &'c Context, value: &Value<'c>) -> Result<Body, Thrown> {
    let mut fields = value.entries()?;
    if fields.iter().any(|(_, value)| value.instance::<FileData>().is_some()) {
        return multipart(context, &fields);
    }
    // Sorted by name, as k6 sends them.
    fields.sort_by(|(a, _), (b, _)| a.cmp(b));
    let mut text = String::new();
    for (name, value) in &fields {
        for value in texts(context, name, value)? {
            if !text.is_empty() {
                text.push('&');
            }
            push_escaped(&mut text, name);
            text.push('=');
            push_escaped(&mut text, &value);
        }
    }
    Ok(Body { bytes: text.into(), content_type: Some(FORM.to_owned()) })
}

/// A field's values: an array repeats the field.
fn texts<'c>(context: &'c Context, name: &str, value: &Value<'c>) -> Result<Vec<String>, Thrown> {
    if value.is_nullish() {
        return Ok(vec![String::new()]);
    }
    if value.is_array() {
        let count = u32::try_from(value.length()?).unwrap_or(u32::MAX);
        return (0..count).map(|place| Ok(value.at(place)?.to_text()?.into_string())).collect();
    }
    if value.is_object() {
        user(context).log(
            Level::Warning,
            &format!("field {name} of a form is an object, which has no form: it is sent empty"),
        );
        return Ok(vec![String::new()]);
    }
    Ok(vec![value.to_text()?.into_string()])
}

/// The serializer of the URL standard for forms.
fn push_escaped(out: &mut String, text: &str) {
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                out.push(char::from(byte));
            }
            b' ' => out.push('+'),
            _ => {
                const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
                out.push('%');
                out.push(char::from(DIGITS[usize::from(byte >> 4)]));
                out.push(char::from(DIGITS[usize::from(byte & 15)]));
            }
        }
    }
}

/// RFC 7578.
fn multipart<'c>(context: &'c Context, fields: &[(String, Value<'c>)]) -> Result<Body, Thrown> {
    let mut bytes = Vec::new();
    let boundary = boundary();
    let quoted = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
    for (name, value) in fields {
        if let Some(file) = value.instance::<FileData>() {
            let head = format!(
                "--{boundary}\r\nContent-Disposition: form-data; name=\"{}\"; filename=\"{}\"\r\nContent-Type: {}\r\n\r\n",
                quoted(name),
                quoted(&file.filename),
                file.content_type
            );
            bytes.extend_from_slice(head.as_bytes());
            bytes.extend_from_slice(&file.data);
            bytes.extend_from_slice(b"\r\n");
            continue;
        }
        for text in texts(context, name, value)? {
            let part = format!(
                "--{boundary}\r\nContent-Disposition: form-data; name=\"{}\"\r\n\r\n{text}\r\n",
                quoted(name)
            );
            bytes.extend_from_slice(part.as_bytes());
        }
    }
    bytes.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    let content_type = format!("multipart/form-data; boundary={boundary}");
    Ok(Body { bytes: bytes.into(), content_type: Some(content_type) })
}

/// 60 hexadecimal digits that no body is likely to hold.
fn boundary() -> String {
    use std::hash::{BuildHasher, Hasher, RandomState};
    let digits: String = (0..4)
        .map(|_| format!("{:016x}", RandomState::new().build_hasher().finish()))
        .collect();
    digits[..60].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_escaped_as_the_standard_says() {
        let mut out = String::new();
        push_escaped(&mut out, "a b&c=ü~");
        assert_eq!(out, "a+b%26c%3D%C3%BC~");
    }
}
