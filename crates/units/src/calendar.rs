//! Dates of the Gregorian calendar, and their day numbers.

use std::fmt;

const DAY: i64 = 86_400;

/// A date of the proleptic Gregorian calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CivilDate {
    /// The year; 0 is 1 BC.
    pub year: i64,
    /// 1 to 12.
    pub month: i64,
    /// 1 to 31.
    pub day: i64,
}

impl CivilDate {
    /// The date of a day counted from 1970-01-01: `civil_from_days` of Howard Hinnant,
    /// "chrono-Compatible Low-Level Date Algorithms"
    /// (<https://howardhinnant.github.io/date_algorithms.html>).
    pub fn of_day(day: i64) -> CivilDate {
        // In years that begin in March, the leap day is the last day; 400 years have 146,097 days.
        let shifted = day.saturating_add(719_468);
        let era = shifted.div_euclid(146_097);
        let day_of_era = shifted.rem_euclid(146_097);
        let year_of_era =
            (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let from_march = (5 * day_of_year + 2) / 153;
        let month = (from_march + 2) % 12 + 1;
        CivilDate {
            year: year_of_era + era * 400 + i64::from(month <= 2),
            month,
            day: day_of_year - (153 * from_march + 2) / 5 + 1,
        }
    }

    /// The reverse: `days_from_civil` in the same article. A day after the end of its month
    /// continues into the next month.
    pub fn days_since_1970(self) -> i64 {
        let year = self.year - i64::from(self.month <= 2);
        let era = year.div_euclid(400);
        let year_of_era = year.rem_euclid(400);
        let day_of_year = (153 * ((self.month + 9).rem_euclid(12)) + 2) / 5 + self.day - 1;
        let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
        era * 146_097 + day_of_era - 719_468
    }
}

/// A date with a time in seconds, without an offset. Displayed as `2026-11-21T09:54:07`; the caller
/// appends `Z` or an offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CivilTime {
    /// The date.
    pub date: CivilDate,
    /// 0 to 23.
    pub hour: i64,
    /// 0 to 59.
    pub minute: i64,
    /// 0 to 59; there are no leap seconds in Unix time.
    pub second: i64,
}

impl CivilTime {
    /// From seconds since 1970-01-01T00:00:00.
    pub fn of_unix(seconds: i64) -> CivilTime {
        let clock = seconds.rem_euclid(DAY);
        CivilTime {
            date: CivilDate::of_day(seconds.div_euclid(DAY)),
            hour: clock / 3_600,
            minute: clock / 60 % 60,
            second: clock % 60,
        }
    }
}

impl fmt::Display for CivilTime {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let CivilTime {
            date: CivilDate { year, month, day },
            hour,
            minute,
            second,
        } = self;
        write!(
            to,
            "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_moments() {
        let written = |seconds| CivilTime::of_unix(seconds).to_string();
        assert_eq!(written(0), "1970-01-01T00:00:00");
        assert_eq!(written(-1), "1969-12-31T23:59:59");
        assert_eq!(written(951_827_696), "2000-02-29T12:34:56");
        assert_eq!(written(1_735_689_599), "2024-12-31T23:59:59");
        assert_eq!(written(-62_135_596_800), "0001-01-01T00:00:00");
        assert_eq!(written(253_402_300_799), "9999-12-31T23:59:59");
    }

    #[test]
    fn every_day_of_800_years_is_one_after_the_day_before() {
        let mut before = CivilDate::of_day(-150_001);
        for day in -150_000..150_000 {
            let date = CivilDate::of_day(day);
            assert!(before < date, "{before:?} {date:?}");
            assert_eq!(date.days_since_1970(), day);
            before = date;
        }
    }
}
