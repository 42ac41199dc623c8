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
    /// The p value after Holm's correction, where a test was made.
    pub p: Option<f64>,
    /// What it shows.
    pub outcome: Outcome,
    /// Where there is no difference, none larger than this share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<f64>,
    /// The repeats that would probably decide what is uncertain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub would_decide: Option<usize>,
}

impl Comparison {
    /// What it shows, in words.
    pub fn text(&self) -> String {
        self.outcome
            .text(self.at_most, self.would_decide, "repeats")
    }
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
    /// The p value after Holm's correction over the pooled comparisons.
    pub p: f64,
    /// How it was made.
    pub method: String,
    /// What it shows.
    pub outcome: Outcome,
    /// Where there is no difference, none larger than this share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<f64>,
    /// The cells that would probably decide what is uncertain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub would_decide: Option<usize>,
}

impl Pooled {
    /// What it shows, in words.
    pub fn text(&self) -> String {
        self.outcome.text(self.at_most, self.would_decide, "cells")
    }
}

/// What a comparison shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The second is larger, beyond chance and beyond the noise where it is known.
    Larger,
    /// The second is smaller, in the same sense.
    Smaller,
    /// The interval shows that there is no difference that matters.
    NoDifference,
    /// More repeats would decide. Results of earlier versions called this, and no difference,
    /// `within-noise`.
    #[serde(alias = "within-noise")]
    Uncertain,
    /// A figure is missing, or there are too few repeats.
    #[serde(alias = "not-judged")]
    NotMeasured,
}

impl Outcome {
    /// In words: no difference means none larger than `at_most`; `would_decide` is the number of
    /// `units` that would decide what is uncertain.
    pub fn text(self, at_most: Option<f64>, would_decide: Option<usize>, units: &str) -> String {
        match (self, at_most, would_decide) {
            (Outcome::NoDifference, Some(share), _) => {
                format!("no difference larger than {:.1} %", share * 100.0)
            }
            (Outcome::Uncertain, _, Some(count)) => {
                format!("uncertain: {count} {units} would decide")
            }
            (Outcome::Larger, ..) => "larger".to_owned(),
            (Outcome::Smaller, ..) => "smaller".to_owned(),
            (Outcome::NoDifference, ..) => "no difference".to_owned(),
            (Outcome::Uncertain, ..) => "uncertain".to_owned(),
            (Outcome::NotMeasured, ..) => "not measured".to_owned(),
        }
    }
}

impl From<plimsoll_stats::comparison::Outcome> for Outcome {
    fn from(outcome: plimsoll_stats::comparison::Outcome) -> Outcome {
        use plimsoll_stats::comparison::Outcome as Found;
        match outcome {
            Found::Larger => Outcome::Larger,
            Found::Smaller => Outcome::Smaller,
            Found::NoDifference => Outcome::NoDifference,
            Found::Uncertain => Outcome::Uncertain,
            Found::NotMeasured => Outcome::NotMeasured,
        }
    }
}

/// The outcome of an objective in one cell.
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
    /// Share of requests within the limit, for a latency.
    pub within: Option<f64>,
}
