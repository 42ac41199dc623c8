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
