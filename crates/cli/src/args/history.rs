//! `plimsoll history`.

use clap::Args;
use plimsoll_results::figures::{self, Figure};

use super::StoredArgs;

/// List kept runs, with one figure over time and where it changed
#[derive(Debug, Args)]
#[command(after_long_help = include_str!("../../help/history.txt"))]
pub struct HistoryArgs {
    /// Figure: rate, failed, mean, p50, p90, p95, p99 or p999
    #[arg(long, value_name = "FIGURE", default_value = "p95", value_parser = figures::find)]
    pub figure: &'static Figure,
    /// List runs of this configuration: the start of its hash
    #[arg(long, value_name = "HASH")]
    pub configuration: Option<String>,
    #[command(flatten)]
    pub stored: StoredArgs,
}
