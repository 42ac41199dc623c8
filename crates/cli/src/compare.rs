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
    /// Record, or run of the store: its number, latest, latest~1; several with commas, or 3..8
    #[arg(value_name = "A", requires = "b")]
    pub a: Option<String>,
    /// Record or run to compare with it; the same number of them
    #[arg(value_name = "B")]
    pub b: Option<String>,
    /// Pairs of runs of two commands (at least three)
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=500))]
    pub pairs: u32,
    /// Variation between runs of the same kind: a share like 3%; measure, which also runs A
    /// against A; or history, from runs of the store with A's configuration
    #[arg(long, value_name = "SHARE|measure|history", value_parser = Noise::parse)]
    pub noise: Option<Noise>,
    /// Figures to compare
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "rate,failed,mean,p50,p95,p99", value_parser = figures::find)]
    pub figures: Vec<&'static Figure>,
    /// Exit with 1 on: invalid, suspect, objective, regression, difference, uncertain, or a figure
    /// beyond a bound, like p95:+10%
    #[arg(long, value_name = "WHAT,…", value_delimiter = ',', value_parser = Condition::parse)]
    pub fail_on: Vec<Condition>,
    /// Leave out this many seconds at each run's start; auto leaves out the warm-up (MSER-5)
    #[arg(long, value_name = "SECONDS|auto", default_value = "auto", value_parser = Skip::parse)]
    pub skip: Skip,
    /// Also compare runs of different configurations
    #[arg(long)]
    pub any_configuration: bool,
    #[command(flatten)]
    pub stored: StoredArgs,
    /// Two commands, each after --
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "a")]
    pub commands: Vec<String>,
}

/// List kept runs, with one figure over time and where it changed
#[derive(Debug, clap::Args)]
#[command(after_long_help = include_str!("../help/history.txt"))]
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

/// Compares, and prints the differences.
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

/// Lists the runs of the store.
pub fn history(args: HistoryArgs) -> Exit {
    let settings = HistorySettings {
        figure: args.figure,
        configuration: args.configuration,
        any_environment: args.stored.any_environment,
        store: args.stored.store,
    };
    comparisons::history(&settings, args.stored.json)
}
