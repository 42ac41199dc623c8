//! Values that leave the script as JSON: its options and the return value of `setup`.
//!
//! This is not `JSON.stringify`. As in k6, keys are sorted, `toJSON` is not called, maps, sets and bytes have their own
//! JSON forms, and values without a JSON form are refused instead of left out.

use plimsoll_k6::pure::base64::{self, Dialect};
use plimsoll_quickjs::{Thrown, Value, give_way};

/// Why a value has no JSON form: it threw an exception, or it contains the named kind of value.
pub enum NoJson {
    Thrown(Thrown),
    Holds(String),
}

impl From<Thrown> for NoJson {
    fn from(thrown: Thrown) -> Self {
        NoJson::Thrown(thrown)
    }
}

/// The value as JSON.
///
/// # Errors
/// For functions, numbers that are not finite, cycles, and exceptions thrown by getters.
pub fn to_json(value: &Value<'_>) -> Result<String, NoJson> {
    let mut text = String::new();
    write(&mut text, value, &mut Vec::new())?;
    Ok(text)
}

/// Maximum nesting depth, because the stack is limited.
const MAX_DEPTH: usize = 400;

fn write<'c>(
    text: &mut String,
    value: &Value<'c>,
    around: &mut Vec<Value<'c>>,
) -> Result<(), NoJson> {
    give_way(128);
    if value.is_nullish() {
        text.push_str("null");
    } else if let Some(number) = value.as_number() {
        if !number.is_finite() {
            return Err(NoJson::Holds(format!("the number {}", &*value.to_text()?)));
        }
        if number == 0.0 && number.is_sign_negative() {
            // JavaScript drops the sign of -0 when it converts the number to a string.
            text.push('-');
        }
        text.push_str(&value.to_text()?);
    } else if value.is_bool() || value.is_big_int() {
        text.push_str(&value.to_text()?);
    } else if value.is_symbol() {
        push_text(text, &value.get("description")?.to_text()?);
    } else if !value.is_object() {
        push_text(text, &value.to_text()?);
    } else if value.is_function() {
        return Err(NoJson::Holds("a function".to_owned()));
    } else if value.is_date() {
        let date = value.invoke("toISOString", &[])?.to_text()?;
        push_text(text, &without_trailing_zeros(&date));
    } else {
        if around.iter().any(|outer| outer.is_same(value)) {
            return Err(NoJson::Holds("an object that contains itself".to_owned()));
        }
        if around.len() >= MAX_DEPTH {
            return Err(NoJson::Holds(format!(
                "more than {MAX_DEPTH} nested objects"
            )));
        }
        around.push(value.clone());
        write_object(text, value, around)?;
        around.pop();
    }
    Ok(())
}

fn write_object<'c>(
    text: &mut String,
    value: &Value<'c>,
    around: &mut Vec<Value<'c>>,
) -> Result<(), NoJson> {
    if value.is_map() || value.is_set() {
        let array = value.context().global().get("Array")?;
        return write_list(text, &array.invoke("from", &[value])?, around);
    }
    if value.is_array() {
        return write_list(text, value, around);
    }
    let name = || -> Result<String, Thrown> {
        Ok(value
            .get("constructor")?
            .get("name")?
            .to_text()?
            .into_string())
    };
    if value.with_bytes(|_| ()).is_some() {
        match name()?.as_str() {
            "ArrayBuffer" | "SharedArrayBuffer" | "DataView" => text.push_str("{}"),
            "Uint8Array" | "Uint8ClampedArray" => {
                let packed = value.with_bytes(|bytes| base64::encode(bytes, Dialect::STD));
                push_text(text, &packed.unwrap_or_default());
            }
            _ => write_list(text, value, around)?,
        }
        return Ok(());
    }
    let mut entries = value.entries()?;
    entries.sort_by(|one, other| one.0.cmp(&other.0));
    text.push('{');
    for (place, (key, member)) in entries.iter().enumerate() {
        if place > 0 {
            text.push(',');
        }
        push_text(text, key);
        text.push(':');
        write(text, member, around)?;
    }
    text.push('}');
    Ok(())
}

fn write_list<'c>(
    text: &mut String,
    list: &Value<'c>,
    around: &mut Vec<Value<'c>>,
) -> Result<(), NoJson> {
    text.push('[');
    for index in 0..u32::try_from(list.length()?).unwrap_or(u32::MAX) {
        if index > 0 {
            text.push(',');
        }
        write(text, &list.at(index)?, around)?;
    }
    text.push(']');
    Ok(())
}

fn push_text(text: &mut String, value: &str) {
    text.push_str(&serde_json::Value::from(value).to_string());
}

/// Turns `1970-01-01T00:00:00.500Z` into `1970-01-01T00:00:00.5Z`.
fn without_trailing_zeros(date: &str) -> String {
    match date.strip_suffix('Z') {
        Some(digits) if digits.contains('.') => {
            format!("{}Z", digits.trim_end_matches('0').trim_end_matches('.'))
        }
        _ => date.to_owned(),
    }
}
