//! A whole lab on paper: the question, the matrix, every cell with the figures of
//! its repeats, and all that a reader needs to believe them.
//!
//! Everything a page says is read off this document; a page never measures.

mod cell;
mod comparison;

pub use cell::*;
pub use comparison::*;

use serde::{Deserialize, Serialize};

use crate::environment::Environment;

/// Which format [`LabResult::schema`] names.
pub const SCHEMA: &str = "plimsoll/lab-result/1";

/// The result of a lab.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LabResult {
    /// [`SCHEMA`].
    pub schema: String,
    /// Version of the program.
    pub plimsoll: String,
    /// The lab's title.
    pub title: String,
    /// What it asks.
    pub question: String,
    /// `quick`, `standard` or `full`.
    pub form: String,
    /// When it began and ended, RFC 3339; no end while cells are missing.
    pub started: String,
    /// See [`LabResult::started`].
    pub ended: Option<String>,
    /// Where.
    pub environment: Environment,
    /// Names and versions of the programs that took part.
    pub versions: Vec<(String, String)>,
    /// The axes in their order: name, values.
    pub axes: Vec<Axis>,
    /// The lab file as written.
    pub file: String,
    /// Its name, for the reader.
    pub file_name: String,
    /// Every effective value, defaults included.
    pub effective: serde_json::Value,
    /// What runs where: each process with the CPUs it is pinned to, and the generator.
    pub topology: Vec<Placed>,
    /// Every cell in the order of the matrix, also those that were not measured.
    pub cells: Vec<Cell>,
    /// Pairs of cells that differ in one axis, as the lab file asks for them.
    pub comparisons: Vec<Comparison>,
    /// The same pairs of values over all their cells together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pooled: Vec<Pooled>,
    /// The outcome of an objective in each of its cells.
    pub objectives: Vec<ObjectiveOutcome>,
    /// What the published document got wrong, and how this lab avoids it.
    pub published_errors: Vec<PublishedError>,
    /// Findings that are about no single cell.
    pub findings: Vec<Finding>,
}

/// One axis of the matrix.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    /// Its name, as in the file.
    pub name: String,
    /// Its values as text, in the file's order.
    pub values: Vec<String>,
}

/// A process and where it runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Placed {
    /// The system's or service's name, or `generator`.
    pub name: String,
    /// The CPUs it is pinned to; empty for any.
    pub cpus: Vec<u32>,
    /// The exact command, secrets and home directories taken out.
    pub command: String,
}

/// An error of the document this lab goes back to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PublishedError {
    /// What was wrong.
    pub wrong: String,
    /// Why it cannot happen here.
    pub avoided: String,
}

/// What the audit says of a cell or of the whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The rule's name.
    pub rule: String,
    /// `note`, `warning` or `error`.
    pub level: String,
    /// A sentence with the arithmetic.
    pub text: String,
}
