use std::time::Duration;

use crate::Objective;

/// The settings of a search.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The objectives that must be met.
    pub objectives: Vec<Objective>,
    /// The share of requests that may fail.
    pub fail_rate: f64,
    /// Duration of one trial.
    pub trial: Duration,
    /// Warm-up before each trial, which is not counted.
    pub warm_up: Duration,
    /// How long the highest rate is held at the end.
    pub soak: Duration,
    /// The first rate to try, per second.
    pub start: u64,
    /// The highest rate to try.
    pub most: u64,
    /// Width of the interval, as a share of its lower end.
    pub precision: f64,
    /// Repeats at each end of the interval.
    pub repeats: u32,
    /// Maximum number of trials.
    pub trials: u32,
}
