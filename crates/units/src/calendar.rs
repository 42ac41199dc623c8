//! Converts between dates of the Gregorian calendar and seconds or days since 1970.

use std::fmt;

use jiff::SignedDuration;
use jiff::civil::{self, Date, DateTime};

const START_OF_1970: Date = civil::date(1970, 1, 1);

/// The date and time in UTC at `seconds` since 1970, displayed as `2026-11-21T09:54:07`. The caller
/// appends `Z` or an offset. Clamped to the years -9999 to 9999.
pub fn date_time(seconds: i64) -> DateTime {
    DateTime::from(START_OF_1970).saturating_add(SignedDuration::from_secs(seconds))
}

/// The days since 1970-01-01, or `None` if the date does not exist.
pub fn days_since_1970(year: i64, month: i64, day: i64) -> Option<i64> {
    let date = Date::new(
        i16::try_from(year).ok()?,
        i8::try_from(month).ok()?,
        i8::try_from(day).ok()?,
    );
    Some(date.ok()?.duration_since(START_OF_1970).as_secs() / 86_400)
}

/// The offset at the end of a date in RFC 3339: `Z`, or an offset from UTC such as `+05:30`.
#[derive(Clone, Copy, Debug)]
pub struct UtcOffset {
    /// Seconds east of UTC.
    pub seconds: i32,
}

impl fmt::Display for UtcOffset {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.seconds == 0 {
            return to.write_str("Z");
        }
        let sign = if self.seconds < 0 { '-' } else { '+' };
        let minutes = self.seconds.unsigned_abs() / 60;
        write!(to, "{sign}{:02}:{:02}", minutes / 60, minutes % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_moments() {
        let written = |seconds| date_time(seconds).to_string();
        assert_eq!(written(0), "1970-01-01T00:00:00");
        assert_eq!(written(-1), "1969-12-31T23:59:59");
        assert_eq!(written(951_827_696), "2000-02-29T12:34:56");
        assert_eq!(written(1_735_689_599), "2024-12-31T23:59:59");
        assert_eq!(written(-62_135_596_800), "0001-01-01T00:00:00");
        assert_eq!(written(253_402_300_799), "9999-12-31T23:59:59");
        assert!(written(i64::MAX).starts_with("9999-12-31T23:59:59"));
    }

    #[test]
    fn days_are_those_of_the_moments() {
        for day in (-700_000..2_900_000).step_by(997) {
            let date = date_time(day * 86_400).date();
            let (year, month) = (i64::from(date.year()), i64::from(date.month()));
            assert_eq!(days_since_1970(year, month, date.day().into()), Some(day));
        }
        assert_eq!(days_since_1970(2100, 2, 29), None);
        assert_eq!(days_since_1970(2026, 13, 1), None);
        assert_eq!(days_since_1970(1 << 40, 1, 1), None);
    }

    #[test]
    fn offsets_have_hours_and_minutes() {
        let written = |seconds| UtcOffset { seconds }.to_string();
        assert_eq!(written(0), "Z");
        assert_eq!(written(19_800), "+05:30");
        assert_eq!(written(-12_600), "-03:30");
    }
}
