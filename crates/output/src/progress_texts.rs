//! The texts to the right of a scenario's bar, depending on its executor.

use std::time::Duration;

use plimsoll_plan::{Executor, Rate, Scenario, Stage};
use plimsoll_units::duration;

use crate::fixed_width::fixed_width;
use crate::progress::{ScenarioView, Status};

/// The counters of a scenario at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScenarioFacts {
    pub status: Status,
    /// Time until its start; zero once it has started.
    pub starts_in: Duration,
    /// Time since its start, or its duration if it has finished.
    pub elapsed: Duration,
    /// Users that are running its iterations.
    pub users_active: u32,
    /// Users that have run its iterations so far.
    pub users_taken: u32,
    pub iterations_complete: u64,
}

/// Describes the scenario for the progress view.
pub fn scenario_view(scenario: &Scenario, facts: &ScenarioFacts) -> ScenarioView {
    let (left, right) = if facts.status == Status::Waiting {
        (
            "waiting".to_owned(),
            vec![fixed_width(facts.starts_in, scenario.start_time)],
        )
    } else {
        (users(scenario, facts), columns(&scenario.executor, facts))
    };
    let (name, status) = (scenario.name.clone(), facts.status);
    let progress = completed_share(&scenario.executor, facts);
    ScenarioView {
        name,
        status,
        done: progress,
        left,
        right,
    }
}

fn users(scenario: &Scenario, facts: &ScenarioFacts) -> String {
    let most = scenario.max_users();
    let of = |taken: u32| {
        let digits = most.to_string().len();
        format!("{:0digits$}/{taken:0digits$} VUs", facts.users_active)
    };
    match scenario.executor {
        Executor::SharedIterations { .. }
        | Executor::PerUserIterations { .. }
        | Executor::ConstantUsers { .. } => format!("{most} VUs"),
        Executor::RampingUsers { .. } | Executor::ExternallyControlled { .. } => of(most),
        Executor::ConstantArrivalRate { .. } | Executor::RampingArrivalRate { .. } => {
            of(facts.users_taken.max(scenario.planned_users()))
        }
    }
}

fn columns(executor: &Executor, facts: &ScenarioFacts) -> Vec<String> {
    let time = time(executor, facts);
    let iterations = |total: u64| {
        let digits = total.to_string().len();
        format!("{:0digits$}/{total}", facts.iterations_complete)
    };
    let rate = |now: f64, most: f64| {
        let digits = format!("{most:.2}").len();
        format!("{now:0digits$.2} iters/s")
    };
    match executor {
        Executor::SharedIterations {
            iterations: total, ..
        } => {
            vec![time, format!("{} shared iters", iterations(*total))]
        }
        Executor::PerUserIterations {
            users,
            iterations: each,
            ..
        } => {
            let total = u64::from(*users).saturating_mul(*each);
            vec![time, format!("{} iters, {each} per VU", iterations(total))]
        }
        Executor::ConstantArrivalRate { rate: of, .. } => {
            vec![time, rate(of.per_second(), of.per_second())]
        }
        Executor::RampingArrivalRate { start, stages, .. } => {
            let per_second = |target| {
                Rate {
                    count: target,
                    per: start.per,
                }
                .per_second()
            };
            let most = stages.iter().map(|stage| per_second(stage.target));
            let most = most.fold(start.per_second(), f64::max);
            vec![time, rate(rate_at(*start, stages, facts.elapsed), most)]
        }
        _ => vec![time],
    }
}

/// Progress, as the share of iterations if their number is fixed, otherwise as the share of time. 0 if the scenario has
/// no end.
fn completed_share(executor: &Executor, facts: &ScenarioFacts) -> f64 {
    let share = match executor {
        _ if facts.status == Status::Done => 1.0,
        Executor::SharedIterations { iterations, .. } => {
            facts.iterations_complete as f64 / *iterations as f64
        }
        Executor::PerUserIterations {
            users, iterations, ..
        } => facts.iterations_complete as f64 / (f64::from(*users) * *iterations as f64),
        _ => match executor.duration() {
            Some(whole) => facts.elapsed.as_secs_f64() / whole.as_secs_f64(),
            None => 0.0,
        },
    };
    if share.is_finite() {
        share.min(1.0)
    } else {
        0.0
    }
}

/// Formats `2.5s/5s`. For a finished scenario with a fixed duration, only the duration.
fn time(executor: &Executor, facts: &ScenarioFacts) -> String {
    let Some(whole) = executor.duration() else {
        return fixed_width(facts.elapsed, facts.elapsed);
    };
    let counted = matches!(
        executor,
        Executor::SharedIterations { .. } | Executor::PerUserIterations { .. }
    );
    let over = matches!(facts.status, Status::Done | Status::Stopping);
    if over && !counted {
        return duration::format(whole);
    }
    let elapsed = fixed_width(facts.elapsed.min(whole), whole);
    match executor {
        Executor::RampingUsers { .. } => format!("{elapsed}/{}", fixed_width(whole, whole)),
        _ => format!("{elapsed}/{}", duration::format(whole)),
    }
}

/// Scheduled starts per second at `elapsed`.
fn rate_at(start: Rate, stages: &[Stage], elapsed: Duration) -> f64 {
    let per_second = |count: f64| count / start.per.as_secs_f64();
    let mut from = start.count as f64;
    let mut started = Duration::ZERO;
    for stage in stages {
        let to = stage.target as f64;
        let ends = started.saturating_add(stage.duration);
        if elapsed < ends {
            let share =
                elapsed.saturating_sub(started).as_secs_f64() / stage.duration.as_secs_f64();
            return per_second(from + (to - from) * share);
        }
        (from, started) = (to, ends);
    }
    per_second(from)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn facts(status: Status, tenths: u32) -> ScenarioFacts {
        ScenarioFacts {
            status,
            starts_in: Duration::ZERO,
            elapsed: SECOND * tenths / 10,
            users_active: 8,
            users_taken: 20,
            iterations_complete: 4,
        }
    }

    fn texts(executor: &Executor, facts: &ScenarioFacts) -> String {
        let mut scenario = Scenario::new("name", executor.clone());
        scenario.start_time = 10 * SECOND;
        let view = scenario_view(&scenario, facts);
        [vec![view.left], view.right].concat().join(" | ")
    }

    #[test]
    fn every_executor_shows_its_main_parameters() {
        let running = facts(Status::Running, 10);
        let max_duration = 10 * 60 * SECOND;
        let stages = |targets: [u64; 2]| {
            targets
                .map(|target| Stage {
                    duration: 2 * SECOND,
                    target,
                })
                .to_vec()
        };
        let cases = [
            (
                Executor::SharedIterations {
                    users: 2,
                    iterations: 30,
                    max_duration: 20 * SECOND,
                },
                "2 VUs | 01.0s/20s | 04/30 shared iters",
            ),
            (
                Executor::PerUserIterations {
                    users: 2,
                    iterations: 12,
                    max_duration,
                },
                "2 VUs | 00m01.0s/10m0s | 04/24 iters, 12 per VU",
            ),
            (
                Executor::ConstantUsers {
                    users: 12,
                    duration: 5 * SECOND,
                },
                "12 VUs | 1.0s/5s",
            ),
            (
                Executor::RampingUsers {
                    start: 1,
                    stages: stages([10, 1]),
                    graceful_ramp_down: SECOND,
                },
                "08/10 VUs | 1.0s/4.0s",
            ),
            (
                Executor::ConstantArrivalRate {
                    rate: Rate {
                        count: 90,
                        per: 60 * SECOND,
                    },
                    duration: 4 * SECOND,
                    pre_allocated: 20,
                    max_users: 150,
                },
                "008/020 VUs | 1.0s/4s | 1.50 iters/s",
            ),
            (
                Executor::RampingArrivalRate {
                    start: Rate {
                        count: 3,
                        per: SECOND,
                    },
                    stages: stages([10, 1]),
                    pre_allocated: 10,
                    max_users: 20,
                },
                "08/20 VUs | 1.0s/4s | 06.50 iters/s",
            ),
            (
                Executor::ExternallyControlled {
                    users: 2,
                    max_users: 5,
                    duration: Some(3 * SECOND),
                },
                "8/5 VUs | 1.0s/3s",
            ),
        ];
        for (executor, expected) in cases {
            assert_eq!(texts(&executor, &running), expected);
        }
    }

    #[test]
    fn at_the_end_only_the_fixed_time_is_shown() {
        let executor = Executor::ConstantUsers {
            users: 1,
            duration: 61 * SECOND,
        };
        assert_eq!(texts(&executor, &facts(Status::Done, 612)), "1 VUs | 1m1s");
        assert_eq!(
            texts(&executor, &facts(Status::Stopping, 612)),
            "1 VUs | 1m1s"
        );
        assert_eq!(
            texts(&executor, &facts(Status::Interrupted, 25)),
            "1 VUs | 0m02.5s/1m1s"
        );
        let executor = Executor::SharedIterations {
            users: 1,
            iterations: 4,
            max_duration: 20 * SECOND,
        };
        assert_eq!(
            texts(&executor, &facts(Status::Done, 6)),
            "1 VUs | 00.6s/20s | 4/4 shared iters"
        );
    }

    #[test]
    fn an_interrupted_scenario_keeps_its_progress() {
        let progress =
            |executor: &Executor, status, tenths| completed_share(executor, &facts(status, tenths));
        let timed = Executor::ConstantUsers {
            users: 1,
            duration: 10 * SECOND,
        };
        assert_eq!(progress(&timed, Status::Interrupted, 25), 0.25);
        assert_eq!(progress(&timed, Status::Stopping, 110), 1.0);
        let counted = Executor::PerUserIterations {
            users: 2,
            iterations: 8,
            max_duration: 10 * SECOND,
        };
        assert_eq!(progress(&counted, Status::Interrupted, 90), 0.25);
        assert_eq!(progress(&counted, Status::Done, 90), 1.0);
        let endless = Executor::ExternallyControlled {
            users: 1,
            max_users: 1,
            duration: None,
        };
        assert_eq!(progress(&endless, Status::Running, 90), 0.0);
    }

    #[test]
    fn a_waiting_scenario_shows_the_remaining_time() {
        let executor = Executor::ConstantUsers {
            users: 1,
            duration: SECOND,
        };
        let waiting = ScenarioFacts {
            starts_in: 9 * SECOND,
            ..facts(Status::Waiting, 0)
        };
        assert_eq!(texts(&executor, &waiting), "waiting | 09.0s");
    }

    #[test]
    fn a_ramp_of_rates_is_straight_and_may_jump() {
        let stages = [(2, 10), (0, 4), (2, 1)].map(|(s, target)| Stage {
            duration: SECOND * s,
            target,
        });
        let start = Rate {
            count: 3,
            per: SECOND,
        };
        let at = |tenths| rate_at(start, &stages, SECOND * tenths / 10);
        assert_eq!(
            [at(0), at(10), at(20), at(30), at(40), at(90)],
            [3.0, 6.5, 4.0, 2.5, 1.0, 1.0]
        );
    }
}
