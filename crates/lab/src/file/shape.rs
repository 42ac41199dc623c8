//! Describes the keys of tables. This is the single source for the checks, for the JSON Schema and
//! for the reference of the file format.

use std::time::Duration;

use plimsoll_units::BitRate;

use super::node::{Node, Table, Value};
use crate::problem::{Problem, suggestion};
use crate::template;

/// The type of a value. Every single value may also be a string with `{variables}`, which is
/// checked when the variables are known.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// A string, or a number or boolean that is converted to a string.
    Text,
    /// A duration, such as `500ms` or `1m30s`.
    Time,
    /// Bits per second, such as `1Gbit/s`.
    Rate,
    /// A share, such as `0.1%`.
    Percent,
    /// A whole number that is not negative.
    Count,
    Number,
    /// `true` or `false`.
    Flag,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// A list, or a single item.
    Many(&'static Kind),
    /// A table with these keys.
    Table(&'static Shape),
    /// A table whose keys the user chooses.
    Named(&'static Kind),
    /// The axes and values for which a table applies.
    When,
    /// Either of two types.
    Either(&'static Kind, &'static Kind),
}

/// The keys of a table.
#[derive(Debug)]
pub struct Shape {
    /// The table's name in messages, such as `[load]`.
    pub name: &'static str,
    /// A sentence about its purpose.
    pub says: &'static str,
    pub keys: &'static [Key],
}

#[derive(Debug)]
pub struct Key {
    pub name: &'static str,
    /// The type of its value.
    pub kind: Kind,
    /// The default, as shown to the user.
    pub default: &'static str,
    /// A sentence about its effect.
    pub says: &'static str,
}

impl Shape {
    /// The key with the given name.
    pub fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|key| key.name == name)
    }

    /// Finds all unknown keys and all values of the wrong type.
    pub fn check(&'static self, table: &Table, problems: &mut Vec<Problem>) {
        for (name, node) in table {
            match self.key(name) {
                Some(key) => check(&key.kind, name, node, problems),
                None => problems.push(node.place.problem(format!(
                    "unknown key \"{name}\" in {}; {}",
                    self.name,
                    suggestion(name, self.keys.iter().map(|key| key.name))
                ))),
            }
        }
    }
}

/// Checks one value; `name` is the name of its key.
pub fn check(kind: &Kind, name: &str, node: &Node, problems: &mut Vec<Problem>) {
    match (kind, &node.value) {
        (Kind::Many(kind), Value::List(items)) => {
            for item in items {
                check(kind, name, item, problems);
            }
        }
        (Kind::Many(kind), _) => check(kind, name, node, problems),
        (Kind::Either(one, other), _) => {
            let (mut of_one, mut of_other) = (Vec::new(), Vec::new());
            check(one, name, node, &mut of_one);
            check(other, name, node, &mut of_other);
            if of_one.is_empty() || of_other.is_empty() {
                return;
            }
            // Check the alternative that was probably intended, and report its problem.
            let tables = node.items().iter().any(|item| item.table().is_some());
            problems.append(if tables && is_table(other) {
                &mut of_other
            } else {
                &mut of_one
            });
        }
        (Kind::Table(shape), Value::Table(table)) => shape.check(table, problems),
        (Kind::Named(kind), Value::Table(table)) => {
            for (name, node) in table {
                check(kind, name, node, problems);
            }
        }
        (Kind::When, Value::Table(table)) => {
            for (name, node) in table {
                check(&Kind::Many(&Kind::Text), name, node, problems);
            }
        }
        (Kind::Table(_) | Kind::Named(_) | Kind::When, _)
        | (_, Value::List(_) | Value::Table(_)) => {
            problems.push(wrong_kind(kind, name, node, None));
        }
        (_, Value::Text(text)) if template::has_variables(text) => {}
        _ => {
            if let Err(why) = scalar(kind, node) {
                problems.push(wrong_kind(kind, name, node, why));
            }
        }
    }
}

fn is_table(kind: &Kind) -> bool {
    match kind {
        Kind::Many(kind) => is_table(kind),
        kind => matches!(kind, Kind::Table(_) | Kind::Named(_) | Kind::When),
    }
}

fn wrong_kind(kind: &Kind, name: &str, node: &Node, why: Option<String>) -> Problem {
    let why = why.map(|why| format!(": {why}")).unwrap_or_default();
    let is = match node.scalar() {
        Some(text) => format!("\"{text}\""),
        None => node.value.kind().to_owned(),
    };
    node.place
        .problem(format!("{name} must be {}, not {is}{why}", describe(kind)))
}

/// Whether a value that is neither a list nor a table has the type. If not, returns an explanation,
/// if there is more to explain than the type.
pub fn scalar(kind: &Kind, node: &Node) -> Result<(), Option<String>> {
    let text = node.scalar().unwrap_or_default();
    let holds = |right: bool| if right { Ok(()) } else { Err(None) };
    match kind {
        Kind::Text => Ok(()),
        Kind::Time => time(&text).map(drop).map_err(Some),
        Kind::Rate => BitRate::parse(&text).map(drop).map_err(Some),
        Kind::Percent => holds(percent(&text).is_some()),
        Kind::Count => holds(text.parse::<u32>().is_ok()),
        Kind::Number => holds(text.parse::<f64>().is_ok_and(f64::is_finite)),
        Kind::Flag => holds(matches!(text.as_str(), "true" | "false")),
        Kind::OneOf(words) if words.contains(&text.as_str()) => Ok(()),
        Kind::OneOf(words) => Err(Some(suggestion(&text, words.iter().copied()))),
        Kind::Many(kind) => scalar(kind, node),
        Kind::Either(one, other) => scalar(one, node).or_else(|_| scalar(other, node)),
        Kind::Table(_) | Kind::Named(_) | Kind::When => Err(None),
    }
}

/// A duration. A number without a unit is invalid.
pub fn time(text: &str) -> Result<Duration, String> {
    plimsoll_units::duration::parse_with_unit(text)
}

/// A share as a number from 0 to 1.
pub fn percent(text: &str) -> Option<f64> {
    let number = text.strip_suffix('%')?.trim().parse::<f64>().ok()?;
    (0.0..=100.0).contains(&number).then_some(number / 100.0)
}

/// The description of a type, for messages.
pub fn describe(kind: &Kind) -> String {
    match kind {
        Kind::Text => "a string".to_owned(),
        Kind::Time => "a time such as \"500ms\" or \"1m30s\"".to_owned(),
        Kind::Rate => "a rate such as \"556Mbit/s\"".to_owned(),
        Kind::Percent => "a share such as \"0.1%\"".to_owned(),
        Kind::Count => "a whole number".to_owned(),
        Kind::Number => "a number".to_owned(),
        Kind::Flag => "true or false".to_owned(),
        Kind::OneOf(words) => format!("one of {}", words.join(", ")),
        Kind::Many(kind) => format!("{}, or a list of them", describe(kind)),
        Kind::Table(shape) => format!("a table {}", shape.name),
        Kind::Named(kind) => format!("a table of names, each with {}", describe(kind)),
        Kind::When => "a table of axes and their values".to_owned(),
        Kind::Either(one, other) => format!("{}, or {}", describe(one), describe(other)),
    }
}
