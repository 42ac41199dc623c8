//! The results of each region.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use plimsoll_samples::{Registry, Totals, Values, Watch, Window};

/// The totals of each region, by name. Empty if all agents are in the same region.
#[derive(Debug, Default)]
pub struct Regions(BTreeMap<String, Totals>);

impl Regions {
    /// Creates the regions with these names. A name may occur several times.
    pub fn of(
        names: impl Iterator<Item = String>,
        registry: &Arc<Registry>,
        watch: &Arc<Watch>,
    ) -> Regions {
        let totals = |name| {
            let totals = Totals::new(Arc::clone(registry), Arc::clone(watch));
            (name, totals)
        };
        let regions: BTreeMap<_, _> = names.map(totals).collect();
        match regions.len() {
            0 | 1 => Regions::default(),
            _ => Regions(regions),
        }
    }

    /// Adds the samples of an agent.
    pub fn add(&mut self, region: Option<&str>, window: &Window) {
        let totals = region.and_then(|region| self.0.get_mut(region));
        if let Some(totals) = totals {
            totals.add(window);
        }
    }

    /// Describes each region in one line.
    pub fn lines(&self, elapsed: Duration) -> Vec<String> {
        let lines = self.0.iter();
        lines
            .map(|(name, totals)| format!("region {name}: {}", figures(totals, elapsed)))
            .collect()
    }
}

/// The main figures of these totals.
pub fn figures(totals: &Totals, elapsed: Duration) -> String {
    let summary = totals.summary(elapsed);
    let value = |name: &str| {
        let mut metrics = summary.metrics.iter();
        metrics
            .find(|metric| metric.name == name)
            .map(|metric| &metric.values)
    };
    let mut parts = Vec::new();
    for (name, unit) in [("iterations", "iterations"), ("http_reqs", "requests")] {
        if let Some(Values::Counter { count, .. }) = value(name) {
            parts.push(format!("{count} {unit}"));
        }
    }
    for (name, title) in [
        // Not the response time, which starts at the scheduled start.
        ("http_req_duration", "service time"),
        ("grpc_req_duration", "call time"),
    ] {
        if let Some(Values::Trend(trend)) = value(name) {
            parts.push(format!(
                "{title} p50 {:.1} ms, p95 {:.1} ms, p99 {:.1} ms",
                trend.quantile(0.5),
                trend.quantile(0.95),
                trend.quantile(0.99)
            ));
        }
    }
    parts.join(", ")
}
