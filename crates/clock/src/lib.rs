//! The process's monotonic clock.
//!
//! Every timestamp in a result is from this clock, so differences between any two of them are
//! meaningful. The first reading in the process is the origin.

use std::sync::OnceLock;
use std::time::Instant;

use plimsoll_units::Moment;

static ORIGIN: OnceLock<Instant> = OnceLock::new();

/// The current time, in nanoseconds since the first call of this function in the process. It never
/// goes back. A call costs one `clock_gettime` through the vDSO.
#[inline]
pub fn now() -> Moment {
    let origin = *ORIGIN.get_or_init(Instant::now);
    // Overflows only after 584 years.
    Moment::from_nanos(origin.elapsed().as_nanos() as u64)
}
