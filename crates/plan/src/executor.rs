//! How a scenario makes its iterations start.

use std::fmt;
use std::time::Duration;

/// k6's seven ways to run a scenario, each with exactly what it needs.
///
/// Counts of users and shared iterations are already scaled to the execution
/// segment. Rates and ramps are the whole test's: which of their iterations
/// and users belong to this instance is the [`Stripe`](crate::Stripe)'s say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Executor {
    /// `iterations` in all, taken by whichever of `users` is free.
    SharedIterations {
        /// How many users.
        users: u32,
        /// Iterations of all of them together.
        iterations: u64,
        /// No iteration starts after this.
        max_duration: Duration,
    },
    /// `iterations` for each of `users`.
    PerUserIterations {
        /// How many users.
        users: u32,
        /// Iterations of each.
        iterations: u64,
        /// No iteration starts after this.
        max_duration: Duration,
    },
    /// `users` looping for `duration`.
    ConstantUsers {
        /// How many users.
        users: u32,
        /// How long they start iterations.
        duration: Duration,
    },
    /// The number of looping users follows straight lines between stages.
    RampingUsers {
        /// The whole test's users at the start.
        start: u32,
        /// Their targets are the whole test's users.
        stages: Vec<Stage>,
        /// How long a user that is ramped away may finish its iteration.
        graceful_ramp_down: Duration,
    },
    /// Iterations start at a fixed rate, whoever is free runs them.
    ConstantArrivalRate {
        /// The whole test's rate.
        rate: Rate,
        /// How long iterations start.
        duration: Duration,
        /// Users made ready before the start.
        pre_allocated: u32,
        /// Users at most, the pre-allocated included.
        max_users: u32,
    },
    /// The rate of starts follows straight lines between stages.
    RampingArrivalRate {
        /// The whole test's rate at the start.
        start: Rate,
        /// Their targets are the whole test's iterations per `start.per`.
        stages: Vec<Stage>,
        /// Users made ready before the start.
        pre_allocated: u32,
        /// Users at most, the pre-allocated included.
        max_users: u32,
    },
    /// The number of users is set from outside while the test runs.
    ExternallyControlled {
        /// Users at the start.
        users: u32,
        /// Users at most.
        max_users: u32,
        /// Without one it runs until stopped.
        duration: Option<Duration>,
    },
}

/// The straight line to `target`, taking `duration`. No duration is a jump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stage {
    /// The length of the line.
    pub duration: Duration,
    /// Users, or iterations per time unit, at its end.
    pub target: u64,
}

/// `count` iterations in each `per`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// How many iterations.
    pub count: u64,
    /// In how long. Never zero in a valid plan.
    pub per: Duration,
}

impl Rate {
    /// Iterations per second.
    pub fn per_second(self) -> f64 {
        self.count as f64 / self.per.as_secs_f64()
    }
}

/// An executor's name, as `executor` in a script.
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
    /// All of them, in the order of k6's documentation.
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

    /// The kind of that name.
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
    /// Which of the seven it is.
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

    /// Whether a schedule says when iterations start (the open model), and not
    /// the end of the ones before.
    pub fn is_open(&self) -> bool {
        matches!(
            self,
            Executor::ConstantArrivalRate { .. } | Executor::RampingArrivalRate { .. }
        )
    }

    /// How long iterations may start; `None` only for an externally
    /// controlled scenario without a duration.
    pub fn duration(&self) -> Option<Duration> {
        match self {
            Executor::SharedIterations { max_duration, .. }
            | Executor::PerUserIterations { max_duration, .. } => Some(*max_duration),
            Executor::ConstantUsers { duration, .. }
            | Executor::ConstantArrivalRate { duration, .. } => Some(*duration),
            Executor::RampingUsers { start, stages, .. } => Some(until_nobody(*start, stages)),
            Executor::RampingArrivalRate { stages, .. } => Some(total(stages)),
            Executor::ExternallyControlled { duration, .. } => *duration,
        }
    }
}

/// When a ramp of users is over: with its last stage, or before the stages at its end in which there
/// are no users left.
fn until_nobody(start: u32, stages: &[Stage]) -> Duration {
    let mut kept = stages;
    while let [before @ .., last] = kept
        && last.target == 0
        && before.last().map_or(u64::from(start), |stage| stage.target) == 0
    {
        kept = before;
    }
    total(kept)
}

/// The length of all stages together.
pub(crate) fn total(stages: &[Stage]) -> Duration {
    stages.iter().fold(Duration::ZERO, |sum, stage| {
        sum.saturating_add(stage.duration)
    })
}
