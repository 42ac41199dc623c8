//! What a report answers first: questions of the lab, and statements of the document that it repeats.

use serde::{Deserialize, Serialize};

/// A question or a statement, and the figures that answer it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Asked {
    /// The question or the statement.
    pub text: String,
    /// Whether it is a statement of the document that the lab repeats; otherwise it is a question of the lab.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_statement: bool,
    /// The name of the figure. `None` if the lab does not test the statement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub figure: Option<String>,
    /// The axis whose values are compared; `None` if each cell counts alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub axis: Option<String>,
    /// The values of that axis, with the base first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<String>,
    /// What has to be true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<Expected>,
    /// The names of the cells.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cells: Vec<String>,
    /// What a reader of the figures has to know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// What has to be true for a statement to hold, or for a question to be answered with yes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Expected {
    /// The second value is larger than the first.
    Larger,
    /// It is smaller.
    Smaller,
    /// It is not smaller.
    NotSmaller,
    /// It is not larger.
    NotLarger,
    /// Both are the same.
    Same,
    /// The second divided by the first is in this range; no end means no limit.
    Ratio(Option<f64>, Option<f64>),
    /// The second minus the first is in this range, in the unit of the figure.
    Difference(Option<f64>, Option<f64>),
    /// The figure of each cell is in this range, in its unit.
    Value(Option<f64>, Option<f64>),
}
