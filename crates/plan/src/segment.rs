//! The part of the test that this instance runs: `--execution-segment 1/3:2/3`.
//!
//! Boundaries are exact fractions, so segments neither overlap nor leave gaps.

use std::cmp::Ordering;
use std::fmt;

use crate::error::{Fault, excerpt};

/// A part of the whole test, from one boundary to a later one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    from: Ratio,
    to: Ratio,
}

/// All boundaries that divide a test into segments, in ascending order. Empty if unset.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SegmentSequence(Vec<Ratio>);

impl Segment {
    /// The whole test.
    pub const WHOLE: Segment = Segment {
        from: Ratio::ZERO,
        to: Ratio::ONE,
    };

    /// Parses `from:to`, or a single number that means `0:to`. A number is a fraction `1/3`, a decimal `0.25` or a
    /// percentage `10%`. An empty string means the whole test.
    ///
    /// # Errors
    /// If a number is invalid or not between 0 and 1, or if the order is wrong.
    pub fn parse(text: &str) -> Result<Segment, Fault> {
        if text.is_empty() {
            return Ok(Segment::WHOLE);
        }
        let (from, to) = match text.split_once(':') {
            Some((from, to)) => (Ratio::parse(from)?, Ratio::parse(to)?),
            None => (Ratio::ZERO, Ratio::parse(text)?),
        };
        Segment::between(from, to)
    }

    fn between(from: Ratio, to: Ratio) -> Result<Segment, Fault> {
        if from >= to {
            return Err(Fault::at(
                "",
                format!("the segment's start {from} must be less than its end {to}"),
            ));
        }
        Ok(Segment { from, to })
    }

    pub(crate) fn borders(&self) -> (Ratio, Ratio) {
        (self.from, self.to)
    }

    /// Whether this is the whole test.
    pub fn is_whole(&self) -> bool {
        *self == Segment::WHOLE
    }

    /// The length of the segment, for display. It is above 0 and at most 1.
    pub fn length(&self) -> f64 {
        self.to.as_f64() - self.from.as_f64()
    }
}

impl Default for Segment {
    fn default() -> Segment {
        Segment::WHOLE
    }
}

impl fmt::Display for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.from, self.to)
    }
}

impl SegmentSequence {
    /// Parses ascending boundaries, separated by commas, such as `0,1/3,2/3,1`.
    ///
    /// # Errors
    /// If a boundary is not a number, or if the boundaries do not ascend.
    pub fn parse(text: &str) -> Result<SegmentSequence, Fault> {
        if text.is_empty() {
            return Ok(SegmentSequence::default());
        }
        let borders = text
            .split(',')
            .map(Ratio::parse)
            .collect::<Result<Vec<_>, _>>()?;
        for pair in borders.windows(2) {
            Segment::between(pair[0], pair[1])?;
        }
        Ok(SegmentSequence(borders))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The boundaries from 0 to 1. Missing ends are added. If there are none, those of `segment`.
    pub(crate) fn filled(&self, segment: Segment) -> Vec<Ratio> {
        let mut borders = self.0.clone();
        if borders.is_empty() {
            borders = vec![segment.from, segment.to];
        }
        if borders.first() != Some(&Ratio::ZERO) {
            borders.insert(0, Ratio::ZERO);
        }
        if borders.last() != Some(&Ratio::ONE) {
            borders.push(Ratio::ONE);
        }
        borders
    }
}

impl fmt::Display for SegmentSequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, border) in self.0.iter().enumerate() {
            let comma = if i == 0 { "" } else { "," };
            write!(f, "{comma}{border}")?;
        }
        Ok(())
    }
}

/// A ratio from 0 to 1 in lowest terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ratio {
    pub(crate) over: u64,
    pub(crate) under: u64,
}

impl Ratio {
    pub(crate) const ZERO: Ratio = Ratio { over: 0, under: 1 };
    pub(crate) const ONE: Ratio = Ratio { over: 1, under: 1 };

    fn parse(text: &str) -> Result<Ratio, Fault> {
        let text = text.trim();
        let ratio = Ratio::read(text).ok_or_else(|| {
            Fault::at(
                "",
                format!(
                    "\"{}\" is not a part of a whole: write a fraction 1/3, a decimal 0.25 or a percentage 10%",
                    excerpt(text)
                ),
            )
        })?;
        if ratio.over > ratio.under {
            return Err(Fault::at(
                "",
                format!(
                    "a segment lies between 0 and 1, but {} is more",
                    excerpt(text)
                ),
            ));
        }
        Ok(ratio)
    }

    fn read(text: &str) -> Option<Ratio> {
        if let Some(percent) = text.strip_suffix('%') {
            let (over, under) = decimal(percent)?;
            return Ratio::lowest(over, under.checked_mul(100)?);
        }
        if let Some((over, under)) = text.split_once('/') {
            let (over, under) = (decimal(over)?, decimal(under)?);
            if over.1 != 1 || under.1 != 1 {
                return None;
            }
            return Ratio::lowest(over.0, under.0);
        }
        let (over, under) = decimal(text)?;
        Ratio::lowest(over, under)
    }

    fn lowest(over: u64, under: u64) -> Option<Ratio> {
        if under == 0 {
            return None;
        }
        let divisor = greatest_common_divisor(over, under);
        Some(Ratio {
            over: over / divisor,
            under: under / divisor,
        })
    }

    fn as_f64(self) -> f64 {
        self.over as f64 / self.under as f64
    }
}

impl PartialOrd for Ratio {
    fn partial_cmp(&self, other: &Ratio) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ratio {
    fn cmp(&self, other: &Ratio) -> Ordering {
        let left = u128::from(self.over) * u128::from(other.under);
        let right = u128::from(other.over) * u128::from(self.under);
        left.cmp(&right)
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.under == 1 {
            write!(f, "{}", self.over)
        } else {
            write!(f, "{}/{}", self.over, self.under)
        }
    }
}

/// A plain decimal, as an integer divided by a power of ten.
fn decimal(text: &str) -> Option<(u64, u64)> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = format!("{whole}{fraction}");
    if digits.is_empty() || digits.len() > 18 || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    // At most 18 digits, so neither overflows.
    Some((digits.parse().ok()?, 10u64.pow(fraction.len() as u32)))
}

pub(crate) fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 {
        a.max(1)
    } else {
        greatest_common_divisor(b, a % b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_fractions_decimals_and_percentages() {
        let cases = [
            ("1/3:2/3", "1/3:2/3"),
            ("2/6:4/6", "1/3:2/3"),
            ("10%", "0:1/10"),
            ("0.1:0.5", "1/10:1/2"),
            ("1/3", "0:1/3"),
            ("0:1", "0:1"),
            ("", "0:1"),
        ];
        for (written, shown) in cases {
            assert_eq!(Segment::parse(written).unwrap().to_string(), shown);
        }
        assert_eq!(
            SegmentSequence::parse("0,50%,1").unwrap().to_string(),
            "0,1/2,1"
        );
    }

    #[test]
    fn invalid_segments_are_refused() {
        for text in [
            "x", "1/0", "1/3:2", "2/3:1/3", "1/3:1/3", "-1/3:1/3", "1/3:x", "0:", "1.5/2",
        ] {
            assert!(Segment::parse(text).is_err(), "{text}");
        }
        assert!(SegmentSequence::parse("1/2,1/3").is_err());
        assert!(Segment::parse(&format!("0.{}", "3".repeat(1000))).is_err());
    }

    proptest! {
        #[test]
        fn any_text_gives_a_value_or_an_error(text in "[0-9.:/%, -]{0,40}") {
            let _ = Segment::parse(&text);
            let _ = SegmentSequence::parse(&text);
        }

        #[test]
        fn displayed_values_parse_to_the_same_value(over in 0u64..1000, under in 1001u64..2000) {
            let segment = Segment::parse(&format!("{over}/{under}:1")).unwrap();
            prop_assert_eq!(Segment::parse(&segment.to_string()).unwrap(), segment);
        }
    }
}
