//! Thresholds held against the metrics that there are.

use plan::threshold::MetricKind;
use plan::{Errors, Threshold};
use samples::{Kind, Registry, Selector};

/// Checks that every threshold is on a metric that exists, by a method it has.
///
/// # Errors
/// All that is wrong, at once.
pub fn check(thresholds: &[Threshold], registry: &Registry) -> Result<(), Errors> {
    let metrics = registry.metrics();
    let mut faults = Vec::new();
    for threshold in thresholds {
        match metrics.iter().find(|metric| *metric.name == *threshold.metric.name) {
            None => faults.push(threshold.unknown_metric(metrics.iter().map(|metric| &*metric.name))),
            Some(metric) => faults.extend(threshold.validate(kind(metric.kind)).err()),
        }
    }
    if faults.is_empty() { Ok(()) } else { Err(Errors(faults)) }
}

/// What samples have to be told apart by, for thresholds' sake.
pub fn selectors(thresholds: &[Threshold]) -> Vec<Selector> {
    let mut selectors: Vec<Selector> = Vec::new();
    for threshold in thresholds {
        let selector = selector(threshold);
        if !selectors.contains(&selector) {
            selectors.push(selector);
        }
    }
    selectors
}

/// What one threshold is on.
pub fn selector(threshold: &Threshold) -> Selector {
    Selector {
        metric: threshold.metric.name.clone(),
        tags: threshold.metric.tags.clone(),
        source: threshold.metric.source.clone(),
    }
}

fn kind(kind: Kind) -> MetricKind {
    match kind {
        Kind::Counter => MetricKind::Counter,
        Kind::Gauge => MetricKind::Gauge,
        Kind::Rate => MetricKind::Rate,
        Kind::Trend => MetricKind::Trend,
    }
}
