//! `plimsoll history`.

use clap::Args;
use plimsoll_results::figures::{self, Figure};

use super::StoredArgs;

/// List the runs that were kept, with one figure over time and where it changed
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    plimsoll http --keep -d 30s http://127.0.0.1:8080/     keeps the run in the store\n  \
    plimsoll history                                       runs of the latest one's question, p95\n  \
    plimsoll history --figure rate --configuration 3f9a    another figure, another question\n  \
    plimsoll history --json | jq .change_points\n\n\
    Runs of one configuration on one machine, as the latest run has them unless said otherwise. A\n\
    change point is where the figure's level changed (energy distance in windows of 50 runs,\n\
    confirmed by a t-test at p < 0.001). Runs whose verdict is invalid, and runs that were killed, are\n\
    listed and not followed. Six runs of a level tell how runs differ among themselves, which is what\n\
    compare --noise history goes by.\n\n\
    Exit status: 0 listed, 2 there is no such store, or nothing in it.")]
pub struct HistoryArgs {
    /// The figure: rate, failed, mean, p50, p90, p95, p99 or p999
    #[arg(long, value_name = "FIGURE", default_value = "p95", value_parser = figures::find)]
    pub figure: &'static Figure,
    /// Runs of this configuration: the start of its hash
    #[arg(long, value_name = "HASH")]
    pub configuration: Option<String>,
    #[command(flatten)]
    pub stored: StoredArgs,
}
