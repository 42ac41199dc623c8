//! How a scenario starts its iterations.

use std::fmt;
use std::time::Duration;

/// k6's seven executors, each with the settings that it needs.
///
/// Numbers of users and shared iterations are already scaled to the execution segment. Rates and ramps apply to the
/// whole test: the [`Stripe`](crate::Stripe) selects the iterations and users of this instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Executor {
    /// A total of `iterations`. The next free one of `users` runs each of them.
    SharedIterations {
        /// Number of users.
        users: u32,
        /// Total number of iterations.
        iterations: u64,
        /// No iteration starts after this.
        max_duration: Duration,
    },
    /// `iterations` for each of `users`.
    PerUserIterations {
        /// Number of users.
        users: u32,
        /// Iterations per user.
        iterations: u64,
        /// No iteration starts after this.
        max_duration: Duration,
    },
    /// `users` that loop for `duration`.
    ConstantUsers {
        /// Number of users.
        users: u32,
        /// The time in which the users start iterations.
        duration: Duration,
    },
    /// The number of looping users changes linearly between stages.
    RampingUsers {
        /// The number of users at the start, for the whole test.
        start: u32,
        /// The stages. Their targets are numbers of users, for the whole test.
        stages: Vec<Stage>,
        /// How long a removed user may take to finish its iteration.
        graceful_ramp_down: Duration,
    },
    /// Iterations start at a fixed rate. Free users run them.
    ConstantArrivalRate {
        /// The rate, for the whole test.
        rate: Rate,
        /// The time in which iterations start.
        duration: Duration,
        /// Users to initialize before the start.
        pre_allocated: u32,
        /// Maximum number of users, including pre-allocated ones.
        max_users: u32,
    },
    /// The rate changes linearly between stages.
    RampingArrivalRate {
        /// The rate at the start, for the whole test.
        start: Rate,
        /// The stages. Their targets are iterations per `start.per`, for the whole test.
        stages: Vec<Stage>,
        /// Users to initialize before the start.
        pre_allocated: u32,
        /// Maximum number of users, including pre-allocated ones.
        max_users: u32,
    },
    /// The number of users is controlled from outside during the test.
    ExternallyControlled {
        /// Users at the start.
        users: u32,
        /// Maximum users.
        max_users: u32,
        /// `None` runs until stopped.
        duration: Option<Duration>,
    },
}

/// A linear change to `target` over `duration`. Without a duration, it is a jump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stage {
    /// Duration of the stage.
    pub duration: Duration,
    /// The number of users, or of iterations per time unit, at the end of the stage.
    pub target: u64,
}

/// A rate of `count` iterations per `per`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// Number of iterations.
    pub count: u64,
    /// The time unit. Never zero in a valid plan.
    pub per: Duration,
}

impl Rate {
    /// Iterations per second.
    pub fn per_second(self) -> f64 {
        self.count as f64 / self.per.as_secs_f64()
    }
}

/// The kind of an executor, which has a name in scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ExecutorKind {
    SharedIterations,
    PerUserIterations,
    ConstantUsers,
    RampingUsers,
    ConstantArrivalRate,
    RampingArrivalRate,
    ExternallyControlled,
}

impl ExecutorKind {
    /// All kinds, in the order of k6's documentation.
    pub const ALL: [ExecutorKind; 7] = [
        ExecutorKind::SharedIterations,
        ExecutorKind::PerUserIterations,
        ExecutorKind::ConstantUsers,
        ExecutorKind::RampingUsers,
        ExecutorKind::ConstantArrivalRate,
        ExecutorKind::RampingArrivalRate,
        ExecutorKind::ExternallyControlled,
    ];

    /// The name in scripts, such as `constant-vus`.
    pub const fn name(self) -> &'static str {
        match self {
            ExecutorKind::SharedIterations => "shared-iterations",
            ExecutorKind::PerUserIterations => "per-vu-iterations",
            ExecutorKind::ConstantUsers => "constant-vus",
            ExecutorKind::RampingUsers => "ramping-vus",
            ExecutorKind::ConstantArrivalRate => "constant-arrival-rate",
            ExecutorKind::RampingArrivalRate => "ramping-arrival-rate",
            ExecutorKind::ExternallyControlled => "externally-controlled",
        }
    }

    pub fn from_name(name: &str) -> Option<ExecutorKind> {
        ExecutorKind::ALL.into_iter().find(|k| k.name() == name)
    }
}

impl fmt::Display for ExecutorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Executor {
    pub fn kind(&self) -> ExecutorKind {
        match self {
            Executor::SharedIterations { .. } => ExecutorKind::SharedIterations,
            Executor::PerUserIterations { .. } => ExecutorKind::PerUserIterations,
            Executor::ConstantUsers { .. } => ExecutorKind::ConstantUsers,
            Executor::RampingUsers { .. } => ExecutorKind::RampingUsers,
            Executor::ConstantArrivalRate { .. } => ExecutorKind::ConstantArrivalRate,
            Executor::RampingArrivalRate { .. } => ExecutorKind::RampingArrivalRate,
            Executor::ExternallyControlled { .. } => ExecutorKind::ExternallyControlled,
        }
    }

    /// Whether a schedule decides when iterations start (the open model), instead of the end of
    /// previous iterations.
    pub fn is_open(&self) -> bool {
        matches!(
            self,
            Executor::ConstantArrivalRate { .. } | Executor::RampingArrivalRate { .. }
        )
    }

    /// The time in which iterations may start. `None` only for an externally controlled scenario without a duration.
    pub fn duration(&self) -> Option<Duration> {
        match self {
            Executor::SharedIterations { max_duration, .. }
            | Executor::PerUserIterations { max_duration, .. } => Some(*max_duration),
            Executor::ConstantUsers { duration, .. }
            | Executor::ConstantArrivalRate { duration, .. } => Some(*duration),
            Executor::RampingUsers { start, stages, .. } => Some(time_until_empty(*start, stages)),
            Executor::RampingArrivalRate { stages, .. } => Some(total(stages)),
            Executor::ExternallyControlled { duration, .. } => *duration,
        }
    }
}

/// When a ramp of users ends: with its last stage, or before the trailing stages without users.
fn time_until_empty(start: u32, stages: &[Stage]) -> Duration {
    let mut kept = stages;
    while let [before @ .., last] = kept
        && last.target == 0
        && before.last().map_or(u64::from(start), |stage| stage.target) == 0
    {
        kept = before;
    }
    total(kept)
}

pub(crate) fn total(stages: &[Stage]) -> Duration {
    stages.iter().fold(Duration::ZERO, |sum, stage| {
        sum.saturating_add(stage.duration)
    })
}
