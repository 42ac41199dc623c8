//! `plimsoll lab`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// A benchmark as one file: a matrix of cells, set up, checked, measured and reported
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    plimsoll lab plan labs/payload               every cell and every effective value; runs nothing\n  \
    plimsoll lab run labs/payload --quick        a share of the time, a few minutes\n  \
    plimsoll lab run my/lab.toml --results out   the standard form, results under out/\n\n\
    docs/lab.md says what a lab file says.")]
pub struct LabArgs {
    #[command(subcommand)]
    pub command: LabCommand,
}

#[derive(Debug, Subcommand)]
pub enum LabCommand {
    /// Print every cell and every effective value, and run nothing
    #[command(after_help = "Examples:\n  \
        plimsoll lab plan labs/payload\n  \
        plimsoll lab plan labs/payload --quick --json | jq '.cells[].name'")]
    Plan(LabPlanArgs),
    /// Start the systems, seed, check, load and observe them, and conclude
    #[command(after_help = "Examples:\n  \
        plimsoll lab run labs/payload --quick\n  \
        plimsoll lab run labs/payload --results out\n\n\
        Results are on disk as they come. Whatever ends it, nothing that it started stays, and\n\
        plimsoll lab resume goes on.\n\n\
        Exit status: 0 every cell was measured, 1 some were not, 104 the lab file is wrong, 105 interrupted.")]
    Run(LabRunArgs),
    /// Run what an interrupted run has not run yet
    #[command(
        after_help = "Example:\n  plimsoll lab resume results/payload-quick-20260101T120000Z"
    )]
    Resume(LabOfRun),
    /// Conclude again from what a run left, and run nothing
    #[command(
        after_help = "Example:\n  plimsoll lab report results/payload-quick-20260101T120000Z"
    )]
    Report(LabOfRun),
    /// List runs
    #[command(after_help = "Example:\n  plimsoll lab list --results out")]
    List(LabListArgs),
}

/// `plimsoll lab run`.
#[derive(Debug, Args)]
pub struct LabRunArgs {
    #[command(flatten)]
    pub file: LabFile,
    /// Where runs are kept
    #[arg(long, value_name = "DIRECTORY", default_value = "results")]
    pub results: PathBuf,
}

/// A run.
#[derive(Debug, Args)]
pub struct LabOfRun {
    /// Its directory
    pub run: PathBuf,
}

/// `plimsoll lab list`.
#[derive(Debug, Args)]
pub struct LabListArgs {
    /// Where runs are kept
    #[arg(long, value_name = "DIRECTORY", default_value = "results")]
    pub results: PathBuf,
}

/// A lab file and the form in which it is taken.
#[derive(Clone, Debug, Args)]
pub struct LabFile {
    /// The lab file, or a directory with a lab.toml
    pub lab: PathBuf,
    /// The quick form: short runs of some cells
    #[arg(long, conflicts_with = "full")]
    pub quick: bool,
    /// The full form: the document's own durations
    #[arg(long)]
    pub full: bool,
}

/// `plimsoll lab plan`.
#[derive(Debug, Args)]
pub struct LabPlanArgs {
    #[command(flatten)]
    pub file: LabFile,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}
