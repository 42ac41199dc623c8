//! Compares runs: records, stored runs, and commands that are run alternately.
//!
//! The statistics are in `plimsoll_stats::comparison` and `plimsoll_results::compare`. This crate finds the runs,
//! excludes their warm-up, rejects invalid comparisons, and judges the conditions of `--fail-on`. Nothing here prints,
//! and the caller runs the commands.

mod commands;
mod comparison;
mod failures;
mod gate;
mod history;
mod other_runs;
mod prepared_run;
mod settings;
mod stored;

use plimsoll_results::record::Record;

pub use commands::commands;
pub use comparison::Comparison;
pub use gate::{Differences, Named, judge, two_runs};
pub use history::{History, HistorySettings};
pub use plimsoll_results::fail_on::{Condition, Failures, Judgment};
pub use settings::{Noise, Settings, Skip};
pub use stored::{open, records, stored};

/// Runs a command line of this program, and returns the record that it writes. The name is for messages.
pub type RunCommand<'a> = dyn FnMut(&str, &[String]) -> Result<Record, String> + 'a;
