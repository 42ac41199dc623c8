//! The times of requests, as far as the verdict needs them.

use std::time::Duration;

use plimsoll_units::Bytes;

/// The times of all requests.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ServiceTimes {
    /// Number of requests.
    pub count: u64,
    /// Sum of their service times.
    pub total: Duration,
    /// The quickest.
    pub least: Duration,
    /// The 10th percentile.
    pub p10: Duration,
    /// The median.
    pub median: Duration,
    /// Number of slow requests: longer than [`ServiceTimes::slow_from`] of the median.
    pub slow: u64,
    /// Sum of the service times of slow requests.
    pub slow_total: Duration,
    /// Sum of the times of sending and receiving alone.
    pub moving: Duration,
    /// Bytes sent and received.
    pub bytes: Bytes,
    /// Highest number of users of a closed model; `None` in an open model.
    pub closed_users: Option<u32>,
    /// Length of the run.
    pub elapsed: Duration,
}

/// A request is slow if it takes longer than both: this, and this number of medians.
const SLOW: Duration = Duration::from_millis(500);
const SLOW_MEDIANS: u32 = 10;

impl ServiceTimes {
    /// The service time above which a request is slow.
    pub fn slow_from(median: Duration) -> Duration {
        SLOW.max(median.saturating_mul(SLOW_MEDIANS))
    }
}
