//! Amounts in iperf3's notation: bytes in multiples of 1024, bits in multiples of 1000.

use std::time::Duration;

/// Parses a number of bytes or blocks, optionally with K, M, G or T for multiples of 1024.
///
/// # Errors
/// A sentence that explains the format.
pub fn parse_bytes(text: &str) -> Result<u64, String> {
    parse(text, 1024.0)
        .ok_or_else(|| format!("{text:?} is not an amount: write it like 100K, 10M or 1G"))
}

/// Parses bits per second, optionally with K, M, G or T for multiples of 1000; 0 means no limit. A number
/// after a slash is the number of blocks in a burst.
///
/// # Errors
/// A sentence that explains the format.
pub fn parse_rate(text: &str) -> Result<(u64, u32), String> {
    let wrong = || format!("{text:?} is not a rate: write it like 10M or 1G, in bits per second");
    let (rate, burst) = match text.split_once('/') {
        Some((rate, burst)) => (rate, burst.parse().map_err(|_| wrong())?),
        None => (text, 0),
    };
    Ok((parse(rate, 1000.0).ok_or_else(wrong)?, burst))
}

/// Parses the time between two reports, in seconds; 0 means none.
///
/// # Errors
/// A sentence that explains the format.
pub fn parse_interval(text: &str) -> Result<Duration, String> {
    match text.parse::<f64>() {
        Ok(0.0) => Ok(Duration::ZERO),
        Ok(seconds) if (0.1..=60.0).contains(&seconds) => Ok(Duration::from_secs_f64(seconds)),
        _ => Err(format!(
            "{text:?} is not an interval: use 0 for none, or 0.1 to 60 seconds"
        )),
    }
}

fn parse(text: &str, base: f64) -> Option<u64> {
    let (number, power) = match text.char_indices().next_back()? {
        (at, 'k' | 'K') => (&text[..at], 1),
        (at, 'm' | 'M') => (&text[..at], 2),
        (at, 'g' | 'G') => (&text[..at], 3),
        (at, 't' | 'T') => (&text[..at], 4),
        _ => (text, 0),
    };
    if !number
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.')
    {
        return None;
    }
    let value = number.parse::<f64>().ok()? * base.powi(power);
    (0.0..1e18).contains(&value).then_some(value as u64)
}

/// The unit for printed rates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Bits, in the largest multiple that fits.
    #[default]
    Fitting,
    /// Bits, in a fixed multiple: k, m, g, t are 1 to 4.
    Bits(u8),
    /// Bytes, in a fixed multiple: K, M, G, T are 1 to 4.
    Bytes(u8),
}

const PREFIXES: [&str; 5] = ["", "K", "M", "G", "T"];

impl Format {
    /// Parses k, m, g, t (bits) or K, M, G, T (bytes).
    ///
    /// # Errors
    /// A sentence that lists the units.
    pub fn parse(text: &str) -> Result<Self, String> {
        let at = |letters: &str| letters.find(text).and_then(|at| u8::try_from(at + 1).ok());
        match (text.len(), at("kmgt"), at("KMGT")) {
            (1, Some(power), _) => Ok(Format::Bits(power)),
            (1, _, Some(power)) => Ok(Format::Bytes(power)),
            _ => Err(format!(
                "{text:?} is not a unit: k, m, g, t are bits, K, M, G, T bytes"
            )),
        }
    }

    /// Formats bytes per second as bits, for example `48.2 Mbits`.
    pub fn rate(self, bytes_per_second: f64) -> String {
        let (value, base, unit, power) = match self {
            Format::Fitting => (bytes_per_second * 8.0, 1000.0, "bits", None),
            Format::Bits(power) => (bytes_per_second * 8.0, 1000.0, "bits", Some(power)),
            Format::Bytes(power) => (bytes_per_second, 1024.0, "Bytes", Some(power)),
        };
        amount(value, base, unit, power.map(usize::from))
    }
}

/// Formats bytes, for example `6.00 MBytes`.
pub fn bytes(count: u64) -> String {
    amount(count as f64, 1024.0, "Bytes", None)
}

fn amount(value: f64, base: f64, unit: &str, power: Option<usize>) -> String {
    let (mut value, mut reached) = (if value.is_finite() { value } else { 0.0 }, 0);
    let wanted = power.unwrap_or(PREFIXES.len() - 1);
    while reached < wanted && (power.is_some() || value >= base) {
        value /= base;
        reached += 1;
    }
    // Show three digits in four columns.
    let digits = match value {
        value if value < 9.995 => format!("{value:4.2}"),
        value if value < 99.95 => format!("{value:4.1}"),
        value => format!("{value:4.0}"),
    };
    let prefix = PREFIXES.get(reached).copied().unwrap_or_default();
    format!("{digits} {prefix}{unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_parsed_with_their_multiples() {
        assert_eq!(parse_bytes("128K"), Ok(131_072));
        assert_eq!(parse_bytes("1.5m"), Ok(1_572_864));
        assert_eq!(parse_rate("50M"), Ok((50_000_000, 0)));
        assert_eq!(parse_rate("1g/8"), Ok((1_000_000_000, 8)));
        for bad in ["", "K", "-1", "1e9", "5x", "é", "99999999T"] {
            assert!(parse_bytes(bad).is_err(), "{bad}");
            assert!(parse_rate(bad).is_err(), "{bad}");
        }
        assert!(parse_rate("1M/x").is_err());
    }

    #[test]
    fn amounts_are_formatted_with_three_digits() {
        assert_eq!(bytes(0), "0.00 Bytes");
        assert_eq!(bytes(6 << 20), "6.00 MBytes");
        assert_eq!(bytes(262_144), " 256 KBytes");
        let fitting = Format::Fitting;
        assert_eq!(fitting.rate(50_331_648.0 / 8.0), "50.3 Mbits");
        assert_eq!(fitting.rate(125_000.0), "1.00 Mbits");
        assert_eq!(fitting.rate(124_999.9), "1000 Kbits");
        assert_eq!(
            Format::parse("m").map(|format| format.rate(1e9)),
            Ok("8000 Mbits".to_owned())
        );
        assert_eq!(
            Format::parse("M").map(|format| format.rate(1_048_576.0)),
            Ok("1.00 MBytes".to_owned())
        );
        assert!(
            Format::parse("x").is_err()
                && Format::parse("").is_err()
                && Format::parse("km").is_err()
        );
    }
}
