//! A result in which every text tries to break out of the page.

use plimsoll_results::lab::LabResult;
use serde_json::Value;

use super::fixture;

/// Breaks HTML, JSON in scripts, Markdown tables, code spans and fences, terminals.
pub const HOSTILE: &str = "</script></style></title><script>document.title='broken'</script><img src=x onerror=alert(1)> | ```` `x` ** [a](javascript:alert(1)) \u{1}\u{1b}[2J\u{202e} \"'&amp;]]>-->\n# not a heading\n| not | a | row |";

/// Fields that must not be replaced: other texts refer to them, or they have a fixed set of values.
const KEPT: &[&str] = &[
    "schema",
    "form",
    "state",
    "verdict",
    "outcome",
    "started",
    "ended",
    "level",
    "figure",
    "axis",
    "cells",
    "cell",
    "name",
    "unit",
    "place",
    "interval_from",
];

/// The full fixture with every free text replaced.
pub fn hostile() -> LabResult {
    let mut value = serde_json::to_value(fixture::full()).expect("a result is JSON");
    poison(&mut value, "");
    let mut result: LabResult = serde_json::from_value(value).expect("still a result");
    // Names are referenced, so they are changed consistently everywhere.
    let rename = |name: &mut String| *name = format!("{name}{HOSTILE}");
    for cell in &mut result.cells {
        rename(&mut cell.name);
        cell.place.iter_mut().for_each(|(axis, value)| {
            rename(axis);
            rename(value);
        });
        for figure in &mut cell.figures {
            rename(&mut figure.name);
            rename(&mut figure.unit);
        }
    }
    for axis in &mut result.axes {
        rename(&mut axis.name);
        axis.values.iter_mut().for_each(rename);
    }
    for comparison in &mut result.comparisons {
        rename(&mut comparison.axis);
        rename(&mut comparison.cells.0);
        rename(&mut comparison.cells.1);
        rename(&mut comparison.figure);
        comparison.place.iter_mut().for_each(|(axis, value)| {
            rename(axis);
            rename(value);
        });
    }
    for outcome in &mut result.objectives {
        rename(&mut outcome.cell);
        rename(&mut outcome.unit);
    }
    result
}

fn poison(value: &mut Value, key: &str) {
    match value {
        Value::String(text) if !KEPT.contains(&key) => *text = HOSTILE.to_owned(),
        Value::Array(items) => items.iter_mut().for_each(|item| poison(item, key)),
        Value::Object(entries) => {
            for (key, value) in entries.iter_mut() {
                poison(value, key);
            }
        }
        _ => {}
    }
}
