//! The figures of a part of a run, such as one second.

use std::sync::Arc;
use std::time::Duration;

use crate::registry::Registry;
use crate::summary::MetricSummary;
use crate::summing::figures;
use crate::totals::Totals;
use crate::watch::Watch;
use crate::window::SecondPart;
use crate::{MetricId, Values};

/// Sums of a stretch of a run, such as a second, of all recorders. Emptied, it is ready
/// for the next one.
#[derive(Debug)]
pub struct Stretch(Totals);

impl Stretch {
    /// Nothing yet. Registry and watch are the run's.
    pub fn new(registry: Arc<Registry>, watch: Arc<Watch>) -> Stretch {
        Stretch(Totals::new(registry, watch))
    }

    /// Adds what a window holds of one second. The run's totals still need the window.
    pub fn add(&mut self, part: SecondPart<'_>) {
        for sinks in part.cells() {
            self.0.whole.merge(sinks, &self.0.registry);
        }
    }

    /// Adds another stretch.
    pub fn add_all(&mut self, other: &Stretch) {
        self.0.whole.merge(&other.0.whole, &self.0.registry);
    }

    /// The figures of one metric; none where it has no samples.
    pub fn values(&self, metric: MetricId, span: Duration) -> Option<Values> {
        self.0.values(metric, span)
    }

    /// Metrics and sub-metrics that have samples, as in the run's summary; `span` is
    /// what counters' rates are over.
    pub fn metrics(&self, span: Duration) -> Vec<MetricSummary> {
        figures(&self.0, span)
    }

    /// Forgets the figures and keeps the memory.
    pub fn clear(&mut self) {
        self.0.whole.clear();
    }
}
