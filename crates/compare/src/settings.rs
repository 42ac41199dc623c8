//! The settings of a comparison.

use std::path::PathBuf;

use plimsoll_results::fail_on::Condition;
use plimsoll_results::figures::Figure;

/// The figures to compare, and how to compare them.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The number of pairs of runs of two commands.
    pub pairs: usize,
    /// How to determine the noise between runs. `None` for the default noise.
    pub noise: Option<Noise>,
    pub figures: Vec<&'static Figure>,
    pub fail_on: Vec<Condition>,
    /// How much of the start of each run is excluded.
    pub skip: Skip,
    /// Whether runs with different configurations may be compared.
    pub any_configuration: bool,
    /// Whether runs from different machines may be compared.
    pub any_environment: bool,
    /// The store of runs. `None` for the default store.
    pub store: Option<PathBuf>,
}

/// How to determine the noise between runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Noise {
    /// The user gives it.
    Known(f64),
    /// By comparing runs of A with other runs of A.
    Measure,
    /// From the stored runs with A's configuration.
    History,
}

impl Noise {
    /// Parses the noise to assume, as in `--noise`.
    ///
    /// # Errors
    /// Describes the valid forms.
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

/// How much to exclude from the start of each run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Skip {
    /// Its warm-up, detected in its figures.
    WarmUp,
    /// This number of seconds.
    Seconds(u64),
}

impl Skip {
    /// Parses the seconds to exclude.
    ///
    /// # Errors
    /// Describes the valid forms.
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
