//! The questions of the lab and the published statements that a report answers first.

use serde::{Deserialize, Serialize};

/// A question or a statement, with the metric that answers it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// The question or the statement.
    pub text: String,
    /// Whether it is a statement from the published document that the lab reproduces. Otherwise it
    /// is a question of the lab.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_statement: bool,
    /// The name of the metric. `None` if the lab does not test the statement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub figure: Option<String>,
    /// The axis whose values are compared. `None` if each cell is judged separately.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub axis: Option<String>,
    /// The values of that axis, starting with the base.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<String>,
    /// The condition for the statement to hold, or for the answer to the question to be yes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<Expected>,
    /// The names of the cells.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cells: Vec<String>,
    /// What the question is about if it compares values of an axis: `on new connections`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topic: Option<String>,
    /// The answer to the question if `expected` is true for all cells, as a sentence without its period.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub yes: Option<String>,
    /// The answer to the question if `expected` is true for none of the cells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no: Option<String>,
    /// The origin of the limits in `expected`, such as `the document's SLA`. `None` if the lab chose them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits_from: Option<String>,
    /// What a reader needs to know about the figures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// The condition for a statement to hold, or for the answer to a question to be yes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Expected {
    /// The second value is larger than the first.
    Larger,
    /// The second value is smaller than the first.
    Smaller,
    /// The second value is not smaller.
    NotSmaller,
    /// The second value is not larger.
    NotLarger,
    /// Both values are the same.
    Same,
    /// The second value divided by the first is in this range. A missing end means no limit.
    Ratio(Option<f64>, Option<f64>),
    /// The second value minus the first is in this range, in the unit of the metric.
    Difference(Option<f64>, Option<f64>),
    /// The value of each cell is in this range, in the unit of the metric.
    Value(Option<f64>, Option<f64>),
}
