//! Values for parameters and bodies: examples from the description, or values that match a schema.

use serde_json::{Map, Value, json};

use super::Reader;

/// Maximum nesting depth of generated values.
const MAX_DEPTH: usize = 8;
/// Maximum number of values to generate for one body.
const MAX_VALUES: usize = 500;

/// The state of generating one value.
#[derive(Default)]
struct Progress<'a> {
    /// The number of values inside of it so far.
    count: usize,
    /// The schemas around the current one.
    around: Vec<&'a Value>,
}

impl<'a> Reader<'a> {
    /// The example of a parameter or of a media type, or a value that matches its schema.
    pub(super) fn example(&self, holder: &'a Value) -> Value {
        if let Some(example) = holder.get("example") {
            return example.clone();
        }
        let examples = holder.get("examples").and_then(Value::as_object);
        if let Some(first) = examples.and_then(|examples| examples.values().next()) {
            let first = self.resolved(first);
            return first.get("value").unwrap_or(first).clone();
        }
        // In Swagger 2, the parameter itself contains the schema.
        let schema = holder.get("schema").unwrap_or(holder);
        self.generated(schema, &mut Progress::default())
    }

    /// A value that matches the schema. It is null where a schema contains itself.
    fn generated(&self, schema: &'a Value, progress: &mut Progress<'a>) -> Value {
        progress.count += 1;
        let schema = self.resolved(schema);
        let is_recursive = progress
            .around
            .iter()
            .any(|outer| std::ptr::eq(*outer, schema));
        if is_recursive {
            return Value::Null;
        }
        progress.around.push(schema);
        let value = self.generated_once(schema, progress);
        progress.around.pop();
        value
    }

    fn generated_once(&self, schema: &'a Value, progress: &mut Progress<'a>) -> Value {
        for key in ["example", "default", "const"] {
            if let Some(value) = schema.get(key) {
                return value.clone();
            }
        }
        for key in ["examples", "enum"] {
            if let Some(value) = schema.get(key).and_then(|values| values.get(0)) {
                return value.clone();
            }
        }
        if progress.around.len() > MAX_DEPTH || progress.count >= MAX_VALUES {
            return Value::Null;
        }
        if let Some(parts) = schema.get("allOf").and_then(Value::as_array) {
            let mut whole = self.object(schema, progress);
            for part in parts {
                if let Value::Object(fields) = self.generated(part, progress) {
                    whole.extend(fields);
                }
            }
            return Value::Object(whole);
        }
        for key in ["oneOf", "anyOf"] {
            if let Some(choices) = schema.get(key).and_then(Value::as_array) {
                let mut values = choices
                    .iter()
                    .map(|choice| self.generated(choice, progress));
                return values.find(|value| !value.is_null()).unwrap_or_default();
            }
        }
        let kind = match schema.get("type") {
            // In version 3.1, there may be a list of types.
            Some(Value::Array(kinds)) => {
                let mut kinds = kinds.iter().filter_map(Value::as_str);
                kinds.find(|kind| *kind != "null").unwrap_or_default()
            }
            kind => kind.and_then(Value::as_str).unwrap_or_default(),
        };
        match kind {
            "integer" | "number" => schema
                .get("minimum")
                .filter(|least| least.is_number())
                .cloned()
                .unwrap_or(json!(1)),
            "boolean" => json!(true),
            "string" => text(schema).into(),
            "array" => match schema.get("items") {
                Some(items) => match self.generated(items, progress) {
                    Value::Null => json!([]),
                    item => Value::Array(vec![item]),
                },
                None => json!([]),
            },
            "null" => Value::Null,
            _ if schema.get("properties").is_some() || kind == "object" => {
                Value::Object(self.object(schema, progress))
            }
            _ => json!("text"),
        }
    }

    fn object(&self, schema: &'a Value, progress: &mut Progress<'a>) -> Map<String, Value> {
        let mut fields = Map::new();
        let properties = schema.get("properties").and_then(Value::as_object);
        for (name, property) in properties.into_iter().flatten() {
            let property = self.resolved(property);
            if property.get("readOnly").and_then(Value::as_bool) == Some(true)
                || progress.count >= MAX_VALUES
            {
                continue;
            }
            let value = self.generated(property, progress);
            // Recursive structures end with an empty value.
            if !value.is_null() {
                fields.insert(name.clone(), value);
            }
        }
        fields
    }
}

fn text(schema: &Value) -> String {
    let format = schema
        .get("format")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let text = match format {
        "date" => "2026-01-31",
        "date-time" => "2026-01-31T12:00:00Z",
        "time" => "12:00:00Z",
        "uuid" => "123e4567-e89b-42d3-a456-426614174000",
        "email" => "user@example.com",
        "uri" | "url" => "https://example.com/",
        "hostname" => "example.com",
        "ipv4" => "192.0.2.1",
        "ipv6" => "2001:db8::1",
        "byte" => "dGV4dA==",
        "password" => "secret-password",
        _ => "text",
    };
    let least = schema.get("minLength").and_then(Value::as_u64).unwrap_or(0);
    // A longer value is not an example but an attack.
    let least = usize::try_from(least.min(10_000)).unwrap_or(0);
    let most = schema
        .get("maxLength")
        .and_then(Value::as_u64)
        .unwrap_or(u64::MAX);
    let mut text = text.to_owned();
    while text.len() < least {
        text.push('x');
    }
    text.truncate(usize::try_from(most).unwrap_or(usize::MAX));
    text
}
