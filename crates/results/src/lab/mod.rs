//! The result of a whole lab: the question, the matrix, every cell with the results of its repeats,
//! and everything that a reader needs to trust them.
//!
//! Report pages only use this document; they never measure.

mod asked;
mod cell;
mod comparison;
mod table;

pub use asked::*;
pub use cell::*;
pub use comparison::*;
pub use table::*;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::environment::Environment;

/// The value of [`LabResult::schema`].
pub const SCHEMA: &str = "plimsoll/lab-result/1";

/// The result of a lab.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LabResult {
    /// [`SCHEMA`].
    pub schema: String,
    /// Version of the program.
    pub plimsoll: String,
    /// The lab's title.
    pub title: String,
    /// Its question.
    pub question: String,
    /// `quick`, `standard` or `full`.
    pub form: String,
    /// When it started, RFC 3339.
    pub started: String,
    /// See [`LabResult::started`].
    pub ended: Option<String>,
    /// The environment.
    pub environment: Environment,
    /// Names and versions of the programs used.
    pub versions: Vec<(String, String)>,
    /// The axes in their order: name, values.
    pub axes: Vec<Axis>,
    /// The lab file as written.
    pub file: String,
    /// Its file name.
    pub file_name: String,
    /// The commit of the lab file's repository, with ` (changed)` if it had uncommitted changes; none outside of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// All effective values, including defaults.
    pub effective: serde_json::Value,
    /// Each process, including the generator, with the CPUs it is pinned to.
    pub topology: Vec<Placed>,
    /// Other hosts on which the lab ran processes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<Host>,
    /// Every cell in the order of the matrix, including those that were not measured.
    pub cells: Vec<Cell>,
    /// Pairs of cells that differ in one axis, as requested in the lab file.
    pub comparisons: Vec<Comparison>,
    /// The same pairs of values over all their cells together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pooled: Vec<Pooled>,
    /// The seed of the random order of cells. Earlier versions had none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The cell that was measured twice, if the design allows comparisons.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_cell: Option<Box<SameCell>>,
    /// The outcome of an objective in each of its cells.
    pub objectives: Vec<ObjectiveOutcome>,
    /// The questions and statements with which the report begins.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asked: Vec<Asked>,
    /// The tables of the report, if the lab declares them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tables: Vec<TableLayout>,
    /// Errors of the published document, and how this lab avoids them.
    pub published_errors: Vec<PublishedError>,
    /// Findings that apply to more than one cell.
    pub findings: Vec<Finding>,
}

/// One axis of the matrix.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    /// Its name, as in the file.
    pub name: String,
    /// Its values as text, in the file's order.
    pub values: Vec<String>,
    /// The words for its values in a report, as far as the lab file has some.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub words: BTreeMap<String, String>,
}

/// A process and where it runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Placed {
    /// The system's or service's name, or `generator`.
    pub name: String,
    /// The CPUs it is pinned to; empty if it is not pinned.
    pub cpus: Vec<u32>,
    /// The exact command, without secrets and home directories.
    pub command: String,
    /// Name and version of its program, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Settings that were read from it while it ran: name and value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<(String, String)>,
}

/// Another host, on which the lab ran processes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Host {
    /// Its name.
    pub name: String,
    /// The systems and services on it.
    pub processes: Vec<String>,
    /// Its hardware and software.
    pub environment: Environment,
    /// How many of its processors were busy on average during a run, with all its programs: the
    /// least and the most of all runs.
    pub busy_processors: Option<(f64, f64)>,
}

/// An error in the document on which this lab is based.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PublishedError {
    /// The error.
    pub wrong: String,
    /// Why it cannot happen in this lab.
    pub avoided: String,
}

/// A finding of the audit about a cell or the whole lab.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The rule's name.
    pub rule: String,
    /// `note`, `warning` or `error`.
    pub level: String,
    /// A sentence with the calculation.
    pub text: String,
}
