//! Durations as users write them in scripts, and as k6 prints them.
//!
//! The notation is that of Go (`1m30s`, `1.5h`, `300ms`, `10us`), optionally preceded by whole days
//! (`1d12h`). A bare number is in milliseconds. The limits are also those of Go: a duration that
//! exceeds a signed 64-bit number of nanoseconds, about 292 years, is an error and does not wrap
//! around.

use std::fmt;
use std::time::Duration;

/// The longest duration that the notation can express.
pub const LONGEST: Duration = Duration::from_nanos(i64::MAX as u64);

const NANOS_PER_DAY: u128 = 86_400_000_000_000;

/// The last accepted form in the messages of [`ParseError`].
const BARE_FORM: &str = " or 300 (milliseconds)";

/// Why a string is not a valid duration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParseError {
    /// The string is empty.
    Empty,
    /// The string does not follow the notation.
    Invalid(String),
    /// A number has no known unit.
    MissingUnit(String),
    /// The unit is unknown: the string, then the unit.
    UnknownUnit(String, String),
    /// The duration is negative.
    Negative(String),
    /// The duration exceeds [`LONGEST`].
    TooLong(String),
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const HINT: &str = "write it like \"1m30s\", \"1.5h\", \"300ms\", \"1d12h\"";
        match self {
            ParseError::Empty => write!(f, "a duration is missing: {HINT}{BARE_FORM}"),
            ParseError::Invalid(text) => {
                write!(f, "\"{text}\" is not a duration: {HINT}{BARE_FORM}")
            }
            ParseError::MissingUnit(text) => {
                write!(
                    f,
                    "duration \"{text}\" has a number without a unit: {HINT}{BARE_FORM}"
                )
            }
            ParseError::UnknownUnit(text, unit) => write!(
                f,
                "duration \"{text}\" has the unknown unit \"{unit}\": use ns, us, ms, s, m, h or d"
            ),
            ParseError::Negative(text) => {
                write!(
                    f,
                    "duration \"{text}\" is negative: it must be zero or more"
                )
            }
            ParseError::TooLong(text) => {
                write!(f, "duration \"{text}\" is longer than 292 years")
            }
        }
    }
}

impl std::error::Error for ParseError {}

/// The part of the input that an error message repeats: enough to identify it.
fn excerpt(text: &str) -> String {
    const SHOWN: usize = 40;
    if text.chars().count() <= SHOWN {
        return text.to_owned();
    }
    let mut cut: String = text.chars().take(SHOWN).collect();
    cut.push('…');
    cut
}

/// Parses a duration: `1m30s`, `1.5h`, `1d12h`, or a bare number of milliseconds such as `300` and `1.5`.
///
/// # Errors
/// Returns an error if the string does not follow the notation, is negative, or is too long.
pub fn parse(text: &str) -> Result<Duration, ParseError> {
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return Err(ParseError::Empty);
    }
    if is_plain_number(trimmed) {
        return match trimmed.parse::<f64>() {
            Ok(millis) => from_millis(millis),
            Err(_) => Err(ParseError::Invalid(excerpt(text))),
        };
    }
    let (negative, rest) = match trimmed.as_bytes().first() {
        Some(b'-') => (true, &trimmed[1..]),
        Some(b'+') => (false, &trimmed[1..]),
        _ => (false, trimmed),
    };
    let (days, rest) = split_days(rest).map_err(|e| e.about(text))?;
    let mut nanos = days;
    if !rest.is_empty() {
        nanos += parse_units(rest).map_err(|e| e.about(text))?;
    } else if days == 0 && !trimmed.contains('d') {
        return Err(ParseError::Invalid(excerpt(text)));
    }
    if nanos > LONGEST.as_nanos() {
        return Err(ParseError::TooLong(excerpt(text)));
    }
    if negative && nanos > 0 {
        return Err(ParseError::Negative(excerpt(text)));
    }
    // The comparison above ensures that this fits into 64 bits.
    Ok(Duration::from_nanos(nanos as u64))
}

/// Converts a number of milliseconds, the unit of bare numbers in scripts. Fractions of a
/// nanosecond are cut off.
///
/// # Errors
/// Returns an error if the number is negative, not finite, or too large.
pub fn from_millis(millis: f64) -> Result<Duration, ParseError> {
    let nanos = millis * 1e6;
    if !nanos.is_finite() {
        return Err(ParseError::TooLong(millis.to_string()));
    }
    if nanos <= -1.0 {
        return Err(ParseError::Negative(millis.to_string()));
    }
    if nanos >= i64::MAX as f64 {
        return Err(ParseError::TooLong(excerpt(&millis.to_string())));
    }
    Ok(Duration::from_nanos(nanos as u64))
}

/// The inner errors, which the caller completes with the whole string.
enum Fault {
    Invalid,
    MissingUnit,
    UnknownUnit(String),
    TooLong,
}

impl Fault {
    fn about(self, text: &str) -> ParseError {
        let text = excerpt(text);
        match self {
            Fault::Invalid => ParseError::Invalid(text),
            Fault::MissingUnit => ParseError::MissingUnit(text),
            Fault::UnknownUnit(unit) => ParseError::UnknownUnit(text, excerpt(&unit)),
            Fault::TooLong => ParseError::TooLong(text),
        }
    }
}

fn is_plain_number(text: &str) -> bool {
    // `f64::from_str` also accepts "inf" and "nan", which are not durations.
    text.bytes()
        .all(|b| matches!(b, b'0'..=b'9' | b'.' | b'-' | b'+' | b'e' | b'E'))
        && text.parse::<f64>().is_ok()
}

/// Splits `1d12h` into the days in nanoseconds and `12h`.
fn split_days(text: &str) -> Result<(u128, &str), Fault> {
    let Some((days, rest)) = text.split_once('d') else {
        return Ok((0, text));
    };
    if days.is_empty() || !days.bytes().all(|b| b.is_ascii_digit()) {
        return Err(Fault::Invalid);
    }
    let days: u128 = days.parse().map_err(|_| Fault::TooLong)?;
    let nanos = days.checked_mul(NANOS_PER_DAY).ok_or(Fault::TooLong)?;
    if nanos > LONGEST.as_nanos() {
        return Err(Fault::TooLong);
    }
    Ok((nanos, rest))
}

/// Sums up a sequence of `number unit` pairs in nanoseconds.
fn parse_units(text: &str) -> Result<u128, Fault> {
    let mut rest = text;
    let mut total: u128 = 0;
    while !rest.is_empty() {
        let (whole, after) = split_while(rest, |c| c.is_ascii_digit());
        let (fraction, after) = match after.strip_prefix('.') {
            Some(after) => split_while(after, |c| c.is_ascii_digit()),
            None => ("", after),
        };
        if whole.is_empty() && fraction.is_empty() {
            return Err(Fault::Invalid);
        }
        let (unit, after) = split_while(after, |c| c != '.' && !c.is_ascii_digit());
        if unit.is_empty() {
            return Err(Fault::MissingUnit);
        }
        let scale: u128 = match unit {
            "ns" => 1,
            // Both the micro sign and the Greek letter mu are in use.
            "us" | "µs" | "μs" => 1_000,
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            "m" => 60_000_000_000,
            "h" => 3_600_000_000_000,
            _ => return Err(Fault::UnknownUnit(unit.to_owned())),
        };
        total = total
            .checked_add(nanos_of(whole, fraction, scale)?)
            .ok_or(Fault::TooLong)?;
        if total > LONGEST.as_nanos() {
            return Err(Fault::TooLong);
        }
        rest = after;
    }
    Ok(total)
}

/// Computes `whole.fraction × scale`, with fractions of a nanosecond cut off.
fn nanos_of(whole: &str, fraction: &str, scale: u128) -> Result<u128, Fault> {
    let whole: u128 = if whole.is_empty() {
        0
    } else {
        whole.parse().map_err(|_| Fault::TooLong)?
    };
    let mut nanos = whole.checked_mul(scale).ok_or(Fault::TooLong)?;
    // Eighteen digits resolve every nanosecond of an hour. Further digits are far below a nanosecond.
    let (mut digits, mut power) = (0u128, 1u128);
    for digit in fraction.bytes().take(18) {
        digits = digits * 10 + u128::from(digit - b'0');
        power *= 10;
    }
    nanos = nanos
        .checked_add(digits * scale / power)
        .ok_or(Fault::TooLong)?;
    Ok(nanos)
}

fn split_while(text: &str, keep: impl Fn(char) -> bool) -> (&str, &str) {
    let end = text.find(|c| !keep(c)).unwrap_or(text.len());
    text.split_at(end)
}

/// Parses a duration from the command line, where a bare number is rejected: people mean seconds,
/// but [`parse`] reads milliseconds. Zero needs no unit.
///
/// # Errors
/// Returns a message with the error and the expected format.
pub fn parse_with_unit(text: &str) -> Result<Duration, String> {
    needs_unit(text)?;
    // The message of `parse` ends with the bare form, which is rejected here.
    parse(text).map_err(|error| error.to_string().replace(BARE_FORM, ""))
}

/// Rejects a bare number. A value on the command line needs a unit, because people mean seconds but
/// would get milliseconds.
///
/// # Errors
/// Returns a message with the expected format.
pub fn needs_unit(text: &str) -> Result<(), String> {
    let text = text.trim();
    match text.parse::<f64>() {
        Ok(number) if number != 0.0 => Err(format!(
            "{text} has no unit: write {text}s for seconds, {text}ms for milliseconds"
        )),
        _ => Ok(()),
    }
}

/// Formats a duration like Go does: `0s`, `100ns`, `1.5ms`, `2.05s`, `1m3s`, `1h0m0s`. [`parse`]
/// converts it back to the same value, up to [`LONGEST`].
pub fn format(span: Duration) -> String {
    let nanos = span.as_nanos();
    if nanos == 0 {
        return "0s".to_owned();
    }
    if nanos < 1_000 {
        return format!("{nanos}ns");
    }
    if nanos < 1_000_000 {
        return format!("{}µs", decimal(nanos, 1_000));
    }
    if nanos < 1_000_000_000 {
        return format!("{}ms", decimal(nanos, 1_000_000));
    }
    let minutes = nanos / 60_000_000_000;
    let seconds = decimal(nanos % 60_000_000_000, 1_000_000_000);
    match (minutes / 60, minutes % 60) {
        (0, 0) => format!("{seconds}s"),
        (0, minutes) => format!("{minutes}m{seconds}s"),
        (hours, minutes) => format!("{hours}h{minutes}m{seconds}s"),
    }
}

/// Formats a duration with its first three digits, such as `2.33ms`, for readers who do not need
/// the exact value. The remaining digits are cut off, so the result is never larger than the
/// measured value.
pub fn short(span: Duration) -> String {
    let nanos = span.as_nanos();
    let scale = 10_u128.pow(nanos.max(1).ilog10().saturating_sub(2));
    let kept = nanos / scale * scale;
    format(Duration::from_nanos(
        u64::try_from(kept).unwrap_or(u64::MAX),
    ))
}

/// Formats `amount / unit` with as many decimals as necessary. `unit` is a power of ten.
fn decimal(amount: u128, unit: u128) -> String {
    let (whole, part) = (amount / unit, amount % unit);
    if part == 0 {
        return whole.to_string();
    }
    let width = unit.ilog10() as usize;
    let digits = format!("{part:0width$}");
    format!("{whole}.{}", digits.trim_end_matches('0'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn nanos(text: &str) -> u128 {
        parse(text)
            .unwrap_or_else(|e| panic!("{text}: {e}"))
            .as_nanos()
    }

    #[test]
    fn a_short_duration_has_three_digits() {
        assert_eq!(short(Duration::from_nanos(2_333_047)), "2.33ms");
        assert_eq!(short(Duration::from_nanos(12_165_391)), "12.1ms");
        assert_eq!(short(Duration::from_nanos(97)), "97ns");
        assert_eq!(short(Duration::from_millis(63_500)), "1m3.5s");
        assert_eq!(short(Duration::ZERO), "0s");
    }

    #[test]
    fn reads_gos_notation() {
        assert_eq!(nanos("0"), 0);
        assert_eq!(nanos("10s"), 10_000_000_000);
        assert_eq!(nanos("1m30s"), 90_000_000_000);
        assert_eq!(nanos("1.5h"), 5_400_000_000_000);
        assert_eq!(nanos(".5s"), 500_000_000);
        assert_eq!(nanos("5.s"), 5_000_000_000);
        assert_eq!(nanos("1h15m30.918s"), 4_530_918_000_000);
        assert_eq!(nanos("10us"), 10_000);
        assert_eq!(nanos("10µs"), 10_000);
        assert_eq!(nanos("10μs"), 10_000);
        assert_eq!(nanos("52763797000ns"), 52_763_797_000);
        assert_eq!(nanos("0.3333333333333333333h"), 1_199_999_999_999);
        assert_eq!(nanos("-0s"), 0);
        assert_eq!(nanos("+5s"), 5_000_000_000);
    }

    #[test]
    fn reads_days_and_bare_milliseconds() {
        assert_eq!(nanos("1d"), 86_400_000_000_000);
        assert_eq!(nanos("1d12h"), 129_600_000_000_000);
        assert_eq!(nanos("300"), 300_000_000);
        assert_eq!(nanos("1.5"), 1_500_000);
        assert_eq!(nanos("1e3"), 1_000_000_000);
    }

    #[test]
    fn refuses_invalid_input() {
        assert_eq!(parse(""), Err(ParseError::Empty));
        assert!(matches!(parse("abc"), Err(ParseError::Invalid(_))));
        assert!(matches!(parse("1.5d"), Err(ParseError::Invalid(_))));
        assert!(matches!(parse("."), Err(ParseError::Invalid(_))));
        assert!(matches!(parse("1s5"), Err(ParseError::MissingUnit(_))));
        assert!(matches!(parse("1w"), Err(ParseError::UnknownUnit(_, _))));
        assert!(matches!(parse("-1s"), Err(ParseError::Negative(_))));
        assert!(matches!(parse("-5"), Err(ParseError::Negative(_))));
        assert!(matches!(parse("inf"), Err(ParseError::Invalid(_))));
        assert!(parse("1e400").is_err());
        assert!(matches!(parse("300000000h"), Err(ParseError::TooLong(_))));
        assert!(matches!(parse("9e99"), Err(ParseError::TooLong(_))));
        assert!(parse(&"9".repeat(100_000)).is_err());
        assert!(matches!(
            parse(&format!("{}d", "9".repeat(99))),
            Err(ParseError::TooLong(_))
        ));
    }

    #[test]
    fn an_error_names_the_text_and_a_fix() {
        let message = parse("10 seconds").unwrap_err().to_string();
        assert!(
            message.contains("10 seconds") && message.contains("1m30s"),
            "{message}"
        );
        let long = parse(&"x".repeat(5_000)).unwrap_err().to_string();
        assert!(long.len() < 300, "{}", long.len());
    }

    #[test]
    fn writes_as_go_does() {
        let cases = [
            (0, "0s"),
            (1, "1ns"),
            (1_100, "1.1µs"),
            (2_200_000, "2.2ms"),
            (3_300_000_000, "3.3s"),
            (245_000_000_000, "4m5s"),
            (245_001_000_000, "4m5.001s"),
            (18_367_001_000_000, "5h6m7.001s"),
            (480_000_000_001, "8m0.000000001s"),
            (3_600_000_000_000, "1h0m0s"),
            (86_400_000_000_000, "24h0m0s"),
        ];
        for (nanos, text) in cases {
            assert_eq!(format(Duration::from_nanos(nanos)), text);
        }
    }

    proptest! {
        #[test]
        fn displayed_durations_parse_to_the_same_value(nanos in 0..=i64::MAX as u64) {
            let span = Duration::from_nanos(nanos);
            prop_assert_eq!(parse(&format(span)), Ok(span));
        }

        #[test]
        fn any_text_gives_a_value_or_an_error(text in ".{0,40}") {
            let _ = parse(&text);
        }

        #[test]
        fn anything_like_a_duration_gives_a_value_or_an_error(text in "[-+]?[0-9.]{0,25}[dhmsnuµe.]{0,3}[0-9]{0,3}[a-z]{0,2}") {
            if let Ok(span) = parse(&text) {
                prop_assert!(span <= LONGEST);
            }
        }
    }
}
