//! Comparisons of cells, and objectives.

use plimsoll_stats::comparison::MARGIN;
use serde::{Deserialize, Serialize};

use super::TooFew;

use super::{Cell, Variation};

/// A comparison of two cells that differ in one axis.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The axis in which they differ.
    pub axis: String,
    /// The names of the first cell (the base) and the second cell.
    pub cells: (String, String),
    /// Their position on the other axes: pairs of axis and value.
    pub place: Vec<(String, String)>,
    /// The name of the compared metric.
    pub figure: String,
    /// The second value divided by the first, or `None` if a value is missing.
    pub ratio: Option<f64>,
    /// The 95 % interval of the ratio, or `None` for fewer than 3 pairs.
    pub interval: Option<(f64, f64)>,
    /// The sources of variation that the interval includes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval_from: Option<Variation>,
    /// Whether the lab declares the comparison as primary. Holm's correction covers all primary
    /// comparisons together.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub primary: bool,
    /// The noise floor: the largest difference, as a share, that the machine alone causes (see
    /// [`SameCell`]). A smaller difference does not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floor: Option<f64>,
    /// The method of the interval, or the reason why there is none.
    pub method: String,
    /// The p value after Holm's correction, if a test was possible.
    pub p: Option<f64>,
    pub outcome: Outcome,
    /// If there is no difference: an upper bound for it, as a share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<f64>,
    /// If uncertain: the number of restarts (or of runs, if there is only one restart) that would
    /// probably settle it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub would_decide: Option<usize>,
}

impl Comparison {
    /// Describes the outcome in words.
    pub fn text(&self) -> String {
        // Results of earlier versions have no restarts.
        let units = self.interval_from.map_or("repeats", Variation::units);
        match (self.outcome, self.ratio, self.floor) {
            // More runs would not help, only a quieter machine.
            (Outcome::Uncertain, Some(ratio), Some(floor))
                if self.would_decide.is_none() && ratio.ln().abs() <= floor.ln_1p() =>
            {
                format!("uncertain: not above the floor of {:.1} %", floor * 100.0)
            }
            (Outcome::NoDifference, _, Some(floor)) => {
                let most = self.at_most.map_or_else(String::new, |share| {
                    format!(" (at most {:.1} %)", share * 100.0)
                });
                format!(
                    "no difference above the floor of {:.1} %{most}",
                    floor * 100.0
                )
            }
            _ => self.outcome.text(self.at_most, self.would_decide, units),
        }
    }
}

/// A cell that was measured twice under two names (A/A).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SameCell {
    /// The name of the cell.
    pub cell: String,
    /// The second series of runs of that cell, with its own name.
    pub copy: Cell,
    /// The difference between both series for each metric.
    pub floors: Vec<Floor>,
    /// The method, or the reason why there are no noise floors.
    pub method: String,
}

impl SameCell {
    /// The noise floor of a metric, as a share.
    pub fn floor(&self, figure: &str) -> Option<f64> {
        let found = self.floors.iter().find(|floor| floor.figure == figure);
        found.map(|floor| floor.share)
    }

    /// The noise floor of a metric for a comparison of these cells, as a share. `None` if both cells
    /// are in other places than the cell that was measured twice.
    pub fn floor_between(&self, figure: &str, cells: [&Cell; 2]) -> Option<f64> {
        fn place(cell: &Cell) -> Option<&str> {
            cell.link.as_ref().map(|link| link.name.as_str())
        }
        let is_here = |cell: &Cell| match (place(&self.copy), place(cell)) {
            (Some(here), Some(there)) => here == there,
            _ => true,
        };
        let floor = self.floor(figure);
        floor.filter(|_| cells.into_iter().any(is_here))
    }

    /// The noise floor, as a share, of two cells that are both in other places than the cell that
    /// was measured twice.
    ///
    /// The machine delays each request by some time, and the line of a place adds more. Where
    /// requests take longer, the machine's delay is a smaller share of them, so the floor is lower.
    /// This applies to latencies, and to the rates that depend on them. The floor is never below
    /// [`MARGIN`], because smaller differences count as equal. Where requests take less time, the
    /// floor is the same: it includes the variation of a line that is not there. Figures that do
    /// not depend on the line also have the same floor.
    pub fn floor_elsewhere(&self, figure: &str, cells: [&Cell; 2]) -> Option<f64> {
        let share = self.floor(figure)?;
        let latency = match figure {
            _ if figure.starts_with("latency_") => figure,
            _ if figure.ends_with("_per_second") => "latency_mean",
            _ => return Some(share),
        };
        let of = |cell: &Cell| Some(cell.figure(latency)?.value).filter(|value| *value > 0.0);
        let longer = match (of(&self.copy), cells.map(of)) {
            (Some(here), [Some(one), Some(other)]) => one.min(other) / here,
            _ => 1.0,
        };
        Some((share / longer).max(MARGIN).min(share))
    }
}

/// How much a metric of two equal cells differs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Floor {
    /// The name of the metric.
    pub figure: String,
    /// The value of the copy divided by the value of the cell.
    pub ratio: f64,
    /// The 95 % interval of the ratio.
    pub interval: (f64, f64),
    /// The noise floor: a difference up to this share does not count.
    pub share: f64,
}

/// A comparison of two values of an axis, over all cells that have both.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pooled {
    pub axis: String,
    /// The base value.
    pub base: String,
    /// The value to compare with the base.
    pub other: String,
    /// The name of the compared metric.
    pub figure: String,
    /// Number of pairs of cells.
    pub cells: usize,
    /// Number of pairs of runs.
    pub pairs: usize,
    /// The second value divided by the first, for a typical cell.
    pub ratio: f64,
    /// The 95 % interval of the ratio.
    pub interval: (f64, f64),
    /// The lowest and the highest ratio of any cell. Earlier versions did not have this field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<(f64, f64)>,
    /// The p value after Holm's correction over the pooled comparisons.
    pub p: f64,
    pub method: String,
    pub outcome: Outcome,
    /// If there is no difference: an upper bound for it, as a share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<f64>,
    /// If uncertain: the number of cells that would probably settle it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub would_decide: Option<usize>,
}

impl Pooled {
    /// Describes the outcome in words.
    pub fn text(&self) -> String {
        self.outcome.text(self.at_most, self.would_decide, "cells")
    }
}

/// The outcome of a comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The second value is larger, significantly and by more than the noise if that is known.
    Larger,
    /// The second value is smaller, with the same conditions.
    Smaller,
    /// The interval excludes any difference that matters.
    NoDifference,
    /// More repeats would settle it. Earlier versions used `within-noise` both for this and for no
    /// difference.
    #[serde(alias = "within-noise")]
    Uncertain,
    /// A value is missing, or there are too few repeats.
    #[default]
    #[serde(alias = "not-judged")]
    NotMeasured,
}

impl Outcome {
    /// Describes the outcome in words. "No difference" means no difference larger than `at_most`.
    /// `would_decide` is the number of `units` that would probably settle an uncertain outcome.
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
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ObjectiveOutcome {
    /// The objective as written in the file: `95th percentile of latency at most 50ms`.
    pub objective: String,
    pub cell: String,
    /// The value of the metric, in the unit of the limit.
    pub measured: f64,
    pub limit: f64,
    pub unit: String,
    /// Whether the whole interval is within the limit (`kept`), outside of it (`broken`), or
    /// contains it (`undecided`). Without an interval, the value decides, unless it is within 10 %
    /// of the limit.
    pub verdict: String,
    /// For a latency: the share of requests within the limit.
    pub within: Option<f64>,
    /// The sources of variation that the interval includes. Also `one-run` if there is no interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval_from: Option<Variation>,
    /// Set if there are too few values to judge a percentile. The verdict is then `undecided`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub too_few: Option<TooFew>,
}

impl ObjectiveOutcome {
    /// Describes the verdict in words: `met`, `missed (one run)`.
    pub fn text(&self) -> String {
        if let Some(too_few) = self.too_few {
            return format!("not judged: {}", too_few.text());
        }
        let verdict = match self.verdict.as_str() {
            "kept" => "met",
            "broken" => "missed",
            other => other,
        };
        match self.interval_from.and_then(Variation::limitation) {
            Some(limitation) => format!("{verdict} ({limitation})"),
            None => verdict.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_that_need_a_quieter_machine_are_marked() {
        let below = Comparison {
            ratio: Some(1.12),
            interval: Some((1.10, 1.14)),
            interval_from: Some(Variation::Restarts),
            floor: Some(0.17),
            outcome: Outcome::Uncertain,
            ..Comparison::default()
        };
        assert_eq!(below.text(), "uncertain: not above the floor of 17.0 %");
        let same = Comparison {
            outcome: Outcome::NoDifference,
            at_most: Some(0.09),
            ..below.clone()
        };
        assert_eq!(
            same.text(),
            "no difference above the floor of 17.0 % (at most 9.0 %)"
        );
        let above = Comparison {
            ratio: Some(1.30),
            would_decide: Some(8),
            ..below
        };
        assert_eq!(above.text(), "uncertain: 8 restarts would decide");
    }
}
