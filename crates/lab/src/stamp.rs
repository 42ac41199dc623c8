//! Wall-clock time as text.

use std::time::{SystemTime, UNIX_EPOCH};

/// The current time in UTC, formatted according to RFC 3339 with seconds.
pub fn now() -> String {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let seconds = i64::try_from(since.as_secs()).unwrap_or(i64::MAX);
    format!("{}Z", plimsoll_units::date_time(seconds))
}
