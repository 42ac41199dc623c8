//! How the starts of an open model's iterations are distributed around its rate.

use std::fmt;
use std::time::Duration;

use plimsoll_units::duration;

use crate::trace::Trace;

/// The process by which iterations arrive, and the seed of its random numbers. The total number of iterations always
/// follows from the rate and the duration.
#[derive(Clone, Debug, PartialEq)]
pub struct Arrivals {
    pub process: ArrivalProcess,
    /// `None` selects the default seed. All machines of a run must use the same seed.
    pub seed: Option<u64>,
}

/// A process by which iterations arrive.
#[derive(Clone, Debug, PartialEq)]
pub enum ArrivalProcess {
    /// At equal intervals, as in k6.
    Even,
    /// Independently of each other, like visits of unrelated users.
    Poisson,
    /// At intervals that follow a gamma distribution. With a shape below 1 they are burstier than Poisson, and with a
    /// shape above 1 more even.
    Gamma {
        /// Greater than 0; 1 is Poisson.
        shape: f64,
    },
    /// Poisson arrivals in bursts: only in the first `on` of each period of `on + off`, at a correspondingly higher
    /// rate.
    OnOff {
        /// Greater than zero.
        on: Duration,
        /// The pause between bursts.
        off: Duration,
    },
    /// At recorded times, regardless of the rate.
    Trace(Trace),
}

impl Default for Arrivals {
    fn default() -> Arrivals {
        Arrivals {
            process: ArrivalProcess::Even,
            seed: None,
        }
    }
}

/// The seed if none is selected.
const USUAL_SEED: u64 = 1;

/// The accepted forms.
pub const ARRIVAL_FORMS: &str = "even, poisson, gamma:SHAPE or on-off:ON/OFF, and optionally @SEED; or trace:FILE, and optionally @SPEEDx";

/// Limits of the shape of a gamma distribution. Beyond them, all arrivals coincide or are even.
const SHAPES: std::ops::RangeInclusive<f64> = 0.01..=10_000.0;

impl Arrivals {
    /// Parses `poisson`, `gamma:0.5`, `on-off:2s/8s`, each with an optional `@SEED`; or `trace:FILE` with an optional
    /// `@2x`.
    ///
    /// # Errors
    /// The problem, with the accepted forms.
    pub fn parse(text: &str) -> Result<Arrivals, String> {
        let wrong = |what: &str| Err(format!("{what}: write {ARRIVAL_FORMS}"));
        if let Some(trace) = text.strip_prefix("trace:") {
            return match Trace::parse(trace) {
                Ok(trace) => Ok(Arrivals {
                    process: ArrivalProcess::Trace(trace),
                    seed: None,
                }),
                Err(error) => wrong(&error),
            };
        }
        let (process, seed) = match text.split_once('@') {
            Some((process, seed)) => match seed.parse() {
                Ok(seed) => (process, Some(seed)),
                Err(_) => return wrong(&format!("\"{seed}\" is not a whole number")),
            },
            None => (text, None),
        };
        let (name, value) = process.split_once(':').unwrap_or((process, ""));
        let process = match (name, value) {
            ("even", "") => ArrivalProcess::Even,
            ("poisson", "") => ArrivalProcess::Poisson,
            ("gamma", shape) => match shape.parse() {
                Ok(shape) if SHAPES.contains(&shape) => ArrivalProcess::Gamma { shape },
                _ => return wrong("the shape must be a number from 0.01 to 10000"),
            },
            ("on-off", periods) => {
                let (on, off) = periods.split_once('/').unwrap_or((periods, ""));
                match (duration::parse(on), duration::parse(off)) {
                    (Ok(on), Ok(off)) if !on.is_zero() => ArrivalProcess::OnOff { on, off },
                    _ => return wrong("the periods must be durations such as 2s/8s"),
                }
            }
            _ => return wrong(&format!("unknown arrivals \"{text}\"")),
        };
        Ok(Arrivals { process, seed })
    }

    /// Sets the seed of a run, unless the arrivals have their own seed. If all runs of a series had the same random
    /// numbers, all of them would have the same excess or lack of arrivals by chance, and repeating them would not show
    /// it.
    #[must_use]
    pub fn seeded(mut self, seed: Option<u64>) -> Arrivals {
        if !matches!(
            self.process,
            ArrivalProcess::Even | ArrivalProcess::Trace(_)
        ) {
            self.seed = self.seed.or(seed);
        }
        self
    }

    /// The seed of the random numbers.
    pub fn random_seed(&self) -> u64 {
        self.seed.unwrap_or(USUAL_SEED)
    }

    /// Whether iterations start at equal intervals.
    pub fn is_even(&self) -> bool {
        self.process == ArrivalProcess::Even
    }

    /// The recorded times, if arrivals follow recorded times.
    pub fn trace(&self) -> Option<&Trace> {
        match &self.process {
            ArrivalProcess::Trace(trace) => Some(trace),
            _ => None,
        }
    }

    /// Reads the recorded times, if arrivals follow recorded times. `read` returns the contents of a file.
    ///
    /// # Errors
    /// If the file cannot be read, or contains no times.
    pub fn read_trace(
        &mut self,
        read: impl FnOnce(&str) -> Result<String, String>,
    ) -> Result<(), String> {
        match &mut self.process {
            ArrivalProcess::Trace(trace) => {
                let text = read(&trace.file)?;
                trace.read(&text)
            }
            _ => Ok(()),
        }
    }
}

impl fmt::Display for Arrivals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.process {
            ArrivalProcess::Even => f.write_str("even")?,
            ArrivalProcess::Poisson => f.write_str("poisson")?,
            ArrivalProcess::Gamma { shape } => write!(f, "gamma:{shape}")?,
            ArrivalProcess::OnOff { on, off } => {
                write!(
                    f,
                    "on-off:{}/{}",
                    duration::format(*on),
                    duration::format(*off)
                )?;
            }
            ArrivalProcess::Trace(trace) => write!(f, "{trace}")?,
        }
        match self.seed {
            Some(seed) => write!(f, "@{seed}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_read_and_written() {
        for text in [
            "even",
            "poisson",
            "poisson@1",
            "poisson@7",
            "gamma:0.5",
            "gamma:4@123",
            "on-off:2s/8s",
            "on-off:500ms/0s",
            "trace:access.log",
            "trace:/a b/times@2.csv@0.5x",
        ] {
            assert_eq!(Arrivals::parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn a_run_sets_the_seed_unless_the_option_does() {
        for (text, seeded) in [
            ("poisson", "poisson@3"),
            ("gamma:0.5", "gamma:0.5@3"),
            ("on-off:1s/2s", "on-off:1s/2s@3"),
            ("poisson@1", "poisson@1"),
            ("even", "even"),
            ("trace:poisson", "trace:poisson"),
        ] {
            let arrivals = Arrivals::parse(text).unwrap();
            assert_eq!(arrivals.clone().seeded(Some(3)).to_string(), seeded);
            assert_eq!(arrivals.seeded(None).to_string(), text);
        }
    }

    #[test]
    fn other_texts_are_refused() {
        for text in [
            "",
            "Poisson",
            "poisson:1",
            "poisson@",
            "poisson@x",
            "gamma",
            "gamma:0",
            "gamma:-1",
            "gamma:NaN",
            "gamma:inf",
            "on-off",
            "on-off:2s",
            "on-off:0s/1s",
            "on-off:a/b",
            "trace:",
            "trace:f@0x",
        ] {
            let error = Arrivals::parse(text).unwrap_err();
            assert!(error.contains("gamma:SHAPE"), "{text}: {error}");
        }
    }
}
