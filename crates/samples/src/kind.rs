//! The kind of a metric and the unit of its values.

use std::fmt;

use serde::Serialize;

/// How the samples of a metric are aggregated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Values are summed.
    Counter,
    /// The latest value, the smallest and the largest.
    Gauge,
    /// The share of values that are not zero.
    Rate,
    /// The distribution of the values.
    Trend,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Rate => "rate",
            Kind::Trend => "trend",
        })
    }
}

/// The quantity that a metric measures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Contains {
    /// Plain numbers.
    #[default]
    Default,
    /// Times, in milliseconds.
    Time,
    /// Amounts of data, in bytes.
    Data,
}

impl fmt::Display for Contains {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Contains::Default => "default",
            Contains::Time => "time",
            Contains::Data => "data",
        })
    }
}
