//! A distribution of times in a file: common statistics, and the buckets from which other
//! statistics can be computed later.

use plimsoll_stats::Histogram;
use serde::{Deserialize, Serialize};

/// A distribution in the unit of its metric (milliseconds for times).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Distribution {
    /// Number of values. A quantile q is not reliable for fewer than 10 / (1 - q) values.
    pub count: u64,
    /// The sum of all values.
    pub sum: f64,
    /// The smallest value.
    pub min: f64,
    /// The largest value.
    pub max: f64,
    /// The lower edge and the count of each non-empty bucket, in ascending order. No bucket is
    /// wider than 1/1024 of its lower edge ([`plimsoll_stats::RELATIVE_WIDTH`]). Edges are rounded
    /// up to six digits, which still identifies the bucket.
    pub buckets: Vec<(f64, u64)>,
}

/// Coarse buckets per factor of ten.
const COARSE_PER_DECADE: f64 = 10.0;

impl Distribution {
    /// Combines the buckets into coarse ones, ten per factor of ten: lower edge and count, in
    /// ascending order. Values of zero or less are in a bucket at zero.
    pub fn coarse(&self) -> Vec<(f64, u64)> {
        let mut coarse: Vec<(f64, u64)> = Vec::new();
        for &(edge, count) in &self.buckets {
            let edge = if edge > 0.0 {
                // Rounding must not move a value on an edge to the bucket below.
                let step = (edge.log10() * COARSE_PER_DECADE + 1e-9).floor();
                10_f64.powf(step / COARSE_PER_DECADE)
            } else {
                0.0
            };
            match coarse.last_mut() {
                Some((last, sum)) if *last == edge => *sum += count,
                _ => coarse.push((edge, count)),
            }
        }
        coarse
    }

    /// Converts a histogram for a file. JSON cannot represent infinite values, so they become the
    /// largest finite number.
    pub fn of(histogram: &Histogram) -> Distribution {
        Distribution {
            count: histogram.count(),
            sum: finite(histogram.sum()),
            min: finite(histogram.min()),
            max: finite(histogram.max()),
            buckets: histogram
                .on_paper()
                .into_iter()
                .map(|(edge, count)| (finite(edge), count))
                .collect(),
        }
    }

    /// Adds another distribution of the same metric.
    pub fn add(&mut self, other: &Distribution) {
        if other.count == 0 {
            return;
        }
        let is_empty = self.count == 0;
        self.min = if is_empty {
            other.min
        } else {
            self.min.min(other.min)
        };
        self.max = if is_empty {
            other.max
        } else {
            self.max.max(other.max)
        };
        self.count += other.count;
        self.sum = finite(self.sum + other.sum);
        let mut buckets = std::mem::take(&mut self.buckets);
        buckets.extend_from_slice(&other.buckets);
        buckets.sort_by(|one, other| one.0.total_cmp(&other.0));
        buckets.dedup_by(|next, last| {
            let is_same = next.0 == last.0;
            last.1 += if is_same { next.1 } else { 0 };
            is_same
        });
        self.buckets = buckets;
    }

    /// The histogram, or `None` if the values contradict each other. Its quantiles are accurate to
    /// the width of a bucket, even if the original histogram was exact.
    pub fn histogram(&self) -> Option<Histogram> {
        let buckets = self.buckets.iter().copied();
        Histogram::restored(self.sum, self.min, self.max, buckets)
            .filter(|histogram| histogram.count() == self.count)
    }

    /// The mean, or 0 if empty.
    pub fn mean(&self) -> f64 {
        if self.count == 0 {
            0.0
        } else {
            self.sum / self.count as f64
        }
    }
}

fn finite(value: f64) -> f64 {
    value.clamp(f64::MIN, f64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coarse_buckets_lose_no_count() {
        let fine = Distribution {
            buckets: vec![
                (-1.0, 1),
                (0.0, 2),
                (1.0, 3),
                (1.2, 4),
                (1.26, 5),
                (10.0, 6),
            ],
            ..Distribution::default()
        };
        let coarse = fine.coarse();
        assert_eq!(coarse.iter().map(|bucket| bucket.1).sum::<u64>(), 21);
        let counts: Vec<u64> = coarse.iter().map(|bucket| bucket.1).collect();
        assert_eq!(counts, [3, 7, 5, 6]);
        assert_eq!((coarse[0].0, coarse[1].0), (0.0, 1.0));
        assert!((coarse[3].0 - 10.0).abs() < 1e-9);
    }

    #[test]
    fn a_printed_distribution_is_read_back() {
        let mut histogram = Histogram::new();
        (1..=3_000).for_each(|value| histogram.record(f64::from(value) * 0.01));
        let text = serde_json::to_string(&Distribution::of(&histogram)).expect("JSON");
        let read: Distribution = serde_json::from_str(&text).expect("the same JSON");
        assert_eq!(read, Distribution::of(&histogram));
        let restored = read.histogram().expect("sound");
        for q in [0.0, 0.5, 0.95, 0.999, 1.0] {
            assert_eq!(restored.quantile(q), histogram.quantile(q), "{q}");
        }
    }

    #[test]
    fn the_sum_of_two_is_the_distribution_of_all_their_values() {
        let of = |values: std::ops::Range<u32>| {
            let mut histogram = Histogram::new();
            values.for_each(|value| histogram.record(f64::from(value) * 0.5));
            Distribution::of(&histogram)
        };
        let mut sum = Distribution::default();
        sum.add(&of(1_000..3_000));
        sum.add(&Distribution::default());
        sum.add(&of(0..2_000));
        sum.add(&of(3_000..3_001));
        let mut all = Histogram::new();
        for values in [1_000..3_000, 0..2_000, 3_000..3_001] {
            values.for_each(|value| all.record(f64::from(value) * 0.5));
        }
        assert_eq!(sum, Distribution::of(&all));
        assert!(sum.histogram().is_some());
    }

    #[test]
    fn numbers_that_are_not_finite_are_still_json() {
        let mut histogram = Histogram::new();
        histogram.record(f64::INFINITY);
        histogram.record(1.0);
        let text = serde_json::to_string(&Distribution::of(&histogram)).expect("JSON");
        let read: Distribution = serde_json::from_str(&text).expect("the same JSON");
        assert_eq!(read.histogram().expect("sound").count(), 2);
    }

    #[test]
    fn inconsistent_counts_are_not_a_distribution() {
        let distribution = Distribution {
            count: 3,
            sum: 2.0,
            min: 1.0,
            max: 1.0,
            buckets: vec![(1.0, 2)],
        };
        assert!(distribution.histogram().is_none());
    }
}
