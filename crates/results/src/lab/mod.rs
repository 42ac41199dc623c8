//! The result of a whole lab: the question, the matrix, every cell with the results of its repeats,
//! and all information that a reader needs to judge them.
//!
//! Reports are rendered from this document alone, without measuring anything.

mod cell;
mod comparison;
mod question;
mod table;

pub use cell::*;
pub use comparison::*;
pub use question::*;
pub use table::*;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::environment::Environment;

/// The value of [`LabResult::schema`].
pub const SCHEMA: &str = "plimsoll/lab-result/1";

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LabResult {
    /// The schema: [`SCHEMA`].
    pub schema: String,
    /// The version of the program.
    pub plimsoll: String,
    pub title: String,
    pub question: String,
    /// `quick`, `standard` or `full`.
    pub form: String,
    /// When the lab started, in RFC 3339.
    pub started: String,
    /// See [`LabResult::started`].
    pub ended: Option<String>,
    pub environment: Environment,
    /// The names and versions of the programs used.
    pub versions: Vec<(String, String)>,
    /// The axes in their order, each with its name and values.
    pub axes: Vec<Axis>,
    /// The contents of the lab file.
    pub file: String,
    pub file_name: String,
    /// The commit of the lab file's repository, with ` (changed)` appended if there were
    /// uncommitted changes. `None` outside of a repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// All effective values, including defaults.
    pub effective: serde_json::Value,
    /// Each process, including the generator, with the CPUs that it is pinned to.
    pub topology: Vec<Placed>,
    /// Other hosts on which the lab ran processes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<Host>,
    /// Every cell in matrix order, including those that were not measured.
    pub cells: Vec<Cell>,
    /// The pairs of cells that differ in one axis, as requested in the lab file.
    pub comparisons: Vec<Comparison>,
    /// The same comparisons, each pooled over all cells.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pooled: Vec<Pooled>,
    /// The seed of the random order of cells. Earlier versions did not have this field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The cell that was measured twice, if the design allows comparisons.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_cell: Option<Box<SameCell>>,
    /// The outcome of each objective in each of its cells.
    pub objectives: Vec<ObjectiveOutcome>,
    /// The questions and statements at the beginning of the report.
    #[serde(default, rename = "asked", skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<Question>,
    /// The tables of the report, if the lab declares any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tables: Vec<TableLayout>,
    /// Errors in the published document, and how this lab avoids them.
    pub published_errors: Vec<PublishedError>,
    /// Findings that apply to more than one cell.
    pub findings: Vec<Finding>,
}

/// An axis of the matrix.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    /// The name, as in the file.
    pub name: String,
    /// The values as text, in the order of the file.
    pub values: Vec<String>,
    /// The words for the values in a report, if the lab file defines them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub words: BTreeMap<String, String>,
}

/// A process and where it runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Placed {
    /// The name of the system or service, or `generator`.
    pub name: String,
    /// The CPUs that it is pinned to, or empty.
    pub cpus: Vec<u32>,
    /// The exact command, without secrets and home directories.
    pub command: String,
    /// The name and version of the program, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Settings that were read from the running process: name and value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<(String, String)>,
}

/// Another host on which the lab ran processes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Host {
    pub name: String,
    /// The systems and services that ran on the host.
    pub processes: Vec<String>,
    /// The hardware and software of the host.
    pub environment: Environment,
    /// The number of busy processors during a run, averaged over the run and including all
    /// programs: the minimum and the maximum over all runs.
    pub busy_processors: Option<(f64, f64)>,
}

/// An error in the published document that this lab reproduces.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PublishedError {
    pub wrong: String,
    /// Why it cannot happen in this lab.
    pub avoided: String,
}

/// An audit finding about a cell or the whole lab.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The name of the rule.
    pub rule: String,
    /// `note`, `warning` or `error`.
    pub level: String,
    /// The finding and its calculation.
    pub text: String,
}
