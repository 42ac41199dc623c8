//! Workers that are not threads of this process.

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
    /// In this process, which runs a part of a larger run: thresholds are judged elsewhere, and the
    /// scenarios start when [`Control::start_at`](crate::Control::start_at) says so.
    Part {
        /// Other parts run on the same machine, so the use of its processors is judged elsewhere.
        shares_machine: bool,
    },
    /// Elsewhere.
    Remote(Box<dyn RemoteWorkers>),
}

/// Workers elsewhere. Their events and counters look like those of local workers.
pub trait RemoteWorkers {
    /// Starts them.
    fn start(&mut self, start: RemoteStart) -> Running;

    /// The processor time of workers that are on this machine.
    fn local_time(&self) -> Duration;

    /// The agents that they belong to, kept up to date during the run; none by default.
    fn agents(&self) -> Agents {
        Agents::default()
    }

    /// The facts about the whole run that are known after its last event.
    fn conclude(&mut self) -> Conclusion;
}

/// A run that is about to start.
pub struct RemoteStart {
    pub plan: Arc<Plan>,
    pub registry: Arc<Registry>,
    pub watch: Arc<Watch>,
}

/// The result of remote workers, without the figures.
#[derive(Debug, Default)]
pub struct Conclusion {
    /// Reasons for the verdict, with the level that each requires.
    pub findings: Vec<(Level, Reason)>,
    /// Information for the user, one sentence each.
    pub messages: Vec<String>,
    /// The script marked the run as failed.
    pub marked_failed: bool,
    /// The processor time of the workers.
    pub cpu: Duration,
}

impl Conclusion {
    /// Adds the findings to a verdict. A verdict that gets worse keeps only the reasons for that.
    pub(crate) fn add_to(&mut self, verdict: &mut Verdict) {
        let level = self.findings.iter().map(|(level, _)| *level).max();
        let level = level.unwrap_or(Level::Valid).max(verdict.level);
        if level > verdict.level && verdict.level == Level::Valid {
            verdict.reasons.clear();
        }
        if level > Level::Valid {
            // These findings describe what was checked, not what is wrong.
            self.findings.retain(|(level, _)| *level > Level::Valid);
        }
        verdict.level = level;
        let findings = self.findings.drain(..);
        verdict.reasons.extend(findings.map(|(_, reason)| reason));
    }
}
