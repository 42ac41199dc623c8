//! The steps of a search or a lab, as a table.

use serde::Serialize;

/// The steps so far, in a table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Steps {
    /// What a row is: trials or cells.
    pub title: String,
    pub columns: Vec<String>,
    pub rows: Vec<Row>,
    /// The current activity.
    pub now: String,
    /// The result, line by line. Empty before the end.
    pub result: Vec<String>,
}

/// A row of the table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Row {
    pub cells: Vec<String>,
    pub mark: Mark,
}

/// How a step ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Mark {
    /// The step has not ended, or is not judged.
    #[default]
    None,
    Good,
    Bad,
    Doubt,
}
