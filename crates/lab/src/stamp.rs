//! Wall-clock time as text.

use std::time::{SystemTime, UNIX_EPOCH};

/// Now, as RFC 3339 in UTC, to the second.
pub fn now() -> String {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    of_seconds(since.as_secs())
}

/// Days to a date after Howard Hinnant's "chrono-compatible low-level date algorithms".
fn of_seconds(seconds: u64) -> String {
    let (days, time) = (seconds / 86_400 + 719_468, seconds % 86_400);
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 {
        shifted + 3
    } else {
        shifted - 9
    };
    let year = year + era * 400 + u64::from(month <= 2);
    let (hour, minute, second) = (time / 3600, time / 60 % 60, time % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_moments() {
        assert_eq!(of_seconds(0), "1970-01-01T00:00:00Z");
        assert_eq!(of_seconds(951_827_696), "2000-02-29T12:34:56Z");
        assert_eq!(of_seconds(1_735_689_599), "2024-12-31T23:59:59Z");
    }
}
