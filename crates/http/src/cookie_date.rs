use std::time::{Duration, SystemTime};

use plimsoll_units::days_since_1970;

/// Parses the date of an `Expires` attribute with the lenient algorithm of RFC 6265, section 5.1.1:
/// tokens in any order. `None` if the text is not a date. Dates before 1970 become 1970.
pub fn parse_date(text: &str) -> Option<SystemTime> {
    let (mut time, mut day, mut month, mut year) = (None, None, None, None);
    let tokens = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == ':'));
    for token in tokens.filter(|token| !token.is_empty()) {
        if time.is_none()
            && let Some(found) = parse_time(token)
        {
            time = Some(found);
        } else if day.is_none()
            && let Some(found) = leading_number(token, 1, 2)
        {
            day = Some(found);
        } else if month.is_none()
            && let Some(found) = parse_month(token)
        {
            month = Some(found);
        } else if year.is_none()
            && let Some(found) = leading_number(token, 2, 4)
        {
            year = Some(found);
        }
    }
    let (hour, minute, second) = time?;
    let (day, month) = (day?, month?);
    let year = match year? {
        short @ 70..=99 => short + 1900,
        short @ 0..=69 => short + 2000,
        full => full,
    };
    if year < 1601 || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let days = days_since_1970(year.into(), month.into(), day.into())?;
    let seconds = days * 86_400 + i64::from(hour * 3600 + minute * 60 + second);
    let after = Duration::from_secs(u64::try_from(seconds).unwrap_or(0));
    SystemTime::UNIX_EPOCH.checked_add(after)
}

fn parse_time(token: &str) -> Option<(u32, u32, u32)> {
    let mut parts = token.splitn(3, ':');
    let mut next = || leading_number(parts.next()?, 1, 2);
    Some((next()?, next()?, next()?))
}

fn leading_number(token: &str, least: usize, most: usize) -> Option<u32> {
    let digits = token.bytes().take_while(u8::is_ascii_digit).count();
    if !(least..=most).contains(&digits) {
        return None;
    }
    token.get(..digits)?.parse().ok()
}

fn parse_month(token: &str) -> Option<u32> {
    const MONTHS: [&str; 12] = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ];
    let start = token.get(..3)?.to_ascii_lowercase();
    let at = MONTHS.iter().position(|month| *month == start)?;
    u32::try_from(at + 1).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_three_standard_formats_and_unusual_ones_are_parsed() {
        let seconds = |text: &str| {
            let at = parse_date(text)?;
            Some(at.duration_since(SystemTime::UNIX_EPOCH).ok()?.as_secs())
        };
        assert_eq!(seconds("Sun, 06 Nov 1994 08:49:37 GMT"), Some(784_111_777));
        assert_eq!(seconds("Sunday, 06-Nov-94 08:49:37 GMT"), Some(784_111_777));
        assert_eq!(seconds("Sun Nov  6 08:49:37 1994"), Some(784_111_777));
        assert_eq!(seconds("29 Feb 2024 00:00:00"), Some(1_709_164_800));
        assert_eq!(seconds("01 Jan 1960 00:00:00"), Some(0));
        assert_eq!(seconds("tomorrow"), None);
        assert_eq!(seconds("32 Jan 2020 00:00:00"), None);
        assert_eq!(seconds("30 Feb 2024 00:00:00"), None);
        assert_eq!(seconds("1 Jan 2020 25:00:00"), None);
    }
}
