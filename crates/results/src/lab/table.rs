//! The layout of a table of the report.

use serde::{Deserialize, Serialize};

/// A pivot table: axis values as rows and columns.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TableLayout {
    /// The title: the question that the table answers.
    pub title: String,
    /// The axes whose values name the rows.
    pub rows: Vec<String>,
    /// The axes whose values name the columns.
    pub columns: Vec<String>,
    /// The names of the metrics to show. Empty for a table of buckets.
    pub figures: Vec<String>,
    /// The unit to show, if it differs from the unit of the metric.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// The upper edges of latency buckets in milliseconds. If there are any, the table shows the
    /// share of requests in each bucket.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub buckets: Vec<f64>,
    /// The names of the cells in the table.
    pub cells: Vec<String>,
    /// What a reader of the table needs to know, as written in the lab file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}
