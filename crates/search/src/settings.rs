use std::time::Duration;

use plimsoll_stats::tail;

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

/// A trial is this much longer than the number of requests requires, as a fraction. Their number varies with random
/// arrivals.
const RESERVE: (u64, u64) = (11, 10);

/// How long a trial at `rate` takes to send this number of requests, in whole seconds.
pub fn seconds_for(requests: u64, rate: u64) -> u64 {
    let (with_reserve, per_reserve) = RESERVE;
    requests
        .saturating_mul(with_reserve)
        .div_ceil(rate.max(1).saturating_mul(per_reserve))
}

impl Settings {
    /// The duration of a trial at `rate`. It is longer than `--trial` if a percentile needs more requests, up to the
    /// duration of the soak.
    pub fn trial_at(&self, rate: u64) -> Duration {
        let quantiles = self.objectives.iter().filter_map(Objective::quantile);
        let needed = quantiles.map(tail::values_needed).max().unwrap_or(0);
        let wanted = Duration::from_secs(seconds_for(needed, rate));
        self.trial.max(wanted.min(self.soak))
    }

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
    fn a_trial_is_long_enough_for_its_percentile_up_to_the_soak() {
        let mut settings = settings("p95<50ms", 0.001);
        settings.soak = Duration::from_secs(30);
        // 200 requests are needed.
        for (rate, seconds) in [(1_000, 1), (100, 3), (10, 22), (1, 30)] {
            assert_eq!(settings.trial_at(rate).as_secs(), seconds, "{rate}");
        }
        settings.objectives[0].figure = "mean";
        assert_eq!(settings.trial_at(1), settings.trial);
        settings.soak = Duration::from_millis(500);
        assert_eq!(settings.trial_at(1), settings.trial);
    }

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
