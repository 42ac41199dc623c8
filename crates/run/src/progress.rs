//! The progress of a run.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use plimsoll_engine::{RunState, ScenarioState};
use plimsoll_machine::ThreadReading;
use plimsoll_samples::{
    CheckTotal, Cumulative, HttpOverview, JudgedThreshold, MetricId, MetricSummary, NameParts,
    Stage, Summary, Totals, Values, builtin,
};
use plimsoll_verdict::{Evidence, Verdict};

use crate::agents::{AgentReading, Agents};

/// The state of a run in progress. Metrics are computed on request.
pub struct Progress {
    pub(crate) state: Arc<RunState>,
    pub(crate) scenarios: Vec<Arc<ScenarioState>>,
    pub(crate) totals: Totals,
    pub(crate) phase: Phase,
    pub(crate) evidence: Evidence,
    /// The latest reading of each worker thread.
    pub(crate) threads: Vec<ThreadReading>,
    pub(crate) agents: Agents,
}

/// The current phase of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    Init,
    SetUp,
    Running,
    TearDown,
}

impl Progress {
    pub(crate) fn new(
        state: Arc<RunState>,
        scenarios: Vec<Arc<ScenarioState>>,
        totals: Totals,
    ) -> Self {
        Progress {
            state,
            scenarios,
            totals,
            phase: Phase::Init,
            evidence: Evidence::default(),
            threads: Vec::new(),
            agents: Agents::default(),
        }
    }

    /// The current phase of the run.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// Counters of users and iterations.
    pub fn state(&self) -> &RunState {
        &self.state
    }

    /// The counters of the scenarios, in the plan's order.
    pub fn scenarios(&self) -> &[Arc<ScenarioState>] {
        &self.scenarios
    }

    /// How long the scenarios have been running, or how long they ran.
    pub fn elapsed(&self) -> Duration {
        let end = self.state.ended().unwrap_or_else(plimsoll_clock::now);
        self.state
            .started()
            .map_or(Duration::ZERO, |started| end.since(started))
    }

    /// The values of a metric. `None` if it has no samples.
    pub fn values(&self, metric: MetricId) -> Option<Values> {
        self.totals.values(metric, self.elapsed())
    }

    /// Counts of statuses, protocols and failures.
    pub fn http(&self) -> HttpOverview {
        self.totals.http()
    }

    /// Checks by name.
    pub fn checks(&self) -> Vec<CheckTotal> {
        self.totals.checks()
    }

    /// The values of submetrics, which thresholds define.
    pub fn by_tag(&self) -> Vec<(Cow<'_, str>, Values)> {
        self.totals.by_tag(self.elapsed())
    }

    /// Results of requests by name. Empty unless a record or a listener needs them.
    pub fn names(&self) -> NameParts {
        self.totals.names()
    }

    /// The results of thresholds on metrics with samples.
    pub fn thresholds(&self) -> Vec<JudgedThreshold> {
        let report = self.totals.evaluate(self.elapsed(), Stage::Running);
        report.judged
    }

    /// The totals of each metric with samples. Copies every distribution.
    pub fn cumulative(&self) -> Cumulative {
        self.totals.cumulative()
    }

    /// All metrics with samples or thresholds. Copies every distribution.
    pub fn metrics(&self) -> Vec<MetricSummary> {
        self.totals.metrics(self.elapsed())
    }

    /// The summary so far. Copies every distribution.
    pub fn summary(&self) -> Summary {
        self.totals.summary(self.elapsed())
    }

    /// The number of requests so far, including failed ones.
    pub fn requests(&self) -> f64 {
        self.count(builtin::HTTP_REQS)
    }

    /// The readings of each worker thread in its latest second.
    pub fn threads(&self) -> &[ThreadReading] {
        &self.threads
    }

    /// The agents that run the workers. Empty if the workers are in this process.
    pub fn agents(&self) -> Vec<AgentReading> {
        self.agents.read()
    }

    /// The verdict on the run so far.
    pub fn verdict(&self) -> Verdict {
        self.evidence.judge()
    }

    pub(crate) fn count(&self, metric: MetricId) -> f64 {
        self.values(metric)
            .and_then(|values| values.count())
            .unwrap_or(0.0)
    }

    /// Stores the reading of a worker thread.
    pub(crate) fn set_thread(&mut self, worker: usize, reading: ThreadReading) {
        if self.threads.len() <= worker {
            self.threads.resize_with(worker + 1, ThreadReading::default);
        }
        self.threads[worker] = reading;
    }
}
