//! Computes how many iterations the schedule of an open model has started by a given time.

use std::time::Duration;

use plimsoll_pace::{Pacer, SharedPacer, Striped};
use plimsoll_plan::Scenario;

/// The schedule of one scenario, for comparison with the iterations that actually started.
pub struct Schedule {
    pacer: Striped<SharedPacer>,
    start: Duration,
    /// Number of iterations that are known to be due.
    due: u64,
}

impl Schedule {
    /// The schedule of a scenario; `None` if it is not an open model.
    pub fn of(scenario: &Scenario) -> Option<Schedule> {
        let whole = plimsoll_pace::of_scenario(scenario)?;
        let pacer = Striped::new(whole, scenario.stripe.clone());
        Some(Schedule {
            pacer,
            start: scenario.start_time,
            due: 0,
        })
    }

    /// When iteration `number` of this process starts, relative to the start of the scenario; `None` if
    /// it does not exist.
    pub fn start_of(&self, number: u64) -> Option<Duration> {
        self.pacer.start_of(number)
    }

    /// Number of iterations that are due before `elapsed` of the run. `elapsed` must not decrease.
    pub fn due(&mut self, elapsed: Duration) -> u64 {
        let Some(time) = elapsed.checked_sub(self.start) else {
            return 0;
        };
        let is_due = |number: u64| {
            self.pacer
                .start_of(number)
                .is_some_and(|start| start < time)
        };
        // Search with growing steps and then by bisection, because one second at a high rate contains many
        // iterations.
        let mut step = 1;
        while is_due(self.due + step - 1) {
            self.due += step;
            step *= 2;
        }
        while step > 1 {
            step /= 2;
            if is_due(self.due + step - 1) {
                self.due += step;
            }
        }
        self.due
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_plan::{Executor, Rate};

    fn scenario(rate: u64, start: u64) -> Scenario {
        Scenario {
            start_time: Duration::from_secs(start),
            ..Scenario::new(
                "s",
                Executor::ConstantArrivalRate {
                    rate: Rate {
                        count: rate,
                        per: Duration::from_secs(1),
                    },
                    duration: Duration::from_secs(3),
                    pre_allocated: 1,
                    max_users: 1,
                },
            )
        }
    }

    #[test]
    fn counts_the_iterations_due_before_each_moment() {
        let mut schedule = Schedule::of(&scenario(250, 1)).unwrap();
        let counts: Vec<u64> = [0, 1_000, 1_001, 1_999, 2_000, 3_500, 4_000, 9_000]
            .map(|millis| schedule.due(Duration::from_millis(millis)))
            .to_vec();
        assert_eq!(counts, [0, 0, 1, 250, 250, 625, 750, 750]);
    }

    #[test]
    fn a_rate_of_zero_schedules_nothing() {
        let mut schedule = Schedule::of(&scenario(0, 0)).unwrap();
        assert_eq!(schedule.due(Duration::from_secs(9)), 0);
    }
}
