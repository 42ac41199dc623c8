//! Messages with a special JSON form ("ProtoJSON Format", Well-Known Types).

use std::fmt::Write;

use plimsoll_units::date_time;
use prost_reflect::{DescriptorPool, DynamicMessage, ReflectMessage, Value};

use super::{Unreadable, write_fields, write_message, write_number, write_string};

/// Writes a message of a well-known type. Returns false for other types.
pub(crate) fn write(text: &mut String, message: &DynamicMessage) -> Result<bool, Unreadable> {
    let descriptor = message.descriptor();
    let Some(name) = descriptor.full_name().strip_prefix("google.protobuf.") else {
        return Ok(false);
    };
    match name {
        "Timestamp" => timestamp(text, message)?,
        "Duration" => duration(text, message)?,
        "FieldMask" => field_mask(text, message),
        "Any" => any(text, message)?,
        "Struct" => structure(text, message)?,
        "ListValue" => list(text, message)?,
        "Value" => value(text, message)?,
        "Empty" => text.push_str("{}"),
        "BoolValue" | "StringValue" | "BytesValue" | "FloatValue" | "DoubleValue"
        | "Int32Value" | "Int64Value" | "UInt32Value" | "UInt64Value" => wrapped(text, message)?,
        _ => return Ok(false),
    }
    Ok(true)
}

fn unreadable<T>(message: impl Into<String>) -> Result<T, Unreadable> {
    Err(Unreadable(message.into()))
}

fn get(message: &DynamicMessage, number: u32) -> Option<Value> {
    let value = message.get_field_by_number(number)?;
    Some(value.into_owned())
}

fn seconds_and_nanos(message: &DynamicMessage) -> (i64, i32) {
    let seconds = match get(message, 1) {
        Some(Value::I64(seconds)) => seconds,
        _ => 0,
    };
    let nanos = match get(message, 2) {
        Some(Value::I32(nanos)) => nanos,
        _ => 0,
    };
    (seconds, nanos)
}

/// Formats a fraction of a second: nothing, or a decimal point and 3, 6 or 9 digits.
fn fraction(text: &mut String, nanos: u32) {
    let _ = if nanos == 0 {
        Ok(())
    } else if nanos.is_multiple_of(1_000_000) {
        write!(text, ".{:03}", nanos / 1_000_000)
    } else if nanos.is_multiple_of(1_000) {
        write!(text, ".{:06}", nanos / 1_000)
    } else {
        write!(text, ".{nanos:09}")
    };
}

fn timestamp(text: &mut String, message: &DynamicMessage) -> Result<(), Unreadable> {
    let (seconds, nanos) = seconds_and_nanos(message);
    // The years 1 to 9999.
    if !(-62_135_596_800..=253_402_300_799).contains(&seconds) {
        return unreadable(format!(
            "google.protobuf.Timestamp: seconds out of range {seconds}"
        ));
    }
    let Some(nanos) = u32::try_from(nanos)
        .ok()
        .filter(|nanos| *nanos < 1_000_000_000)
    else {
        return unreadable(format!(
            "google.protobuf.Timestamp: nanos out of range {nanos}"
        ));
    };
    let _ = write!(text, "\"{}", date_time(seconds));
    fraction(text, nanos);
    text.push_str("Z\"");
    Ok(())
}

fn duration(text: &mut String, message: &DynamicMessage) -> Result<(), Unreadable> {
    let (seconds, nanos) = seconds_and_nanos(message);
    // About ten thousand years (google/protobuf/duration.proto).
    if seconds.unsigned_abs() > 315_576_000_000 {
        return unreadable(format!(
            "google.protobuf.Duration: seconds out of range {seconds}"
        ));
    }
    if nanos.unsigned_abs() > 999_999_999
        || (seconds > 0 && nanos < 0)
        || (seconds < 0 && nanos > 0)
    {
        return unreadable(format!(
            "google.protobuf.Duration: nanos out of range {nanos}"
        ));
    }
    let sign = if seconds < 0 || nanos < 0 { "-" } else { "" };
    let _ = write!(text, "\"{sign}{}", seconds.unsigned_abs());
    fraction(text, nanos.unsigned_abs());
    text.push_str("s\"");
    Ok(())
}

fn field_mask(text: &mut String, message: &DynamicMessage) {
    let mut joined = String::new();
    if let Some(Value::List(paths)) = get(message, 1) {
        for (place, path) in paths.iter().enumerate() {
            if place > 0 {
                joined.push(',');
            }
            let mut raise = false;
            for letter in path.as_str().unwrap_or_default().chars() {
                match letter {
                    '_' => raise = true,
                    letter if std::mem::take(&mut raise) => {
                        joined.push(letter.to_ascii_uppercase());
                    }
                    letter => joined.push(letter),
                }
            }
        }
    }
    write_string(text, &joined);
}

fn any(text: &mut String, message: &DynamicMessage) -> Result<(), Unreadable> {
    let url = match get(message, 1) {
        Some(Value::String(url)) => url,
        _ => String::new(),
    };
    let packed = match get(message, 2) {
        Some(Value::Bytes(packed)) => packed,
        _ => Default::default(),
    };
    if url.is_empty() {
        if packed.is_empty() {
            text.push_str("{}");
            return Ok(());
        }
        return unreadable("google.protobuf.Any: empty type_url");
    }
    packed_message(text, &url, &packed, message.descriptor().parent_pool())
}

/// Writes the content of an `Any` of the given type. Writes nothing if it is unreadable.
pub(crate) fn packed_message(
    text: &mut String,
    url: &str,
    packed: &[u8],
    pool: &DescriptorPool,
) -> Result<(), Unreadable> {
    let name = url.rsplit_once('/').map_or(url, |(_, name)| name);
    let Some(descriptor) = pool.get_message_by_name(name) else {
        return unreadable(format!(
            "google.protobuf.Any: unable to resolve {url:?}: not found"
        ));
    };
    let inner = DynamicMessage::decode(descriptor, packed).map_err(|error| {
        Unreadable(format!(
            "google.protobuf.Any: unable to unmarshal {url:?}: {error}"
        ))
    })?;
    let mut own = String::new();
    if write(&mut own, &inner)? {
        own.insert_str(0, "\"value\":");
    } else {
        write_fields(&mut own, &inner, true)?;
    }
    text.push_str("{\"@type\":");
    write_string(text, url);
    if !own.is_empty() {
        text.push(',');
        text.push_str(&own);
    }
    text.push('}');
    Ok(())
}

fn structure(text: &mut String, message: &DynamicMessage) -> Result<(), Unreadable> {
    text.push('{');
    if let Some(Value::Map(fields)) = get(message, 1) {
        let mut fields: Vec<_> = fields.iter().collect();
        fields.sort_by(|one, other| one.0.cmp(other.0));
        for (place, (key, field)) in fields.into_iter().enumerate() {
            if place > 0 {
                text.push(',');
            }
            write_string(text, key.as_str().unwrap_or_default());
            text.push(':');
            nested(text, field)?;
        }
    }
    text.push('}');
    Ok(())
}

fn list(text: &mut String, message: &DynamicMessage) -> Result<(), Unreadable> {
    text.push('[');
    if let Some(Value::List(values)) = get(message, 1) {
        for (place, one) in values.iter().enumerate() {
            if place > 0 {
                text.push(',');
            }
            nested(text, one)?;
        }
    }
    text.push(']');
    Ok(())
}

fn nested(text: &mut String, value: &Value) -> Result<(), Unreadable> {
    match value {
        Value::Message(message) => write_message(text, message),
        _ => {
            text.push_str("null");
            Ok(())
        }
    }
}

fn value(text: &mut String, message: &DynamicMessage) -> Result<(), Unreadable> {
    let Some((_, kind)) = message.fields().next() else {
        return unreadable("google.protobuf.Value: none of the oneof fields is set");
    };
    match kind {
        Value::F64(number) if !number.is_finite() => {
            return unreadable("google.protobuf.Value cannot have NaN or infinity");
        }
        Value::F64(number) => write_number(text, *number),
        Value::String(string) => write_string(text, string),
        Value::Bool(truth) => text.push_str(if *truth { "true" } else { "false" }),
        Value::Message(message) => write_message(text, message)?,
        _ => text.push_str("null"),
    }
    Ok(())
}

/// The JSON of a wrapper is the JSON of its value.
fn wrapped(text: &mut String, message: &DynamicMessage) -> Result<(), Unreadable> {
    let mut fields = String::new();
    // `fields` is `{"value":X}`; keep only X.
    write_fields(&mut fields, message, true)?;
    let inner = fields.split_once(':').map_or("null", |(_, inner)| inner);
    text.push_str(inner);
    Ok(())
}
