//! `plimsoll report`: writes the report of runs that have ended.

use std::path::PathBuf;

use plimsoll_terminal::exit::Exit;
use plimsoll_terminal::stored_report::StoredReport;

use crate::args::{ObjectiveArgs, ReportArgs};

/// `plimsoll report`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = include_str!("../help/report.txt"))]
pub struct ReportCommandArgs {
    /// Record, or run in the store (its number, latest, latest~1); a second run is compared with the first
    #[arg(value_name = "RECORD|RUN", required = true, num_args = 1..=2)]
    pub runs: Vec<String>,
    /// Store of runs
    #[arg(long, value_name = "FILE", env = "PLIMSOLL_STORE", hide_env = true)]
    pub store: Option<PathBuf>,
    #[command(flatten)]
    pub objectives: ObjectiveArgs,
    #[command(flatten)]
    pub report: ReportArgs,
}

/// Writes the report.
pub fn report(args: &ReportCommandArgs) -> Exit {
    let report = StoredReport {
        runs: &args.runs,
        store: args.store.as_deref(),
        objectives: &args.objectives.list,
        request: &args.report.request(),
    };
    report.write()
}
