//! A row of the table of measured systems.

use serde::Serialize;

/// A measured system in the latest second.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SystemRow {
    /// The port that its processes listen on.
    pub port: u16,
    /// Their number.
    pub processes: usize,
    /// Processors that they use; `None` before the second reading.
    pub cpu: Option<f64>,
    /// Their memory in bytes. Pages that processes share count for each of them.
    pub memory: u64,
}
