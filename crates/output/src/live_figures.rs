//! The figures of the live view.

use std::time::Duration;

use plimsoll_units::Bytes;
use plimsoll_verdict::Level;

/// The figures of a run up to the end of its latest second.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LiveFigures {
    /// The counted events.
    pub counted: Counted,
    /// The number of those so far, including failed ones.
    pub total: u64,
    /// Failed requests, or interrupted iterations.
    pub failed: u64,
    /// No request got a response.
    pub no_response: bool,
    /// Requests or iterations per second in each of the latest seconds, oldest first.
    pub rates: Vec<f64>,
    /// Per second since the start.
    pub average_rate: f64,
    /// The configured requests per second; `None` in a closed model.
    pub offered_rate: Option<f64>,
    /// Latency in the latest second.
    pub latest: Option<Quantiles>,
    /// Latency so far.
    pub overall: Option<Quantiles>,
    /// The metric that is shown as the latency.
    pub latency_metric: &'static str,
    /// Users that run iterations, and initialized ones.
    pub users: (u32, u32),
    /// Mean number of iterations in flight in the latest second.
    pub in_flight: f64,
    /// Agents of a fleet, and those of them that were lost; 0 without a fleet.
    pub agents: (usize, usize),
    pub received: Traffic,
    pub sent: Traffic,
    /// Iterations of the schedule; `None` in a closed model.
    pub offered: Option<Offered>,
    /// Checks that passed and that failed.
    pub checks: (u64, u64),
    pub thresholds: Vec<LiveThreshold>,
    /// Responses by status, sorted.
    pub statuses: Vec<(String, u64)>,
    /// Failures by text, most frequent first.
    pub errors: Vec<(String, u64)>,
    /// The activity of the generator itself.
    pub generator: GeneratorLoad,
    /// The verdict on the generator so far, and its reasons.
    pub verdict: Option<(Level, Vec<String>)>,
}

/// The events that a rate counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Counted {
    #[default]
    Requests,
    /// In a run without requests.
    Iterations,
}

/// Bytes in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Traffic {
    /// In the latest second.
    pub per_second: f64,
    /// Since the start.
    pub total: u64,
}

/// Iterations of an open model since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offered {
    /// Scheduled ones.
    pub offered: u64,
    pub started: u64,
    /// Those for which no user was free.
    pub dropped: u64,
}

/// A threshold so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LiveThreshold {
    /// Metric, condition and measured value.
    pub text: String,
    pub is_met: bool,
}

/// Times of exchanges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quantiles {
    /// The median.
    pub p50: Duration,
    /// The 95th percentile.
    pub p95: Duration,
    /// The 99th percentile.
    pub p99: Duration,
    /// The longest.
    pub max: Duration,
}

/// The generator's own resource use.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GeneratorLoad {
    /// Share of a processor that each worker thread used in the latest second; empty if it is not known.
    pub workers: Vec<f64>,
    /// 99th percentile of the send lag; `None` in a closed model.
    pub send_lag: Option<Duration>,
    /// Current memory.
    pub rss: Bytes,
}
