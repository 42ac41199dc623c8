//! The sinks of one cell: one per metric and sub-metric.

use plimsoll_stats::Histogram;
use plimsoll_units::Moment;

use crate::metric_id::MetricId;
use crate::registry::Registry;
use crate::sink::Sink;
use crate::watch::Watch;

#[derive(Debug, Default)]
pub(crate) struct Sinks {
    /// Indexed by [`MetricId`].
    pub metrics: Vec<Sink>,
    /// One for each sub-metric, in the order of [`Watch::submetrics`].
    pub submetrics: Vec<Sink>,
}

impl Sinks {
    pub fn new(registry: &Registry, watch: &Watch) -> Sinks {
        let mut sinks = Sinks::default();
        sinks.grow(registry);
        sinks.submetrics = watch
            .submetrics
            .iter()
            .filter_map(|submetric| sinks.metrics.get(submetric.metric.index()))
            .map(|sink| Sink::new(sink.kind()))
            .collect();
        sinks
    }

    /// Adds sinks for metrics that have been registered since the previous call.
    #[cold]
    pub fn grow(&mut self, registry: &Registry) {
        let metrics = registry.metrics();
        let known = self.metrics.len();
        let new = metrics.iter().skip(known);
        self.metrics
            .extend(new.map(|metric| Sink::new(metric.kind)));
    }

    /// Records a value. Returns false if the metric has no sink here yet.
    #[inline]
    pub fn record(&mut self, metric: MetricId, value: f64, at: Moment) -> bool {
        match self.metrics.get_mut(metric.index()) {
            Some(sink) => {
                sink.record(value, at);
                true
            }
            None => false,
        }
    }

    #[inline]
    pub fn trend(&mut self, metric: MetricId) -> Option<&mut Histogram> {
        match self.metrics.get_mut(metric.index()) {
            Some(Sink::Trend(histogram)) => Some(histogram),
            _ => None,
        }
    }

    pub fn merge(&mut self, other: &Sinks, registry: &Registry) {
        if self.metrics.len() < other.metrics.len() {
            self.grow(registry);
        }
        for (ours, theirs) in self.metrics.iter_mut().zip(&other.metrics) {
            ours.merge(theirs);
        }
        for (ours, theirs) in self.submetrics.iter_mut().zip(&other.submetrics) {
            ours.merge(theirs);
        }
    }

    pub fn clear(&mut self) {
        self.metrics.iter_mut().for_each(Sink::clear);
        self.submetrics.iter_mut().for_each(Sink::clear);
    }

    pub fn heap_bytes(&self) -> usize {
        let all = self.metrics.iter().chain(&self.submetrics);
        all.map(|sink| size_of::<Sink>() + sink.heap_bytes()).sum()
    }
}
