//! The buckets of a histogram by number, for sending them to another process and for comparing two
//! histograms bucket by bucket.

use crate::buckets::{self, Buckets};
use crate::histogram::Histogram;

/// The counts of a histogram by bucket number. The edges of a bucket depend only on its number, so
/// counts of different processes can be added.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NumberedBuckets {
    /// The buckets for the magnitudes of negative values: pairs of number and count, in ascending order.
    pub negative: Vec<(u32, u64)>,
    pub zeros: u64,
    /// The buckets of positive values, in the same form as `negative`.
    pub positive: Vec<(u32, u64)>,
}

impl NumberedBuckets {
    /// The number of values, or `None` if it exceeds 64 bits.
    pub fn count(&self) -> Option<u64> {
        let counts = self.negative.iter().chain(&self.positive);
        counts
            .map(|(_, count)| *count)
            .chain([self.zeros])
            .try_fold(0_u64, u64::checked_add)
    }

    /// The number of bytes that a histogram with these buckets needs. Check it before building a
    /// histogram from untrusted numbers: a few numbers that are far apart need thousands of times
    /// their own size.
    pub fn heap_bytes(&self) -> usize {
        buckets::bytes_of(&self.negative) + buckets::bytes_of(&self.positive)
    }

    /// Whether the numbers ascend and are valid, and no count is zero.
    fn is_valid(&self) -> bool {
        [&self.negative, &self.positive].into_iter().all(|side| {
            let ascends = side.windows(2).all(|pair| pair[0].0 < pair[1].0);
            let exists = side
                .last()
                .is_none_or(|(number, _)| *number <= buckets::LAST);
            ascends && exists && side.iter().all(|(_, count)| *count > 0)
        })
    }
}

impl Histogram {
    /// The buckets of this histogram by number. Individual values are put into buckets first.
    pub fn numbered(&self) -> NumberedBuckets {
        if let Some(raw) = self.raw() {
            let mut sides = [Buckets::default(), Buckets::default()];
            let mut zeros = 0;
            for &value in raw {
                if value > 0.0 {
                    sides[1].record(value);
                } else if value < 0.0 {
                    sides[0].record(-value);
                } else {
                    zeros += 1;
                }
            }
            return NumberedBuckets {
                negative: sides[0].numbered().collect(),
                zeros,
                positive: sides[1].numbered().collect(),
            };
        }
        let (negative, zeros, positive) = self.sides();
        NumberedBuckets {
            negative: negative.numbered().collect(),
            zeros,
            positive: positive.numbered().collect(),
        }
    }

    /// Creates a histogram with these buckets. `None` if the parts contradict each other.
    pub fn from_numbered(
        sum: f64,
        min: f64,
        max: f64,
        parts: &NumberedBuckets,
    ) -> Option<Histogram> {
        let count = parts.count()?;
        if !parts.is_valid()
            || sum.is_nan()
            || count > 0 && min.max(max) != max
            || min.is_nan()
            || max.is_nan()
        {
            return None;
        }
        if count == 0 {
            return Some(Histogram::new());
        }
        let negative = Buckets::from_numbered(&parts.negative);
        let positive = Buckets::from_numbered(&parts.positive);
        Some(Histogram::of_sides(
            count,
            [sum, min, max],
            negative,
            parts.zeros,
            positive,
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EXACT_BOUND;
    use proptest::prelude::*;

    fn histogram(values: &[f64]) -> Histogram {
        let mut histogram = Histogram::new();
        values.iter().for_each(|value| histogram.record(*value));
        histogram
    }

    fn again(histogram: &Histogram) -> Option<Histogram> {
        let [sum, min, max] = [histogram.sum(), histogram.min(), histogram.max()];
        Histogram::from_numbered(sum, min, max, &histogram.numbered())
    }

    #[test]
    fn infinity_and_zero_survive_a_round_trip() {
        let values = [0.0, f64::INFINITY, f64::NEG_INFINITY, 5e-324, -1.0];
        let built = Histogram::from_numbered(
            0.0,
            f64::NEG_INFINITY,
            f64::INFINITY,
            &histogram(&values).numbered(),
        );
        let built = built.map(|built| (built.count(), built.numbered()));
        assert_eq!(built, Some((5, histogram(&values).numbered())));
    }

    #[test]
    fn contradictions_are_refused() {
        let parts = |positive: &[(u32, u64)]| NumberedBuckets {
            positive: positive.to_vec(),
            ..NumberedBuckets::default()
        };
        let build = |parts: &NumberedBuckets| Histogram::from_numbered(1.0, 1.0, 1.0, parts);
        assert!(build(&parts(&[(7, 1)])).is_some());
        for wrong in [
            &[(7, 0)][..],
            &[(7, 1), (7, 1)],
            &[(8, 1), (7, 1)],
            &[(u32::MAX, 1)],
            &[(7, u64::MAX), (8, 1)],
        ] {
            assert!(build(&parts(wrong)).is_none(), "{wrong:?}");
        }
        assert!(Histogram::from_numbered(1.0, 2.0, 1.0, &parts(&[(7, 1)])).is_none());
        assert!(Histogram::from_numbered(f64::NAN, 1.0, 1.0, &parts(&[(7, 1)])).is_none());
    }

    #[test]
    fn memory_is_known_before_a_histogram_is_built() {
        let far_apart = NumberedBuckets {
            positive: vec![(0, 1), (buckets::LAST, 1)],
            ..NumberedBuckets::default()
        };
        let built = Histogram::from_numbered(1.0, 1.0, 1.0, &far_apart);
        let bytes = built.map(|built| built.heap_bytes());
        assert_eq!(bytes, Some(far_apart.heap_bytes()));
    }

    proptest! {
        #[test]
        fn a_histogram_is_rebuilt_bucket_by_bucket(
            values in proptest::collection::vec(-1e6f64..1e6, 1..EXACT_BOUND + 500),
        ) {
            let original = histogram(&values);
            let rebuilt = again(&original).unwrap();
            prop_assert_eq!(rebuilt.count(), original.count());
            prop_assert_eq!(rebuilt.numbered(), original.numbered());
            prop_assert_eq!(rebuilt.max(), original.max());
        }

        #[test]
        fn adding_rebuilt_histograms_counts_as_one_process_would(
            values in proptest::collection::vec(0f64..1e4, 2..3_000),
            at in 0.0f64..1.0,
        ) {
            let (left, right) = values.split_at((values.len() as f64 * at) as usize);
            let mut sum = Histogram::new();
            for part in [left, right] {
                sum.merge(&again(&histogram(part)).unwrap());
            }
            prop_assert_eq!(sum.numbered(), histogram(&values).numbered());
        }
    }
}
