//! `plimsoll compare`.

use clap::Args;
use plimsoll_results::figures::{self, Figure};

use plimsoll_compare::{Condition, Noise, Settings, Skip};

use super::StoredArgs;

/// Compare two runs or commands: how much they differ, and how certain that is
#[derive(Debug, Args)]
#[command(after_long_help = include_str!("../../help/compare.txt"))]
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

impl CompareArgs {
    /// The settings of the comparison.
    pub fn settings(&self) -> Settings {
        Settings {
            pairs: self.pairs as usize,
            noise: self.noise,
            figures: self.figures.clone(),
            fail_on: self.fail_on.clone(),
            skip: self.skip,
            any_configuration: self.any_configuration,
            any_environment: self.stored.any_environment,
            store: self.stored.store.clone(),
        }
    }
}
