//! The cumulative value of a series.

use plimsoll_samples::{Kind, Metric, SampleRecord};
use plimsoll_stats::Histogram;
use plimsoll_units::Moment;

use crate::exponential_histogram::ExponentialHistogram;

/// The value of a series since the start of the run.
pub enum Value {
    /// The sum.
    Counter(f64),
    /// The latest value, and its time.
    Gauge(f64, Moment),
    /// The numbers of samples that are not zero, and of samples that are.
    Rate(u64, u64),
    /// A histogram, and the factor that converts a sample to the unit.
    Trend(ExponentialHistogram, f64),
    /// A distribution for figures, and the same factor.
    Figures(Histogram, f64),
}

impl Value {
    /// A value without samples. `with_figures`: whether a trend has figures instead of buckets.
    pub fn new(metric: &Metric, factor: f64, with_figures: bool) -> Value {
        match metric.kind {
            Kind::Counter => Value::Counter(0.0),
            Kind::Gauge => Value::Gauge(0.0, Moment::ZERO),
            Kind::Rate => Value::Rate(0, 0),
            Kind::Trend if with_figures => Value::Figures(Histogram::new(), factor),
            Kind::Trend => Value::Trend(ExponentialHistogram::default(), factor),
        }
    }

    /// Adds a sample with a finite value.
    pub fn add(&mut self, sample: &SampleRecord) {
        match self {
            Value::Counter(sum) => *sum += sample.value,
            Value::Gauge(latest, at) => {
                if sample.at >= *at {
                    (*latest, *at) = (sample.value, sample.at);
                }
            }
            Value::Rate(nonzero, _) if sample.value != 0.0 => *nonzero += 1,
            Value::Rate(_, zero) => *zero += 1,
            Value::Trend(histogram, factor) => histogram.add(sample.value * *factor),
            Value::Figures(histogram, _) => histogram.record(sample.value),
        }
    }
}
