//! The interface to workers in other processes.

use std::sync::Arc;
use std::time::Duration;

use plimsoll_engine::Running;
use plimsoll_plan::Plan;
use plimsoll_samples::{Registry, Watch};
use plimsoll_verdict::{Level, Reason, Verdict};

use crate::agents::Agents;

/// Where the users of a run are.
#[derive(Default)]
pub enum Workers {
    /// In this process.
    #[default]
    Local,
    /// In this process, which runs a part of a larger run. Thresholds are judged elsewhere. The scenarios start at the
    /// time set with [`Control::start_at`](crate::Control::start_at).
    Part {
        /// Whether other parts run on the same machine. If so, the use of its processors is judged elsewhere.
        shares_machine: bool,
    },
    /// In other processes.
    Remote(Box<dyn RemoteWorkers>),
}

/// Workers in other processes. Their events and counters look like those of local workers.
pub trait RemoteWorkers {
    fn start(&mut self, start: RemoteStart) -> Running;

    /// The processor time of the workers that are on this machine.
    fn local_time(&self) -> Duration;

    /// The agents that run the workers, kept up to date during the run. None by default.
    fn agents(&self) -> Agents {
        Agents::default()
    }

    /// Facts about the whole run that are known after its last event.
    fn conclude(&mut self) -> Conclusion;
}

/// A run that is about to start.
pub struct RemoteStart {
    pub plan: Arc<Plan>,
    pub registry: Arc<Registry>,
    pub watch: Arc<Watch>,
}

/// The result of remote workers, except for the figures.
#[derive(Debug, Default)]
pub struct Conclusion {
    /// Reasons for the verdict, each with the level that it requires.
    pub findings: Vec<(Level, Reason)>,
    /// Information for the user, one sentence each.
    pub messages: Vec<String>,
    /// Whether the script marked the run as failed.
    pub marked_failed: bool,
    /// The processor time of the workers.
    pub cpu: Duration,
}

impl Conclusion {
    /// Adds the findings to a verdict. If that lowers the verdict, only the reasons for the lower level remain.
    pub(crate) fn add_to(&mut self, verdict: &mut Verdict) {
        let level = self.findings.iter().map(|(level, _)| *level).max();
        let level = level.unwrap_or(Level::Valid).max(verdict.level);
        if level > verdict.level && verdict.level == Level::Valid {
            verdict.reasons.clear();
        }
        if level > Level::Valid {
            // These findings describe what was checked, not a problem.
            self.findings.retain(|(level, _)| *level > Level::Valid);
        }
        verdict.level = level;
        let findings = self.findings.drain(..);
        verdict.reasons.extend(findings.map(|(_, reason)| reason));
    }
}
