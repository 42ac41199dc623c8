//! Byte counts, formatted like k6 does.

use std::fmt;

/// A number of bytes.
///
/// Formatted with decimal units: `0 B`, `999 B`, `1.2 kB`, `58 GB`. Values below ten have one
/// decimal, and larger values have none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

impl Bytes {
    /// The number of bytes.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The sum, saturated at `u64::MAX`.
    pub const fn saturating_add(self, other: Bytes) -> Bytes {
        Bytes(self.0.saturating_add(other.0))
    }

    /// Formats a number that may have a fraction, such as bytes per second. Negative and non-finite
    /// values become `0 B`.
    pub fn format_f64(count: f64) -> String {
        const UNITS: [&str; 7] = ["B", "kB", "MB", "GB", "TB", "PB", "EB"];
        // The comparison is also false for NaN.
        if !(count.is_finite() && count > 0.0) {
            return "0 B".to_owned();
        }
        if count < 10.0 {
            return format!("{count:.0} B");
        }
        let (mut value, mut power) = (count, 0);
        while value >= 1000.0 && power + 1 < UNITS.len() {
            value /= 1000.0;
            power += 1;
        }
        // Round to a tenth before choosing the format, so that 9.96 becomes 10.0 and is formatted
        // without decimals.
        let value = (value * 10.0 + 0.5).floor() / 10.0;
        let unit = UNITS[power];
        if value < 10.0 {
            format!("{value:.1} {unit}")
        } else {
            format!("{value:.0} {unit}")
        }
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&Bytes::format_f64(self.0 as f64))
    }
}

impl std::ops::Add for Bytes {
    type Output = Bytes;

    fn add(self, other: Bytes) -> Bytes {
        self.saturating_add(other)
    }
}

impl std::ops::AddAssign for Bytes {
    fn add_assign(&mut self, other: Bytes) {
        *self = self.saturating_add(other);
    }
}

impl std::iter::Sum for Bytes {
    fn sum<I: Iterator<Item = Bytes>>(items: I) -> Bytes {
        items.fold(Bytes(0), Bytes::saturating_add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_decimal_units() {
        let cases = [
            (0, "0 B"),
            (1, "1 B"),
            (9, "9 B"),
            (10, "10 B"),
            (999, "999 B"),
            (1000, "1.0 kB"),
            (1234, "1.2 kB"),
            (9949, "9.9 kB"),
            (9960, "10 kB"),
            (15_000, "15 kB"),
            (2_500_000, "2.5 MB"),
            (58_000_000_000, "58 GB"),
            (u64::MAX, "18 EB"),
        ];
        for (count, text) in cases {
            assert_eq!(Bytes(count).to_string(), text, "{count}");
        }
    }

    #[test]
    fn a_rate_that_is_nan_prints_as_none() {
        assert_eq!(Bytes::format_f64(f64::NAN), "0 B");
        assert_eq!(Bytes::format_f64(f64::INFINITY), "0 B");
        assert_eq!(Bytes::format_f64(-5.0), "0 B");
        assert_eq!(Bytes::format_f64(1234.5), "1.2 kB");
    }
}
