//! The number of iterations that a plan schedules.

use plimsoll_pace::Pacer;
use plimsoll_plan::{Plan, Scenario};

/// Scheduled iterations of each scenario in this part of the test; `None` where their number depends
/// on responses.
pub fn iterations(plan: &Plan) -> Vec<Option<u64>> {
    plan.scenarios.iter().map(of_scenario).collect()
}

fn of_scenario(scenario: &Scenario) -> Option<u64> {
    let pacer = plimsoll_pace::of_scenario(scenario)?;
    if !scenario.has_work() {
        return Some(0);
    }
    Some(scenario.stripe.share(count(&pacer)))
}

/// The number of iterations of the whole schedule. Starts are ordered, so halving finds it.
fn count(pacer: &impl Pacer) -> u64 {
    let mut beyond = 1;
    while beyond < u64::MAX / 2 && pacer.start_of(beyond - 1).is_some() {
        beyond *= 2;
    }
    let (mut low, mut high) = (0, beyond);
    while low < high {
        let middle = low + (high - low) / 2;
        if pacer.start_of(middle).is_some() {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

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
        assert_eq!(count(&ConstantRate::new(rate(7), seconds(3))), 21);
        assert_eq!(count(&ConstantRate::new(rate(0), seconds(3))), 0);
        assert_eq!(
            count(&ConstantRate::new(rate(20_000), seconds(3_600))),
            72_000_000
        );
        let stage = Stage {
            duration: seconds(10),
            target: 100,
        };
        assert_eq!(count(&RampingRate::new(rate(0), &[stage])), 500);
    }
}
