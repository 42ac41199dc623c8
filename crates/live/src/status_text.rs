//! Formats a run's status and metrics as text.

use serde_json::Value;

/// The states of the API, by their number.
const STATES: [&str; 10] = [
    "created",
    "created",
    "creating users",
    "users created",
    "paused before the start",
    "started",
    "setup",
    "running",
    "teardown",
    "ended",
];

/// Formats the attributes of a status, or one line per metric.
pub fn status_text(data: &Value) -> String {
    if let Some(metrics) = data.as_array() {
        return metrics.iter().map(metric).collect();
    }
    let attributes = data["attributes"].as_object();
    let lines = attributes.into_iter().flatten().map(|(name, value)| {
        let state = value.as_u64().filter(|_| name == "status");
        let state = state.and_then(|number| STATES.get(usize::try_from(number).ok()?));
        match state {
            Some(state) => format!("{name}: {state}\n"),
            None => format!("{name}: {value}\n"),
        }
    });
    lines.collect()
}

fn metric(metric: &Value) -> String {
    let name = metric["id"].as_str().unwrap_or_default();
    let figures = metric["attributes"]["sample"].as_object();
    let figures: Vec<String> = figures
        .into_iter()
        .flatten()
        .map(|(name, value)| match value.as_f64() {
            Some(number) => format!("{name}={}", (number * 1e3).round() / 1e3),
            None => format!("{name}={value}"),
        })
        .collect();
    format!("{name}: {}\n", figures.join(" "))
}
