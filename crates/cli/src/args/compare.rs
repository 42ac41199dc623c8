//! `plimsoll compare`.

use clap::Args;
use plimsoll_results::figures::{self, Figure};

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
    #[arg(long, value_name = "SHARE|measure|history", value_parser = NoiseArg::parse)]
    pub noise: Option<NoiseArg>,
    /// Figures to compare
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "rate,failed,mean,p50,p95,p99", value_parser = figures::find)]
    pub figures: Vec<&'static Figure>,
    /// Exit with 1 on: regression, difference, uncertain, or a figure beyond a bound, like p95:+10%
    #[arg(long, value_name = "WHAT", value_parser = FailOn::parse)]
    pub fail_on: Vec<FailOn>,
    /// Leave out so many seconds at each run's start; auto leaves out its warm-up (MSER-5)
    #[arg(long, value_name = "SECONDS|auto", default_value = "auto", value_parser = SkipArg::parse)]
    pub skip: SkipArg,
    /// Compare runs of different configurations too
    #[arg(long)]
    pub any_configuration: bool,
    #[command(flatten)]
    pub stored: StoredArgs,
    /// Two commands, each after --
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "a")]
    pub commands: Vec<String>,
}

/// How the noise between runs is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NoiseArg {
    /// Somebody knows it.
    Known(f64),
    /// By running A against A.
    Measure,
    /// By the runs that were kept of A's question.
    History,
}

impl NoiseArg {
    fn parse(text: &str) -> Result<NoiseArg, String> {
        match text {
            "measure" => Ok(NoiseArg::Measure),
            "history" => Ok(NoiseArg::History),
            _ => super::percent(text).map(NoiseArg::Known).map_err(|error| {
                format!("{error}, or write measure, which runs A against A, or history")
            }),
        }
    }
}

/// What is left out at a run's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkipArg {
    /// Its warm-up, where it ends by itself.
    WarmUp,
    /// So many seconds.
    Seconds(u64),
}

impl SkipArg {
    fn parse(text: &str) -> Result<SkipArg, String> {
        match text {
            "auto" => Ok(SkipArg::WarmUp),
            _ => text.parse().map(SkipArg::Seconds).map_err(|_| {
                format!("{text:?} is no number of seconds: write one like 5, or auto")
            }),
        }
    }
}

/// What ends the program with a status of its own.
#[derive(Clone, Debug, PartialEq)]
pub enum FailOn {
    /// Any figure is different and worse.
    Regression,
    /// Any figure is different.
    Difference,
    /// Of any figure the runs do not show whether it is different.
    Uncertain,
    /// A figure is different, and beyond this: +0.1 for ten per cent more.
    Beyond {
        /// As it was written.
        text: String,
        figure: &'static Figure,
        bound: f64,
    },
}

impl FailOn {
    fn parse(text: &str) -> Result<FailOn, String> {
        let way_out =
            "write regression, difference, uncertain, or a figure and a bound like p95:+10%";
        match text {
            "regression" => return Ok(FailOn::Regression),
            "difference" => return Ok(FailOn::Difference),
            "uncertain" => return Ok(FailOn::Uncertain),
            _ => {}
        }
        let Some((name, bound)) = text.split_once(':') else {
            let meant = plimsoll_units::nearest(text, ["regression", "difference", "uncertain"])
                .map_or(String::new(), |meant| format!(", is {meant} meant?"));
            return Err(format!(
                "{text:?} names nothing to fail on{meant}; {way_out}"
            ));
        };
        let figure = figures::find(name)?;
        let sign = match bound.chars().next() {
            Some('+') => 1.0,
            Some('-') => -1.0,
            _ => {
                return Err(format!(
                    "the bound {bound:?} has no sign, so it is more or less of what is not known; {way_out}"
                ));
            }
        };
        Ok(FailOn::Beyond {
            text: text.to_owned(),
            figure,
            bound: sign * super::percent(&bound[1..])?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_to_fail_on_is_read() {
        assert_eq!(FailOn::parse("regression"), Ok(FailOn::Regression));
        let Ok(FailOn::Beyond { figure, bound, .. }) = FailOn::parse("rate:-5%") else {
            panic!("a bound");
        };
        assert_eq!((figure.name, bound), ("rate", -0.05));
        for (text, part) in [
            ("regresion", "is regression meant?"),
            ("p96:+1%", "is p90 meant?"),
            ("p95:10%", "no sign"),
            ("p95:+10", "no %"),
        ] {
            let error = FailOn::parse(text).expect_err(text);
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn noise_is_a_share_or_measured() {
        assert_eq!(NoiseArg::parse("measure"), Ok(NoiseArg::Measure));
        assert_eq!(NoiseArg::parse("history"), Ok(NoiseArg::History));
        assert_eq!(NoiseArg::parse("3%"), Ok(NoiseArg::Known(0.03)));
        assert_eq!(SkipArg::parse("auto"), Ok(SkipArg::WarmUp));
        assert_eq!(SkipArg::parse("5"), Ok(SkipArg::Seconds(5)));
        assert!(SkipArg::parse("5s").expect_err("a unit").contains("auto"));
        assert!(
            NoiseArg::parse("3")
                .expect_err("no share")
                .contains("measure")
        );
    }
}
