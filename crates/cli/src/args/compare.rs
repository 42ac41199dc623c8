//! `plimsoll compare`.

use clap::Args;
use plimsoll_results::figures::{self, Figure};

use plimsoll_compare::{FailOn, Noise, Settings, Skip};

use super::StoredArgs;

/// Say whether B differs from A, by how much, and how surely
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    plimsoll compare before.jsonl after.jsonl              two records (--record)\n  \
    plimsoll compare latest~1 latest                       two runs of the store (--keep)\n  \
    plimsoll compare 3..10 11..18                          eight pairs of them\n  \
    plimsoll compare --pairs 8 -- http -d 5s http://127.0.0.1:8080/a -- http -d 5s http://127.0.0.1:8080/b\n  \
    plimsoll compare --noise measure --fail-on regression -- run a.js -- run b.js\n  \
    plimsoll compare --fail-on p95:+10% before.jsonl after.jsonl\n\n\
    Two commands run in turns, ABBA, so that a drift of the machine affects both. Student's paired\n\
    t-test on the ratios decides, corrected over the figures (Holm). Two single runs are compared by\n\
    their seconds, which tell nothing of how runs of the same differ: a difference counts beyond\n\
    --noise, 10% if it is not given. Several records, as many of each, are pairs in the order given.\n\
    Each figure is larger, smaller, without a difference larger than x, uncertain, or not measured.\n\n\
    Exit status: 0 compared, and nothing that --fail-on names, 1 something it names, 2 not compared\n\
    (a file, a run, or runs of different questions or places), 3 --fail-on could not be judged.")]
pub struct CompareArgs {
    /// A record, or a run of the store: its number, latest, latest~1; several with commas, 3..8
    #[arg(value_name = "A", requires = "b")]
    pub a: Option<String>,
    /// Another, or as many
    #[arg(value_name = "B")]
    pub b: Option<String>,
    /// Pairs of runs of two commands, at least three
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=500))]
    pub pairs: u32,
    /// What runs of the same differ by: a share like 3%; measure, which runs A against A too; or
    /// history, as the runs of the store do that asked A's question
    #[arg(long, value_name = "SHARE|measure|history", value_parser = Noise::parse)]
    pub noise: Option<Noise>,
    /// Figures to compare
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "rate,failed,mean,p50,p95,p99", value_parser = figures::find)]
    pub figures: Vec<&'static Figure>,
    /// Exit with 1 on: regression, difference, uncertain, or a figure beyond a bound, like p95:+10%
    #[arg(long, value_name = "WHAT", value_parser = FailOn::parse)]
    pub fail_on: Vec<FailOn>,
    /// Leave out so many seconds at each run's start; auto leaves out its warm-up (MSER-5)
    #[arg(long, value_name = "SECONDS|auto", default_value = "auto", value_parser = Skip::parse)]
    pub skip: Skip,
    /// Compare runs of different configurations too
    #[arg(long)]
    pub any_configuration: bool,
    #[command(flatten)]
    pub stored: StoredArgs,
    /// Two commands, each after --
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "a")]
    pub commands: Vec<String>,
}

impl CompareArgs {
    /// What is compared, and how.
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
