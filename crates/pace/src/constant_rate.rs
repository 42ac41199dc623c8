use std::time::Duration;

use plimsoll_plan::Rate;

use crate::Pacer;

/// Iterations at a constant rate: number k starts at k · per ÷ count.
#[derive(Clone, Debug)]
pub struct ConstantRate {
    rate: Rate,
    duration: Duration,
}

impl ConstantRate {
    /// `rate` for `duration`. A rate of zero starts nothing.
    pub fn new(rate: Rate, duration: Duration) -> Self {
        ConstantRate { rate, duration }
    }
}

impl Pacer for ConstantRate {
    fn start_of(&self, number: u64) -> Option<Duration> {
        if self.rate.count == 0 {
            return None;
        }
        // Multiply before dividing, so that rounding errors do not accumulate; 128 bits hold any
        // product of the two.
        let nanos = u128::from(number) * self.rate.per.as_nanos() / u128::from(self.rate.count);
        let start = Duration::from_nanos(u64::try_from(nanos).ok()?);
        (start < self.duration).then_some(start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn per_second(count: u64) -> Rate {
        Rate {
            count,
            per: Duration::from_secs(1),
        }
    }

    #[test]
    fn starts_immediately_and_then_at_equal_intervals() {
        let pacer = ConstantRate::new(per_second(4), Duration::from_secs(1));
        let starts: Vec<_> = (0..).map_while(|n| pacer.start_of(n)).collect();
        assert_eq!(starts, [0, 250, 500, 750].map(Duration::from_millis));
    }

    #[test]
    fn does_not_drift_over_a_day() {
        let pacer = ConstantRate::new(per_second(3), Duration::from_secs(86_401));
        assert_eq!(
            pacer.start_of(3 * 86_400),
            Some(Duration::from_secs(86_400))
        );
    }

    #[test]
    fn a_rate_of_zero_starts_nothing() {
        assert_eq!(
            ConstantRate::new(per_second(0), Duration::from_secs(1)).start_of(0),
            None
        );
    }

    proptest! {
        #[test]
        fn starts_as_many_iterations_as_the_rate_specifies(count in 1u64..50_000, seconds in 1u64..100) {
            let pacer = ConstantRate::new(per_second(count), Duration::from_secs(seconds));
            prop_assert!(pacer.start_of(count * seconds - 1).is_some());
            prop_assert_eq!(pacer.start_of(count * seconds), None);
        }

        #[test]
        fn start_times_never_decrease(count in 1u64..1_000_000, per in 1u64..10_000_000_000, number in 0u64..1_000_000) {
            let rate = Rate { count, per: Duration::from_nanos(per) };
            let pacer = ConstantRate::new(rate, Duration::MAX);
            prop_assert!(pacer.start_of(number) <= pacer.start_of(number + 1));
        }
    }
}
