//! The times of requests that the verdict is based on.

use std::time::Duration;

use plimsoll_units::Bytes;

/// The times of all requests.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ServiceTimes {
    /// Number of requests.
    pub count: u64,
    /// Sum of the service times.
    pub total: Duration,
    /// The shortest service time.
    pub least: Duration,
    /// The 10th percentile of the service times.
    pub p10: Duration,
    pub median: Duration,
    /// Number of slow requests: longer than [`ServiceTimes::slow_from`] of the median.
    pub slow: u64,
    /// Sum of the service times of slow requests.
    pub slow_total: Duration,
    /// Sum of the times spent sending and receiving.
    pub moving: Duration,
    /// Bytes sent and received.
    pub bytes: Bytes,
    /// Maximum number of users in a closed model, or `None` in an open model.
    pub closed_users: Option<u32>,
    /// The duration of the run.
    pub elapsed: Duration,
}

/// A request is slow if it takes longer than both this time and this multiple of the median.
const SLOW: Duration = Duration::from_millis(500);
const SLOW_MEDIANS: u32 = 10;

impl ServiceTimes {
    /// The service time above which a request is slow.
    pub fn slow_from(median: Duration) -> Duration {
        SLOW.max(median.saturating_mul(SLOW_MEDIANS))
    }
}
