use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use plimsoll_units::Moment;

/// A token bucket with a burst of 1 for all users and workers, which implements the option `rps`.
/// Its complete state is the time from which the next request may start.
#[derive(Debug)]
pub struct RateLimit {
    interval: u64,
    free_from: AtomicU64,
}

impl RateLimit {
    /// A limit of `per_second` requests per second. Zero counts as one.
    pub fn new(per_second: u32) -> Self {
        RateLimit {
            interval: 1_000_000_000 / u64::from(per_second.max(1)),
            free_from: AtomicU64::new(0),
        }
    }

    /// Reserves the next slot in the queue and returns its time.
    fn reserve(&self, now: Moment) -> Moment {
        let now = now.as_nanos();
        let mut seen = self.free_from.load(Ordering::Relaxed);
        loop {
            let mine = seen.max(now);
            match self.free_from.compare_exchange_weak(
                seen,
                mine.saturating_add(self.interval),
                Ordering::Relaxed,
                Ordering::Relaxed,
            ) {
                Ok(_) => return Moment::from_nanos(mine),
                Err(other) => seen = other,
            }
        }
    }

    /// Waits for a slot.
    pub async fn wait(&self) {
        let now = plimsoll_clock::now();
        let wait = self.reserve(now).since(now);
        if wait > Duration::ZERO {
            tokio::time::sleep(wait).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_one_interval_apart_and_idle_time_does_not_accumulate() {
        let limit = RateLimit::new(10);
        let at = Moment::from_nanos;
        let second = 1_000_000_000;
        assert_eq!(limit.reserve(at(second)), at(second));
        assert_eq!(limit.reserve(at(second)), at(second + second / 10));
        assert_eq!(limit.reserve(at(second)), at(second + second / 5));
        assert_eq!(limit.reserve(at(9 * second)), at(9 * second));
        assert_eq!(limit.reserve(at(9 * second)), at(9 * second + second / 10));
    }
}
