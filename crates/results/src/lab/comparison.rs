//! Cells beside each other, and objectives.

use serde::{Deserialize, Serialize};

/// Two cells that differ in one axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The axis they differ in.
    pub axis: String,
    /// The cells' names: of the first (the base), of the second.
    pub cells: (String, String),
    /// Where both lie besides: axis, value.
    pub place: Vec<(String, String)>,
    /// The name of the figure compared.
    pub figure: String,
    /// Second over first. None where either has no figure.
    pub ratio: Option<f64>,
    /// A 95 % interval of the ratio. None with fewer than 3 pairs.
    pub interval: Option<(f64, f64)>,
    /// How the interval was made, or why there is none.
    pub method: String,
    /// What p came to after Holm's correction over the lab, where a test was made.
    pub p: Option<f64>,
    /// What is said of it.
    pub outcome: Outcome,
}

/// Two values of an axis, compared over all cells that they have in common.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pooled {
    /// The axis.
    pub axis: String,
    /// The value that is the base.
    pub base: String,
    /// The value that is held against it.
    pub other: String,
    /// The name of the figure compared.
    pub figure: String,
    /// Over how many pairs of cells.
    pub cells: usize,
    /// Over how many pairs of runs.
    pub pairs: usize,
    /// Second over first, of a typical cell.
    pub ratio: f64,
    /// A 95 % interval of it.
    pub interval: (f64, f64),
    /// What p came to after Holm's correction over the pooled comparisons.
    pub p: f64,
    /// How it was made.
    pub method: String,
    /// What is said of it.
    pub outcome: Outcome,
}

/// What a comparison came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The second is larger, beyond the noise.
    Larger,
    /// The second is smaller, beyond the noise.
    Smaller,
    /// No difference beyond the noise.
    WithinNoise,
    /// Too few repeats, or a cell that cannot be believed: nothing is said.
    NotJudged,
}

/// What an objective came to in one cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ObjectiveOutcome {
    /// As the file says it: `95th percentile of latency at most 50ms`.
    pub objective: String,
    /// The cell.
    pub cell: String,
    /// The figure's value, in the unit of the limit.
    pub measured: f64,
    /// The limit, in that unit.
    pub limit: f64,
    /// The unit.
    pub unit: String,
    /// Whether it holds for the whole interval (`kept`), for none of it (`broken`), or
    /// the interval spans the limit (`undecided`).
    pub verdict: String,
    /// Share of requests within the limit, where it is about latency.
    pub within: Option<f64>,
}
