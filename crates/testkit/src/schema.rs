//! The subset of JSON Schema (draft 2020-12) that our schemas use.

use serde_json::Value;

/// The errors in `value`; empty if it conforms to `schema`.
///
/// # Panics
/// On an unknown keyword, because it would not be checked.
pub fn faults(schema: &Value, value: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    check(schema, schema, value, "$", &mut faults);
    faults
}

fn check(root: &Value, schema: &Value, value: &Value, at: &str, faults: &mut Vec<String>) {
    let fault = |faults: &mut Vec<String>, what: String| faults.push(format!("{at}: {what}"));
    for (keyword, of) in schema.as_object().expect("a schema must be an object") {
        match keyword.as_str() {
            "$schema" | "$id" | "$defs" | "title" | "description" => {}
            "$ref" => {
                let pointer = of
                    .as_str()
                    .and_then(|of| of.strip_prefix('#'))
                    .expect("a local $ref");
                check(
                    root,
                    root.pointer(pointer).expect("an existing $ref"),
                    value,
                    at,
                    faults,
                );
            }
            "anyOf" => {
                let fits = |schema: &Value| {
                    let mut faults = Vec::new();
                    check(root, schema, value, at, &mut faults);
                    faults.is_empty()
                };
                if !of.as_array().expect("a list of schemas").iter().any(fits) {
                    fault(faults, format!("{value} matches no alternative"));
                }
            }
            "const" if value != of => fault(faults, format!("{value} is not {of}")),
            "enum" if !of.as_array().is_some_and(|all| all.contains(value)) => {
                fault(faults, format!("{value} is none of {of}"));
            }
            "const" | "enum" => {}
            "type" => {
                let types = of.as_array().cloned().unwrap_or_else(|| vec![of.clone()]);
                if !types
                    .iter()
                    .any(|of| is_of_type(value, of.as_str().expect("a type's name")))
                {
                    fault(faults, format!("{value} is not of type {of}"));
                }
            }
            "minimum" => {
                if value
                    .as_f64()
                    .is_some_and(|value| Some(value) < of.as_f64())
                {
                    fault(faults, format!("{value} is less than {of}"));
                }
            }
            "required" => {
                for key in of.as_array().expect("a list of keys") {
                    if value.get(key.as_str().expect("a key")).is_none() {
                        fault(faults, format!("{key} is missing"));
                    }
                }
            }
            "properties" => {
                for (key, schema) in of.as_object().expect("schemas by key") {
                    if let Some(value) = value.get(key) {
                        check(root, schema, value, &format!("{at}.{key}"), faults);
                    }
                }
            }
            "additionalProperties" => {
                let known = schema.get("properties").and_then(Value::as_object);
                for (key, value) in value.as_object().into_iter().flatten() {
                    if known.is_some_and(|known| known.contains_key(key)) {
                        continue;
                    }
                    match of {
                        Value::Bool(false) => fault(faults, format!("{key} is not allowed")),
                        schema => check(root, schema, value, &format!("{at}.{key}"), faults),
                    }
                }
            }
            "propertyNames" => {
                let is_number: fn(&str) -> bool = |key| {
                    let status = key.parse::<u16>();
                    status.is_ok_and(|status| (100..=999).contains(&status))
                };
                let is_name: fn(&str) -> bool = |key| {
                    let code = key
                        .strip_prefix("Code(")
                        .and_then(|key| key.strip_suffix(')'));
                    let letters = key.bytes().all(|byte| byte.is_ascii_alphabetic());
                    letters || code.is_some_and(|code| code.parse::<u32>().is_ok())
                };
                let fits = match of["pattern"].as_str() {
                    Some("^[1-9][0-9][0-9]$") => is_number,
                    Some(r"^([A-Z][A-Za-z]+|Code\([0-9]+\))$") => is_name,
                    other => panic!("the pattern {other:?} is not supported"),
                };
                for key in value.as_object().into_iter().flatten().map(|(key, _)| key) {
                    if !fits(key) {
                        fault(faults, format!("{key} is not a status"));
                    }
                }
            }
            "prefixItems" => {
                let schemas = of.as_array().expect("a list of schemas");
                let items = value.as_array().map_or(&[][..], Vec::as_slice);
                for (place, (schema, item)) in schemas.iter().zip(items).enumerate() {
                    check(root, schema, item, &format!("{at}[{place}]"), faults);
                }
            }
            "minItems" | "maxItems" => {
                let bound = of.as_u64().expect("a count");
                let count = value.as_array().map(|items| items.len() as u64);
                let fits = |count: u64| {
                    if keyword == "minItems" {
                        count >= bound
                    } else {
                        count <= bound
                    }
                };
                if count.is_some_and(|count| !fits(count)) {
                    fault(faults, format!("{keyword} is {bound}"));
                }
            }
            "items" => {
                let prefix = schema.get("prefixItems").and_then(Value::as_array);
                let first = prefix.map_or(0, Vec::len);
                let items = value.as_array().into_iter().flatten().enumerate();
                for (place, item) in items.skip(first) {
                    check(root, of, item, &format!("{at}[{place}]"), faults);
                }
            }
            unknown => panic!("the keyword {unknown} is not supported"),
        }
    }
}

fn is_of_type(value: &Value, name: &str) -> bool {
    match name {
        "null" => value.is_null(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        "object" => value.is_object(),
        "array" => value.is_array(),
        "boolean" => value.is_boolean(),
        unknown => panic!("unknown type {unknown}"),
    }
}
