//! Aggregates the samples of one series.

pub(crate) mod wire;

use std::sync::Arc;
use std::time::Duration;

use plimsoll_stats::Histogram;
use plimsoll_units::Moment;

use crate::kind::Kind;
use crate::summary::{Values, per_second};

/// The aggregate of one series. Its variant depends on the metric's kind.
#[derive(Clone, Debug)]
pub(crate) enum Sink {
    Counter { sum: f64, any: bool },
    Gauge(Gauge),
    Rate { passes: u64, total: u64 },
    Trend(Histogram),
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Gauge {
    pub latest: f64,
    /// When the latest value was recorded. `None` before the first value.
    pub at: Option<Moment>,
    pub min: f64,
    pub max: f64,
}

impl Gauge {
    fn merge(&mut self, other: &Gauge) {
        if other.at.is_none() {
            return;
        }
        if self.at.is_none() {
            *self = *other;
            return;
        }
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        if other.at >= self.at {
            self.latest = other.latest;
            self.at = other.at;
        }
    }
}

impl Sink {
    pub fn new(kind: Kind) -> Sink {
        match kind {
            Kind::Counter => Sink::Counter {
                sum: 0.0,
                any: false,
            },
            Kind::Gauge => Sink::Gauge(Gauge::default()),
            Kind::Rate => Sink::Rate {
                passes: 0,
                total: 0,
            },
            Kind::Trend => Sink::Trend(Histogram::new()),
        }
    }

    /// The sink's values. `elapsed` is the time base for counter rates.
    pub fn values(&self, elapsed: Duration) -> Values {
        match self {
            Sink::Counter { sum, .. } => Values::Counter {
                count: *sum,
                rate: per_second(*sum, elapsed),
            },
            Sink::Gauge(gauge) => Values::Gauge {
                value: gauge.latest,
                min: gauge.min,
                max: gauge.max,
            },
            Sink::Rate { passes, total } => Values::Rate {
                passes: *passes,
                fails: total - passes,
            },
            Sink::Trend(histogram) => Values::Trend(Arc::new(histogram.clone())),
        }
    }

    pub fn kind(&self) -> Kind {
        match self {
            Sink::Counter { .. } => Kind::Counter,
            Sink::Gauge(_) => Kind::Gauge,
            Sink::Rate { .. } => Kind::Rate,
            Sink::Trend(_) => Kind::Trend,
        }
    }

    #[inline]
    pub fn record(&mut self, value: f64, at: Moment) {
        match self {
            Sink::Counter { sum, any } => {
                *sum += value;
                *any = true;
            }
            Sink::Gauge(gauge) => gauge.merge(&Gauge {
                latest: value,
                at: Some(at),
                min: value,
                max: value,
            }),
            Sink::Rate { passes, total } => {
                *passes += u64::from(value != 0.0);
                *total += 1;
            }
            Sink::Trend(histogram) => histogram.record(value),
        }
    }

    /// Adds the samples of `other`, which must be of the same kind.
    pub fn merge(&mut self, other: &Sink) {
        match (self, other) {
            (
                Sink::Counter { sum, any },
                Sink::Counter {
                    sum: more,
                    any: seen,
                },
            ) => {
                *sum += more;
                *any |= seen;
            }
            (Sink::Gauge(gauge), Sink::Gauge(other)) => gauge.merge(other),
            (
                Sink::Rate { passes, total },
                Sink::Rate {
                    passes: more_passes,
                    total: more,
                },
            ) => {
                *passes += more_passes;
                *total += more;
            }
            (Sink::Trend(histogram), Sink::Trend(other)) => histogram.merge(other),
            // Unreachable, because a metric has the same kind for the whole run.
            _ => {}
        }
    }

    pub fn clear(&mut self) {
        match self {
            Sink::Counter { sum, any } => (*sum, *any) = (0.0, false),
            Sink::Gauge(gauge) => *gauge = Gauge::default(),
            Sink::Rate { passes, total } => (*passes, *total) = (0, 0),
            Sink::Trend(histogram) => histogram.clear(),
        }
    }

    pub fn is_empty(&self) -> bool {
        match self {
            Sink::Counter { any, .. } => !any,
            Sink::Gauge(gauge) => gauge.at.is_none(),
            Sink::Rate { total, .. } => *total == 0,
            Sink::Trend(histogram) => histogram.is_empty(),
        }
    }

    pub fn heap_bytes(&self) -> usize {
        match self {
            Sink::Trend(histogram) => histogram.heap_bytes(),
            _ => 0,
        }
    }
}
