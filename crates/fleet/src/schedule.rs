//! Counts the iterations that a plan schedules.

use std::time::Duration;

use plimsoll_frames::ScheduledBy;
use plimsoll_pace::Pacer;
use plimsoll_plan::{Plan, Scenario};

/// The number of scheduled iterations of each scenario in this part of the test. `None` if it depends on responses.
pub fn iterations(plan: &Plan) -> Vec<Option<u64>> {
    let scenarios = plan.scenarios.iter();
    scenarios
        .map(|scenario| of_scenario(scenario, None))
        .collect()
}

/// The same numbers up to a time since the start of the run, by the index of the scenario.
pub fn scheduled_by(plan: &Plan) -> ScheduledBy {
    let scenarios = plan.scenarios.clone();
    Box::new(move |at, time| {
        let scenario = scenarios.get(at)?;
        let Some(time) = time.checked_sub(scenario.start_time) else {
            return Some(0);
        };
        of_scenario(scenario, Some(time))
    })
}

fn of_scenario(scenario: &Scenario, until: Option<Duration>) -> Option<u64> {
    let pacer = plimsoll_pace::of_scenario(scenario)?;
    if !scenario.has_work() {
        return Some(0);
    }
    Some(scenario.stripe.share(count(&pacer, until)))
}

/// The number of iterations in the whole schedule, or of those that start up to a time. Starts are in order, so a
/// binary search finds it.
pub fn count(pacer: &impl Pacer, until: Option<Duration>) -> u64 {
    let starts = |number| {
        let start = pacer.start_of(number);
        start.is_some_and(|start| until.is_none_or(|until| start <= until))
    };
    let mut beyond = 1;
    while beyond < u64::MAX / 2 && starts(beyond - 1) {
        beyond *= 2;
    }
    let (mut low, mut high) = (0, beyond);
    while low < high {
        let middle = low + (high - low) / 2;
        if starts(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use plimsoll_pace::{ConstantRate, RampingRate};
    use plimsoll_plan::{Rate, Stage};

    use super::*;

    #[test]
    fn schedules_are_counted() {
        let rate = |count| Rate {
            count,
            per: Duration::from_secs(1),
        };
        let seconds = Duration::from_secs;
        assert_eq!(count(&ConstantRate::new(rate(7), seconds(3)), None), 21);
        assert_eq!(count(&ConstantRate::new(rate(0), seconds(3)), None), 0);
        assert_eq!(
            count(&ConstantRate::new(rate(20_000), seconds(3_600)), None),
            72_000_000
        );
        let pacer = ConstantRate::new(rate(10), seconds(3));
        assert_eq!(count(&pacer, Some(Duration::ZERO)), 1);
        assert_eq!(count(&pacer, Some(Duration::from_millis(999))), 10);
        assert_eq!(count(&pacer, Some(seconds(1))), 11);
        assert_eq!(count(&pacer, Some(seconds(60))), 30);
        let stage = Stage {
            duration: seconds(10),
            target: 100,
        };
        assert_eq!(count(&RampingRate::new(rate(0), &[stage]), None), 500);
    }
}
