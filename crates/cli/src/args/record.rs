use std::path::PathBuf;

/// What a run leaves behind besides its summary.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Results")]
pub struct RecordArgs {
    /// Write the run to this file while it goes on: a JSON line for each second
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    pub record: Option<PathBuf>,
}
