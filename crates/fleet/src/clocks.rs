//! Compares the clocks of an agent and the coordinator.

use std::time::Duration;

use plimsoll_units::Moment;

/// Number of exchanges after which the comparison is complete.
const NEEDED_EXCHANGES: u32 = 8;

/// The exchange with the shortest round trip so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClockComparison {
    exchanges: u32,
    /// The best exchange before the comparison was complete.
    best: Option<Exchange>,
    /// The latest good exchange after that.
    later: Option<Exchange>,
}

#[derive(Clone, Copy, Debug)]
struct Exchange {
    /// The round trip without the agent's processing time, in nanoseconds.
    round_trip: i128,
    /// The agent's clock minus the coordinator's, in nanoseconds.
    offset: i128,
}

impl ClockComparison {
    /// Adds an exchange: `sent` and `returned` in the coordinator's clock, `received` and `replied` in the agent's
    /// clock, all in nanoseconds.
    pub fn add(&mut self, sent: u64, received: u64, replied: u64, returned: u64) {
        let [sent, received, replied, returned] =
            [sent, received, replied, returned].map(i128::from);
        let round_trip = (returned - sent) - (replied - received);
        if round_trip < 0 {
            return;
        }
        let offset = ((received - sent) + (replied - returned)) / 2;
        let exchange = Exchange { round_trip, offset };
        if self.is_complete() {
            // The start was computed from the best exchange, so that one stays.
            if self
                .best
                .is_some_and(|best| round_trip <= 2 * best.round_trip)
            {
                self.later = Some(exchange);
            }
        } else if self.best.is_none_or(|best| round_trip < best.round_trip) {
            self.best = Some(exchange);
        }
        self.exchanges = self.exchanges.saturating_add(1);
    }

    /// The minimum drift between the clocks since their comparison: the part that exceeds the errors of both
    /// comparisons. `None` without a good later exchange.
    pub fn drift(&self) -> Option<Duration> {
        let (best, later) = (self.best?, self.later?);
        let errors = ((best.round_trip + later.round_trip) / 2).unsigned_abs();
        let apart = (later.offset - best.offset).unsigned_abs();
        let nanos = apart.saturating_sub(errors);
        Some(Duration::from_nanos(
            u64::try_from(nanos).unwrap_or(u64::MAX),
        ))
    }

    /// Whether there were enough exchanges.
    pub fn is_complete(&self) -> bool {
        self.exchanges >= NEEDED_EXCHANGES
    }

    /// The maximum error of the comparison: half of the shortest round trip.
    pub fn bound(&self) -> Duration {
        let half = self.best.map_or(0, |best| best.round_trip / 2);
        Duration::from_nanos(u64::try_from(half).unwrap_or(u64::MAX))
    }

    /// Converts a moment to the agent's clock, in nanoseconds.
    pub fn of_agent(&self, moment: Moment) -> u64 {
        let offset = self.best.map_or(0, |best| best.offset);
        let nanos = i128::from(moment.as_nanos()).saturating_add(offset);
        u64::try_from(nanos.max(0)).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_shortest_round_trip_counts() {
        let mut clocks = ClockComparison::default();
        // The agent's clock is 1,000 ahead. One direction takes 10, the other 30.
        clocks.add(0, 1_010, 1_020, 50);
        // Both directions take 5.
        clocks.add(100, 1_105, 1_115, 120);
        clocks.add(200, 1_290, 1_300, 310);
        assert_eq!(clocks.bound(), Duration::from_nanos(5));
        assert_eq!(clocks.of_agent(Moment::from_nanos(7)), 1_007);
        assert!(!clocks.is_complete());
    }

    #[test]
    fn drifting_clocks_are_detected() {
        let mut clocks = ClockComparison::default();
        for _ in 0..NEEDED_EXCHANGES {
            clocks.add(0, 1_005, 1_005, 10);
        }
        assert_eq!(clocks.drift(), None);
        // A slow exchange contains little information.
        clocks.add(1_000, 2_905, 2_905, 2_000);
        assert_eq!(clocks.drift(), None);
        clocks.add(5_000, 6_035, 6_035, 5_010);
        // The difference is 30, and each comparison may be wrong by 5.
        assert_eq!(clocks.drift(), Some(Duration::from_nanos(20)));
        // The moment of the start does not change.
        assert_eq!(clocks.of_agent(Moment::from_nanos(7)), 1_007);
    }

    #[test]
    fn an_impossible_exchange_does_not_count() {
        let mut clocks = ClockComparison::default();
        clocks.add(0, 0, 100, 50);
        assert!(clocks.best.is_none());
        for _ in 0..NEEDED_EXCHANGES {
            clocks.add(0, 5, 5, 10);
        }
        assert!(clocks.is_complete());
    }

    /// The clock of an agent, which is ahead and gains or loses some nanoseconds per millisecond.
    #[derive(Clone, Copy, Debug)]
    struct Skewed {
        ahead: i64,
        gain: i64,
    }

    impl Skewed {
        fn read(self, now: u64) -> u64 {
            let gained = i128::from(self.gain) * i128::from(now) / 1_000_000;
            let read = i128::from(now) + i128::from(self.ahead) + gained;
            u64::try_from(read).unwrap()
        }
    }

    fn skewed(gain: i64) -> impl Strategy<Value = Skewed> {
        let ahead = 0..1_000_000_000_000_i64;
        (ahead, -gain..=gain).prop_map(|(ahead, gain)| Skewed { ahead, gain })
    }

    /// Exchanges: the pause before, the delay to the agent, its processing time and the delay back, in nanoseconds.
    fn exchanges() -> impl Strategy<Value = Vec<[u64; 4]>> {
        let pause = 0..100_000_000_u64;
        let delay = || prop_oneof![1_000..100_000_u64, 1_000..50_000_000_u64];
        let exchange = (pause, delay(), 0..1_000_000_u64, delay());
        let exchange = exchange.prop_map(|(pause, there, own, back)| [pause, there, own, back]);
        prop::collection::vec(exchange, 8..40)
    }

    /// Compares the clocks. Returns the comparison, and when it ended in the coordinator's clock.
    fn compared(clock: Skewed, exchanges: &[[u64; 4]]) -> (ClockComparison, u64) {
        let mut clocks = ClockComparison::default();
        let mut now = 1_000_000_000;
        for [pause, there, own, back] in exchanges {
            let sent = now + pause;
            let received = sent + there;
            let replied = received + own;
            now = replied + back;
            clocks.add(sent, clock.read(received), clock.read(replied), now);
        }
        (clocks, now)
    }

    proptest! {
        /// Whatever the delays in both directions are, the start on the agent differs from the planned start by at most
        /// the bound.
        #[test]
        fn the_bound_is_never_exceeded(clock in skewed(0), exchanges in exchanges()) {
            let (clocks, now) = compared(clock, &exchanges);
            let start = now + 2_000_000_000;
            let planned = clocks.of_agent(Moment::from_nanos(start));
            let error = planned.abs_diff(clock.read(start));
            let bound = u64::try_from(clocks.bound().as_nanos()).unwrap();
            // Halves of nanoseconds are rounded.
            prop_assert!(error <= bound + 1, "{error} {bound}");
        }

        /// The reported drift has certainly occurred.
        #[test]
        fn drift_is_not_exaggerated(clock in skewed(200), exchanges in exchanges()) {
            let (clocks, now) = compared(clock, &exchanges);
            let apart = clock.gain.unsigned_abs() * (now - 1_000_000_000) / 1_000_000;
            let drift = clocks.drift().map_or(0, |drift| u64::try_from(drift.as_nanos()).unwrap());
            // The clock also drifts during an exchange, at most by its gain over the longest exchange.
            let within = clock.gain.unsigned_abs() * 101_000_000 / 1_000_000;
            prop_assert!(drift <= apart + within + 4, "{drift} {apart}");
        }
    }
}
