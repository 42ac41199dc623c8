//! The bandwidth of a line in bits per second.

use std::fmt;
use std::time::Duration;

use crate::{Bytes, nearest};

/// A positive number of bits per second.
///
/// Written with decimal prefixes, as for network equipment: `556Mbit/s`, `1.5Gbit/s`, `64kbit/s`,
/// `900bit/s`. Bytes per second are a different unit and are rejected: write `64Mbit/s` instead of
/// `8MB/s`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BitRate(u64);

const UNITS: [(&str, f64); 4] = [
    ("Gbit/s", 1e9),
    ("Mbit/s", 1e6),
    ("kbit/s", 1e3),
    ("bit/s", 1.0),
];

/// The highest rate that can be written: one petabit per second.
const MAX_RATE: f64 = 1e15;

impl BitRate {
    /// A rate of `bits` per second, or `None` for zero.
    pub const fn new(bits: u64) -> Option<BitRate> {
        if bits == 0 { None } else { Some(BitRate(bits)) }
    }

    /// The number of bits per second.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Parses a number and its unit.
    ///
    /// # Errors
    /// Returns a message with the error and the expected format.
    pub fn parse(text: &str) -> Result<BitRate, String> {
        let trimmed = text.trim();
        let digits = trimmed
            .find(|c: char| !(c.is_ascii_digit() || c == '.'))
            .unwrap_or(trimmed.len());
        let (number, unit) = trimmed.split_at(digits);
        let unit = unit.trim_start();
        let hint = "write it like 556Mbit/s, 1.5Gbit/s or 64kbit/s";
        let Some((_, factor)) = UNITS.iter().find(|(known, _)| *known == unit) else {
            let names = UNITS.map(|(name, _)| name);
            return Err(match (unit, nearest(unit, names)) {
                ("", _) => format!("{text:?} has no unit: {hint}"),
                (_, Some(meant)) => {
                    format!("{text:?} has the unknown unit {unit:?}; did you mean {meant}? {hint}")
                }
                (_, None) => format!("{text:?} has the unknown unit {unit:?}: {hint}"),
            });
        };
        let bits = number
            .parse::<f64>()
            .map_or(f64::NAN, |value| value * factor);
        if !(1.0..=MAX_RATE).contains(&bits) {
            return Err(format!(
                "{text:?} is not a rate between 1bit/s and 1000000Gbit/s: {hint}"
            ));
        }
        Ok(BitRate(bits.round() as u64))
    }

    /// The time to transmit `size` on the line: size × 8 ÷ rate.
    pub fn time_for(self, size: Bytes) -> Duration {
        let nanos = u128::from(size.get()) * 8 * 1_000_000_000 / u128::from(self.0);
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
}

impl fmt::Display for BitRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bits = self.0 as f64;
        let (unit, factor) = UNITS
            .iter()
            .find(|(_, factor)| bits >= *factor)
            .copied()
            .unwrap_or(("bit/s", 1.0));
        f.pad(&format!("{}{unit}", bits / factor))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read_and_written_with_their_unit() {
        for (text, bits) in [
            ("556Mbit/s", 556_000_000),
            ("1.5Gbit/s", 1_500_000_000),
            ("64 kbit/s", 64_000),
            ("900bit/s", 900),
        ] {
            assert_eq!(BitRate::parse(text).map(BitRate::get), Ok(bits), "{text}");
        }
        assert_eq!(
            BitRate::parse("1500Mbit/s").map(|rate| rate.to_string()),
            Ok("1.5Gbit/s".to_owned())
        );
    }

    #[test]
    fn an_invalid_rate_is_reported_with_the_nearest_unit() {
        for (text, part) in [
            ("556", "no unit"),
            ("556Mbits/s", "did you mean Mbit/s?"),
            ("0Mbit/s", "not a rate between"),
            ("..Mbit/s", "not a rate between"),
            ("1e9bit/s", "unknown unit"),
            ("99999999999Gbit/s", "not a rate between"),
        ] {
            let error = BitRate::parse(text).expect_err(text);
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn a_megabyte_takes_eighty_milliseconds_at_a_hundred_megabits() {
        let rate = BitRate::parse("100Mbit/s").expect("a rate");
        assert_eq!(rate.time_for(Bytes(1_000_000)), Duration::from_millis(80));
        assert_eq!(rate.time_for(Bytes(0)), Duration::ZERO);
    }
}
