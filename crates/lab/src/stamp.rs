//! Wall-clock time as text.

use std::time::{SystemTime, UNIX_EPOCH};

/// Now, as RFC 3339 in UTC, to the second.
pub fn now() -> String {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let seconds = i64::try_from(since.as_secs()).unwrap_or(i64::MAX);
    format!("{}Z", plimsoll_units::date_time(seconds))
}
