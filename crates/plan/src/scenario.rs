//! A scenario: an executor with its start, its end and its environment.

mod check;
mod description;
mod options;

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;

use crate::arrivals::Arrivals;
use crate::executor::Executor;
use crate::stripe::Stripe;

pub(crate) use check::Checked;
pub use options::ScenarioOptions;

/// A valid scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// Its key under `scenarios`; `default` if there is none.
    pub name: String,
    /// How its iterations start.
    pub executor: Executor,
    /// When it starts, from the start of the test.
    pub start_time: Duration,
    /// How long running iterations may continue after its regular duration.
    pub graceful_stop: Duration,
    /// The exported function of an iteration.
    pub exec: String,
    /// Overrides `__ENV` while a user runs this scenario.
    pub env: BTreeMap<String, String>,
    /// Tags of every sample of this scenario.
    pub tags: BTreeMap<String, String>,
    /// `options.browser` as written, for the browser module.
    pub browser: Option<Value>,
    /// Selects the users and iterations of the whole test that run in this instance.
    pub stripe: Stripe,
    /// How the iterations of an open model are spread; no other model uses it.
    pub arrivals: Arrivals,
}

impl Scenario {
    /// A scenario of the whole test that starts immediately, with k6's defaults for everything
    /// else.
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

    /// The maximum number of users; more than the planned number only for arrival rates.
    pub fn max_users(&self) -> u32 {
        match &self.executor {
            Executor::ConstantArrivalRate { max_users, .. }
            | Executor::RampingArrivalRate { max_users, .. } => *max_users,
            _ => self.planned_users(),
        }
    }

    /// The time in which iterations may start, from the scenario's start; `None` if it runs until stopped.
    pub fn duration(&self) -> Option<Duration> {
        self.executor.duration()
    }

    /// When its last iteration is interrupted, from the start of the test: start, duration and
    /// graceful stop added.
    pub fn end(&self) -> Option<Duration> {
        let regular = self.start_time.saturating_add(self.duration()?);
        Some(regular.saturating_add(self.graceful_stop))
    }

    /// Whether any of it runs in this instance: an execution segment may leave a scenario without
    /// users.
    pub fn has_work(&self) -> bool {
        self.max_users() > 0
    }

    /// This instance's part of a number of users of the whole test.
    pub(crate) fn share(&self, users: u64) -> u32 {
        u32::try_from(self.stripe.share(users)).unwrap_or(u32::MAX)
    }
}

/// k6's default for `gracefulStop` and `gracefulRampDown`.
pub(crate) const GRACEFUL_STOP: Duration = Duration::from_secs(30);
