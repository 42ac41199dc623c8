//! The figures of the live view.

use std::time::Duration;

use plimsoll_units::Bytes;
use plimsoll_verdict::Level;

/// The figures of a run up to the end of its latest second.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LiveFigures {
    /// What the rate counts.
    pub counted: Counted,
    /// The number of these events so far, including failed ones.
    pub total: u64,
    /// Failed requests, or interrupted iterations.
    pub failed: u64,
    /// Whether no request has got a response.
    pub no_response: bool,
    /// Requests or iterations per second in each of the latest seconds, oldest first.
    pub rates: Vec<f64>,
    /// The rate since the start.
    pub average_rate: f64,
    /// The configured rate. `None` in a closed model.
    pub offered_rate: Option<f64>,
    /// Latency in the latest second.
    pub latest: Option<Quantiles>,
    /// Latency so far.
    pub overall: Option<Quantiles>,
    /// The name of the metric that is shown as the latency.
    pub latency_metric: &'static str,
    /// The number of users that run iterations, and of initialized users.
    pub users: (u32, u32),
    /// Mean number of iterations in flight in the latest second.
    pub in_flight: f64,
    /// The number of agents of a fleet, and of lost ones; 0 without a fleet.
    pub agents: (usize, usize),
    pub received: Traffic,
    pub sent: Traffic,
    /// Iterations of the schedule. `None` in a closed model.
    pub offered: Option<Offered>,
    /// The numbers of passed and failed checks.
    pub checks: (u64, u64),
    pub thresholds: Vec<LiveThreshold>,
    /// Responses by status, sorted.
    pub statuses: Vec<(String, u64)>,
    /// Failures by text, most frequent first.
    pub errors: Vec<(String, u64)>,
    /// The resource use of the generator itself.
    pub generator: GeneratorLoad,
    /// The verdict on the generator so far, with its reasons.
    pub verdict: Option<(Level, Vec<String>)>,
}

/// The events that a rate counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Counted {
    #[default]
    Requests,
    /// Iterations, in a run without requests.
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
    /// The number of iterations that the schedule contains so far.
    pub offered: u64,
    pub started: u64,
    /// The number of iterations for which no user was free.
    pub dropped: u64,
}

/// The state of a threshold so far.
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
    /// The share of a processor that each worker thread used in the latest second. Empty if unknown.
    pub workers: Vec<f64>,
    /// The 99th percentile of the send lag. `None` in a closed model.
    pub send_lag: Option<Duration>,
    /// Current memory.
    pub rss: Bytes,
}
