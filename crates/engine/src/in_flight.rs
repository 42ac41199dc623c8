use std::cell::Cell;
use std::time::Duration;

use plimsoll_units::Moment;

/// Iterations in flight on one worker between two moments. They are counted when iterations start
/// and end, independently of the durations that users record. So Little's law can check one against
/// the other.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct InFlightReading {
    /// When the interval starts.
    pub from: Moment,
    /// When the interval ends.
    pub until: Moment,
    /// The total time of all iterations. Divided by the length of the interval, this is the mean number
    /// of iterations in flight.
    pub total: Duration,
    /// The time of iterations that were interrupted, including time before this interval. They have no
    /// recorded duration.
    pub interrupted: Duration,
}

/// Integrates the number of iterations in flight on a worker over time.
#[derive(Debug, Default)]
pub(crate) struct InFlight {
    count: Cell<u64>,
    /// The moment up to which the total is complete.
    settled: Cell<Moment>,
    began: Cell<Moment>,
    nanos: Cell<u64>,
    interrupted: Cell<u64>,
}

impl InFlight {
    pub fn begin(&self, now: Moment) {
        self.settle(now);
        self.count.set(self.count.get() + 1);
    }

    pub fn end(&self, now: Moment) {
        self.settle(now);
        self.count.set(self.count.get().saturating_sub(1));
    }

    /// Records that the iteration that just ended was interrupted after this time.
    pub fn interrupt(&self, lasted: Duration) {
        let nanos = lasted.as_nanos() as u64;
        self.interrupted.set(self.interrupted.get() + nanos);
    }

    /// The measurement since the last call.
    pub fn take(&self, now: Moment) -> InFlightReading {
        self.settle(now);
        InFlightReading {
            from: self.began.replace(now),
            until: now,
            total: Duration::from_nanos(self.nanos.take()),
            interrupted: Duration::from_nanos(self.interrupted.take()),
        }
    }

    fn settle(&self, now: Moment) {
        let span = now.since(self.settled.replace(now)).as_nanos() as u64;
        // Saturating, because a worker that waits for a year with a million users would overflow.
        let added = span.saturating_mul(self.count.get());
        self.nanos.set(self.nanos.get().saturating_add(added));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Moment {
        Moment::from_nanos(millis * 1_000_000)
    }

    #[test]
    fn iterations_of_75_ms_at_100_per_second_have_7_5_in_flight() {
        let in_flight = InFlight::default();
        let mut events: Vec<(u64, bool)> = (0..200)
            .flat_map(|n| [(n * 10, true), (n * 10 + 75, false)])
            .collect();
        events.sort_unstable();
        let mut readings = Vec::new();
        for (millis, begins) in events {
            if readings.is_empty() && millis >= 1_000 {
                readings.push(in_flight.take(at(1_000)));
            }
            if begins {
                in_flight.begin(at(millis));
            } else {
                in_flight.end(at(millis));
            }
        }
        readings.push(in_flight.take(at(2_065)));
        // Fewer iterations run during the first 75 ms: 100 × 75 ms, minus the iterations that end after the
        // first second.
        assert_eq!(readings[0].total, Duration::from_millis(7_500 - 245));
        assert_eq!(readings[0].until, readings[1].from);
        let both = readings[0].total + readings[1].total;
        assert_eq!(both, Duration::from_millis(200 * 75));
    }

    #[test]
    fn interrupted_iterations_are_counted_separately() {
        let in_flight = InFlight::default();
        in_flight.begin(at(0));
        in_flight.end(at(40));
        in_flight.interrupt(Duration::from_millis(40));
        let reading = in_flight.take(at(100));
        assert_eq!(reading.total, Duration::from_millis(40));
        assert_eq!(reading.interrupted, Duration::from_millis(40));
        assert_eq!(in_flight.take(at(100)).interrupted, Duration::ZERO);
    }
}
