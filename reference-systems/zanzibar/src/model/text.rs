//! Parses a model, with errors that name the line and the fix.

use std::collections::BTreeMap;

use super::nodes::{self, Key, Node, Value};
use super::{MAX_ITEMS, MAX_NAME, Rewrite, Types, suggestion};

const FORMS: &str = "this, {computed_userset: RELATION}, \
                     {tuple_to_userset: {tupleset: RELATION, computed_userset: RELATION}} or {any_of: […]}";

type Wrong = (usize, String);

/// Parses a model; `place` is its name in errors.
pub fn read(place: &str, text: &str) -> Result<Types, String> {
    nodes::read(text)
        .and_then(|root| types(&root))
        .map_err(|(line, message)| format!("{place}:{line}: {message}"))
}

fn types(root: &Node) -> Result<Types, Wrong> {
    let written = only(root, "types", "the model")?;
    let written = mapping(written, "'types'")?;
    let mut types = Types::new();
    // References to relations, to be checked once all are known.
    let mut references = Vec::new();
    for (key, node) in written {
        name(key)?;
        let mut relations = BTreeMap::new();
        for (relation, node) in mapping(node, &format!("'{}'", key.text))? {
            name(relation)?;
            let rewrite = rewrite(node, &key.text, &mut references)?;
            relations.insert(relation.text.clone(), rewrite);
        }
        few(relations.len(), key.line, "relations of a type")?;
        types.insert(key.text.clone(), relations);
    }
    few(types.len(), root.line, "types")?;
    if types.is_empty() {
        return Err((root.line, "there are no types".to_owned()));
    }
    for reference in &references {
        reference.check(&types)?;
    }
    Ok(types)
}

/// A relation that a rewrite names.
struct Reference {
    line: usize,
    /// The type that must have it; `None` if any type may.
    of: Option<String>,
    relation: String,
    /// Whether its tuples are followed, so that it must have some.
    followed: bool,
}

impl Reference {
    fn check(&self, types: &Types) -> Result<(), Wrong> {
        let fail = |message: String| Err((self.line, message));
        let Some(of) = &self.of else {
            let mut all = types.values().flat_map(|relations| relations.keys());
            if all.any(|relation| *relation == self.relation) {
                return Ok(());
            }
            let all = types.values().flat_map(|relations| relations.keys());
            return fail(format!(
                "no type has a relation '{}'{}",
                self.relation,
                suggestion(&self.relation, all.map(String::as_str))
            ));
        };
        let relations = types.get(of);
        match relations.and_then(|relations| relations.get(&self.relation)) {
            None => fail(format!(
                "'{of}' has no relation '{}'{}",
                self.relation,
                suggestion(
                    &self.relation,
                    relations
                        .into_iter()
                        .flat_map(|all| all.keys().map(String::as_str))
                )
            )),
            Some(rewrite) if self.followed && !rewrite.has_this() => fail(format!(
                "'{}' of '{of}' has no tuples of its own to follow; add 'this' to it",
                self.relation
            )),
            Some(_) => Ok(()),
        }
    }
}

fn rewrite(node: &Node, of: &str, references: &mut Vec<Reference>) -> Result<Rewrite, Wrong> {
    let unknown = |line, given: &str, right: &[&'static str]| {
        let hint = suggestion(given, right.iter().copied());
        Err((
            line,
            format!("'{given}' is not a rewrite{hint}; it is {FORMS}"),
        ))
    };
    let map = match &node.value {
        Value::Text(text) if text == "this" => return Ok(Rewrite::This),
        Value::Text(text) => return unknown(node.line, text, &["this"]),
        Value::List(_) => {
            return Err((node.line, format!("a list is not a rewrite; it is {FORMS}")));
        }
        Value::Map(map) => map,
    };
    let [(key, value)] = map.as_slice() else {
        return Err((
            node.line,
            format!(
                "a rewrite has one key, here are {}; it is {FORMS}",
                map.len()
            ),
        ));
    };
    match key.text.as_str() {
        "computed_userset" => {
            let relation = text(value, "computed_userset")?;
            references.push(Reference {
                line: value.line,
                of: Some(of.to_owned()),
                relation: relation.clone(),
                followed: false,
            });
            Ok(Rewrite::Computed(relation))
        }
        "tuple_to_userset" => tuple_to_userset(value, of, references),
        "any_of" => {
            let Value::List(parts) = &value.value else {
                return Err((
                    value.line,
                    format!("'any_of' takes a list, not {}", value.kind()),
                ));
            };
            if parts.is_empty() {
                return Err((
                    value.line,
                    "'any_of' of nothing: give it a rewrite".to_owned(),
                ));
            }
            few(parts.len(), value.line, "parts of 'any_of'")?;
            let parts = parts.iter().map(|part| rewrite(part, of, references));
            Ok(Rewrite::AnyOf(parts.collect::<Result<_, _>>()?))
        }
        other => unknown(
            key.line,
            other,
            &["this", "computed_userset", "tuple_to_userset", "any_of"],
        ),
    }
}

fn tuple_to_userset(
    node: &Node,
    of: &str,
    references: &mut Vec<Reference>,
) -> Result<Rewrite, Wrong> {
    let (mut tupleset, mut computed) = (None, None);
    for (key, value) in mapping(node, "'tuple_to_userset'")? {
        let (place, of, followed) = match key.text.as_str() {
            "tupleset" => (&mut tupleset, Some(of.to_owned()), true),
            "computed_userset" => (&mut computed, None, false),
            other => {
                let hint = suggestion(other, ["tupleset", "computed_userset"]);
                return Err((
                    key.line,
                    format!(
                        "'tuple_to_userset' has no '{other}'{hint}; it has 'tupleset' and 'computed_userset'"
                    ),
                ));
            }
        };
        let relation = text(value, &key.text)?;
        references.push(Reference {
            line: value.line,
            of,
            relation: relation.clone(),
            followed,
        });
        *place = Some(relation);
    }
    match (tupleset, computed) {
        (Some(tupleset), Some(computed)) => Ok(Rewrite::FromTupleset { tupleset, computed }),
        (None, _) => Err((node.line, "'tuple_to_userset' lacks 'tupleset'".to_owned())),
        (_, None) => Err((
            node.line,
            "'tuple_to_userset' lacks 'computed_userset'".to_owned(),
        )),
    }
}

/// The value of a mapping with one key.
fn only<'a>(node: &'a Node, wanted: &str, what: &str) -> Result<&'a Node, Wrong> {
    let map = mapping(node, what)?;
    if let Some((key, _)) = map.iter().find(|(key, _)| key.text != wanted) {
        let hint = suggestion(&key.text, [wanted]);
        return Err((
            key.line,
            format!(
                "{what} has no '{}'{hint}; it has '{wanted}' alone",
                key.text
            ),
        ));
    }
    map.first()
        .map(|(_, value)| value)
        .ok_or_else(|| (node.line, format!("{what} lacks '{wanted}'")))
}

fn mapping<'a>(node: &'a Node, what: &str) -> Result<&'a [(Key, Node)], Wrong> {
    match &node.value {
        Value::Map(map) => Ok(map),
        // `user:` without a value has no relations.
        Value::Text(text) if text.is_empty() || text == "~" || text == "null" => Ok(&[]),
        _ => Err((
            node.line,
            format!("{what} takes a mapping, not {}", node.kind()),
        )),
    }
}

fn text(node: &Node, what: &str) -> Result<String, Wrong> {
    match &node.value {
        Value::Text(text) => Ok(text.clone()),
        _ => Err((
            node.line,
            format!("'{what}' takes the name of a relation, not {}", node.kind()),
        )),
    }
}

fn name(key: &Key) -> Result<(), Wrong> {
    let letters = key.text.bytes().all(|byte| {
        byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_' || byte == b'-'
    });
    let begins = key
        .text
        .starts_with(|first: char| first.is_ascii_lowercase());
    if letters && begins && key.text.len() <= MAX_NAME {
        return Ok(());
    }
    Err((
        key.line,
        format!(
            "'{}' is not a name: at most {MAX_NAME} of a-z, 0-9, _ and -, a letter first",
            key.text.escape_debug()
        ),
    ))
}

fn few(count: usize, line: usize, what: &str) -> Result<(), Wrong> {
    if count <= MAX_ITEMS {
        return Ok(());
    }
    Err((
        line,
        format!("{count} {what}, at most {MAX_ITEMS} are taken"),
    ))
}

#[cfg(test)]
mod tests {
    use super::super::DEFAULT;
    use super::*;

    fn error_of(text: &str) -> String {
        read("model.yaml", text).unwrap_err()
    }

    #[test]
    fn errors_name_the_line_and_the_closest_valid_name() {
        let model = DEFAULT.replacen("computed_userset: editor", "computed_userset: editr", 1);
        let line = model
            .lines()
            .position(|line| line.contains("editr"))
            .unwrap()
            + 1;
        assert_eq!(
            error_of(&model),
            format!("model.yaml:{line}: 'folder' has no relation 'editr'; did you mean 'editor'?")
        );
        assert_eq!(
            error_of("types:\n  a:\n    x: thsi\n"),
            format!("model.yaml:3: 'thsi' is not a rewrite; did you mean 'this'?; it is {FORMS}")
        );
        for (text, expected) in [
            ("", "empty"),
            ("tipes: {}", "did you mean 'types'?"),
            ("types: {}", "there are no types"),
            ("types: [a]", "takes a mapping, not a list"),
            (
                "types:\n a:\n  x: this\n  x: this",
                "model.yaml:4: 'x' is here a second time",
            ),
            ("types: {A: {}}", "'A' is not a name"),
            ("types: {a: {'x y': this}}", "'x y' is not a name"),
            ("types: {a: {x: {any_off: []}}}", "did you mean 'any_of'?"),
            ("types: {a: {x: {any_of: []}}}", "'any_of' of nothing"),
            (
                "types: {a: {x: {any_of: this}}}",
                "takes a list, not a text",
            ),
            ("types: {a: {x: [this]}}", "a list is not a rewrite"),
            (
                "types: {a: {x: {tuple_to_userset: {tupleset: x}}}}",
                "lacks 'computed_userset'",
            ),
            (
                "types: {a: {x: {tuple_to_userset: {tuplset: x}}}}",
                "did you mean 'tupleset'?",
            ),
            (
                "types: {a: {x: {tuple_to_userset: {tupleset: y, computed_userset: x}}, y: {computed_userset: x}}}",
                "has no tuples of its own to follow",
            ),
            (
                "types: {a: {p: this, x: {tuple_to_userset: {tupleset: p, computed_userset: zzzz}}}}",
                "no type has a relation 'zzzz'",
            ),
            ("types: {a: &b {x: this}, c: *b}", "aliases"),
            ("types:\n  a: {x: this", "model.yaml:"),
        ] {
            let error = error_of(text);
            assert!(error.contains(expected), "{text}: {error}");
        }
        let deep = format!(
            "types: {{a: {{x: {}this{}}}}}",
            "{any_of: [".repeat(40),
            "]}".repeat(40)
        );
        assert!(error_of(&deep).contains("levels deep"));
    }

    #[test]
    fn json_is_read_too() {
        let json =
            "{\n\t\"types\": {\n\t\t\"user\": {},\n\t\t\"group\": {\"member\": \"this\"}\n\t}\n}\n";
        let types = read("model.json", json).unwrap();
        assert_eq!(types["group"]["member"], Rewrite::This);
    }
}
