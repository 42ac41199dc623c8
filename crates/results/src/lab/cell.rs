//! One cell of the matrix, and its repeats.

use std::collections::BTreeMap;

use plimsoll_stats::tail;
use serde::{Deserialize, Serialize};

use super::Finding;
use crate::distribution::Distribution;
use crate::record::{Generator, Mark};

/// A cell of the matrix.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// The name, derived from the axes: `backend=sqlite wire=http users=100`.
    pub name: String,
    /// The position in the matrix: pairs of axis and value.
    pub place: Vec<(String, String)>,
    pub state: CellState,
    /// The command of each repeat, without secrets and home directories.
    pub command: String,
    /// The network path, declared and measured. On loopback without a relay, only measured.
    pub link: Option<LinkFigures>,
    /// The declared protocol, if any.
    pub protocol_declared: Option<String>,
    /// See [`Cell::protocol_declared`].
    pub protocols: BTreeMap<String, u64>,
    /// The sanity request and the response to it.
    pub sanity: Option<String>,
    /// The repeats in the order in which they ran, with the latest attempt of each.
    pub repeats: Vec<Repeat>,
    /// The headline metrics over the repeats, by name: see [`Figure`]. Empty if the verdict of the
    /// cell is `invalid`.
    pub figures: Vec<Figure>,
    /// `valid`, `suspect` or `invalid`: the worst of the verdicts of the repeats and the findings.
    pub verdict: String,
    /// The reasons for the verdict, as sentences.
    pub reasons: Vec<String>,
    /// The audit findings.
    pub findings: Vec<Finding>,
    /// The published values to compare with, by metric name.
    pub published: Vec<Published>,
    /// The search for the highest rate, if the lab requests one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<LimitSearch>,
}

impl Cell {
    pub fn figure(&self, name: &str) -> Option<&Figure> {
        self.figures.iter().find(|figure| figure.name == name)
    }

    /// The number of latencies in all repeats. Tools without a record only report the number of requests. `None` if it is
    /// not known.
    pub fn latencies(&self) -> Option<u64> {
        let counts = self
            .repeats
            .iter()
            .map(|repeat| match repeat.latency.count {
                0 => repeat.requests,
                count => count,
            });
        Some(counts.sum()).filter(|count| *count > 0)
    }

    /// Why a percentile of the latency is not reliable: the number of latencies, and the number that it needs. `None`
    /// for other figures.
    pub fn why_not_reliable(&self, figure: &str) -> Option<TooFew> {
        let q = latency_quantile(figure)?;
        let latencies = self.latencies()?;
        (!tail::is_reliable(latencies as f64, q)).then(|| TooFew {
            counted: latencies,
            needed: tail::values_needed(q),
        })
    }
}

/// The quantile of a figure such as `latency_p999`.
pub fn latency_quantile(figure: &str) -> Option<f64> {
    let digits = figure.strip_prefix("latency_p")?;
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| format!("0.{digits}").parse().ok())?
}

/// Fewer values than a percentile needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TooFew {
    pub counted: u64,
    pub needed: u64,
}

impl TooFew {
    /// Such as `60 values are too few, it needs 200`.
    pub fn text(self) -> String {
        format!(
            "{} values are too few, it needs {}",
            self.counted, self.needed
        )
    }
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
    /// The trials in chronological order.
    pub trials: Vec<LimitTrial>,
    /// The highest rate per second that met the objective in every trial, or `None`.
    pub kept: Option<f64>,
    /// The lowest rate above `met` that missed the objective, or `None`.
    pub broken: Option<f64>,
    /// Whether both ends had the same outcome in every trial and the soak met the objective.
    pub confirmed: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LimitTrial {
    /// The requested rate per second.
    pub rate: f64,
    /// The value of the metric in its unit, or `None` without any response.
    pub value: Option<f64>,
    /// Whether the trial met the objective.
    pub kept: bool,
    /// Whether the trial was the soak.
    pub soak: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "state", content = "why")]
pub enum CellState {
    /// Every repeat ran.
    Measured,
    /// Some repeats are missing.
    Partial(String),
    /// The sanity request failed, so nothing was measured.
    Insane(String),
    /// The cell could not be set up or run.
    Failed(String),
    /// This form of the lab does not include the cell.
    LeftOut,
    /// The cell has not been run yet.
    #[default]
    Missing,
}

/// A metric over the repeats, with its confidence interval.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// Such as `requests_per_second`, `latency_p95`, `cpu_time_per_request`, `makespan`, `throughput`.
    pub name: String,
    /// The name for readers: `95th percentile of response time`.
    pub label: String,
    /// Such as `ms`, `requests/s`, `Mbit/s`, `CPU µs`.
    pub unit: String,
    /// The mean over the restarts. It is the geometric mean unless a run has a value of 0.
    pub value: f64,
    /// The 95 % interval. `None` if there are too few samples; `why_no_interval` then has the reason.
    pub interval: Option<(f64, f64)>,
    /// The sources of variation that the interval includes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval_from: Option<Variation>,
    /// See [`Figure::interval`].
    pub why_no_interval: Option<String>,
    /// The value if the warm-up is included.
    pub with_warm_up: Option<f64>,
    /// The better direction, `more` or `less`. `None` if there is none.
    pub better: Option<String>,
    /// The value of each repeat, in their order.
    pub repeats: Vec<f64>,
    /// The value of each restart, in their order: the mean of its runs. Earlier versions did not
    /// have this field.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub restarts: Vec<f64>,
}

impl Figure {
    /// The values to compare: those of the restarts, or those of the runs if there is only one restart.
    pub fn units(&self) -> (Variation, &[f64]) {
        match self.restarts.len() {
            0 | 1 => (Variation::Runs, &self.repeats),
            _ => (Variation::Restarts, &self.restarts),
        }
    }
}

/// The sources of variation that an interval includes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Variation {
    /// Variation between restarts of the system, and therefore also between and within runs.
    Restarts,
    /// Variation between runs of the same start of the system.
    Runs,
    /// Variation within a single run.
    OneRun,
}

impl Variation {
    /// A caveat for conclusions, to append in parentheses. Empty if there are several restarts.
    pub fn limitation(self) -> Option<&'static str> {
        match self {
            Variation::Restarts => None,
            Variation::Runs => Some("one start"),
            Variation::OneRun => Some("one run"),
        }
    }

    /// The name of the unit to measure more of.
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
    /// The number of the run, counted from 1 over all restarts.
    pub number: u32,
    /// The number of its restart, counted from 1. The systems are started again for each restart.
    #[serde(default = "first")]
    pub restart: u32,
    /// The position of the run in the lab, counted from 1, so that drift is visible.
    pub turn: u32,
    /// When the run started, in RFC 3339.
    pub started: String,
    /// The measured duration in seconds, without the warm-up.
    pub duration_seconds: f64,
    /// The seconds excluded as warm-up.
    pub warm_up_seconds: f64,
    /// See [`Repeat::warm_up_seconds`].
    pub warm_up_rule: String,
    /// Number of measured requests, calls or iterations.
    pub requests: u64,
    /// Number of these that failed.
    pub failed: u64,
    /// The response or service time after the warm-up, in milliseconds.
    pub latency: Distribution,
    /// `response time` (open model) or `service time`.
    pub latency_kind: String,
    /// One entry per second, including the warm-up.
    pub seconds: Vec<SecondFigures>,
    /// Moments to mark in plots, the earliest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<Mark>,
    /// The resources that each process used: the system, the services and the generator.
    pub used: Vec<Used>,
    /// The generator's measurements of itself.
    pub generator: Generator,
    /// Counts of statuses or codes of responses, and of errors, by name.
    pub outcomes: BTreeMap<String, u64>,
    /// For a fixed amount of work: the declared and the completed amount.
    pub work: Option<(u64, u64)>,
    /// Further values of the run by name (`makespan_seconds`, `megabits_per_second`, …).
    pub extra: BTreeMap<String, f64>,
    /// The output of the tool, in the format of k6, vegeta or iperf3.
    pub raw: String,
    /// The path of the record, relative to the result.
    pub record: Option<String>,
    /// For each earlier attempt of this run that other programs on the machine disturbed: the
    /// reasons. Such a run is repeated.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disturbed: Vec<String>,
}

/// Records of earlier versions have no restarts.
fn first() -> u32 {
    1
}

/// One second of a repeat.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SecondFigures {
    /// The number of the second, counted from 0.
    pub second: u64,
    /// Requests that started in this second.
    pub requests: u64,
    /// Number of these that failed.
    pub failed: u64,
    /// Latency quantiles in milliseconds, or `None` without samples.
    pub p50: Option<f64>,
    /// See [`SecondFigures::p50`].
    pub p95: Option<f64>,
    /// See [`SecondFigures::p50`].
    pub p99: Option<f64>,
    /// The longest latency in milliseconds.
    pub max: Option<f64>,
    /// CPU time of the system and its services together, in CPU seconds per second.
    pub system_cpu: Option<f64>,
    /// The latencies in this second, for heat maps: the lower edge in milliseconds and the count of
    /// each non-empty coarse bucket ([`Distribution::coarse`]).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub latencies: Vec<(f64, u64)>,
}

/// The resource use of a process during a repeat.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Used {
    /// The name of the system or service, or `generator`.
    pub name: String,
    /// Whether it is excluded from `cpu_time_per_request`: the generator, and processes that only
    /// use the measured system.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub apart: bool,
    /// Processor time, including child processes.
    pub cpu_seconds: f64,
    /// Peak memory.
    pub peak_rss_bytes: u64,
    /// Maximum number of threads.
    pub threads: u32,
    /// Maximum number of open files.
    pub open_files: u32,
    /// Voluntary and involuntary context switches.
    pub context_switches: (u64, u64),
    /// Bytes received and sent over the network, if known. Only the generator counts them.
    pub network_bytes: Option<(u64, u64)>,
}

/// A network path, as declared and as measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LinkFigures {
    /// The name of the place.
    pub name: String,
    /// `relay`, `kernel` with the mechanism used, or `loopback`.
    pub by: String,
    /// The declared round trip in milliseconds.
    pub declared_round_trip_ms: Option<f64>,
    /// The declared jitter in milliseconds, ± around the round trip. Absent without jitter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declared_jitter_ms: Option<f64>,
    /// As declared.
    pub declared_megabits_per_second: Option<f64>,
    /// Median time to connect, measured before the load.
    pub measured_connect_ms: Option<f64>,
    /// Median round trip of an echo, measured before the load.
    pub measured_round_trip_ms: Option<f64>,
    /// Throughput of one TCP stream, measured before the load.
    pub measured_megabits_per_second: Option<f64>,
    /// How late the relay delivered data during the run: the 99th percentile in milliseconds, for
    /// the direction that is later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub late_p99_ms: Option<f64>,
}

/// A value from the published document that this lab reproduces.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Published {
    /// The name of the [`Figure`] to compare with.
    pub figure: String,
    /// The published value, in the unit of that metric.
    pub value: f64,
    /// A note on the comparison.
    pub note: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_of_too_few_latencies_is_not_reliable() {
        let mut cell = Cell {
            repeats: vec![Repeat::default(), Repeat::default()],
            ..Cell::default()
        };
        cell.repeats[0].latency.count = 120;
        // The output of a tool without a record.
        cell.repeats[1].requests = 79;
        let why = cell.why_not_reliable("latency_p95");
        assert_eq!(
            why.map(TooFew::text).as_deref(),
            Some("199 values are too few, it needs 200")
        );
        assert_eq!(cell.why_not_reliable("latency_p90"), None);
        assert_eq!(cell.why_not_reliable("latency_max"), None);
        cell.repeats[1].requests += 1;
        assert_eq!(cell.why_not_reliable("latency_p95"), None);
        assert_eq!(latency_quantile("latency_p999"), Some(0.999));
        assert_eq!(latency_quantile("latency_p"), None);
    }
}
