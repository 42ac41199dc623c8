//! The totals of a run's metrics, for a comparison between two processes.

use std::collections::BTreeMap;

use plimsoll_stats::NumberedBuckets;

use crate::kind::Kind;
use crate::sink::Sink;
use crate::sink::wire::{decode_buckets, encode_buckets};
use crate::totals::Totals;
use crate::wire::{Reader, WireError, Writer};

/// The relative difference that sums of floating-point numbers may have. It results from the order of the additions.
const ROUNDING_TOLERANCE: f64 = 1e-9;

/// The totals of each metric and sub-metric with samples, by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cumulative(BTreeMap<String, Figure>);

/// The totals of one metric.
#[derive(Clone, Debug, PartialEq)]
pub enum Figure {
    Counter(f64),
    Gauge { min: f64, max: f64 },
    Rate { passes: u64, total: u64 },
    Trend(NumberedBuckets),
}

impl Totals {
    /// Reads the totals of each metric and sub-metric with samples.
    pub fn cumulative(&self) -> Cumulative {
        let metrics = self.registry.metrics();
        let metrics = metrics.into_iter().zip(&self.whole.metrics);
        let metrics = metrics.map(|(metric, sink)| {
            // A script may use the name of one of our additional metrics.
            let mark = if metric.extra { "plimsoll:" } else { "" };
            (format!("{mark}{}", metric.name), sink)
        });
        let submetrics = self.watch.submetrics.iter().zip(&self.whole.submetrics);
        let submetrics = submetrics.map(|(submetric, sink)| (submetric.name.clone(), sink));
        let all = metrics.chain(submetrics);
        let all = all.filter(|(_, sink)| !sink.is_empty());
        Cumulative(all.map(|(name, sink)| (name, Figure::of(sink))).collect())
    }
}

impl Figure {
    fn of(sink: &Sink) -> Figure {
        match sink {
            Sink::Counter { sum, .. } => Figure::Counter(*sum),
            Sink::Gauge(gauge) => Figure::Gauge {
                min: gauge.min,
                max: gauge.max,
            },
            Sink::Rate { passes, total } => Figure::Rate {
                passes: *passes,
                total: *total,
            },
            Sink::Trend(histogram) => Figure::Trend(histogram.numbered()),
        }
    }

    fn kind(&self) -> Kind {
        match self {
            Figure::Counter(_) => Kind::Counter,
            Figure::Gauge { .. } => Kind::Gauge,
            Figure::Rate { .. } => Kind::Rate,
            Figure::Trend(_) => Kind::Trend,
        }
    }

    /// Whether both are equal: counts and buckets exactly, sums up to rounding.
    fn is_same(&self, other: &Figure) -> bool {
        match (self, other) {
            (Figure::Counter(one), Figure::Counter(other)) => {
                one.total_cmp(other).is_eq()
                    || (one - other).abs() <= ROUNDING_TOLERANCE * one.abs().max(other.abs())
            }
            _ => self == other,
        }
    }
}

impl Cumulative {
    /// The name of the first metric in which the two differ.
    pub fn difference(&self, other: &Cumulative) -> Option<String> {
        let differs = |(name, figure): &(&String, &Figure)| {
            let theirs = other.0.get(name.as_str());
            theirs.is_none_or(|theirs| !figure.is_same(theirs))
        };
        let only_there = other.0.keys().find(|name| !self.0.contains_key(*name));
        let found = self.0.iter().find(differs).map(|(name, _)| name);
        found.or(only_there).cloned()
    }

    /// The sum of a counter; 0 if it has no samples.
    pub fn counter(&self, metric: &str) -> f64 {
        match self.0.get(metric) {
            Some(Figure::Counter(sum)) => *sum,
            _ => 0.0,
        }
    }

    /// The metrics by name.
    pub fn figures(&self) -> impl Iterator<Item = (&str, &Figure)> {
        let figures = self.0.iter();
        figures.map(|(name, figure)| (name.as_str(), figure))
    }

    pub fn encode(&self, out: &mut Writer) {
        out.number(self.0.len() as u64);
        for (name, figure) in &self.0 {
            out.text(name);
            out.byte(figure.kind() as u8);
            match figure {
                Figure::Counter(sum) => out.float(*sum),
                Figure::Gauge { min, max } => {
                    out.float(*min);
                    out.float(*max);
                }
                Figure::Rate { passes, total } => {
                    out.number(*passes);
                    out.number(*total);
                }
                Figure::Trend(buckets) => encode_buckets(buckets, out),
            }
        }
    }

    /// Reads totals from bytes.
    ///
    /// # Errors
    /// If the bytes do not contain totals.
    pub fn decode(input: &mut Reader<'_>) -> Result<Cumulative, WireError> {
        let mut figures: BTreeMap<String, Figure> = BTreeMap::new();
        for _ in 0..input.count(4)? {
            let name = input.text()?.to_owned();
            let figure = match input.byte()? {
                code if code == Kind::Counter as u8 => Figure::Counter(input.float()?),
                code if code == Kind::Gauge as u8 => Figure::Gauge {
                    min: input.float()?,
                    max: input.float()?,
                },
                code if code == Kind::Rate as u8 => Figure::Rate {
                    passes: input.amount()?,
                    total: input.amount()?,
                },
                code if code == Kind::Trend as u8 => Figure::Trend(decode_buckets(input)?),
                _ => return Err(WireError::Invalid("kind of metric")),
            };
            // The order must be ascending, so that equal contents have equal bytes.
            let last = figures.last_key_value();
            if last.is_some_and(|(last, _)| *last >= name) {
                return Err(WireError::Invalid("order of metrics"));
            }
            figures.insert(name, figure);
        }
        Ok(Cumulative(figures))
    }
}
