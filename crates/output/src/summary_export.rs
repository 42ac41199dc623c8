//! Formats the summary for `--summary-export`: k6's older format, which existing tools read.
//!
//! In this format, a threshold is `true` if it was *crossed*, the share of a rate is called `value`, and groups and
//! checks are keyed by their names.

use plimsoll_samples::Summary;
use serde_json::{Map, Value};

use crate::summary_data::{SummaryContext, handle_summary_argument};

/// The contents of the file: k6's keys, and Plimsoll's additions under `plimsoll`.
pub fn summary_export(summary: &Summary, about: &SummaryContext) -> Value {
    exported(handle_summary_argument(summary, about))
}

/// The contents of the file for the argument of `handleSummary`, which the script may have changed. As in k6, keys that
/// the script added are included.
pub fn exported(data: Value) -> Value {
    let Value::Object(mut data) = data else {
        return data;
    };
    data.shift_remove("options");
    data.shift_remove("state");
    if let Some(root) = data.get_mut("root_group") {
        *root = group(root.take());
    }
    if let Some(Value::Object(metrics)) = data.get_mut("metrics") {
        let all = std::mem::take(metrics).into_iter();
        metrics.extend(all.filter_map(|(name, of)| Some((name, metric(of)?))));
    }
    data.into()
}

/// `None` without values.
fn metric(mut of: Value) -> Option<Value> {
    let mut values = of.get_mut("values")?.take();
    let Value::Object(fields) = &mut values else {
        return Some(values);
    };
    if of["type"] == "rate"
        && let Some(share) = fields.shift_remove("rate")
    {
        fields.insert("value".to_owned(), share);
    }
    if let Some(thresholds) = of["thresholds"].as_object() {
        let is_met = |outcome: &Value| outcome["ok"].as_bool().unwrap_or(false);
        let crossed = thresholds.iter();
        let crossed: Map<_, _> = crossed
            .map(|(source, outcome)| (source.clone(), Value::from(!is_met(outcome))))
            .collect();
        fields.insert("thresholds".to_owned(), crossed.into());
    }
    Some(values)
}

fn group(mut of: Value) -> Value {
    if let Some(inner) = of.get_mut("groups") {
        *inner = by_name(inner.take(), group);
    }
    if let Some(checks) = of.get_mut("checks") {
        *checks = by_name(checks.take(), |check| check);
    }
    of
}

/// A list of objects as an object with their names as keys.
fn by_name(list: Value, convert: fn(Value) -> Value) -> Value {
    let Value::Array(items) = list else {
        return list;
    };
    let named = items.into_iter().map(|item| {
        let name = item["name"].as_str().unwrap_or_default().to_owned();
        (name, convert(item))
    });
    Value::Object(named.collect())
}
