//! Compares runs: records, runs of the store, and commands that are run in turn.
//!
//! The statistics are in `plimsoll_stats::comparison` and `plimsoll_results::compare`. This crate finds the
//! runs, leaves out their warm-up, refuses to compare what cannot be compared, and judges the
//! conditions of `--fail-on`. Nothing here prints; a caller runs the commands.

mod commands;
mod comparison;
mod failures;
mod gate;
mod history;
mod settings;
mod settled;
mod stored;

use plimsoll_results::record::Record;

pub use commands::commands;
pub use comparison::Comparison;
pub use gate::{Differences, Named, judge, two_runs};
pub use history::{History, HistorySettings};
pub use plimsoll_results::fail_on::{Condition, Failures, Judgment};
pub use settings::{Noise, Settings, Skip};
pub use stored::{open, records, stored};

/// Runs a command line of this program, and returns the record that it leaves. The name is for
/// messages.
pub type RunCommand<'a> = dyn FnMut(&str, &[String]) -> Result<Record, String> + 'a;
