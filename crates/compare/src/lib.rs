//! Compares runs: records, runs of the store, and commands that are run in turn.
//!
//! The statistics are in `plimsoll_stats::comparison` and `plimsoll_results::compare`. This crate finds the
//! runs, leaves out their warm-up, refuses to compare what cannot be compared, and judges the
//! conditions of `--fail-on`. Nothing here prints; a caller runs the commands.

mod commands;
mod comparison;
mod failures;
mod history;
mod settings;
mod settled;
mod stored;

use plimsoll_results::record::Record;

pub use commands::commands;
pub use comparison::{Comparison, Judgment};
pub use history::{History, HistorySettings};
pub use settings::{FailOn, Noise, Settings, Skip};
pub use stored::stored;

/// Runs a command line of this program, and returns the record that it leaves. The name is for
/// messages.
pub type RunCommand<'a> = dyn FnMut(&str, &[String]) -> Result<Record, String> + 'a;
