//! Arguments that are binary data or strings.

use plimsoll_quickjs::{Context, Thrown, Value};

/// Calls `body` with the bytes of a string (as UTF-8), an ArrayBuffer or a Uint8Array.
///
/// `what` names the operation in the error message for other types. It may be empty.
pub fn with_octets<'c, R>(
    context: &'c Context,
    value: &Value<'c>,
    what: &str,
    body: impl FnOnce(&[u8]) -> R,
) -> Result<R, Thrown> {
    if value.is_string() {
        return Ok(body(value.to_text()?.as_bytes()));
    }
    if (value.is_array_buffer() || is_byte_array(value)?)
        && let Some(bytes) = value.to_bytes()
    {
        return Ok(body(&bytes));
    }
    let kind = kind(value)?;
    let failed = if what.is_empty() {
        String::new()
    } else {
        format!("{what} failed: ")
    };
    Err(context.throw_plain(format!(
        "{failed}invalid type {kind}, expected string, Uint8Array or ArrayBuffer"
    )))
}

/// The bytes of a string (as UTF-8), an ArrayBuffer or a Uint8Array.
pub fn octets<'c>(context: &'c Context, value: &Value<'c>, what: &str) -> Result<Vec<u8>, Thrown> {
    with_octets(context, value, what, <[u8]>::to_vec)
}

/// An optional string argument. Null and undefined become an empty string.
pub fn text_or_empty(value: &Value<'_>) -> Result<String, Thrown> {
    if value.is_nullish() {
        Ok(String::new())
    } else {
        Ok(value.to_text()?.into_string())
    }
}

fn is_byte_array(value: &Value<'_>) -> Result<bool, Thrown> {
    Ok(value.with_bytes(|_| ()).is_some() && constructor_name(value)? == "Uint8Array")
}

fn constructor_name(value: &Value<'_>) -> Result<String, Thrown> {
    let constructor = value.get("constructor")?;
    if !constructor.is_function() {
        return Ok("object".to_owned());
    }
    Ok(constructor.get("name")?.to_text()?.into_string())
}

/// The type of a value, for error messages.
fn kind(value: &Value<'_>) -> Result<String, Thrown> {
    Ok(match () {
        () if value.is_undefined() => "undefined".to_owned(),
        () if value.is_null() => "null".to_owned(),
        () if value.is_bool() => "boolean".to_owned(),
        () if value.is_number() => "number".to_owned(),
        () if value.is_symbol() => "symbol".to_owned(),
        () if value.is_big_int() => "bigint".to_owned(),
        () if value.is_function() => "function".to_owned(),
        () => constructor_name(value)?,
    })
}
