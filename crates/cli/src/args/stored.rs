use std::path::PathBuf;

/// What compare and history share: runs of the store, and how the answer is given.
#[derive(Clone, Debug, clap::Args)]
pub struct StoredArgs {
    /// Runs of different machines too
    #[arg(long)]
    pub any_environment: bool,
    /// The store
    #[arg(long, value_name = "FILE", env = "PLIMSOLL_STORE", hide_env = true)]
    pub store: Option<PathBuf>,
    /// One JSON object on standard output
    #[arg(long)]
    pub json: bool,
}
