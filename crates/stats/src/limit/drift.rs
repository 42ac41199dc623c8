//! Detects a limit that changes during the search.

use super::{Outcome, Tried};

/// The limit of the service changed during the search: at one time, the service met the objective
/// at a rate far above the rates at which it missed it at another time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drift {
    /// The highest rate that met the objective below all rates that missed it, or `None`.
    pub low: Option<u64>,
    /// The highest rate that met the objective at any time.
    pub high: u64,
    /// Whether the service became slower: most misses came after the highest rate met the objective.
    pub slower: bool,
}

/// Maximum relative difference of rates that count as a single blurred limit instead of drift.
const BLUR: f64 = 0.10;
/// The same limit in widths of the desired interval, if that is larger.
const BLUR_IN_WIDTHS: f64 = 3.0;
/// A single miss far below the limit may be a momentary disturbance.
const MISSES: usize = 2;

impl Drift {
    /// Detects drift in short trials. Long trials do not count, because they may miss the objective
    /// only because they are longer.
    pub(super) fn of(history: &[Tried], precision: f64) -> Option<Drift> {
        let blur = 1.0 + BLUR.max(BLUR_IN_WIDTHS * precision);
        let short = || {
            let trials = history.iter().enumerate();
            trials.filter(|(_, tried)| !tried.soak)
        };
        let (highest_at, highest) = short()
            .filter(|(_, tried)| tried.met())
            .max_by_key(|(at, tried)| (tried.rate, *at))?;
        let misses: Vec<(usize, u64)> = short()
            .filter(|(_, tried)| tried.outcome == Outcome::Missed { sure: true })
            .map(|(at, tried)| (at, tried.rate))
            .filter(|(_, rate)| *rate as f64 * blur <= highest.rate as f64)
            .collect();
        if misses.len() < MISSES {
            return None;
        }
        let lowest_miss = misses.iter().map(|(_, rate)| *rate).min()?;
        let later = misses.iter().filter(|(at, _)| *at > highest_at).count();
        Some(Drift {
            low: short()
                .filter(|(_, tried)| tried.met() && tried.rate < lowest_miss)
                .map(|(_, tried)| tried.rate)
                .max(),
            high: highest.rate,
            slower: later * 2 >= misses.len(),
        })
    }
}
