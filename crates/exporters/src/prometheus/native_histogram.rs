//! A histogram in the form of Prometheus' native histograms.

use std::collections::BTreeMap;

use super::message::{BucketSpan, Count, Histogram, ZeroCount};

/// Each power of two has 2^3 buckets, as in k6. A bucket's upper bound is 9.05 % above its lower one.
const SCHEMA: i32 = 3;
/// `2^(i/8) / 2`, the lower bounds of the buckets within a power of two.
const BOUNDS: [f64; 8] = [
    0.5,
    0.545_253_866_332_628_8,
    0.594_603_557_501_360_5,
    0.648_419_777_325_504_8,
    std::f64::consts::FRAC_1_SQRT_2,
    0.771_105_412_703_970_4,
    0.840_896_415_253_714_5,
    0.917_004_043_204_671_2,
];
/// Values up to 2^-128 count as zero: the default of Prometheus' client libraries.
const ZERO_THRESHOLD: f64 = 2.938_735_877_055_719e-39;

/// Counts of values by size, cumulative. The number of buckets is bounded by the range of values: eight for each
/// doubling.
#[derive(Clone, Debug, Default)]
pub struct NativeHistogram {
    count: u64,
    sum: f64,
    zeros: u64,
    positive: BTreeMap<i32, u64>,
    negative: BTreeMap<i32, u64>,
}

impl NativeHistogram {
    /// Counts a value. What is not a finite number is ignored.
    pub fn add(&mut self, value: f64) {
        if !value.is_finite() {
            return;
        }
        self.count += 1;
        self.sum += value;
        if value.abs() <= ZERO_THRESHOLD {
            self.zeros += 1;
        } else if value > 0.0 {
            *self.positive.entry(bucket(value)).or_default() += 1;
        } else {
            *self.negative.entry(bucket(-value)).or_default() += 1;
        }
    }

    /// The message, at a time in milliseconds since 1970.
    pub fn message(&self, at: i64) -> Histogram {
        let (positive_spans, positive_deltas) = spans(&self.positive);
        let (negative_spans, negative_deltas) = spans(&self.negative);
        Histogram {
            count: Some(Count::Integer(self.count)),
            sum: self.sum,
            schema: SCHEMA,
            zero_threshold: ZERO_THRESHOLD,
            zero_count: Some(ZeroCount::Integer(self.zeros)),
            negative_spans,
            negative_deltas,
            positive_spans,
            positive_deltas,
            timestamp: at,
        }
    }
}

/// The index of the bucket for a positive value: bucket `i` holds values above `2^((i-1)/8)` up to `2^(i/8)`.
fn bucket(value: f64) -> i32 {
    let (fraction, exponent) = split(value);
    let within = BOUNDS.partition_point(|bound| *bound < fraction);
    i32::try_from(within).unwrap_or(0) + (exponent - 1) * (1 << SCHEMA)
}

/// `fraction · 2^exponent` with a fraction from 0.5 to below 1, of a normal positive number.
fn split(value: f64) -> (f64, i32) {
    const MANTISSA_BITS: u32 = 52;
    /// The exponent of numbers from 0.5 to below 1, in the bits of a number.
    const HALF: u64 = 1022;
    let bits = value.to_bits();
    let exponent = i32::try_from((bits >> MANTISSA_BITS) & 0x7ff).unwrap_or(0) - 1022;
    let mantissa = bits & ((1 << MANTISSA_BITS) - 1);
    (f64::from_bits(mantissa | (HALF << MANTISSA_BITS)), exponent)
}

/// Runs of consecutive buckets, and the counts as differences.
fn spans(buckets: &BTreeMap<i32, u64>) -> (Vec<BucketSpan>, Vec<i64>) {
    let mut spans: Vec<BucketSpan> = Vec::new();
    let mut deltas = Vec::with_capacity(buckets.len());
    let (mut next, mut before) = (0, 0);
    for (&index, &count) in buckets {
        match spans.last_mut() {
            Some(span) if index == next => span.length += 1,
            _ => spans.push(BucketSpan {
                offset: index - next,
                length: 1,
            }),
        }
        next = index + 1;
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        deltas.push(count - before);
        before = count;
    }
    (spans, deltas)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_holds_values_up_to_its_upper_bound() {
        for exponent in -40..40 {
            let bound = 2_f64.powi(exponent);
            assert_eq!(bucket(bound), exponent * 8, "2^{exponent}");
            assert_eq!(
                bucket(bound * (1.0 + 1e-9)),
                exponent * 8 + 1,
                "above 2^{exponent}"
            );
            assert_eq!(
                bucket(bound * (1.0 - 1e-9)),
                exponent * 8,
                "below 2^{exponent}"
            );
        }
        for index in -100..100 {
            let (low, high) = (
                2_f64.powf(f64::from(index - 1) / 8.0),
                2_f64.powf(f64::from(index) / 8.0),
            );
            assert_eq!(bucket((low * high).sqrt()), index);
        }
    }

    #[test]
    fn buckets_are_written_as_spans_and_differences() {
        let mut histogram = NativeHistogram::default();
        for value in [1.0, 1.0, 1.05, 4.0, 0.0, -1.0, f64::NAN, f64::INFINITY] {
            histogram.add(value);
        }
        let message = histogram.message(7);
        assert_eq!(message.count, Some(Count::Integer(6)));
        assert_eq!(message.zero_count, Some(ZeroCount::Integer(1)));
        // Buckets 0 and 1, then 16, which is 14 buckets later.
        let span = |offset, length| BucketSpan { offset, length };
        assert_eq!(message.positive_spans, [span(0, 2), span(14, 1)]);
        assert_eq!(message.positive_deltas, [2, -1, 0]);
        assert_eq!(message.negative_spans, [span(0, 1)]);
        assert_eq!(message.negative_deltas, [1]);
        assert!((message.sum - 6.05).abs() < 1e-12);
    }
}
