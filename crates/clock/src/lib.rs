//! The one monotonic clock.
//!
//! Every moment in a result comes from here, so that differences between any
//! two of them are meaningful. The origin is the first reading in the process.

use std::sync::OnceLock;
use std::time::Instant;

use plimsoll_units::Moment;

static ORIGIN: OnceLock<Instant> = OnceLock::new();

/// The present, in nanoseconds since the first call of this function in the
/// process. Never goes back. Costs one `clock_gettime` through the vDSO.
#[inline]
pub fn now() -> Moment {
    let origin = *ORIGIN.get_or_init(Instant::now);
    // A run of 584 years would be needed to overflow.
    Moment::from_nanos(origin.elapsed().as_nanos() as u64)
}
