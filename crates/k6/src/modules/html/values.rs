//! The values of form fields and data attributes.

use std::collections::BTreeMap;

use plimsoll_quickjs::{Context, Returned, Thrown, Value};

use crate::pure::form;
use crate::pure::html::{Node, Selectors};

/// The value of a form field.
enum Field {
    One(String),
    Many(Vec<String>),
}

/// The value of a form field. Undefined for other elements.
pub fn value<'c>(context: &'c Context, node: &Node) -> Returned<'c> {
    match field(node) {
        Some(Field::One(text)) => context.string(&text),
        Some(Field::Many(texts)) => context.strings(texts.iter()),
        None => Ok(context.undefined()),
    }
}

fn field(node: &Node) -> Option<Field> {
    let one = |text: &str| Some(Field::One(text.to_owned()));
    match node.name() {
        "textarea" => Some(Field::One(node.text())),
        "option" => Some(Field::One(option(node))),
        "select" => {
            let selected = Selectors::parse("option[selected]")?;
            let options = node.descendants().filter(|node| selected.matches(node));
            let mut texts = options.map(|node| option(&node));
            match node.attribute("multiple") {
                Some(_) => Some(Field::Many(texts.collect())),
                None => Some(Field::One(texts.next().unwrap_or_default())),
            }
        }
        "input" => match (node.attribute("value"), node.attribute("type")) {
            (Some(value), _) => one(value),
            (None, Some("checkbox" | "radio")) => one("on"),
            (None, _) => one(""),
        },
        "button" => one(node.attribute("value").unwrap_or_default()),
        _ => None,
    }
}

/// An option's value, or its text if it has no value.
pub fn option(node: &Node) -> String {
    match node.attribute("value") {
        Some(value) => value.to_owned(),
        None => node.text(),
    }
}

/// The fields of forms, or the fields themselves, with their names. As in k6, buttons and checkboxes are left out.
fn form_fields(nodes: &[Node]) -> Vec<(String, Field)> {
    let is_field = |node: &Node| {
        let kind = node
            .attribute("type")
            .unwrap_or_default()
            .to_ascii_lowercase();
        let odd = [
            "checkbox", "radio", "submit", "button", "image", "reset", "file",
        ];
        matches!(node.name(), "input" | "select" | "textarea") && !odd.contains(&kind.as_str())
    };
    let mut fields = Vec::new();
    for node in nodes.iter().flat_map(with_fields).filter(is_field) {
        let name = node.attribute("name").filter(|name| !name.is_empty());
        if let (Some(name), Some(field)) = (name, field(&node)) {
            fields.push((name.to_owned(), field));
        }
    }
    fields
}

/// The node itself, or the fields that a form contains.
fn with_fields(node: &Node) -> Vec<Node> {
    match node.name() {
        "form" => node.descendants().collect(),
        _ => vec![node.clone()],
    }
}

/// Encodes the fields like a submitted form (`application/x-www-form-urlencoded`), sorted by name. As in k6, only the
/// last of several fields with the same name is included.
pub fn serialize(nodes: &[Node]) -> String {
    let fields: BTreeMap<String, Field> = form_fields(nodes).into_iter().collect();
    let mut pairs = Vec::new();
    for (name, field) in &fields {
        match field {
            Field::One(text) => pairs.push(form::pair(name, text)),
            Field::Many(texts) => pairs.extend(texts.iter().map(|text| form::pair(name, text))),
        }
    }
    pairs.join("&")
}

/// `[{ name, value }]`.
pub fn serialize_array<'c>(context: &'c Context, nodes: &[Node]) -> Returned<'c> {
    let pairs = form_fields(nodes).into_iter().map(|(name, field)| {
        let pair = context.object()?;
        pair.define("name", context.string(&name)?)?;
        pair.define("value", of_field(context, field)?)?;
        Ok(pair)
    });
    let pairs: Result<Vec<_>, Thrown> = pairs.collect();
    context.array(pairs?)
}

/// `{ name: value }`.
pub fn serialize_object<'c>(context: &'c Context, nodes: &[Node]) -> Returned<'c> {
    let object = context.object()?;
    for (name, field) in form_fields(nodes) {
        object.define(name.as_str(), of_field(context, field)?)?;
    }
    Ok(object)
}

fn of_field(context: &Context, field: Field) -> Returned<'_> {
    match field {
        Field::One(text) => context.string(&text),
        Field::Many(texts) => context.strings(texts.iter()),
    }
}

/// `data(name)`, or all data attributes as an object. Numbers, booleans and JSON are converted; as in k6, `null`,
/// `undefined` and an empty string become undefined.
pub fn data<'c>(context: &'c Context, node: Option<&Node>, name: &Value<'c>) -> Returned<'c> {
    if !name.is_nullish() {
        let name = format!("data-{}", dashed(&name.to_text()?));
        return match node.and_then(|node| node.attribute(&name)) {
            Some(text) => of_data(context, text),
            None => Ok(context.undefined()),
        };
    }
    let Some(node) = node else {
        return Ok(context.undefined());
    };
    let object = context.object()?;
    for (name, text) in node.attributes() {
        if let Some(name) = name.strip_prefix("data-").filter(|name| !name.is_empty()) {
            object.define(humped(name).as_str(), of_data(context, text)?)?;
        }
    }
    Ok(object)
}

fn of_data<'c>(context: &'c Context, text: &str) -> Returned<'c> {
    if matches!(text, "" | "null" | "undefined") {
        return Ok(context.undefined());
    }
    let is_json = text.starts_with(['{', '[']) || matches!(text, "true" | "false");
    let number = text
        .parse::<f64>()
        .ok()
        .filter(|number| number.to_string() == text);
    if let Some(number) = number {
        return Ok(context.number(number));
    }
    if is_json && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok() {
        return context.parse_json(text, "data");
    }
    context.string(text)
}

/// Turns `fooBar` and `foo_bar` into `foo-bar`.
fn dashed(name: &str) -> String {
    let mut dashed = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() {
            dashed.push('-');
        }
        dashed.push(match letter {
            '_' => '-',
            other => other.to_ascii_lowercase(),
        });
    }
    dashed
}

/// Turns `foo-bar` into `fooBar`.
fn humped(name: &str) -> String {
    let mut parts = name.split('-');
    let mut humped = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let mut chars = part.chars();
        humped.extend(chars.next().map(|letter| letter.to_ascii_uppercase()));
        humped.push_str(chars.as_str());
    }
    humped
}
