//! `plimsoll compare` and `plimsoll history`.

use std::path::PathBuf;

use plimsoll_compare::{Condition, HistorySettings, Noise, Settings, Skip};
use plimsoll_results::figures::{self, Figure};
use plimsoll_terminal::comparisons;
use plimsoll_terminal::exit::Exit;

/// Compare two runs or commands: how much they differ, and how certain that is
#[derive(Debug, clap::Args)]
#[command(after_long_help = include_str!("../help/compare.txt"))]
pub struct CompareArgs {
    /// Record, or run in the store: its number, latest, latest~1; several separated by commas, or a range like 3..8
    #[arg(value_name = "A", requires = "b")]
    pub a: Option<String>,
    /// Record or run to compare with A; as many runs as in A
    #[arg(value_name = "B")]
    pub b: Option<String>,
    /// Pairs of runs of two commands (at least 3)
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=500))]
    pub pairs: u32,
    /// Noise between equal runs: a share like 3%, measure (also runs A against A), or history (stored runs like A)
    #[arg(long, value_name = "SHARE|measure|history", value_parser = Noise::parse)]
    pub noise: Option<Noise>,
    /// Figures to compare
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "rate,failed,mean,p50,p95,p99", value_parser = figures::find)]
    pub figures: Vec<&'static Figure>,
    /// Exit with status 1 on: invalid, suspect, objective, regression, difference, uncertain, or a figure outside a
    /// bound, like p95:+10%
    #[arg(long, value_name = "WHAT,…", value_delimiter = ',', value_parser = Condition::parse)]
    pub fail_on: Vec<Condition>,
    /// Seconds to exclude at the start of each run; auto excludes the warm-up (MSER-5)
    #[arg(long, value_name = "SECONDS|auto", default_value = "auto", value_parser = Skip::parse)]
    pub skip: Skip,
    /// Also compare runs with different configurations
    #[arg(long)]
    pub any_configuration: bool,
    #[command(flatten)]
    pub stored: StoredArgs,
    /// Two commands, each after --
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "a")]
    pub commands: Vec<String>,
}

/// List stored runs, and show where a figure changed over time
#[derive(Debug, clap::Args)]
#[command(after_long_help = include_str!("../help/history.txt"))]
pub struct HistoryArgs {
    /// Figure: rate, failed, mean, p50, p90, p95, p99 or p999
    #[arg(long, value_name = "FIGURE", default_value = "p95", value_parser = figures::find)]
    pub figure: &'static Figure,
    /// Configuration whose runs are listed: the start of its hash
    #[arg(long, value_name = "HASH")]
    pub configuration: Option<String>,
    #[command(flatten)]
    pub stored: StoredArgs,
}

/// The store of runs and the form of the result, for compare and history.
#[derive(Clone, Debug, clap::Args)]
pub struct StoredArgs {
    /// Include runs from different machines
    #[arg(long)]
    pub any_environment: bool,
    /// Store of runs
    #[arg(long, value_name = "FILE", env = "PLIMSOLL_STORE", hide_env = true)]
    pub store: Option<PathBuf>,
    /// Print one JSON object on stdout
    #[arg(long)]
    pub json: bool,
}

/// Compares the runs or commands, and prints the differences.
pub fn compare(args: CompareArgs) -> Exit {
    let settings = Settings {
        pairs: args.pairs as usize,
        noise: args.noise,
        figures: args.figures,
        fail_on: args.fail_on,
        skip: args.skip,
        any_configuration: args.any_configuration,
        any_environment: args.stored.any_environment,
        store: args.stored.store,
    };
    let stored = args.a.as_deref().zip(args.b.as_deref());
    comparisons::compare(&settings, stored, &args.commands, args.stored.json)
}

/// Lists the runs in the store.
pub fn history(args: HistoryArgs) -> Exit {
    let settings = HistorySettings {
        figure: args.figure,
        configuration: args.configuration,
        any_environment: args.stored.any_environment,
        store: args.stored.store,
    };
    comparisons::history(&settings, args.stored.json)
}
