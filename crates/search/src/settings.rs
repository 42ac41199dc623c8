use std::time::Duration;

use crate::Objective;

/// The settings of a search.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The objectives that must be met.
    pub objectives: Vec<Objective>,
    /// The maximum share of failed requests.
    pub fail_rate: f64,
    pub trial: Duration,
    /// The warm-up before each trial, which is excluded from its results.
    pub warm_up: Duration,
    /// How long the soak holds the highest rate at the end.
    pub soak: Duration,
    /// The first rate to try, per second.
    pub start: u64,
    /// The highest rate to try.
    pub most: u64,
    /// The width of the interval at which the search ends, as a share of its lower end.
    pub precision: f64,
    /// The number of repeats at each end of the interval.
    pub repeats: u32,
    /// The maximum number of trials.
    pub trials: u32,
}

impl Settings {
    /// Checks that a search can work with the settings.
    ///
    /// # Errors
    /// Which setting no search can work with, and its valid range.
    pub fn check(&self) -> Result<(), String> {
        let wrong = |flag: &str, why: &str| Err(format!("--{flag} {why}"));
        match self {
            _ if self.start == 0 => wrong("start", "must be at least 1"),
            _ if self.start > self.most => wrong(
                "start",
                &format!("is {}, above --most, which is {}", self.start, self.most),
            ),
            _ if self.repeats == 0 => wrong("repeats", "must be at least 1"),
            _ if self.trials == 0 => wrong("trials", "must be at least 1"),
            _ if self.precision <= 0.0 => wrong("precision", "must be above 0%"),
            _ if self.trial.is_zero() => wrong("trial", "must be longer than 0"),
            _ if self.soak.is_zero() => wrong("soak", "must be longer than 0"),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Settings;
    use crate::trial::tests::settings;

    #[test]
    fn settings_that_make_no_search_are_refused() {
        let check = |change: &dyn Fn(&mut Settings)| {
            let mut settings = settings("p95<50ms", 0.001);
            change(&mut settings);
            settings.check().err().unwrap_or_default()
        };
        assert_eq!(check(&|_| {}), "");
        assert_eq!(check(&|it| it.repeats = 0), "--repeats must be at least 1");
        assert_eq!(check(&|it| it.trials = 0), "--trials must be at least 1");
        assert_eq!(check(&|it| it.start = 0), "--start must be at least 1");
        assert_eq!(
            check(&|it| it.most = 10),
            "--start is 100, above --most, which is 10"
        );
        assert_eq!(
            check(&|it| it.precision = 0.0),
            "--precision must be above 0%"
        );
        assert_eq!(
            check(&|it| it.soak = Duration::ZERO),
            "--soak must be longer than 0"
        );
        assert_eq!(
            check(&|it| it.trial = Duration::ZERO),
            "--trial must be longer than 0"
        );
    }
}
