//! Buckets as short decimal numbers.
//!
//! The edges of a bucket are binary fractions with up to seventeen digits. Six digits suffice to
//! identify a bucket: no bucket is narrower than 1/2048 of its edge, and steps of six digits are
//! never wider than 1/100,000.

/// A number in the bucket from `lower` to `upper` with at most six digits, as short and as close to
/// `lower` as possible.
pub(crate) fn name(lower: f64, upper: f64) -> f64 {
    if lower < 0.0 {
        // A negative bucket includes its upper edge and excludes its lower one.
        return -name(-upper, -lower);
    }
    let Some(digits) = six_digits(lower) else {
        return lower;
    };
    if lower <= digits && digits < upper {
        digits
    } else {
        lower
    }
}

/// The smallest number with six digits that is not below `value`, or `None` if it has no digits.
fn six_digits(value: f64) -> Option<f64> {
    if !value.is_finite() || value <= 0.0 {
        return None;
    }
    let rounded: f64 = format!("{value:.5e}").parse().ok()?;
    if rounded >= value {
        return Some(rounded);
    }
    // The number was rounded down, so increase the last digit by one.
    let text = format!("{rounded:.5e}");
    let (digits, exponent) = text.split_once('e')?;
    let digits: u64 = digits.replace('.', "").parse().ok()?;
    let exponent: i32 = exponent.parse().ok()?;
    format!("{}e{}", digits + 1, exponent - 5).parse().ok()
}
