//! The rule for percentiles of few values: a percentile depends on the values above it, and fewer than ten of them are
//! chance.

use crate::Histogram;

/// Number of values that must be above a percentile.
const MIN_VALUES_ABOVE: f64 = 10.0;
/// In floating point, 100 × (1 − 0.9) is slightly less than 10.
const ROUNDING: f64 = 1e-6;

/// Whether the quantile `q` of this number of values is reliable.
pub fn is_reliable(values: f64, q: f64) -> bool {
    values * (1.0 - q) >= MIN_VALUES_ABOVE - ROUNDING
}

/// The number of values that the quantile `q` needs.
pub fn values_needed(q: f64) -> u64 {
    (MIN_VALUES_ABOVE / (1.0 - q) - ROUNDING).ceil() as u64
}

/// The quantile, if it is reliable.
pub fn reliable_quantile(values: &Histogram, q: f64) -> Option<f64> {
    is_reliable(values.count() as f64, q).then(|| values.quantile(q))
}

/// The number of values that an upper bound for the quantile `q` needs, if it cannot be judged. `above` of the `values`
/// exceed the bound. Ten of them show that the bound is exceeded, even if the quantile itself is not reliable.
pub fn needed_to_judge(values: f64, above: f64, q: f64) -> Option<u64> {
    let can_judge = is_reliable(values, q) || above >= MIN_VALUES_ABOVE;
    (!can_judge).then(|| values_needed(q))
}

/// The number of values at or below `bound`. A bucket that contains the bound counts in part.
pub fn at_or_below(values: &Histogram, bound: f64) -> f64 {
    if let Some(raw) = values.raw() {
        return raw.iter().filter(|value| **value <= bound).count() as f64;
    }
    let share = |(low, high, count): (f64, f64, u64)| {
        let part = if bound >= high {
            1.0
        } else if bound < low {
            0.0
        } else {
            (bound - low) / (high - low)
        };
        part * count as f64
    };
    values.buckets().map(share).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_needs_ten_values_above_it() {
        for (q, needed) in [
            (0.5, 20),
            (0.9, 100),
            (0.95, 200),
            (0.99, 1_000),
            (0.999, 10_000),
        ] {
            assert_eq!(values_needed(q), needed);
            assert!(is_reliable(needed as f64, q), "{q}");
            assert!(!is_reliable(needed as f64 - 1.0, q), "{q}");
        }
    }

    #[test]
    fn ten_values_above_a_bound_decide_even_if_the_percentile_is_not_reliable() {
        assert_eq!(needed_to_judge(60.0, 3.0, 0.95), Some(200));
        assert_eq!(needed_to_judge(60.0, 60.0, 0.95), None);
        assert_eq!(needed_to_judge(200.0, 0.0, 0.95), None);
        assert_eq!(needed_to_judge(0.0, 0.0, 0.95), Some(200));
    }
}
