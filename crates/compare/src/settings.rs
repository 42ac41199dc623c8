//! The settings of a comparison.

use std::path::PathBuf;

use plimsoll_results::fail_on::Condition;
use plimsoll_results::figures::Figure;

/// The figures to compare, and how to compare them.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Pairs of runs of two commands.
    pub pairs: usize,
    /// How the noise between runs is known, if it is.
    pub noise: Option<Noise>,
    pub figures: Vec<&'static Figure>,
    pub fail_on: Vec<Condition>,
    /// How much of the start of each run is excluded.
    pub skip: Skip,
    /// Runs of different configurations too.
    pub any_configuration: bool,
    /// Runs of different machines too.
    pub any_environment: bool,
    /// The store of runs; the usual one if none is given.
    pub store: Option<PathBuf>,
}

/// How the noise between runs is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Noise {
    /// Somebody knows it.
    Known(f64),
    /// By running A against A.
    Measure,
    /// By the runs that were kept of A's question.
    History,
}

impl Noise {
    /// # Errors
    /// A sentence that says how to write it.
    pub fn parse(text: &str) -> Result<Noise, String> {
        match text {
            "measure" => Ok(Noise::Measure),
            "history" => Ok(Noise::History),
            _ => plimsoll_units::percent::parse(text)
                .map(Noise::Known)
                .map_err(|error| {
                    format!("{error}, or write measure, which runs A against A, or history")
                }),
        }
    }
}

/// How much of a run's start is excluded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Skip {
    /// Its warm-up, detected in its figures.
    WarmUp,
    /// This number of seconds.
    Seconds(u64),
}

impl Skip {
    /// # Errors
    /// A sentence that says how to write it.
    pub fn parse(text: &str) -> Result<Skip, String> {
        match text {
            "auto" => Ok(Skip::WarmUp),
            _ => text.parse().map(Skip::Seconds).map_err(|_| {
                format!("{text:?} is not a number of seconds: write a number such as 5, or auto")
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_is_a_share_or_measured() {
        assert_eq!(Noise::parse("measure"), Ok(Noise::Measure));
        assert_eq!(Noise::parse("history"), Ok(Noise::History));
        assert_eq!(Noise::parse("3%"), Ok(Noise::Known(0.03)));
        assert_eq!(Skip::parse("auto"), Ok(Skip::WarmUp));
        assert_eq!(Skip::parse("5"), Ok(Skip::Seconds(5)));
        assert!(Skip::parse("5s").expect_err("a unit").contains("auto"));
        assert!(Noise::parse("3").expect_err("no share").contains("measure"));
    }
}
