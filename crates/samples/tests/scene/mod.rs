//! A miniature run: one recorder, its totals, and short functions that query them.

#![allow(dead_code)] // No test program uses all of it.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

use plimsoll_plan::Threshold;
use plimsoll_samples::{
    BaseTags, MetricSummary, Recorder, Registry, Summary, Totals, Watch, WatchSettings, Window,
};
use plimsoll_units::Moment;

pub struct Scene {
    pub registry: Arc<Registry>,
    pub watch: Arc<Watch>,
    pub recorder: Recorder,
    pub totals: RefCell<Totals>,
}

impl Scene {
    pub fn plain() -> Scene {
        Scene::of(WatchSettings::default())
    }

    pub fn of(settings: WatchSettings) -> Scene {
        Scene::with(Registry::new(), settings)
    }

    pub fn with(registry: Registry, settings: WatchSettings) -> Scene {
        let registry = Arc::new(registry);
        let watch = Watch::new(&registry, settings).expect("settings are valid");
        let watch = Arc::new(watch);
        Scene {
            recorder: Recorder::new(Arc::clone(&registry), Arc::clone(&watch)),
            totals: RefCell::new(Totals::new(Arc::clone(&registry), Arc::clone(&watch))),
            registry,
            watch,
        }
    }

    pub fn another_recorder(&self) -> Recorder {
        Recorder::new(Arc::clone(&self.registry), Arc::clone(&self.watch))
    }

    pub fn base(&self, tags: &[(&str, &str)]) -> BaseTags {
        self.recorder.base_tags(&tags.iter().copied().collect())
    }

    pub fn merge(&self, window: Window) {
        self.totals.borrow_mut().merge(window);
    }

    pub fn hand_over(&self) {
        self.merge(self.recorder.take_window());
    }

    /// The summary after `seconds`.
    pub fn summary(&self, seconds: f64) -> Summary {
        self.hand_over();
        self.totals
            .borrow()
            .summary(Duration::from_secs_f64(seconds))
    }
}

pub fn find<'a>(summary: &'a Summary, name: &str) -> Option<&'a MetricSummary> {
    summary.metrics.iter().find(|metric| metric.name == name)
}

pub fn metric<'a>(summary: &'a Summary, name: &str) -> &'a MetricSummary {
    find(summary, name).unwrap_or_else(|| panic!("{name} is not in the summary"))
}

pub fn threshold(metric: &str, expression: &str) -> Threshold {
    Threshold::parse(metric, expression).expect("a threshold")
}

pub fn ms(milliseconds: f64) -> Duration {
    Duration::from_nanos((milliseconds * 1e6) as u64)
}

pub fn at(milliseconds: f64) -> Moment {
    Moment::ZERO + ms(milliseconds)
}
