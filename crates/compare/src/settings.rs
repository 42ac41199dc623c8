//! The settings of a comparison.

use std::path::PathBuf;

use plimsoll_results::figures::{self, Figure};

/// The figures to compare, and how to compare them.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Pairs of runs of two commands.
    pub pairs: usize,
    /// How the noise between runs is known, if it is.
    pub noise: Option<Noise>,
    pub figures: Vec<&'static Figure>,
    pub fail_on: Vec<FailOn>,
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

/// A condition of `--fail-on`.
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
        /// The bound of its change.
        bound: f64,
    },
}

impl FailOn {
    /// # Errors
    /// A sentence that says how to write it.
    pub fn parse(text: &str) -> Result<FailOn, String> {
        let hint = "write regression, difference, uncertain, or a figure and a bound like p95:+10%";
        match text {
            "regression" => return Ok(FailOn::Regression),
            "difference" => return Ok(FailOn::Difference),
            "uncertain" => return Ok(FailOn::Uncertain),
            _ => {}
        }
        let Some((name, bound)) = text.split_once(':') else {
            let meant = plimsoll_units::nearest(text, ["regression", "difference", "uncertain"])
                .map_or(String::new(), |meant| format!(", did you mean {meant}?"));
            return Err(format!(
                "{text:?} is not a condition to fail on{meant}; {hint}"
            ));
        };
        let figure = figures::find(name)?;
        let sign = match bound.chars().next() {
            Some('+') => 1.0,
            Some('-') => -1.0,
            _ => {
                return Err(format!("the bound {bound:?} has no sign; {hint}"));
            }
        };
        Ok(FailOn::Beyond {
            text: text.to_owned(),
            figure,
            bound: sign * plimsoll_units::percent::parse(&bound[1..])?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failure_conditions_are_parsed() {
        assert_eq!(FailOn::parse("regression"), Ok(FailOn::Regression));
        let Ok(FailOn::Beyond { figure, bound, .. }) = FailOn::parse("rate:-5%") else {
            panic!("a bound");
        };
        assert_eq!((figure.name, bound), ("rate", -0.05));
        for (text, part) in [
            ("regresion", "did you mean regression?"),
            ("p96:+1%", "did you mean p90?"),
            ("p95:10%", "no sign"),
            ("p95:+10", "no %"),
        ] {
            let error = FailOn::parse(text).expect_err(text);
            assert!(error.contains(part), "{text}: {error}");
        }
    }

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
