//! Arrivals at recorded times.

use std::sync::Arc;
use std::time::Duration;

use crate::Pacer;

/// Iterations at given times, which are in ascending order.
#[derive(Clone, Debug)]
pub struct RecordedArrivals {
    starts: Arc<[Duration]>,
    end: Duration,
}

impl RecordedArrivals {
    /// The iterations that start before `end`.
    pub fn new(starts: Arc<[Duration]>, end: Duration) -> Self {
        RecordedArrivals { starts, end }
    }
}

impl Pacer for RecordedArrivals {
    fn start_of(&self, number: u64) -> Option<Duration> {
        let start = *self.starts.get(usize::try_from(number).ok()?)?;
        (start < self.end).then_some(start)
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_plan::{Arrivals, Executor, Scenario};

    use super::*;
    use crate::of_scenario;

    #[test]
    fn iterations_start_at_the_times_of_a_trace() {
        let mut arrivals = Arrivals::parse("trace:times@2x").unwrap();
        arrivals
            .read_trace(|_| Ok("0\n0.5\n0.5\n6\n9\n".to_owned()))
            .unwrap();
        let limit = Some(Duration::from_secs(4));
        let (duration, rate) = arrivals.trace().unwrap().extent(limit);
        let executor = Executor::ConstantArrivalRate {
            rate,
            duration,
            pre_allocated: 1,
            max_users: 1,
        };
        let mut scenario = Scenario::new("a", executor);
        scenario.arrivals = arrivals;
        let pacer = of_scenario(&scenario).unwrap();
        let starts: Vec<_> = (0..).map_while(|number| pacer.start_of(number)).collect();
        let expected = [0, 250, 250, 3000].map(Duration::from_millis);
        assert_eq!(starts, expected);
        assert_eq!(rate.count, 4);
    }
}
