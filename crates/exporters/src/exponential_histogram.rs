//! A histogram with exponentially growing buckets, as in Prometheus and OpenTelemetry.

use std::collections::BTreeMap;

/// Each power of two has 2^3 buckets, as in k6. The upper bound of a bucket is 9.05 % above its lower bound.
pub const SCALE: i32 = 3;
/// The lower bounds of the buckets within a power of two: `2^(i/8) / 2`.
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
/// Values up to 2^-128 count as zero, which is the default of Prometheus' client libraries.
pub const ZERO_THRESHOLD: f64 = 2.938_735_877_055_719e-39;

/// Cumulative counts of values by size. The range of values limits the number of buckets: eight for each power of two.
#[derive(Clone, Debug, Default)]
pub struct ExponentialHistogram {
    pub count: u64,
    pub sum: f64,
    /// The smallest and the largest value, if there are values.
    pub range: Option<(f64, f64)>,
    pub zeros: u64,
    /// Counts by bucket. Bucket `i` contains values above `2^((i-1)/8)` up to `2^(i/8)`.
    pub positive: BTreeMap<i32, u64>,
    /// Counts by bucket of the absolute values of negative values.
    pub negative: BTreeMap<i32, u64>,
}

impl ExponentialHistogram {
    /// Counts a finite value.
    pub fn add(&mut self, value: f64) {
        self.count += 1;
        self.sum += value;
        let (low, high) = self.range.unwrap_or((value, value));
        self.range = Some((low.min(value), high.max(value)));
        if value.abs() <= ZERO_THRESHOLD {
            self.zeros += 1;
        } else if value > 0.0 {
            *self.positive.entry(bucket(value)).or_default() += 1;
        } else {
            *self.negative.entry(bucket(-value)).or_default() += 1;
        }
    }
}

/// The index of the bucket for a positive value. Bucket `i` contains values above `2^((i-1)/8)` up to `2^(i/8)`.
fn bucket(value: f64) -> i32 {
    let (fraction, exponent) = split(value);
    let within = BOUNDS.partition_point(|bound| *bound < fraction);
    i32::try_from(within).unwrap_or(0) + (exponent - 1) * (1 << SCALE)
}

/// Splits a normal positive number into `fraction · 2^exponent`, with a fraction from 0.5 to below 1.
fn split(value: f64) -> (f64, i32) {
    const MANTISSA_BITS: u32 = 52;
    /// The exponent bits of numbers from 0.5 to below 1.
    const HALF: u64 = 1022;
    let bits = value.to_bits();
    let exponent = i32::try_from((bits >> MANTISSA_BITS) & 0x7ff).unwrap_or(0) - 1022;
    let mantissa = bits & ((1 << MANTISSA_BITS) - 1);
    (f64::from_bits(mantissa | (HALF << MANTISSA_BITS)), exponent)
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
}
