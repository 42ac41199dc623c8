//! Messages as JSON: protobuf's "ProtoJSON Format", including unset fields.

mod known;

use std::fmt::{self, Write};

use prost_reflect::prost::Message;
use prost_reflect::{
    DynamicMessage, EnumDescriptor, FieldDescriptor, Kind, MapKey, MessageDescriptor,
    ReflectMessage, Syntax, Value,
};

use crate::base64;

pub(crate) use known::packed_message;

/// A message type, represented by its descriptor.
#[derive(Clone, Debug, PartialEq)]
pub struct Described(MessageDescriptor);

/// The reason why something is not a message of this type, as a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable(pub String);

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unreadable {}

impl Described {
    pub(crate) fn new(descriptor: MessageDescriptor) -> Described {
        Described(descriptor)
    }

    /// The full name of the type.
    pub fn name(&self) -> &str {
        self.0.full_name()
    }

    /// Encodes a message that is given as JSON.
    ///
    /// # Errors
    /// The position at which the text does not match the message type.
    pub fn encode(&self, json: &str) -> Result<Vec<u8>, Unreadable> {
        let mut reader = serde_json::Deserializer::from_str(json);
        let unreadable = |error: serde_json::Error| Unreadable(error.to_string());
        let message =
            DynamicMessage::deserialize(self.0.clone(), &mut reader).map_err(unreadable)?;
        reader.end().map_err(unreadable)?;
        Ok(message.encode_to_vec())
    }

    /// The JSON text of an encoded message. An unset field has its default value, or null if unset
    /// differs from the default.
    ///
    /// # Errors
    /// If the bytes are not a message of this type, or the message has no JSON form.
    pub fn to_json(&self, bytes: &[u8]) -> Result<String, Unreadable> {
        let message = DynamicMessage::decode(self.0.clone(), bytes)
            .map_err(|error| Unreadable(format!("proto: {error}")))?;
        let mut text = String::new();
        write_message(&mut text, &message)?;
        Ok(text)
    }

    /// An empty message as JSON.
    pub fn example(&self) -> String {
        self.to_json(&[]).unwrap_or_default()
    }
}

pub(crate) fn write_message(text: &mut String, message: &DynamicMessage) -> Result<(), Unreadable> {
    if known::write(text, message)? {
        return Ok(());
    }
    text.push('{');
    write_fields(text, message, true)?;
    text.push('}');
    Ok(())
}

/// Writes the fields of a message, in the order of their declaration.
pub(crate) fn write_fields(
    text: &mut String,
    message: &DynamicMessage,
    mut first: bool,
) -> Result<(), Unreadable> {
    let descriptor = message.descriptor();
    for declared in &descriptor.descriptor_proto().field {
        let number = declared
            .number
            .and_then(|number| u32::try_from(number).ok());
        let Some(field) = number.and_then(|number| descriptor.get_field(number)) else {
            continue;
        };
        let set = message.has_field(&field);
        if !set && field.containing_oneof().is_some() {
            continue;
        }
        if !std::mem::take(&mut first) {
            text.push(',');
        }
        write_string(text, field.json_name());
        text.push(':');
        if !set && is_null_when_unset(&field) {
            text.push_str("null");
        } else {
            write_field(text, &message.get_field(&field), &field)?;
        }
    }
    for (extension, value) in message.extensions() {
        if !std::mem::take(&mut first) {
            text.push(',');
        }
        write_string(text, extension.json_name());
        text.push(':');
        match value {
            Value::List(values) => {
                write_list(text, values.iter(), &extension.kind())?;
            }
            value => write_single(text, value, &extension.kind())?,
        }
    }
    Ok(())
}

fn is_null_when_unset(field: &FieldDescriptor) -> bool {
    if field.is_list() || field.is_map() {
        return false;
    }
    let is_message = matches!(field.kind(), Kind::Message(_));
    is_message || field.parent_file().syntax() == Syntax::Proto2
}

fn write_field(
    text: &mut String,
    value: &Value,
    field: &FieldDescriptor,
) -> Result<(), Unreadable> {
    match value {
        Value::List(values) => write_list(text, values.iter(), &field.kind()),
        Value::Map(entries) => {
            let kind = field.kind();
            let kind = kind
                .as_message()
                .map_or(kind.clone(), |entry| entry.map_entry_value_field().kind());
            let mut entries: Vec<(&MapKey, &Value)> = entries.iter().collect();
            entries.sort_by(|one, other| one.0.cmp(other.0));
            text.push('{');
            for (place, (key, value)) in entries.into_iter().enumerate() {
                if place > 0 {
                    text.push(',');
                }
                match key {
                    MapKey::String(key) => write_string(text, key),
                    MapKey::Bool(key) => write_quoted(text, key),
                    MapKey::I32(key) => write_quoted(text, key),
                    MapKey::I64(key) => write_quoted(text, key),
                    MapKey::U32(key) => write_quoted(text, key),
                    MapKey::U64(key) => write_quoted(text, key),
                }
                text.push(':');
                write_single(text, value, &kind)?;
            }
            text.push('}');
            Ok(())
        }
        value => write_single(text, value, &field.kind()),
    }
}

fn write_list<'a>(
    text: &mut String,
    values: impl Iterator<Item = &'a Value>,
    kind: &Kind,
) -> Result<(), Unreadable> {
    text.push('[');
    for (place, value) in values.enumerate() {
        if place > 0 {
            text.push(',');
        }
        write_single(text, value, kind)?;
    }
    text.push(']');
    Ok(())
}

fn write_single(text: &mut String, value: &Value, kind: &Kind) -> Result<(), Unreadable> {
    match value {
        Value::Bool(value) => write_plain(text, value),
        Value::I32(value) => write_plain(text, value),
        Value::U32(value) => write_plain(text, value),
        // JSON numbers lose precision above 2^53.
        Value::I64(value) => write_quoted(text, value),
        Value::U64(value) => write_quoted(text, value),
        Value::F32(value) if value.is_finite() => write_plain(text, value),
        Value::F32(value) => write_number(text, f64::from(*value)),
        Value::F64(value) => write_number(text, *value),
        Value::String(value) => write_string(text, value),
        Value::Bytes(value) => write_quoted(text, &base64::encode_padded(value)),
        Value::EnumNumber(number) => write_enum(text, *number, kind.as_enum()),
        Value::Message(message) => write_message(text, message)?,
        // Lists and maps cannot be nested directly.
        Value::List(_) | Value::Map(_) => text.push_str("null"),
    }
    Ok(())
}

fn write_enum(text: &mut String, number: i32, descriptor: Option<&EnumDescriptor>) {
    let Some(descriptor) = descriptor else {
        return write_plain(text, &number);
    };
    if descriptor.full_name() == "google.protobuf.NullValue" {
        text.push_str("null");
    } else if let Some(value) = descriptor.get_value(number) {
        write_quoted(text, &value.name());
    } else {
        write_plain(text, &number);
    }
}

/// Appends a JSON number, or a JSON string for NaN and the infinities.
pub(crate) fn write_number(text: &mut String, value: f64) {
    if value.is_nan() {
        text.push_str("\"NaN\"");
    } else if value.is_infinite() {
        text.push_str(if value > 0.0 {
            "\"Infinity\""
        } else {
            "\"-Infinity\""
        });
    } else if value != 0.0 && !(1e-6..1e21).contains(&value.abs()) {
        write_plain(text, &format_args!("{value:e}"));
    } else {
        write_plain(text, &value);
    }
}

pub(crate) fn write_plain(text: &mut String, value: &dyn fmt::Display) {
    // Writing to a string cannot fail.
    let _ = write!(text, "{value}");
}

fn write_quoted(text: &mut String, value: &dyn fmt::Display) {
    let _ = write!(text, "\"{value}\"");
}

/// Writes a JSON string (RFC 8259, section 7).
pub(crate) fn write_string(text: &mut String, value: &str) {
    text.push('"');
    let mut plain = 0;
    for (at, byte) in value.bytes().enumerate() {
        let escape = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0..=0x1f => "",
            _ => continue,
        };
        text.push_str(&value[plain..at]);
        plain = at + 1;
        if escape.is_empty() {
            let _ = write!(text, "\\u{byte:04x}");
        } else {
            text.push_str(escape);
        }
    }
    text.push_str(&value[plain..]);
    text.push('"');
}
