//! How many users a run needs, and for how long.
//!
//! A scenario holds its users from its start until the last of their iterations may have been interrupted. Most
//! scenarios hold a constant number of users. Ramping users are released one by one: each when its graceful ramp-down
//! or the scenario's graceful stop has ended, whichever is earlier.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::build::Plan;
use crate::executor::Executor;
use crate::scenario::Scenario;

/// The users and the time that a run needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Requirements {
    /// Maximum number of planned users held at the same time.
    pub planned_users: u32,
    /// Maximum number of users at the same time, including those that arrival rates add.
    pub max_users: u32,
    /// When the last user is released at the latest. `None` if a scenario runs until it is stopped.
    pub duration_with_graceful_stop: Option<Duration>,
}

impl Plan {
    /// The users and the time that this run needs. k6 shows them as `N max VUs, D max duration (incl. graceful stop)`.
    pub fn requirements(&self) -> Requirements {
        let mut longest = Some(Duration::ZERO);
        for scenario in self.scenarios.iter().filter(|scenario| scenario.has_work()) {
            let released = Holding::of(scenario, scenario.max_users()).released();
            longest = longest.zip(released).map(|(a, b)| a.max(b));
        }
        Requirements {
            planned_users: self.most_at_once(Scenario::planned_users),
            max_users: self.most_at_once(Scenario::max_users),
            duration_with_graceful_stop: longest,
        }
    }

    /// The maximum number of users that all scenarios together hold at any time.
    fn most_at_once(&self, users: impl Fn(&Scenario) -> u32) -> u32 {
        let mut changes: BTreeMap<Duration, Vec<i64>> = BTreeMap::new();
        for scenario in &self.scenarios {
            for (moment, change) in Holding::of(scenario, users(scenario)).changes() {
                changes.entry(moment).or_default().push(change);
            }
        }
        // At the same moment, scenarios take and release users in their order.
        let sums = changes.into_values().flatten().scan(0i64, |sum, change| {
            *sum += change;
            Some(*sum)
        });
        let most = sums.max().unwrap_or(0).clamp(0, i64::from(u32::MAX));
        most as u32
    }
}

/// The number of users that a scenario holds over time, as spans. Where spans overlap, the largest number counts.
struct Holding {
    spans: Vec<Span>,
}

/// A number of users from one moment to another. `None` means forever.
struct Span {
    from: Duration,
    to: Option<Duration>,
    users: u32,
}

/// A ramp with more changes than this is treated as a constant number.
const FINEST: u64 = 1_000_000;

impl Holding {
    fn of(scenario: &Scenario, users: u32) -> Holding {
        let whole = Span {
            from: scenario.start_time,
            to: scenario.end(),
            users,
        };
        match &scenario.executor {
            Executor::RampingUsers {
                start,
                stages,
                graceful_ramp_down,
            } => {
                let mut heights = vec![u64::from(*start)];
                heights.extend(stages.iter().map(|stage| stage.target));
                let climbs = heights.windows(2).map(|pair| pair[0].abs_diff(pair[1]));
                if climbs.fold(0u64, u64::saturating_add) > FINEST {
                    return Holding { spans: vec![whole] };
                }
                let steps = steps(scenario, *start);
                Holding::of_steps(&steps, *graceful_ramp_down, scenario.end())
            }
            _ => Holding { spans: vec![whole] },
        }
    }

    /// Each number of users is held from its moment until the grace time after the number changes, but not beyond the
    /// end.
    /// beyond the end.
    fn of_steps(steps: &[(Duration, u32)], grace: Duration, end: Option<Duration>) -> Holding {
        let left = steps
            .iter()
            .skip(1)
            .map(|(moment, _)| Some(*moment))
            .chain([None]);
        let span = |(&(from, users), left): (&(Duration, u32), Option<Duration>)| {
            let released = left.map(|left| left.saturating_add(grace));
            let to = match (released, end) {
                (Some(released), Some(end)) => Some(released.min(end)),
                (released, end) => released.or(end),
            };
            Span { from, to, users }
        };
        Holding {
            spans: steps.iter().zip(left).map(span).collect(),
        }
    }

    /// When the last user is released.
    fn released(&self) -> Option<Duration> {
        let busy = self.spans.iter().filter(|span| span.users > 0);
        busy.map(|span| span.to)
            .try_fold(Duration::ZERO, |last, to| Some(last.max(to?)))
    }

    /// The number of users held, as changes in chronological order.
    fn changes(&self) -> Vec<(Duration, i64)> {
        let mut begin_or_end: BTreeMap<Duration, (Vec<u32>, Vec<u32>)> = BTreeMap::new();
        for span in &self.spans {
            begin_or_end
                .entry(span.from)
                .or_default()
                .0
                .push(span.users);
            if let Some(to) = span.to {
                // A target that is reached only at the very end is still needed.
                let to = to.max(span.from.saturating_add(Duration::from_nanos(1)));
                begin_or_end.entry(to).or_default().1.push(span.users);
            }
        }
        // The number of open spans by height.
        let mut open: BTreeMap<u32, u32> = BTreeMap::new();
        let mut held = 0;
        let mut changes = Vec::new();
        for (moment, (started, ended)) in begin_or_end {
            for users in started {
                *open.entry(users).or_default() += 1;
            }
            for users in ended {
                if let Some(count) = open.get_mut(&users) {
                    *count -= 1;
                    if *count == 0 {
                        open.remove(&users);
                    }
                }
            }
            let now = open
                .last_key_value()
                .map_or(0, |(users, _)| i64::from(*users));
            if now != held {
                changes.push((moment, now - held));
                held = now;
            }
        }
        changes
    }
}

/// The numbers of users of a ramp in this instance, each with the moment at which it is reached. On a line of length T
/// over n users, the k-th change is at k·T/n.
fn steps(scenario: &Scenario, start: u32) -> Vec<(Duration, u32)> {
    let Executor::RampingUsers { stages, .. } = &scenario.executor else {
        return Vec::new();
    };
    let mut begins = scenario.start_time;
    let mut from = u64::from(start);
    let mut steps = vec![(begins, scenario.share(from))];
    for stage in stages {
        let distance = from.abs_diff(stage.target);
        // A jump skips the numbers in between.
        let first = if stage.duration.is_zero() {
            distance.max(1)
        } else {
            1
        };
        for step in first..=distance {
            let nanos =
                (stage.duration.as_nanos() * u128::from(step)).div_ceil(u128::from(distance));
            let offset = Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX));
            let whole = if stage.target > from {
                from + step
            } else {
                from - step
            };
            let moment = begins.saturating_add(offset);
            let users = scenario.share(whole);
            if steps.last().is_none_or(|last| last.1 != users) {
                steps.push((moment, users));
            }
        }
        begins = begins.saturating_add(stage.duration);
        from = stage.target;
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::{Rate, Stage};

    fn secs(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn ramp(start: u32, stages: &[(u64, u64)], down: u64, stop: u64) -> Scenario {
        let stage = |&(seconds, target): &(u64, u64)| Stage {
            duration: secs(seconds),
            target,
        };
        let executor = Executor::RampingUsers {
            start,
            stages: stages.iter().map(stage).collect(),
            graceful_ramp_down: secs(down),
        };
        Scenario {
            graceful_stop: secs(stop),
            ..Scenario::new("ramp", executor)
        }
    }

    fn constant(users: u32, start: u64, duration: u64, stop: u64) -> Scenario {
        let executor = Executor::ConstantUsers {
            users,
            duration: secs(duration),
        };
        Scenario {
            start_time: secs(start),
            graceful_stop: secs(stop),
            ..Scenario::new("constant", executor)
        }
    }

    fn arrivals(start: u64, pre_allocated: u32, max_users: u32) -> Scenario {
        let executor = Executor::ConstantArrivalRate {
            rate: Rate {
                count: 1,
                per: secs(1),
            },
            duration: secs(10),
            pre_allocated,
            max_users,
        };
        Scenario {
            start_time: secs(start),
            ..Scenario::new("arrivals", executor)
        }
    }

    fn needs(scenarios: Vec<Scenario>) -> (u32, u64) {
        let first = Plan::single(constant(1, 0, 1, 0), Vec::new());
        let needs = Plan { scenarios, ..first }.requirements();
        (
            needs.max_users,
            needs.duration_with_graceful_stop.unwrap().as_secs(),
        )
    }

    /// All values are from `k6 inspect --execution-requirements` with v1.8.1.
    #[test]
    fn ramps_release_their_users_one_by_one() {
        assert_eq!(needs(vec![ramp(1, &[(10, 5), (10, 0)], 5, 60)]), (5, 25));
        assert_eq!(needs(vec![ramp(1, &[(10, 5), (10, 0)], 5, 1)]), (5, 21));
        assert_eq!(
            needs(vec![ramp(1, &[(10, 5), (0, 0), (100, 0)], 5, 10)]),
            (5, 15)
        );
        let with_constant = |start| {
            let ramp = ramp(0, &[(10, 10), (0, 0), (100, 0)], 5, 10);
            needs(vec![ramp, constant(7, start, 1, 0)])
        };
        assert_eq!(with_constant(9), (17, 15));
        assert_eq!(with_constant(14), (17, 15));
        assert_eq!(with_constant(15), (10, 16));
        let crossing = |grace| {
            needs(vec![
                ramp(10, &[(10, 0)], grace, 0),
                ramp(0, &[(10, 10)], 30, 0),
            ])
        };
        assert_eq!(crossing(0), (10, 10));
        assert_eq!(crossing(2), (12, 10));
    }

    #[test]
    fn scenarios_add_up_while_they_overlap() {
        let pair = |start| needs(vec![constant(3, 0, 10, 1), constant(7, start, 1, 0)]);
        assert_eq!(pair(10), (10, 11));
        assert_eq!(pair(11), (7, 12));
        let rising = ramp(0, &[(10, 10), (10, 20)], 30, 0);
        assert_eq!(needs(vec![constant(3, 0, 10, 0), rising]), (20, 20));
        assert_eq!(
            needs(vec![arrivals(0, 2, 10), arrivals(45, 5, 6)]),
            (10, 85)
        );
        assert_eq!(needs(vec![arrivals(0, 2, 10), arrivals(5, 5, 6)]), (16, 45));
    }

    #[test]
    fn a_huge_ramp_costs_nothing() {
        let highest = u64::from(u32::MAX);
        assert_eq!(
            needs(vec![ramp(0, &[(10, highest), (10, 0)], 0, 0)]),
            (u32::MAX, 20)
        );
    }
}
