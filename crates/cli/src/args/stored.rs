use std::path::PathBuf;

/// Runs of the store, and the output, for compare and history.
#[derive(Clone, Debug, clap::Args)]
pub struct StoredArgs {
    /// Include runs of different machines
    #[arg(long)]
    pub any_environment: bool,
    /// Store of runs
    #[arg(long, value_name = "FILE", env = "PLIMSOLL_STORE", hide_env = true)]
    pub store: Option<PathBuf>,
    /// Print one JSON object on stdout
    #[arg(long)]
    pub json: bool,
}
