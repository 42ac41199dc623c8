//! Evaluates the comparison of a query.

use std::cmp::Ordering;

use super::path::Query;
use super::text::{Kind, kind, unquote};
use super::wildcard;

/// `value` is the result of the query's path in an element. It is empty if there is none.
pub(super) fn satisfies(query: &Query<'_>, value: &[u8]) -> bool {
    if let Some(class) = query.value.strip_prefix('~') {
        // `~class` replaces the value with whether it belongs to the class, and compares that with true.
        let Some(belongs) = belongs(class, value) else {
            return false;
        };
        return compare_bool(query.operator, belongs, "true");
    }
    if query.operator.is_empty() {
        return kind(value) != Kind::Missing;
    }
    match kind(value) {
        Kind::String => compare_string(query.operator, &unquote(value), &query.value),
        Kind::Number => {
            let expected = query.value.parse().unwrap_or(0.0);
            holds(query.operator, number(value).partial_cmp(&expected))
        }
        Kind::True => compare_bool(query.operator, true, &query.value),
        Kind::False => compare_bool(query.operator, false, &query.value),
        Kind::Missing | Kind::Null | Kind::Object | Kind::Array => false,
    }
}

fn number(value: &[u8]) -> f64 {
    std::str::from_utf8(value)
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(0.0)
}

fn belongs(class: &str, value: &[u8]) -> Option<bool> {
    let reads_as = |truth: bool| {
        let word = unquote(value).to_lowercase();
        let words = if truth {
            ["1", "t", "true"]
        } else {
            ["0", "f", "false"]
        };
        words.contains(&word.as_str())
    };
    match class {
        "*" => Some(kind(value) != Kind::Missing),
        "null" => Some(matches!(kind(value), Kind::Null | Kind::Missing)),
        "true" => Some(match kind(value) {
            Kind::True => true,
            Kind::String => reads_as(true),
            Kind::Number => number(value) != 0.0,
            _ => false,
        }),
        "false" => Some(match kind(value) {
            Kind::False | Kind::Null | Kind::Missing => true,
            Kind::String => reads_as(false),
            Kind::Number => number(value) == 0.0,
            _ => false,
        }),
        _ => None,
    }
}

fn compare_string(operator: &str, value: &str, expected: &str) -> bool {
    match operator {
        "%" => wildcard::matches(value, expected),
        "!%" => !wildcard::matches(value, expected),
        _ => holds(operator, Some(value.cmp(expected))),
    }
}

/// False is less than true. Any other word is just unequal.
fn compare_bool(operator: &str, value: bool, expected: &str) -> bool {
    let named = match expected {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    };
    match operator {
        "=" => named == Some(value),
        "!=" => named != Some(value),
        "<" => !value && named == Some(true),
        ">" => value && named == Some(false),
        "<=" => !value,
        ">=" => value,
        _ => false,
    }
}

/// `None` is the ordering of values that are not numbers. Only `!=` is true for them.
fn holds(operator: &str, ordering: Option<Ordering>) -> bool {
    match operator {
        "=" => ordering == Some(Ordering::Equal),
        "!=" => ordering != Some(Ordering::Equal),
        "<" => ordering == Some(Ordering::Less),
        "<=" => matches!(ordering, Some(Ordering::Less | Ordering::Equal)),
        ">" => ordering == Some(Ordering::Greater),
        ">=" => matches!(ordering, Some(Ordering::Greater | Ordering::Equal)),
        _ => false,
    }
}
