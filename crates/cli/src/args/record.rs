use std::path::PathBuf;
use std::time::Duration;

/// What a run leaves behind besides its summary.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Results")]
pub struct RecordArgs {
    /// Write the run to this file while it goes on: a JSON line for each second
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    pub record: Option<PathBuf>,
    /// Keep the run in the store, for compare and history; so does a --store, or PLIMSOLL_STORE
    #[arg(long, help_heading = "Results")]
    pub keep: bool,
    /// The store; by default plimsoll/runs.sqlite below XDG_DATA_HOME or ~/.local/share
    #[arg(
        long,
        value_name = "FILE",
        env = "PLIMSOLL_STORE",
        hide_env = true,
        help_heading = "Results"
    )]
    pub store: Option<PathBuf>,
    /// Judge the generator from then on: whoever reads the record leaves out what came before
    #[arg(long, value_name = "TIME", value_parser = super::time, help_heading = "Results")]
    pub warm_up: Option<Duration>,
}

impl RecordArgs {
    /// Whether anything of the run is to be left behind.
    pub fn is_asked(&self) -> bool {
        self.record.is_some() || self.is_kept()
    }

    /// Whether the run goes into the store.
    pub fn is_kept(&self) -> bool {
        self.keep || self.store.is_some()
    }
}
