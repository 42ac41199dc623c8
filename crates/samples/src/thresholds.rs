//! Evaluates thresholds.

use std::time::Duration;

use plimsoll_plan::threshold::{Method, MetricKind, MetricSelector};
use plimsoll_plan::{Errors, Threshold};

use crate::kind::Kind;
use crate::metric_id::MetricId;
use crate::registry::Registry;
use crate::sink::Sink;
use crate::summary::{ThresholdOutcome, per_second, share};

/// A threshold and its metric.
#[derive(Clone, Debug)]
pub(crate) struct Judge {
    pub threshold: Threshold,
    pub metric: MetricId,
    /// The index of the sub-metric, if the threshold has tags.
    pub submetric: Option<usize>,
}

/// When thresholds are evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// During the run. Metrics without samples are skipped.
    Running,
    /// After the run. Metrics without samples count as 0, except for rates, which pass.
    Over,
}

/// The results of thresholds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ThresholdReport {
    /// Every evaluated threshold, in the original order.
    pub judged: Vec<JudgedThreshold>,
}

/// The result of one threshold.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgedThreshold {
    /// The name of the metric or sub-metric.
    pub metric: String,
    /// Its result.
    pub outcome: ThresholdOutcome,
    /// Whether the threshold must abort the run.
    pub abort: bool,
    /// The bound, on the right side of the expression.
    pub limit: f64,
}

impl ThresholdReport {
    /// Whether all thresholds are met.
    pub fn holds(&self) -> bool {
        self.judged.iter().all(|judged| judged.outcome.ok)
    }

    /// Whether the run must be aborted.
    pub fn abort(&self) -> bool {
        self.judged.iter().any(|judged| judged.abort)
    }

    /// The metrics with a threshold that is not met, sorted and without duplicates.
    pub fn crossed(&self) -> Vec<&str> {
        let failed = self.judged.iter().filter(|judged| !judged.outcome.ok);
        let mut metrics: Vec<&str> = failed.map(|judged| judged.metric.as_str()).collect();
        metrics.sort_unstable();
        metrics.dedup();
        metrics
    }
}

/// The metrics of thresholds and of selectors without thresholds, in their order.
pub(crate) struct Resolved {
    pub judged: Vec<MetricId>,
    pub watched: Vec<MetricId>,
}

/// Finds the metric of every threshold and selector, or returns all errors.
pub(crate) fn resolve(
    thresholds: &[Threshold],
    watched: &[MetricSelector],
    registry: &Registry,
) -> Result<Resolved, Errors> {
    let metrics = registry.metrics();
    let mut errors = Errors::default();
    let names = || metrics.iter().map(|metric| metric.name.as_str());
    let mut judged = Vec::with_capacity(thresholds.len());
    for threshold in thresholds {
        let Some(id) = registry.find(&threshold.metric.name) else {
            errors.0.push(threshold.metric.unknown(names()));
            continue;
        };
        judged.push(id);
        let kind = match metrics.get(id.index()).map(|metric| metric.kind) {
            Some(Kind::Counter) => MetricKind::Counter,
            Some(Kind::Gauge) => MetricKind::Gauge,
            Some(Kind::Rate) => MetricKind::Rate,
            Some(Kind::Trend) | None => MetricKind::Trend,
        };
        if let Err(fault) = threshold.validate(kind) {
            errors.0.push(fault);
        }
    }
    let mut shown = Vec::with_capacity(watched.len());
    for selector in watched {
        match registry.find(&selector.name) {
            Some(id) => shown.push(id),
            None => errors.0.push(selector.unknown(names())),
        }
    }
    errors.or(Resolved {
        judged,
        watched: shown,
    })
}

impl Judge {
    /// Evaluates the threshold. A metric without samples counts as 0. A rate without samples passes, because nothing
    /// failed.
    pub fn judge(&self, sink: &Sink, elapsed: Duration) -> ThresholdOutcome {
        let expression = &self.threshold.expression;
        let measured = measure(expression.method, sink, elapsed);
        let nothing_to_fail = matches!(sink, Sink::Rate { total: 0, .. });
        ThresholdOutcome {
            source: self.threshold.source.clone(),
            ok: nothing_to_fail || expression.holds(measured),
            measured,
        }
    }

    /// Whether this outcome must abort the run at this time.
    pub fn aborts(&self, outcome: &ThresholdOutcome, elapsed: Duration) -> bool {
        let threshold = &self.threshold;
        !outcome.ok && threshold.abort_on_fail && elapsed >= threshold.delay_abort_eval
    }
}

/// The value of the left side of a threshold. If the metric has no such value, NaN, which meets no threshold.
fn measure(method: Method, sink: &Sink, elapsed: Duration) -> f64 {
    match (method, sink) {
        (Method::Count, Sink::Counter { sum, .. }) => *sum,
        (Method::Rate, Sink::Counter { sum, .. }) => per_second(*sum, elapsed),
        (Method::Rate, Sink::Rate { passes, total }) => share(*passes, *total),
        (Method::Value, Sink::Gauge(gauge)) => gauge.latest,
        (Method::Avg, Sink::Trend(trend)) => trend.mean(),
        (Method::Min, Sink::Trend(trend)) => trend.min(),
        (Method::Max, Sink::Trend(trend)) => trend.max(),
        (Method::Med, Sink::Trend(trend)) => trend.quantile(0.5),
        (Method::Percentile(percent), Sink::Trend(trend)) => trend.quantile(percent / 100.0),
        _ => f64::NAN,
    }
}
