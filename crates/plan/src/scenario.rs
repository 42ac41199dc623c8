//! A scenario: an executor with its start, its end and its environment.

mod check;
mod description;
mod options;

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;

use crate::arrivals::Arrivals;
use crate::executor::Executor;
use crate::stripe::{Division, Stripe};

pub(crate) use check::Checked;
pub use options::ScenarioOptions;

/// A valid scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// Its key in `scenarios`; `default` if it has none.
    pub name: String,
    /// How its iterations start.
    pub executor: Executor,
    /// When it starts, relative to the start of the test.
    pub start_time: Duration,
    /// How long running iterations may continue after its regular duration.
    pub graceful_stop: Duration,
    /// The exported function that each iteration calls.
    pub exec: String,
    /// Overrides for `__ENV` while a user runs this scenario.
    pub env: BTreeMap<String, String>,
    /// Tags for every sample of this scenario.
    pub tags: BTreeMap<String, String>,
    /// `options.browser` as written, for the browser module.
    pub browser: Option<Value>,
    /// Selects the users and iterations of the whole test that run in this instance.
    pub stripe: Stripe,
    /// How the iterations of an open model are distributed. Other models do not use it.
    pub arrivals: Arrivals,
}

impl Scenario {
    /// A scenario of the whole test that starts immediately, with k6's defaults for all other settings.
    pub fn new(name: impl Into<String>, executor: Executor) -> Scenario {
        let graceful_stop = match executor {
            Executor::ExternallyControlled { .. } => Duration::ZERO,
            _ => GRACEFUL_STOP,
        };
        Scenario {
            name: name.into(),
            executor,
            start_time: Duration::ZERO,
            graceful_stop,
            exec: "default".to_owned(),
            env: BTreeMap::new(),
            tags: BTreeMap::new(),
            browser: None,
            stripe: Stripe::whole(),
            arrivals: Arrivals::default(),
        }
    }

    /// Users initialized before the test starts.
    pub fn planned_users(&self) -> u32 {
        match &self.executor {
            Executor::SharedIterations { users, .. }
            | Executor::PerUserIterations { users, .. }
            | Executor::ConstantUsers { users, .. } => *users,
            Executor::RampingUsers { start, stages, .. } => {
                let highest = stages.iter().map(|stage| stage.target).max().unwrap_or(0);
                self.share(highest.max(u64::from(*start)))
            }
            Executor::ConstantArrivalRate { pre_allocated, .. }
            | Executor::RampingArrivalRate { pre_allocated, .. } => *pre_allocated,
            Executor::ExternallyControlled { max_users, .. } => *max_users,
        }
    }

    /// The maximum number of users. It is larger than the planned number only for arrival rates.
    pub fn max_users(&self) -> u32 {
        match &self.executor {
            Executor::ConstantArrivalRate { max_users, .. }
            | Executor::RampingArrivalRate { max_users, .. } => *max_users,
            _ => self.planned_users(),
        }
    }

    /// The time in which iterations may start, relative to the scenario's start. `None` if it runs until it is stopped.
    pub fn duration(&self) -> Option<Duration> {
        self.executor.duration()
    }

    /// When its last iteration is interrupted, relative to the start of the test: the sum of start, duration and
    /// graceful stop.
    pub fn end(&self) -> Option<Duration> {
        let regular = self.start_time.saturating_add(self.duration()?);
        Some(regular.saturating_add(self.graceful_stop))
    }

    /// Whether any part of it runs in this instance. An execution segment may leave a scenario without users.
    pub fn has_work(&self) -> bool {
        self.max_users() > 0
    }

    /// The part of a scenario of the whole test that runs in a segment. Users, iterations and starts are divided as
    /// [`Plan::build`](crate::Plan::build) divides those of a script.
    pub fn part(&self, division: &Division) -> Scenario {
        let (by_slot, whole) = (division.stripe(), self.max_users());
        let by_users = division.stripe_by_users(u64::from(whole));
        // A share is never larger than the whole.
        let scaled = |users: u32| by_slot.share(u64::from(users)) as u32;
        let mut part = self.clone();
        part.stripe = match &mut part.executor {
            Executor::SharedIterations {
                users, iterations, ..
            } => {
                *users = scaled(*users);
                *iterations = by_users.share(*iterations);
                by_users
            }
            Executor::PerUserIterations { users, .. } | Executor::ConstantUsers { users, .. } => {
                *users = scaled(*users);
                by_slot
            }
            Executor::RampingUsers { .. } => by_slot,
            Executor::ConstantArrivalRate {
                pre_allocated,
                max_users,
                ..
            }
            | Executor::RampingArrivalRate {
                pre_allocated,
                max_users,
                ..
            } => {
                (*pre_allocated, *max_users) = (scaled(*pre_allocated), scaled(*max_users));
                by_users
            }
            Executor::ExternallyControlled {
                users, max_users, ..
            } => {
                (*users, *max_users) = (scaled(*users), scaled(*max_users));
                by_slot
            }
        };
        part
    }

    /// This instance's share of a number of users of the whole test.
    pub(crate) fn share(&self, users: u64) -> u32 {
        u32::try_from(self.stripe.share(users)).unwrap_or(u32::MAX)
    }
}

/// k6's default for `gracefulStop` and `gracefulRampDown`.
pub(crate) const GRACEFUL_STOP: Duration = Duration::from_secs(30);

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::{Division, Exports, Options, Plan, Segment, SegmentSequence};

    #[test]
    fn a_part_equals_the_part_of_a_script_in_that_segment() {
        let options = json!({ "scenarios": {
            "shared": { "executor": "shared-iterations", "vus": 5, "iterations": 37 },
            "each": { "executor": "per-vu-iterations", "vus": 7, "iterations": 3 },
            "users": { "executor": "constant-vus", "vus": 11, "duration": "3s" },
            "ramp": { "executor": "ramping-vus", "startVUs": 2, "stages": [{ "duration": "5s", "target": 9 }] },
            "open": { "executor": "constant-arrival-rate", "rate": 50, "duration": "4s", "preAllocatedVUs": 6, "maxVUs": 13 },
            "rising": { "executor": "ramping-arrival-rate", "startRate": 5, "preAllocatedVUs": 4, "stages": [{ "duration": "5s", "target": 20 }] },
        }});
        let (mut options, _) = Options::from_json(options).unwrap();
        let exports = Exports {
            functions: vec!["default".to_owned()],
        };
        let whole = Plan::build(&options, &exports).unwrap();
        let sequence = SegmentSequence::parse("0,1/4,1/2,1").unwrap();
        options.execution_segment_sequence = Some(sequence.clone());
        for text in ["0:1/4", "1/4:1/2", "1/2:1"] {
            let segment = Segment::parse(text).unwrap();
            let division = Division::of(segment, &sequence).unwrap();
            options.execution_segment = Some(segment);
            let plan = Plan::build(&options, &exports).unwrap();
            for (scenario, expected) in whole.scenarios.iter().zip(&plan.scenarios) {
                assert_eq!(&scenario.part(&division), expected, "{text}");
            }
        }
    }
}
