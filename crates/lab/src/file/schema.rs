//! Generates the JSON Schema of a lab file, for editors.

use serde_json::{Map, Value, json};

use super::keys;
use super::shape::{Kind, Shape, describe};

/// The schema (draft 7, which TOML editors support).
pub fn schema() -> Value {
    let mut schema = table(&keys::FILE);
    let head = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": "https://example.invalid/plimsoll/schema/lab-1.json",
        "title": "A lab file of Plimsoll",
    });
    if let (Value::Object(schema), Value::Object(head)) = (&mut schema, head) {
        for (at, (key, value)) in head.into_iter().enumerate() {
            schema.shift_insert(at, key, value);
        }
    }
    schema
}

fn table(shape: &Shape) -> Value {
    let mut properties = Map::new();
    for key in shape.keys {
        let mut value = kind(&key.kind);
        if let Value::Object(value) = &mut value {
            let says = format!("{} Default: {}.", key.says, key.default);
            value.insert("description".to_owned(), says.into());
        }
        properties.insert(key.name.to_owned(), value);
    }
    json!({ "type": "object", "additionalProperties": false, "properties": properties })
}

fn kind(it: &Kind) -> Value {
    let variables = json!({ "type": "string", "pattern": "\\{[A-Za-z]" });
    match it {
        Kind::Text => json!({ "type": ["string", "number", "boolean"] }),
        Kind::Time => {
            json!({ "type": "string", "pattern": "^([0-9.]+(d|h|m|s|ms|us|µs|ns))+$|\\{[A-Za-z]" })
        }
        Kind::Rate => json!({ "type": "string", "pattern": "bit/s$|\\{[A-Za-z]" }),
        Kind::Percent => json!({ "type": "string", "pattern": "%$|\\{[A-Za-z]" }),
        Kind::Count => json!({ "anyOf": [{ "type": "integer", "minimum": 0 }, variables] }),
        Kind::Number => json!({ "anyOf": [{ "type": "number" }, variables] }),
        Kind::Flag => json!({ "anyOf": [{ "type": "boolean" }, variables] }),
        Kind::OneOf(words) => json!({ "anyOf": [{ "enum": words }, variables] }),
        Kind::Many(one) => {
            let one = kind(one);
            json!({ "anyOf": [one, { "type": "array", "items": one }] })
        }
        Kind::Table(shape) => table(shape),
        Kind::Named(one) => json!({ "type": "object", "additionalProperties": kind(one) }),
        Kind::When => json!({
            "type": "object",
            "description": describe(it),
            "additionalProperties": kind(&Kind::Many(&Kind::Text)),
        }),
        Kind::Either(one, other) => json!({ "anyOf": [kind(one), kind(other)] }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_in_docs_is_up_to_date() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schema/lab-1.json");
        let now = format!("{}\n", serde_json::to_string_pretty(&schema()).unwrap());
        if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
            std::fs::write(path, &now).unwrap();
        }
        let written = std::fs::read_to_string(path).unwrap_or_default();
        assert!(
            written == now,
            "{path} is out of date; UPDATE_SNAPSHOTS=1 regenerates it"
        );
    }
}
