//! Finds numbers in text, and checks whether a result contains them.

use serde_json::Value;

/// A number as it was printed: its value, and half a step of its last digit.
#[derive(Clone, Debug, PartialEq)]
pub struct Printed {
    pub value: f64,
    pub half: f64,
}

/// Every number in a passage, except digits inside words and names (`p95`, `h2`).
pub fn of(text: &str) -> Vec<Printed> {
    let chars: Vec<char> = text.chars().collect();
    let mut found = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        let before = at.checked_sub(1).and_then(|at| chars.get(at)).copied();
        let begins = chars[at].is_ascii_digit()
            && !before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | '='));
        if !begins {
            at += 1;
            continue;
        }
        let from = at;
        while at < chars.len() {
            let next = chars.get(at + 1).is_some_and(char::is_ascii_digit);
            let inside = chars[at].is_ascii_digit() || (matches!(chars[at], '.' | ',') && next);
            if !inside {
                break;
            }
            at += 1;
        }
        // Ordinals, dates and versions are names.
        if chars
            .get(at)
            .is_some_and(|c| c.is_alphabetic() || matches!(c, '_' | '-' | ':'))
        {
            while at < chars.len() && !chars[at].is_whitespace() {
                at += 1;
            }
            continue;
        }
        let text: String = chars[from..at].iter().filter(|c| **c != ',').collect();
        if let Ok(value) = text.parse::<f64>() {
            found.push(Printed {
                value: if before == Some('−') { -value } else { value },
                half: half_step(&text),
            });
        }
    }
    found
}

/// Half a step of the last digit. Trailing zeros of a whole number may come from rounding.
fn half_step(text: &str) -> f64 {
    match text.split_once('.') {
        Some((_, decimals)) => 0.5 * 10_f64.powi(-(decimals.len() as i32)),
        None => {
            let zeros = text.len() - text.trim_end_matches('0').len();
            0.5 * 10_f64.powi(zeros.min(text.len() - 1) as i32)
        }
    }
}

/// Every number of a JSON value, including those in its strings.
pub fn of_json(value: &Value) -> Vec<f64> {
    let mut all = Vec::new();
    collect(value, &mut all);
    all.sort_by(f64::total_cmp);
    all.dedup();
    all
}

fn collect(value: &Value, all: &mut Vec<f64>) {
    match value {
        Value::Number(number) => all.extend(number.as_f64()),
        Value::String(text) => all.extend(of(text).iter().map(|printed| printed.value)),
        Value::Array(items) => items.iter().for_each(|item| collect(item, all)),
        Value::Object(entries) => {
            for (key, value) in entries {
                all.extend(of(key).iter().map(|printed| printed.value));
                collect(value, all);
            }
        }
        _ => {}
    }
}

/// Whether a sorted list contains a number that would be printed like this.
pub fn holds(sorted: &[f64], printed: &Printed) -> bool {
    let slack = printed.half * 1.000_001 + printed.value.abs() * 1e-12;
    let from = sorted.partition_point(|value| *value < printed.value - slack);
    sorted
        .get(from)
        .is_some_and(|value| *value <= printed.value + slack)
}
