//! Creates the names and messages of a value for Prometheus.

use plimsoll_output::prometheus_name;
use plimsoll_samples::{Contains, Metric};

use super::message::{Sample, TimeSeries};
use super::native_histogram;
use super::settings::Figure;
use crate::value::Value;

/// The factor that converts samples to Prometheus' unit. Times are in seconds.
pub fn factor(metric: &Metric) -> f64 {
    if metric.contains == Contains::Time {
        1e-3
    } else {
        1.0
    }
}

/// The name of the series, as in k6.
pub fn name(value: &Value, metric: &Metric) -> String {
    match value {
        // Each figure has its own suffix instead of the unit.
        Value::Figures(..) => format!("k6_{}", metric.name),
        _ => prometheus_name(&metric.name, metric.kind, metric.contains),
    }
}

/// Creates the messages. The time is in milliseconds since 1970. `of` creates a message from the suffix of its name.
pub fn messages(
    value: &Value,
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
    match value {
        Value::Counter(value) | Value::Gauge(value, _) => vec![one("", *value)],
        Value::Rate(nonzero, zero) => {
            let all = (nonzero + zero).max(1);
            vec![one("", *nonzero as f64 / all as f64)]
        }
        Value::Trend(histogram, _) => vec![TimeSeries {
            histograms: vec![native_histogram::message(histogram, at)],
            ..of("")
        }],
        Value::Figures(histogram, factor) => {
            let figures = figures.iter();
            let series = figures.map(|figure| one(&figure.suffix, figure.of(histogram, *factor)));
            series.collect()
        }
    }
}
