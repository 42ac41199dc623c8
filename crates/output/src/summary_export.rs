//! Formats the summary for `--summary-export`: k6's older format, which existing tools read.
//!
//! In this format, a threshold is `true` if it was *crossed*, the share of a rate is called `value`, and groups and
//! checks are keyed by their names.

use plimsoll_samples::{Group, MetricSummary, Summary};
use serde_json::{Map, Value, json};

use crate::metric_table::sorted;
use crate::summary_data::{self, SummaryContext};

/// The contents of the file: k6's keys, and Plimsoll's additions under `plimsoll`.
pub fn summary_export(summary: &Summary, about: &SummaryContext) -> Value {
    let metrics: Map<_, _> = sorted(summary.metrics.iter().filter(|metric| !metric.extra))
        .into_iter()
        .map(|summary| (summary.name.clone(), metric(summary, about)))
        .collect();
    let mut data = Map::new();
    data.insert("root_group".to_owned(), group(&summary.root_group));
    data.insert("metrics".to_owned(), metrics.into());
    if let Some(setup_data) = &about.setup_data {
        data.insert("setup_data".to_owned(), setup_data.clone());
    }
    data.insert(
        "plimsoll".to_owned(),
        summary_data::additions(summary, about),
    );
    data.into()
}

fn metric(metric: &MetricSummary, about: &SummaryContext) -> Value {
    let mut values = summary_data::values(&metric.values, &about.trend_stats);
    if metric.kind == plimsoll_samples::Kind::Rate
        && let Some(share) = values.shift_remove("rate")
    {
        values.insert("value".to_owned(), share);
    }
    if !metric.thresholds.is_empty() {
        let crossed: Map<_, _> = metric
            .thresholds
            .iter()
            .map(|threshold| (threshold.source.clone(), Value::from(!threshold.ok)))
            .collect();
        values.insert("thresholds".to_owned(), crossed.into());
    }
    values.into()
}

fn group(of: &Group) -> Value {
    let groups: Map<_, _> = of
        .groups
        .iter()
        .map(|inner| (inner.name.clone(), group(inner)))
        .collect();
    let checks: Map<_, _> = of
        .checks
        .iter()
        .map(|check| (check.name.clone(), summary_data::check(check)))
        .collect();
    json!({ "name": of.name, "path": of.path, "id": of.id, "groups": groups, "checks": checks })
}
