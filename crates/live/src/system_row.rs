//! A row of the table of measured systems.

use serde::Serialize;

/// The resource use of a measured system in the latest second.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SystemRow {
    /// The port that its processes listen on.
    pub port: u16,
    /// The number of its processes.
    pub processes: usize,
    /// The number of processors that they use. `None` before the second reading.
    pub cpu: Option<f64>,
    /// Their memory in bytes. Shared pages count once per process.
    pub memory: u64,
}
