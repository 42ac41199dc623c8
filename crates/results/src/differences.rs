//! Lists the differences between the configurations of two runs.

use serde_json::Value;

use crate::record::Header;

/// A configuration key, its value in A, its value in B.
pub type Difference = (String, String, String);

/// Maximum number of differences to list.
const MAX_DIFFERENCES: usize = 20;
/// Maximum length of a value to show.
const SHOWN: usize = 60;

/// The differences between the configurations, by the path of the key. If only the contents of
/// files differ, that is reported as a single difference.
pub fn configuration(a: &Header, b: &Header) -> Vec<Difference> {
    if a.configuration_hash == b.configuration_hash {
        return Vec::new();
    }
    let mut found = Vec::new();
    if a.kind != b.kind {
        found.push(("command".to_owned(), a.kind.clone(), b.kind.clone()));
    }
    walk("", &a.configuration, &b.configuration, &mut found);
    if found.is_empty() {
        found.push((
            "files".to_owned(),
            "as A's hash says".to_owned(),
            "other contents".to_owned(),
        ));
    }
    found.truncate(MAX_DIFFERENCES);
    found
}

fn walk(path: &str, a: &Value, b: &Value, found: &mut Vec<Difference>) {
    if a == b || found.len() >= MAX_DIFFERENCES {
        return;
    }
    if let (Value::Object(one), Value::Object(other)) = (a, b) {
        let missing = other.keys().filter(|key| !one.contains_key(*key));
        for key in one.keys().chain(missing) {
            let path = match path {
                "" => key.clone(),
                _ => format!("{path}.{key}"),
            };
            let of = |object: &serde_json::Map<String, Value>| {
                object.get(key).cloned().unwrap_or(Value::Null)
            };
            walk(&path, &of(one), &of(other), found);
        }
        return;
    }
    found.push((path.to_owned(), show(a), show(b)));
}

fn show(value: &Value) -> String {
    let text = match value {
        Value::Null => "nothing".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    if text.chars().count() > SHOWN {
        let start: String = text.chars().take(SHOWN).collect();
        format!("{start}…")
    } else {
        text
    }
}
