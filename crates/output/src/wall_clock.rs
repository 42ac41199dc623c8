//! Converts moments to dates.

use std::sync::LazyLock;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use plimsoll_units::{Moment, UtcOffset, date_time};

/// The local time zone. It is read once, because reading it takes time and needs more stack than a script's call has.
static LOCAL_ZONE: LazyLock<TimeZone> = LazyLock::new(TimeZone::system);

/// Reads the local time zone. Must be called before a script runs that may log a line.
pub fn read_local_zone() {
    LazyLock::force(&LOCAL_ZONE);
}

/// Relates the monotonic clock to the calendar. The calendar is read once, so that changing the system clock during a
/// test does not affect its samples.
#[derive(Clone, Copy, Debug)]
pub struct WallClock {
    /// The date of [`Moment::ZERO`].
    origin: SystemTime,
}

impl WallClock {
    /// The clock for which `moment` has the date `date`.
    pub fn reading(moment: Moment, date: SystemTime) -> WallClock {
        let since_origin = moment.since(Moment::ZERO);
        WallClock {
            origin: date.checked_sub(since_origin).unwrap_or(UNIX_EPOCH),
        }
    }

    pub fn date(self, moment: Moment) -> SystemTime {
        let since_origin = moment.since(Moment::ZERO);
        self.origin.checked_add(since_origin).unwrap_or(self.origin)
    }

    /// The offset of the local time zone from UTC at that moment, in seconds.
    pub fn local_offset(self, moment: Moment) -> i32 {
        // There are no time zones after the year 9999.
        Timestamp::try_from(self.date(moment)).map_or(0, |at| LOCAL_ZONE.to_offset(at).seconds())
    }
}

/// The time since 1970. Zero for earlier dates.
pub(crate) fn unix_time(date: SystemTime) -> Duration {
    date.duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// Formats as RFC 3339 with up to nanoseconds, without trailing zeros, at `offset` seconds east of UTC:
/// `2026-01-02T03:04:05.678901234+05:30`.
pub fn rfc3339_nanos(date: SystemTime, offset: i32) -> String {
    let mut text = String::with_capacity(35);
    DateWriter::new(offset, true).push(&mut text, date);
    text
}

/// Formats as RFC 3339 in whole seconds.
pub fn rfc3339(date: SystemTime, offset: i32) -> String {
    let mut text = String::with_capacity(25);
    DateWriter::new(offset, false).push(&mut text, date);
    text
}

/// Writes many dates with the same offset, most of which are in the same second as the previous date.
#[derive(Debug)]
pub(crate) struct DateWriter {
    offset: i32,
    nanos: bool,
    second: Option<u64>,
    /// The formatted date, up to the second.
    start: String,
    /// The formatted offset.
    end: String,
}

impl DateWriter {
    /// Whether dates have nanoseconds. Otherwise they are in whole seconds.
    pub fn new(offset: i32, nanos: bool) -> DateWriter {
        DateWriter {
            offset,
            nanos,
            second: None,
            start: String::new(),
            end: UtcOffset { seconds: offset }.to_string(),
        }
    }

    pub fn push(&mut self, out: &mut String, date: SystemTime) {
        let since = unix_time(date);
        if self.second != Some(since.as_secs()) {
            self.second = Some(since.as_secs());
            let local = since.as_secs() as i64 + i64::from(self.offset);
            self.start = date_time(local).to_string();
        }
        out.push_str(&self.start);
        if self.nanos && since.subsec_nanos() > 0 {
            push_fraction(out, since.subsec_nanos());
        }
        out.push_str(&self.end);
    }
}

/// Writes a decimal point and nine digits, without trailing zeros.
fn push_fraction(out: &mut String, nanos: u32) {
    out.push('.');
    let (mut rest, mut scale) = (nanos, 100_000_000);
    while rest > 0 && scale > 0 {
        out.push(char::from(b'0' + (rest / scale % 10) as u8));
        rest %= scale;
        scale /= 10;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64, nanos: u32) -> SystemTime {
        UNIX_EPOCH + Duration::new(seconds, nanos)
    }

    #[test]
    fn dates_follow_rfc_3339() {
        assert_eq!(rfc3339_nanos(at(0, 0), 0), "1970-01-01T00:00:00Z");
        assert_eq!(
            rfc3339_nanos(at(1_795_233_591, 634_106_540), 19_800),
            "2026-11-21T09:29:51.63410654+05:30"
        );
        assert_eq!(
            rfc3339_nanos(at(951_827_696, 5), -12_600),
            "2000-02-29T09:04:56.000000005-03:30"
        );
        assert_eq!(rfc3339(at(951_827_696, 5), 0), "2000-02-29T12:34:56Z");
        assert_eq!(rfc3339(at(4_107_542_399, 0), 0), "2100-02-28T23:59:59Z");
        assert_eq!(rfc3339(at(4_107_542_400, 0), 0), "2100-03-01T00:00:00Z");
    }

    #[test]
    fn moments_keep_their_distance_as_dates() {
        let clock = WallClock::reading(Moment::from_nanos(500), at(1_000, 0));
        assert_eq!(clock.date(Moment::from_nanos(500)), at(1_000, 0));
        assert_eq!(clock.date(Moment::from_nanos(1_500)), at(1_000, 1_000));
        assert_eq!(clock.date(Moment::ZERO), at(999, 999_999_500));
    }
}
