//! The value of one series.

use plimsoll_samples::{Contains, Kind, Metric, SampleRecord};
use plimsoll_stats::Histogram;
use plimsoll_units::Moment;

use super::message::{Sample, TimeSeries};
use super::native_histogram::NativeHistogram;
use super::settings::Figure;

/// A value since the start of the run.
pub enum Value {
    /// The sum.
    Counter(f64),
    /// The latest value and its time.
    Gauge(f64, Moment),
    /// Samples that are not zero, and all samples.
    Rate(u64, u64),
    /// The distribution, and the factor that converts a value to the unit.
    Trend(NativeHistogram, f64),
    /// The same, for figures.
    Figures(Histogram, f64),
}

impl Value {
    /// No samples yet. A trend has figures instead of a native histogram `with_figures`.
    pub fn new(metric: &Metric, with_figures: bool) -> Value {
        // Prometheus counts time in seconds.
        let factor = if metric.contains == Contains::Time {
            1e-3
        } else {
            1.0
        };
        match metric.kind {
            Kind::Counter => Value::Counter(0.0),
            Kind::Gauge => Value::Gauge(0.0, Moment::ZERO),
            Kind::Rate => Value::Rate(0, 0),
            Kind::Trend if with_figures => Value::Figures(Histogram::new(), factor),
            Kind::Trend => Value::Trend(NativeHistogram::default(), factor),
        }
    }

    /// The name of its series, as in k6.
    pub fn name(&self, metric: &Metric) -> String {
        let suffix = match self {
            Value::Counter(_) => "_total",
            Value::Rate(..) => "_rate",
            Value::Trend(..) if metric.contains == Contains::Time => "_seconds",
            Value::Trend(..) if metric.contains == Contains::Data => "_bytes",
            _ => "",
        };
        format!("k6_{}{suffix}", metric.name)
    }

    /// Adds a sample.
    pub fn add(&mut self, sample: &SampleRecord) {
        match self {
            Value::Counter(sum) => *sum += sample.value,
            Value::Gauge(latest, at) => {
                if sample.at >= *at {
                    (*latest, *at) = (sample.value, sample.at);
                }
            }
            Value::Rate(nonzero, all) => {
                *nonzero += u64::from(sample.value != 0.0);
                *all += 1;
            }
            Value::Trend(histogram, factor) => histogram.add(sample.value * *factor),
            Value::Figures(histogram, _) => histogram.record(sample.value),
        }
    }

    /// The messages at a time in milliseconds since 1970. `of` starts one from the suffix of its name.
    pub fn messages(
        &self,
        at: i64,
        figures: &[Figure],
        of: impl Fn(&str) -> TimeSeries,
    ) -> Vec<TimeSeries> {
        let one = |suffix: &str, value: f64| TimeSeries {
            samples: vec![Sample {
                value,
                timestamp: at,
            }],
            ..of(suffix)
        };
        match self {
            Value::Counter(value) | Value::Gauge(value, _) => vec![one("", *value)],
            Value::Rate(nonzero, all) => vec![one("", *nonzero as f64 / (*all).max(1) as f64)],
            Value::Trend(histogram, _) => vec![TimeSeries {
                histograms: vec![histogram.message(at)],
                ..of("")
            }],
            Value::Figures(histogram, factor) => {
                let figures = figures.iter();
                let series =
                    figures.map(|figure| one(&figure.suffix, figure.of(histogram, *factor)));
                series.collect()
            }
        }
    }
}
