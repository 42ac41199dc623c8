//! Dates with nanoseconds, as in vegeta's results.

use std::fmt;
use std::time::Duration;

use plimsoll_units::{UtcOffset, date_time, days_since_1970};

/// A date and time with nanoseconds, and the UTC offset that it was written with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Date {
    /// Since 1970 in UTC.
    seconds: i64,
    nanos: u32,
    /// Minutes east of UTC.
    offset: i16,
}

/// The first second of the year 1, which represents a missing date.
const YEAR_ONE: i64 = -62_135_596_800;
/// The last second of the year 9999, because years have four digits.
const YEAR_9999: i64 = 253_402_300_799;
const DAY: i64 = 86_400;

impl Default for Date {
    fn default() -> Self {
        Date {
            seconds: YEAR_ONE,
            nanos: 0,
            offset: 0,
        }
    }
}

/// Orders by time. The offset only affects how the date is written.
impl Ord for Date {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.seconds, self.nanos).cmp(&(other.seconds, other.nanos))
    }
}

impl PartialOrd for Date {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Date {
    /// The date at this many nanoseconds after the start of 1970, in UTC.
    pub fn from_unix_nanos(nanos: i64) -> Date {
        Date {
            seconds: nanos.div_euclid(1_000_000_000),
            nanos: nanos.rem_euclid(1_000_000_000) as u32,
            offset: 0,
        }
    }

    /// Nanoseconds since the start of 1970. A date before 1678 or after 2262 wraps around, as in
    /// Go.
    pub fn unix_nanos(self) -> i64 {
        self.seconds
            .wrapping_mul(1_000_000_000)
            .wrapping_add(i64::from(self.nanos))
    }

    /// The date plus `span`, limited to the end of the calendar.
    pub fn plus(self, span: Duration) -> Date {
        let nanos = self.nanos + span.subsec_nanos();
        let seconds = i64::try_from(span.as_secs()).unwrap_or(i64::MAX);
        let seconds = self
            .seconds
            .saturating_add(seconds)
            .saturating_add(i64::from(nanos / 1_000_000_000));
        Date {
            seconds: seconds.min(YEAR_9999),
            nanos: nanos % 1_000_000_000,
            offset: self.offset,
        }
    }

    /// The time since `earlier`. Zero if that date is not earlier.
    pub fn since(self, earlier: Date) -> Duration {
        let nanos = (i128::from(self.seconds) - i128::from(earlier.seconds)) * 1_000_000_000
            + i128::from(self.nanos)
            - i128::from(earlier.nanos);
        let nanos = nanos.clamp(0, i128::from(i64::MAX));
        Duration::from_nanos(nanos as u64)
    }

    /// Parses RFC 3339, such as `2026-01-02T03:04:05.678901234+05:30`.
    pub fn parse(text: &str) -> Option<Date> {
        let bytes = text.as_bytes();
        let number = |range: std::ops::Range<usize>| -> Option<i64> {
            let digits = bytes.get(range)?;
            digits.iter().all(u8::is_ascii_digit).then_some(())?;
            std::str::from_utf8(digits).ok()?.parse().ok()
        };
        let at =
            |place: usize, wanted: &[u8]| bytes.get(place).filter(|byte| wanted.contains(byte));
        at(4, b"-")?;
        at(7, b"-")?;
        at(10, b"Tt ")?;
        at(13, b":")?;
        at(16, b":")?;
        let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
        let (hour, minute, second) = (number(11..13)?, number(14..16)?, number(17..19)?);
        let day = days_since_1970(year, month, day)?;
        (hour < 24 && minute < 60 && second < 61).then_some(())?;
        let rest = bytes.get(19..)?;
        let digits = match rest.strip_prefix(b".") {
            Some(fraction) => fraction.iter().take_while(|b| b.is_ascii_digit()).count(),
            None => 0,
        };
        let (mut nanos, mut worth) = (0, 100_000_000);
        for digit in rest.iter().skip(1).take(digits) {
            nanos += u32::from(digit - b'0') * worth;
            worth /= 10;
        }
        let zone = rest.get(if digits > 0 { digits + 1 } else { 0 }..)?;
        let offset = match zone {
            b"Z" | b"z" => 0,
            [sign @ (b'+' | b'-'), _, _, b':', _, _] => {
                let from = bytes.len() - 5;
                let (hours, minutes) = (number(from..from + 2)?, number(from + 3..from + 5)?);
                let minutes = hours * 60 + minutes;
                (minutes < 24 * 60).then_some(())?;
                if *sign == b'-' { -minutes } else { minutes }
            }
            _ => return None,
        };
        let seconds = day * DAY + hour * 3600 + minute * 60 + second - offset * 60;
        Some(Date {
            seconds,
            nanos,
            offset: i16::try_from(offset).ok()?,
        })
    }
}

/// RFC 3339 with up to nine decimal places, without trailing zeros.
impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let local = self.seconds + i64::from(self.offset) * 60;
        write!(f, "{}", date_time(local))?;
        if self.nanos > 0 {
            let digits = format!("{:09}", self.nanos);
            write!(f, ".{}", digits.trim_end_matches('0'))?;
        }
        let seconds = i32::from(self.offset) * 60;
        write!(f, "{}", UtcOffset { seconds })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn dates_are_read_and_written_as_go_does() {
        for text in [
            "0001-01-01T00:00:00Z",
            "2026-11-21T09:53:01.5+01:00",
            "2026-11-21T09:53:01.187969399Z",
            "2024-02-29T23:59:59.00000001-03:30",
        ] {
            assert_eq!(Date::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(Date::default().to_string(), "0001-01-01T00:00:00Z");
        let date = Date::parse("2026-11-21T09:53:01.228463214Z").unwrap();
        assert_eq!(date.unix_nanos(), 1_795_254_781_228_463_214);
    }

    #[test]
    fn an_invalid_date_is_refused() {
        for text in [
            "",
            "2026-11-21",
            "2025-02-29T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-01-01T00:00:00",
            "2026-01-01T00:00:00.Z",
            "2026-01-01T00:00:00+1:00",
            "+026-01-01T00:00:00Z",
            "２026-01-01T00:00:00Z",
        ] {
            assert_eq!(Date::parse(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_date_survives_a_round_trip(nanos: i64) {
            let date = Date::from_unix_nanos(nanos);
            prop_assert_eq!(date.unix_nanos(), nanos);
            prop_assert_eq!(Date::parse(&date.to_string()), Some(date));
        }
    }
}
