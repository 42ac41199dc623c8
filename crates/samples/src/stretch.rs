//! The results of a part of a run, such as one second.

use std::sync::Arc;
use std::time::Duration;

use crate::registry::Registry;
use crate::summary::MetricSummary;
use crate::summing::figures;
use crate::totals::Totals;
use crate::watch::Watch;
use crate::window::SecondPart;
use crate::{MetricId, Values};

/// Aggregates a part of a run, such as one second, over all recorders. It can be cleared and reused for the next part.
#[derive(Debug)]
pub struct Stretch(Totals);

impl Stretch {
    /// Creates an empty part. `registry` and `watch` are those of the run.
    pub fn new(registry: Arc<Registry>, watch: Arc<Watch>) -> Stretch {
        Stretch(Totals::new(registry, watch))
    }

    /// Adds a window's samples of one second. Leaves the window unchanged, so that the totals can also use it.
    pub fn add(&mut self, part: SecondPart<'_>) {
        for sinks in part.cells() {
            self.0.whole.merge(sinks, &self.0.registry);
        }
    }

    /// Adds another stretch.
    pub fn add_all(&mut self, other: &Stretch) {
        self.0.whole.merge(&other.0.whole, &self.0.registry);
    }

    /// The values of one metric. `None` if it has no samples.
    pub fn values(&self, metric: MetricId, span: Duration) -> Option<Values> {
        self.0.values(metric, span)
    }

    /// Metrics and sub-metrics with samples, as in the run's summary. Counter rates are averages
    /// over `span`.
    pub fn metrics(&self, span: Duration) -> Vec<MetricSummary> {
        figures(&self.0, span)
    }

    /// Removes all samples, but keeps the memory.
    pub fn clear(&mut self) {
        self.0.whole.clear();
    }
}
