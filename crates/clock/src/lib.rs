//! The process's monotonic clock.
//!
//! Every timestamp in a result is from this clock, so differences between any two of them are
//! meaningful. The first reading in the process is the origin.

use std::sync::OnceLock;

use plimsoll_units::Moment;

static ORIGIN: OnceLock<u64> = OnceLock::new();

/// The current time, in nanoseconds since the first call of this function in the process. It never
/// goes back. A call costs one `clock_gettime` through the vDSO.
#[inline]
pub fn now() -> Moment {
    let reading = nanoseconds();
    let origin = *ORIGIN.get_or_init(|| reading);
    Moment::from_nanos(reading.saturating_sub(origin))
}

/// `Instant` has the same clock, but its arithmetic takes more instructions than the reading, and a
/// request needs several readings. Overflows only after 584 years of uptime.
#[cfg(target_os = "linux")]
#[inline]
fn nanoseconds() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(not(target_os = "linux"))]
fn nanoseconds() -> u64 {
    use std::time::Instant;

    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64
}
