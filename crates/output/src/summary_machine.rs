//! The summary in the format of `--new-machine-readable-summary`.
//!
//! The format is fixed. A trend always has the same six statistics, regardless of `summaryTrendStats`.

use std::time::SystemTime;

use plimsoll_samples::{MetricSummary, Summary, Values};
use serde_json::{Value, json};

use crate::json_number::number;
use crate::metric_table::sorted;
use crate::summary_data::{self, SummaryContext};
use crate::wall_clock;

/// Identifies the run.
#[derive(Clone, Debug)]
pub struct RunIdentity {
    /// The source of the script.
    pub script: String,
    /// When the summary was created.
    pub generated_at: SystemTime,
    /// Plimsoll's version.
    pub version: String,
    /// The version of k6 that the format is compatible with.
    pub k6_version: String,
}

/// The object that `handleSummary` receives and `--summary-export` writes in this mode.
///
/// It has k6's keys. Additions are under `plimsoll`.
pub fn machine_readable(summary: &Summary, run: &RunIdentity, about: &SummaryContext) -> Value {
    let metrics: Vec<_> = sorted(
        summary
            .metrics
            .iter()
            .filter(|metric| !metric.extra && metric.name != "checks"),
    )
    .into_iter()
    .map(metric)
    .collect();
    json!({
        "config": {
            "duration": number(summary.elapsed.as_secs_f64()),
            "execution": "local",
            "script": run.script,
        },
        "metadata": {
            "generated_at": wall_clock::rfc3339_nanos(run.generated_at, 0),
            "k6_version": run.k6_version,
            "plimsoll_version": run.version,
        },
        "results": { "checks": checks(summary), "metrics": metrics },
        "version": "1.0.0",
        "plimsoll": summary_data::additions(summary, about),
    })
}

fn checks(summary: &Summary) -> Value {
    let all = summary
        .metrics
        .iter()
        .find(|metric| metric.name == "checks");
    let Some(Values::Rate { passes, fails }) = all.map(|metric| &metric.values) else {
        return json!({ "metrics": [], "results": [] });
    };
    let total = passes.saturating_add(*fails);
    let results: Vec<_> = summary
        .checks
        .iter()
        .map(|check| json!({ "fails": check.fails, "name": check.name, "passes": check.passes }))
        .collect();
    json!({
        "metrics": [
            {
                "contains": "default",
                "name": "checks_total",
                "type": "counter",
                "values": { "count": total },
            },
            {
                "contains": "default",
                "name": "checks_failed",
                "type": "rate",
                "values": share(*fails, total),
            },
            {
                "contains": "default",
                "name": "checks_succeeded",
                "type": "rate",
                "values": share(*passes, total),
            },
        ],
        "results": results,
    })
}

fn metric(metric: &MetricSummary) -> Value {
    json!({
        "contains": metric.contains,
        "name": metric.name,
        "type": metric.kind,
        "values": values(&metric.values),
    })
}

fn values(values: &Values) -> Value {
    match values {
        Values::Counter { count, .. } => json!({ "count": number(*count) }),
        Values::Gauge { value, min, max } => {
            json!({ "max": number(*max), "min": number(*min), "value": number(*value) })
        }
        Values::Rate { passes, fails } => share(*passes, passes.saturating_add(*fails)),
        Values::Trend(_) => {
            let figure = |figure: Option<f64>| number(figure.unwrap_or(0.0));
            json!({
                "avg": figure(values.avg()),
                "max": figure(values.max()),
                "med": figure(values.med()),
                "min": figure(values.min()),
                "p90": figure(values.quantile(0.9)),
                "p95": figure(values.quantile(0.95)),
            })
        }
    }
}

fn share(matches: u64, total: u64) -> Value {
    let rate = if total == 0 {
        0.0
    } else {
        matches as f64 / total as f64
    };
    json!({ "matches": matches, "rate": number(rate), "total": total })
}
