//! A compact, mergeable distribution of the latencies of one period.

use plimsoll_stats::Histogram;
use serde::ser::SerializeSeq;
use serde::{Serialize, Serializer};

/// Number of bins per doubling. Each bin is 4.4% wide.
const FINE: f64 = 16.0;
/// Number of heat map bins per doubling. Must be a divisor of [`FINE`].
const COARSE: u16 = 4;
/// The lower edge of the first bin in milliseconds, which is a microsecond.
const FIRST_BIN_START: f64 = 0.001;
/// The last bin starts above a day.
const LAST_BIN: u16 = 640;

/// Counts of latencies in bins of equal relative width, starting at a microsecond. Serialized as pairs of a coarse bin
/// and its count: bin n starts at 2^(n/4) µs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spread(Vec<(u16, u64)>);

impl Spread {
    /// Converts a histogram of milliseconds.
    pub fn of(histogram: &Histogram) -> Spread {
        let mut spread = Spread::default();
        match histogram.raw() {
            Some(values) => {
                let mut bins: Vec<u16> = values.iter().map(|value| bin(*value)).collect();
                bins.sort_unstable();
                for bin in bins {
                    spread.push(bin, 1);
                }
            }
            None => {
                for (lower, upper, count) in histogram.buckets() {
                    spread.push(bin((lower + upper) / 2.0), count);
                }
            }
        }
        spread
    }

    /// Adds to the last bin, or appends a new one.
    fn push(&mut self, bin: u16, count: u64) {
        match self.0.last_mut() {
            Some(last) if last.0 == bin => last.1 += count,
            _ => self.0.push((bin, count)),
        }
    }

    /// Adds the counts of `other`.
    pub fn merge(&mut self, other: &Spread) {
        let mut sum = Spread::default();
        let (mut ours, mut theirs) = (self.0.iter().peekable(), other.0.iter().peekable());
        loop {
            let next = match (ours.peek(), theirs.peek()) {
                (Some(a), Some(b)) if a.0 <= b.0 => ours.next(),
                (Some(_), None) => ours.next(),
                (_, Some(_)) => theirs.next(),
                (None, None) => break,
            };
            if let Some(&(bin, count)) = next {
                sum.push(bin, count);
            }
        }
        *self = sum;
    }

    /// The quantile `q`, from 0 to 1, in milliseconds. The value is the middle of a bin, which is at most 2.2% off.
    pub fn quantile(&self, q: f64) -> Option<f64> {
        let total: u64 = self.0.iter().map(|(_, count)| count).sum();
        let rank = (q.clamp(0.0, 1.0) * total.saturating_sub(1) as f64).round() as u64;
        let mut below = 0;
        let (bin, _) = self.0.iter().find(|(_, count)| {
            below += count;
            rank < below
        })?;
        Some(FIRST_BIN_START * ((f64::from(*bin) + 0.5) / FINE).exp2())
    }
}

fn bin(milliseconds: f64) -> u16 {
    let place = (milliseconds / FIRST_BIN_START).log2() * FINE;
    // Zero yields minus infinity, and the conversion saturates.
    (place as u16).min(LAST_BIN)
}

impl Serialize for Spread {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut coarse = Spread::default();
        for &(bin, count) in &self.0 {
            coarse.push(bin / (FINE as u16 / COARSE), count);
        }
        let mut list = serializer.serialize_seq(Some(coarse.0.len()))?;
        for pair in &coarse.0 {
            list.serialize_element(pair)?;
        }
        list.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn histogram(values: impl IntoIterator<Item = f64>) -> Histogram {
        let mut histogram = Histogram::new();
        for value in values {
            histogram.record(value);
        }
        histogram
    }

    fn many() -> Histogram {
        histogram((1..=10_000).map(|n| f64::from(n) / 100.0))
    }

    #[test]
    fn quantiles_are_within_a_bin_of_the_exact_ones() {
        let spread = Spread::of(&many());
        for (q, exact) in [(0.5, 50.0), (0.9, 90.0), (0.99, 99.0)] {
            let got = spread.quantile(q).unwrap();
            assert!((got / exact - 1.0).abs() < 0.03, "{q}: {got}");
        }
        assert_eq!(Spread::default().quantile(0.5), None);
    }

    #[test]
    fn merging_equals_recording_together() {
        let mut merged = Spread::of(&histogram([1.0, 5.0, 7.0]));
        merged.merge(&Spread::of(&histogram([0.0, 5.0, 300.0])));
        let together = Spread::of(&histogram([1.0, 5.0, 7.0, 0.0, 5.0, 300.0]));
        assert_eq!(merged, together);
    }

    #[test]
    fn memory_is_bounded_for_any_values() {
        let mut spread = Spread::default();
        for exponent in -300..300 {
            spread.merge(&Spread::of(&histogram([2f64.powi(exponent)])));
        }
        assert!(spread.0.len() <= usize::from(LAST_BIN) + 1);
        assert_eq!(spread.0.iter().map(|(_, count)| count).sum::<u64>(), 600);
    }

    #[test]
    fn a_spread_is_serialized_in_coarse_bins() {
        // 1 ms is 1000 µs, and log2(1000) · 4 is 39.9.
        let spread = Spread::of(&histogram([1.0, 1.02, 0.0]));
        let written = serde_json::to_string(&spread).unwrap();
        assert_eq!(written, "[[0,1],[39,2]]");
    }
}
