//! The summary in the format of `handleSummary`'s argument.

use plimsoll_plan::{TimeUnit, TrendStat};
use plimsoll_samples::{Check, Group, MetricSummary, Summary, Values};
use plimsoll_verdict::Verdict;
use serde_json::{Map, Value, json};

use crate::fixed_work::FixedWork;
use crate::json_number::number;
use crate::metric_table::sorted;
use crate::trend_figure::figure;

/// Facts that a JSON summary contains in addition to the summary.
#[derive(Clone, Debug, Default)]
pub struct SummaryContext {
    /// The selected statistics of a trend.
    pub trend_stats: Vec<TrendStat>,
    /// The selected time unit; times in the data are in milliseconds anyway.
    pub time_unit: Option<TimeUnit>,
    /// Whether colors are disabled.
    pub no_color: bool,
    /// Whether stdout is a terminal.
    pub stdout_is_terminal: bool,
    /// Whether stderr is a terminal.
    pub stderr_is_terminal: bool,
    /// The return value of `setup()`, if any.
    pub setup_data: Option<Value>,
    /// Whether the results can be trusted.
    pub verdict: Option<Verdict>,
}

/// The argument of `handleSummary`.
///
/// It has k6's keys. Additions are under `plimsoll`.
pub fn handle_summary_argument(summary: &Summary, about: &SummaryContext) -> Value {
    let stats: Vec<_> = about.trend_stats.iter().map(TrendStat::as_str).collect();
    let mut data = json!({
        "root_group": group(&summary.root_group),
        "options": {
            "summaryTrendStats": stats,
            "summaryTimeUnit": about.time_unit.map_or("", TimeUnit::name),
            "noColor": about.no_color,
        },
        "state": {
            "isStdOutTTY": about.stdout_is_terminal,
            "isStdErrTTY": about.stderr_is_terminal,
            "testRunDurationMs": number(summary.elapsed.as_secs_f64() * 1e3),
        },
        "metrics": metrics(summary, about, false),
    });
    if let Some(object) = data.as_object_mut() {
        if let Some(setup_data) = &about.setup_data {
            object.insert("setup_data".to_owned(), setup_data.clone());
        }
        object.insert("plimsoll".to_owned(), additions(summary, about));
    }
    data
}

/// Plimsoll's additions: metrics, errors, the verdict.
pub(crate) fn additions(summary: &Summary, about: &SummaryContext) -> Value {
    json!({
        "metrics": metrics(summary, about, true),
        "errors": summary.http.errors,
        "other_errors": summary.http.other_errors,
        "left_out": summary.left_out,
        "threw": summary.threw,
        "fixed_work": fixed_work(summary),
        "verdict": about.verdict,
    })
}

/// The results of scenarios with a fixed amount of work, by name.
fn fixed_work(summary: &Summary) -> Map<String, Value> {
    let message = summary.work.iter();
    message
        .map(|work| (work.scenario.clone(), json!(FixedWork::of(work))))
        .collect()
}

fn metrics(summary: &Summary, about: &SummaryContext, extra: bool) -> Value {
    sorted(
        summary
            .metrics
            .iter()
            .filter(|metric| metric.extra == extra),
    )
    .into_iter()
    .map(|summary| (summary.name.clone(), metric(summary, about)))
    .collect::<Map<_, _>>()
    .into()
}

fn metric(metric: &MetricSummary, about: &SummaryContext) -> Value {
    let mut object = Map::new();
    object.insert("type".to_owned(), json!(metric.kind));
    object.insert("contains".to_owned(), json!(metric.contains));
    object.insert(
        "values".to_owned(),
        values(&metric.values, &about.trend_stats).into(),
    );
    if !metric.thresholds.is_empty() {
        let thresholds: Map<_, _> = metric
            .thresholds
            .iter()
            .map(|threshold| (threshold.source.clone(), json!({ "ok": threshold.ok })))
            .collect();
        object.insert("thresholds".to_owned(), thresholds.into());
    }
    object.into()
}

/// The values by name. Times are in milliseconds.
pub(crate) fn values(values: &Values, trend_stats: &[TrendStat]) -> Map<String, Value> {
    let named = |pairs: &[(&str, f64)]| {
        pairs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), number(*value)))
            .collect()
    };
    match values {
        Values::Counter { count, rate } => named(&[("count", *count), ("rate", *rate)]),
        Values::Gauge { value, min, max } => {
            named(&[("value", *value), ("min", *min), ("max", *max)])
        }
        Values::Rate { passes, fails } => named(&[
            ("rate", values.rate().unwrap_or(0.0)),
            ("passes", *passes as f64),
            ("fails", *fails as f64),
        ]),
        Values::Trend(_) => trend_stats
            .iter()
            .map(|stat| (stat.as_str().to_owned(), number(figure(stat, values))))
            .collect(),
    }
}

fn group(of: &Group) -> Value {
    json!({
        "name": of.name,
        "path": of.path,
        "id": of.id,
        "groups": of.groups.iter().map(group).collect::<Vec<_>>(),
        "checks": of.checks.iter().map(check).collect::<Vec<_>>(),
    })
}

pub(crate) fn check(of: &Check) -> Value {
    json!({
        "name": of.name,
        "path": of.path,
        "id": of.id,
        "passes": of.passes,
        "fails": of.fails,
    })
}
