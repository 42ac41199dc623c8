//! Validates tuples from clients against the model.

use crate::failure::Failure;
use crate::messages::Tuple;
use crate::model::{Model, Relation, suggestion};

/// Maximum length of an object's or a subject's id, in bytes.
const MAX_ID: usize = 256;

/// Checks that a tuple is complete and its names are in the model; returns the object's relation.
pub fn check(model: &Model, tuple: Option<Tuple>) -> Result<(Tuple, Relation), Failure> {
    let tuple = tuple.ok_or_else(|| invalid("tuple", "it is missing"))?;
    let relation = known_relation(
        model,
        ("object_type", &tuple.object_type),
        ("object_relation", &tuple.object_relation),
    )?;
    id("object_id", &tuple.object_id)?;
    id("subject_id", &tuple.subject_id)?;
    if tuple.subject_relation.is_empty() {
        known_type(model, "subject_type", &tuple.subject_type)?;
    } else {
        known_relation(
            model,
            ("subject_type", &tuple.subject_type),
            ("subject_relation", &tuple.subject_relation),
        )?;
    }
    Ok((tuple, relation))
}

/// Like [`check`], but for a tuple that will be stored: its relation must allow tuples.
pub fn check_to_store(model: &Model, tuple: Option<Tuple>) -> Result<Tuple, Failure> {
    let (tuple, relation) = check(model, tuple)?;
    if model.plan(relation).is_some_and(|plan| plan.writable) {
        return Ok(tuple);
    }
    Err(invalid(
        "object_relation",
        &format!(
            "'{}' of '{}' has no tuples of its own; it follows from other relations alone",
            tuple.object_relation, tuple.object_type
        ),
    ))
}

/// Checks a filter: its names must be valid; empty fields match everything.
pub fn check_filter(filter: Option<Tuple>) -> Result<Tuple, Failure> {
    let filter = filter.unwrap_or_default();
    for (field, value) in fields(&filter) {
        if !value.is_empty() {
            id(field, value).map_err(|failure| match failure {
                Failure::Invalid(message) => {
                    Failure::Invalid(message.replacen("tuple", "filter", 1))
                }
                other => other,
            })?;
        }
    }
    Ok(filter)
}

/// The fields with their names, in the order in which the message defines them.
pub fn fields(tuple: &Tuple) -> [(&'static str, &String); 6] {
    [
        ("object_type", &tuple.object_type),
        ("object_id", &tuple.object_id),
        ("object_relation", &tuple.object_relation),
        ("subject_type", &tuple.subject_type),
        ("subject_id", &tuple.subject_id),
        ("subject_relation", &tuple.subject_relation),
    ]
}

fn known_type(model: &Model, field: &str, name: &str) -> Result<(), Failure> {
    if model.types().contains_key(name) {
        return Ok(());
    }
    if name.is_empty() {
        return Err(invalid(field, "it is missing"));
    }
    let hint = suggestion(name, model.types().keys().map(String::as_str));
    let name = quoted(name);
    Err(invalid(
        field,
        &format!("the model has no type '{name}'{hint}"),
    ))
}

fn known_relation(
    model: &Model,
    (type_field, type_name): (&str, &str),
    (relation_field, relation): (&str, &str),
) -> Result<Relation, Failure> {
    if let Some(relation) = model.relation(type_name, relation) {
        return Ok(relation);
    }
    known_type(model, type_field, type_name)?;
    if relation.is_empty() {
        return Err(invalid(relation_field, "it is missing"));
    }
    let relations = model.types().get(type_name);
    let names = relations
        .into_iter()
        .flat_map(|all| all.keys().map(String::as_str));
    let hint = suggestion(relation, names);
    Err(invalid(
        relation_field,
        &format!("'{type_name}' has no relation '{}'{hint}", quoted(relation)),
    ))
}

fn id(field: &str, id: &str) -> Result<(), Failure> {
    if id.is_empty() {
        return Err(invalid(field, "it is missing"));
    }
    if id.len() > MAX_ID {
        let problem = format!("{} bytes, at most {MAX_ID}", id.len());
        return Err(invalid(field, &problem));
    }
    // PostgreSQL cannot store NUL, and other control characters are invisible.
    if id.chars().any(char::is_control) {
        return Err(invalid(field, "it has a control character in it"));
    }
    Ok(())
}

fn invalid(field: &str, problem: &str) -> Failure {
    match field {
        "tuple" => Failure::Invalid(format!("tuple: {problem}")),
        _ => Failure::Invalid(format!("tuple.{field}: {problem}")),
    }
}

/// An untrusted string for an error message: shortened, without invisible characters.
fn quoted(text: &str) -> String {
    let mut quoted: String = text.chars().take(40).flat_map(char::escape_debug).collect();
    if text.chars().nth(40).is_some() {
        quoted.push('…');
    }
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::DEFAULT;

    /// `type:id#relation@type:id#relation`, the last relation left out if there is none.
    fn tuple(text: &str) -> Tuple {
        let (object, subject) = text.split_once('@').unwrap();
        let part = |text: &str| {
            let (name, rest) = text.split_once(':').unwrap();
            let (id, relation) = rest.split_once('#').unwrap_or((rest, ""));
            [name, id, relation].map(str::to_owned)
        };
        let [object_type, object_id, object_relation] = part(object);
        let [subject_type, subject_id, subject_relation] = part(subject);
        Tuple {
            object_type,
            object_id,
            object_relation,
            subject_type,
            subject_id,
            subject_relation,
        }
    }

    #[test]
    fn mistakes_are_named() {
        let model = Model::read("default", DEFAULT).unwrap();
        for (text, expected) in [
            (
                "docs:1#viewer@user:1",
                "tuple.object_type: the model has no type 'docs'; did you mean 'doc'?",
            ),
            (":1#viewer@user:1", "tuple.object_type: it is missing"),
            (
                "doc:1#viewr@user:1",
                "tuple.object_relation: 'doc' has no relation 'viewr'; did you mean 'viewer'?",
            ),
            ("doc:1@user:1", "tuple.object_relation: it is missing"),
            ("doc:#viewer@user:1", "tuple.object_id: it is missing"),
            ("doc:1#viewer@user:", "tuple.subject_id: it is missing"),
            ("doc:1#viewer@:1", "tuple.subject_type: it is missing"),
            (
                "doc:1#viewer@user:1#member",
                "tuple.subject_relation: 'user' has no relation 'member'",
            ),
            (
                "doc:1#viewer@user:a\0b",
                "tuple.subject_id: it has a control character in it",
            ),
        ] {
            match check(&model, Some(tuple(text))) {
                Err(Failure::Invalid(message)) => assert_eq!(message, expected),
                other => panic!("{text}: {other:?}"),
            }
        }
        let long = tuple(&format!("doc:{}#viewer@user:1", "x".repeat(257)));
        let failure = check(&model, Some(long)).unwrap_err();
        assert_eq!(failure.message(), "tuple.object_id: 257 bytes, at most 256");
        assert_eq!(
            check(&model, None).unwrap_err().message(),
            "tuple: it is missing"
        );
        let filter = check_filter(Some(tuple("doc:a\nb#viewer@user:1")));
        assert!(
            filter
                .unwrap_err()
                .message()
                .starts_with("filter.object_id: ")
        );
    }

    #[test]
    fn a_relation_that_follows_from_others_takes_no_tuples() {
        let text = "types: {user: {}, a: {x: this, y: {computed_userset: x}}}";
        let model = Model::read("test", text).unwrap();
        assert!(check_to_store(&model, Some(tuple("a:1#x@user:1"))).is_ok());
        let failure = check_to_store(&model, Some(tuple("a:1#y@user:1"))).unwrap_err();
        assert!(
            failure
                .message()
                .starts_with("tuple.object_relation: 'y' of 'a' has no tuples")
        );
        assert!(check(&model, Some(tuple("a:1#y@user:1"))).is_ok());
    }
}
