//! One cell of the matrix, and its repeats.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Finding;
use crate::distribution::Distribution;
use crate::record::{Generator, Mark};

/// A cell of the matrix.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// Its name, derived from the axes: `backend=sqlite wire=http users=100`.
    pub name: String,
    /// Its position: axis, value.
    pub place: Vec<(String, String)>,
    /// Its state.
    pub state: CellState,
    /// The command of each repeat, without secrets and home directories.
    pub command: String,
    /// The network path as declared and as measured; on loopback without a relay only as measured.
    pub link: Option<LinkFigures>,
    /// The declared protocol, if any.
    pub protocol_declared: Option<String>,
    /// See [`Cell::protocol_declared`].
    pub protocols: BTreeMap<String, u64>,
    /// The sanity request and its response.
    pub sanity: Option<String>,
    /// The repeats in the order in which they ran, the latest attempt of each.
    pub repeats: Vec<Repeat>,
    /// The headline metrics over the repeats, by name: see [`Figure`]. Empty for a cell whose
    /// verdict is `invalid`.
    pub figures: Vec<Figure>,
    /// `valid`, `suspect` or `invalid`: the worst of the repeats and the findings.
    pub verdict: String,
    /// The reasons, in sentences.
    pub reasons: Vec<String>,
    /// The findings of the audit.
    pub findings: Vec<Finding>,
    /// The published values to compare with, by the name of the metric.
    pub published: Vec<Published>,
    /// The search for its highest rate, if the lab requests one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<LimitSearch>,
}

/// A search for the highest arrival rate that meets an objective.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LimitSearch {
    /// The objective in words.
    pub objective: String,
    /// The metric of the objective.
    pub figure: String,
    /// See [`LimitSearch::figure`].
    pub limit: f64,
    /// See [`LimitSearch::figure`].
    pub unit: String,
    /// Trials in the order in which they were made.
    pub trials: Vec<LimitTrial>,
    /// The highest rate per second that met the objective each time; `None` if none did.
    pub kept: Option<f64>,
    /// The lowest rate above it that missed the objective; `None` if none did.
    pub broken: Option<f64>,
    /// Whether both ends had the same outcome each time and the soak met the objective.
    pub confirmed: bool,
}

/// One trial of a search.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LimitTrial {
    /// The requested rate per second.
    pub rate: f64,
    /// The value of the metric, in its unit; `None` without any response.
    pub value: Option<f64>,
    /// Whether the objective was met.
    pub kept: bool,
    /// Whether it was the soak.
    pub soak: bool,
}

/// The state of a cell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "state", content = "why")]
pub enum CellState {
    /// Every repeat ran.
    Measured,
    /// Some repeats are missing.
    Partial(String),
    /// Its sanity request failed: nothing was measured.
    Insane(String),
    /// It could not be set up or run.
    Failed(String),
    /// This form of the lab does not include it.
    LeftOut,
    /// It has not been run yet.
    #[default]
    Missing,
}

/// A metric over the repeats, with its interval.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// Such as `requests_per_second`, `latency_p95`, `cpu_time_per_request`,
    /// `makespan`, `throughput`.
    pub name: String,
    /// Its name for readers: `95th percentile of response time`.
    pub label: String,
    /// Such as `ms`, `requests/s`, `Mbit/s`, `CPU µs`.
    pub unit: String,
    /// The value: the mean over the restarts, geometric unless a run has a value of 0.
    pub value: f64,
    /// A 95 % interval. `None` if there are too few samples; then `why_no_interval` says so.
    pub interval: Option<(f64, f64)>,
    /// The variation that the interval includes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval_from: Option<Variation>,
    /// See [`Figure::interval`].
    pub why_no_interval: Option<String>,
    /// The value including the warm-up.
    pub with_warm_up: Option<f64>,
    /// Whether more is better (`more`), less is (`less`), or neither.
    pub better: Option<String>,
    /// One value for each repeat, in their order.
    pub repeats: Vec<f64>,
    /// One value for each restart, in their order: the mean of its runs. Earlier versions had none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub restarts: Vec<f64>,
}

impl Figure {
    /// The values that are compared: those of the restarts, or of the runs if there is one restart.
    pub fn units(&self) -> (Variation, &[f64]) {
        match self.restarts.len() {
            0 | 1 => (Variation::Runs, &self.repeats),
            _ => (Variation::Restarts, &self.restarts),
        }
    }
}

/// The variation that an interval includes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Variation {
    /// That between restarts of the system, and so also that between and within runs.
    Restarts,
    /// That between runs of one start of the system.
    Runs,
    /// Only that within one run.
    OneRun,
}

impl Variation {
    /// The limit of a conclusion, for use in parentheses. Nothing if there are several restarts.
    pub fn limitation(self) -> Option<&'static str> {
        match self {
            Variation::Restarts => None,
            Variation::Runs => Some("one start"),
            Variation::OneRun => Some("one run"),
        }
    }

    /// The unit of which more should be measured.
    pub fn units(self) -> &'static str {
        match self {
            Variation::Restarts => "restarts",
            Variation::Runs | Variation::OneRun => "runs",
        }
    }
}

/// One run of a cell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Repeat {
    /// From 1, over all restarts.
    pub number: u32,
    /// The restart that it belongs to, from 1. The systems are started again for each.
    #[serde(default = "first")]
    pub restart: u32,
    /// The run's position in the lab, from 1, so that drift is visible.
    pub turn: u32,
    /// When it started, RFC 3339.
    pub started: String,
    /// Measured duration, without the warm-up.
    pub duration_seconds: f64,
    /// Seconds excluded as warm-up.
    pub warm_up_seconds: f64,
    /// See [`Repeat::warm_up_seconds`].
    pub warm_up_rule: String,
    /// Number of measured requests (or calls, or iterations).
    pub requests: u64,
    /// Number of failed ones among them.
    pub failed: u64,
    /// Response or service time after the warm-up, in milliseconds.
    pub latency: Distribution,
    /// `response time` (open model) or `service time`.
    pub latency_kind: String,
    /// One entry per second, including the warm-up.
    pub seconds: Vec<SecondFigures>,
    /// Moments that plots mark, the earliest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<Mark>,
    /// The resources that each process used: the system's, its services', the generator's.
    pub used: Vec<Used>,
    /// The generator's report on itself.
    pub generator: Generator,
    /// Status or code of responses, and errors, by name.
    pub outcomes: BTreeMap<String, u64>,
    /// For a fixed amount of work: the declared and the completed amount.
    pub work: Option<(u64, u64)>,
    /// Further values of the run by name (`makespan_seconds`, `megabits_per_second`, …).
    pub extra: BTreeMap<String, f64>,
    /// The output of the tool, in the format of k6, vegeta or iperf3.
    pub raw: String,
    /// The path of the record, relative to the result.
    pub record: Option<String>,
    /// Earlier attempts of this run that other programs of the machine disturbed, so that it was measured again: the
    /// reasons of each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disturbed: Vec<String>,
}

/// Earlier versions had no restarts.
fn first() -> u32 {
    1
}

/// One second of a repeat.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SecondFigures {
    /// Its number, from 0.
    pub second: u64,
    /// Requests that started in it.
    pub requests: u64,
    /// Number of failed ones among them.
    pub failed: u64,
    /// Latency quantiles in milliseconds; `None` without samples.
    pub p50: Option<f64>,
    /// See [`SecondFigures::p50`].
    pub p95: Option<f64>,
    /// See [`SecondFigures::p50`].
    pub p99: Option<f64>,
    /// The longest, in milliseconds.
    pub max: Option<f64>,
    /// CPU of the system and its services together, in CPU seconds per second.
    pub system_cpu: Option<f64>,
    /// The distribution of latencies in this second: lower edge in milliseconds and count of each
    /// non-empty coarse bucket ([`Distribution::coarse`]), for heat maps.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub latencies: Vec<(f64, u64)>,
}

/// The resource use of a process in a repeat.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Used {
    /// The system's or service's name, or `generator`.
    pub name: String,
    /// Whether it is excluded from `cpu_time_per_request`: the generator, and processes that
    /// are only behind the measured system.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub apart: bool,
    /// Processor time, its children included.
    pub cpu_seconds: f64,
    /// The most memory seen.
    pub peak_rss_bytes: u64,
    /// Threads at most.
    pub threads: u32,
    /// Open files at most.
    pub open_files: u32,
    /// Voluntary and involuntary context switches.
    pub context_switches: (u64, u64),
    /// Bytes received and sent over the network, if known: the generator's,
    /// as it counted them.
    pub network_bytes: Option<(u64, u64)>,
}

/// A link declared and measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LinkFigures {
    /// The place's name.
    pub name: String,
    /// `relay`, `kernel` with what it used, or `loopback`.
    pub by: String,
    /// As declared, in milliseconds.
    pub declared_round_trip_ms: Option<f64>,
    /// As declared, in milliseconds, in both directions around the round trip; absent without jitter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declared_jitter_ms: Option<f64>,
    /// As declared.
    pub declared_megabits_per_second: Option<f64>,
    /// Median time to connect, as measured before the load.
    pub measured_connect_ms: Option<f64>,
    /// Median echo round trip, as measured before the load.
    pub measured_round_trip_ms: Option<f64>,
    /// Throughput of one TCP stream, as measured before the load.
    pub measured_megabits_per_second: Option<f64>,
    /// How late the relay delivered during the run, in milliseconds, the 99th percentile of both directions' pieces: the
    /// later direction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub late_p99_ms: Option<f64>,
}

/// A value from the document on which this lab is based.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Published {
    /// The name of the [`Figure`] to compare it with.
    pub figure: String,
    /// The published value, in that metric's unit.
    pub value: f64,
    /// A note for the comparison.
    pub note: String,
}
