//! One cell of the matrix, and its repeats.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Finding;
use crate::distribution::Distribution;
use crate::record::Generator;

/// A cell of the matrix.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// Its name, made from the axes: `backend=sqlite wire=http users=100`.
    pub name: String,
    /// Where it lies: axis, value.
    pub place: Vec<(String, String)>,
    /// What became of it.
    pub state: CellState,
    /// What was run for each repeat, secrets and home directories taken out.
    pub command: String,
    /// The way as declared and as measured; of loopback without a relay only measured.
    pub link: Option<LinkFigures>,
    /// The declared protocol, if any, and responses by negotiated protocol.
    pub protocol_declared: Option<String>,
    /// See [`Cell::protocol_declared`].
    pub protocols: BTreeMap<String, u64>,
    /// The sanity request: what was asked and what came.
    pub sanity: Option<String>,
    /// The repeats in the order they ran, the latest attempt of each.
    pub repeats: Vec<Repeat>,
    /// The headline figures over the repeats, by name: see [`Figure`]. Empty for a
    /// cell whose verdict is `invalid`.
    pub figures: Vec<Figure>,
    /// `valid`, `suspect` or `invalid`, the worst of the repeats and the findings.
    pub verdict: String,
    /// Why, in sentences.
    pub reasons: Vec<String>,
    /// What the audit found.
    pub findings: Vec<Finding>,
    /// The published figure to compare with, by the name of the figure.
    pub published: Vec<Published>,
    /// The search for its highest rate, where the lab asks for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<LimitSearch>,
}

/// A search for the highest arrival rate that keeps an objective.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LimitSearch {
    /// What was to be kept, in words.
    pub objective: String,
    /// The figure that the objective is about, its limit, and their unit.
    pub figure: String,
    /// See [`LimitSearch::figure`].
    pub limit: f64,
    /// See [`LimitSearch::figure`].
    pub unit: String,
    /// Trials in the order they were made.
    pub trials: Vec<LimitTrial>,
    /// The highest rate per second that was kept each time; none if none was.
    pub kept: Option<f64>,
    /// The lowest rate above it that was not kept; none if all were.
    pub broken: Option<f64>,
    /// Whether both ends had the same outcome each time and the soak met the objective.
    pub confirmed: bool,
}

/// One trial of a search.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LimitTrial {
    /// Requests per second that were asked for.
    pub rate: f64,
    /// The value of the figure, in its unit; none without any response.
    pub value: Option<f64>,
    /// Whether the objective was kept.
    pub kept: bool,
    /// Whether it was the long one.
    pub soak: bool,
}

/// What became of a cell.
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
    /// This form of the lab leaves it out.
    LeftOut,
    /// It has not been run yet.
    #[default]
    Missing,
}

/// A figure over the repeats, with its interval.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// Such as `requests_per_second`, `latency_p95`, `cpu_seconds_per_thousand`,
    /// `makespan`, `throughput`.
    pub name: String,
    /// What a reader calls it: `95th percentile of response time`.
    pub label: String,
    /// Such as `ms`, `requests/s`, `Mbit/s`, `CPU s per 1,000 requests`.
    pub unit: String,
    /// The figure: the median over the repeats.
    pub value: f64,
    /// A 95 % interval. None where there are too few samples; then `why_no_interval` says so.
    pub interval: Option<(f64, f64)>,
    /// See [`Figure::interval`].
    pub why_no_interval: Option<String>,
    /// The same with the warm-up left in.
    pub with_warm_up: Option<f64>,
    /// Whether more is better (`more`), less is (`less`), or neither.
    pub better: Option<String>,
    /// One value for each repeat, in their order.
    pub repeats: Vec<f64>,
}

/// One run of a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Repeat {
    /// From 1.
    pub number: u32,
    /// Which run of the lab it was, from 1, so that drift can be seen.
    pub turn: u32,
    /// When it began, RFC 3339.
    pub started: String,
    /// How long it was measured for, without the warm-up.
    pub duration_seconds: f64,
    /// Seconds cut off as warm-up, and by which rule.
    pub warm_up_seconds: f64,
    /// See [`Repeat::warm_up_seconds`].
    pub warm_up_rule: String,
    /// Requests (or calls, or iterations) that were measured.
    pub requests: u64,
    /// Of them failed.
    pub failed: u64,
    /// Response or service time after the warm-up, in milliseconds.
    pub latency: Distribution,
    /// `response time` (open model) or `service time`.
    pub latency_kind: String,
    /// Second by second, warm-up included.
    pub seconds: Vec<SecondFigures>,
    /// What each process used: the system's, its services', the generator's.
    pub used: Vec<Used>,
    /// The generator's word on itself.
    pub generator: Generator,
    /// Status or code of responses, and errors, by name.
    pub outcomes: BTreeMap<String, u64>,
    /// Counted work, where the load is an amount of work: declared and done.
    pub work: Option<(u64, u64)>,
    /// Further figures of the run by name (`makespan_seconds`, `megabits_per_second`, …).
    pub extra: BTreeMap<String, f64>,
    /// The tool's own output, as a k6, vegeta or iperf3 user knows it.
    pub raw: String,
    /// The record beside the result, a path relative to it.
    pub record: Option<String>,
}

/// One second of a repeat.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SecondFigures {
    /// Which, from 0.
    pub second: u64,
    /// Requests that started in it.
    pub requests: u64,
    /// Of them failed.
    pub failed: u64,
    /// Latency quantiles in milliseconds; None without samples.
    pub p50: Option<f64>,
    /// See [`SecondFigures::p50`].
    pub p95: Option<f64>,
    /// See [`SecondFigures::p50`].
    pub p99: Option<f64>,
    /// The longest, in milliseconds.
    pub max: Option<f64>,
    /// CPU of the system and its services together, in CPU seconds per second.
    pub system_cpu: Option<f64>,
    /// How latencies spread in this second: lower edge in milliseconds and count of
    /// each coarse bucket that was hit ([`Distribution::coarse`]), for heat maps.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub latencies: Vec<(f64, u64)>,
}

/// What a process used in a repeat.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Used {
    /// The system's or service's name, or `generator`.
    pub name: String,
    /// Whether it is left out of `cpu_seconds_per_thousand`: the generator, and what only
    /// stands behind the measured system.
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
    /// `relay`, `namespaces` or `loopback`.
    pub by: String,
    /// As declared, in milliseconds.
    pub declared_round_trip_ms: Option<f64>,
    /// As declared.
    pub declared_megabits_per_second: Option<f64>,
    /// Median time to connect, as measured before the load.
    pub measured_connect_ms: Option<f64>,
    /// Median echo round trip, as measured before the load.
    pub measured_round_trip_ms: Option<f64>,
    /// One TCP stream, as measured before the load.
    pub measured_megabits_per_second: Option<f64>,
}

/// A figure of the document this lab goes back to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Published {
    /// The name of the [`Figure`] to compare it with.
    pub figure: String,
    /// What was published, in that figure's unit.
    pub value: f64,
    /// What to know before comparing.
    pub note: String,
}
