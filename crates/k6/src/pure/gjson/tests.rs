//! Compares the results of many paths with those recorded with k6 v1.8.1 (`observed.json`).

use serde_json::Value;

use super::get;

fn observed() -> (String, Vec<(String, Option<Value>)>) {
    let table: Value = serde_json::from_str(include_str!("observed.json")).unwrap();
    let rows = table["selected"].as_array().unwrap().iter().map(|row| {
        let expected = row[1]
            .as_str()
            .map(|text| serde_json::from_str(text).unwrap());
        (row[0].as_str().unwrap().to_owned(), expected)
    });
    (
        table["document"].as_str().unwrap().to_owned(),
        rows.collect(),
    )
}

/// Converts numbers to doubles as JavaScript does, so that `12345678901234567890` is equal to its double.
fn as_doubles(value: Value) -> Value {
    match value {
        Value::Number(n) => serde_json::json!(n.as_f64()),
        Value::Array(values) => values.into_iter().map(as_doubles).collect(),
        Value::Object(members) => members
            .into_iter()
            .map(|(key, value)| (key, as_doubles(value)))
            .collect(),
        other => other,
    }
}

#[test]
fn results_match_those_of_k6() {
    let (document, rows) = observed();
    let mut wrong = Vec::new();
    for (path, expected) in &rows {
        let found = get(document.as_bytes(), path).map(|json| {
            serde_json::from_slice::<Value>(&json)
                .unwrap_or_else(|e| panic!("{path}: {e} in {}", String::from_utf8_lossy(&json)))
        });
        if found.clone().map(as_doubles) != expected.clone().map(as_doubles) {
            let (found, expected) = (show(found.as_ref()), show(expected.as_ref()));
            wrong.push(format!(
                "{path}\n   selected {found}\n   expected {expected}"
            ));
        }
    }
    assert!(rows.len() > 200);
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

fn show(value: Option<&Value>) -> String {
    value.map_or("nothing".to_owned(), Value::to_string)
}

/// If a key repeats, k6 keeps the first value and its `JSON.parse` the last one. Here, both keep the last one. A string
/// whose content is not JSON selects nothing here, where k6 guesses a value.
#[test]
fn known_differences_to_k6() {
    let doubled = br#"[{"a":1},{"a":2}]"#;
    assert_eq!(
        &*get(doubled, r#"@join:{"preserve":true}"#).unwrap(),
        br#"{"a":1,"a":2}"#
    );
    assert_eq!(get(br#"{"s":"{x"}"#, "s.@fromstr"), None);
}

#[test]
fn a_selected_value_borrows_from_the_document() {
    let document = br#"{"a":[{"b": "x"}]}"#;
    let found = get(document, "a.0.b").unwrap();
    assert!(matches!(found, std::borrow::Cow::Borrowed(_)));
    assert_eq!(&*found, br#""x""#);
}

#[test]
fn truncated_documents_never_panic() {
    let (document, rows) = observed();
    for cut in (0..document.len())
        .step_by(97)
        .filter(|&cut| document.is_char_boundary(cut))
    {
        for (path, _) in &rows {
            let _ = get(&document.as_bytes()[..cut], path);
        }
    }
}

#[test]
fn truncated_paths_never_panic() {
    let (document, rows) = observed();
    for (path, _) in &rows {
        for (cut, _) in path.char_indices() {
            let _ = get(document.as_bytes(), &path[..cut]);
            let _ = get(document.as_bytes(), &path[cut..]);
        }
    }
}

#[test]
fn a_path_with_a_million_components_terminates() {
    let path = "a.".repeat(1_000_000);
    assert_eq!(get(br#"{"a":{"a":1}}"#, &path), None);
    let nested = "{\"a\":".repeat(100_000) + "1" + &"}".repeat(100_000);
    assert_eq!(get(nested.as_bytes(), &path), None);
}
