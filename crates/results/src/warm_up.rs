//! Detects the end of a run's warm-up.

use plimsoll_stats::warm_up::{Steadiness, warm_up};

/// How many seconds at the start of a run to exclude, and whether the rest is steady.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WarmUp {
    /// Exclude this many seconds; 0 if the run was steady from the start.
    Ended { seconds: u64 },
    /// Exclude this many seconds, although the two halves of the rest still differ.
    Moving { seconds: u64 },
    /// Exclude nothing, because the best cut is in the second half of the run.
    TooLong,
    /// The run has fewer than twenty seconds, too few to detect a warm-up.
    Untold,
}

impl WarmUp {
    /// Applies MSER-5 to each of the `series`, which have one value per second. The latest end of a
    /// warm-up counts, because a run is steady only when all its series are.
    pub fn of(series: &[Vec<f64>]) -> WarmUp {
        series
            .iter()
            .map(|figures| match warm_up(figures) {
                None => WarmUp::Untold,
                Some(found) => {
                    let seconds = found.cut as u64;
                    match found.steadiness {
                        Steadiness::Steady { .. } => WarmUp::Ended { seconds },
                        Steadiness::Moving { .. } => WarmUp::Moving { seconds },
                        Steadiness::TooShort => WarmUp::TooLong,
                    }
                }
            })
            .reduce(WarmUp::later)
            .unwrap_or(WarmUp::Untold)
    }

    fn later(self, other: WarmUp) -> WarmUp {
        let seconds = self.seconds().max(other.seconds());
        match (self, other) {
            (WarmUp::TooLong, _) | (_, WarmUp::TooLong) => WarmUp::TooLong,
            (WarmUp::Moving { .. }, _) | (_, WarmUp::Moving { .. }) => WarmUp::Moving { seconds },
            (WarmUp::Ended { .. }, _) | (_, WarmUp::Ended { .. }) => WarmUp::Ended { seconds },
            _ => WarmUp::Untold,
        }
    }

    /// Number of seconds to exclude.
    pub fn seconds(self) -> u64 {
        match self {
            WarmUp::Ended { seconds } | WarmUp::Moving { seconds } => seconds,
            WarmUp::TooLong | WarmUp::Untold => 0,
        }
    }

    /// The reason why the run may not be steady, if any.
    pub fn doubt(self) -> Option<&'static str> {
        match self {
            WarmUp::Moving { .. } => {
                Some("was not steady after its warm-up: the halves of the rest differ")
            }
            WarmUp::TooLong => {
                Some("may be shorter than its warm-up, which is therefore included: run longer")
            }
            WarmUp::Ended { .. } | WarmUp::Untold => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds noise so that no two seconds are equal.
    fn level(at: f64, seconds: usize) -> impl Iterator<Item = f64> {
        (0..seconds).map(move |n| at + [0.0, 0.3, -0.2, 0.1, -0.3, 0.2, -0.1][n % 7])
    }

    #[test]
    fn the_later_end_counts() {
        let steady: Vec<f64> = level(10.0, 40).collect();
        let warmed: Vec<f64> = level(30.0, 5).chain(level(10.0, 35)).collect();
        assert_eq!(
            WarmUp::of(&[steady.clone(), warmed]),
            WarmUp::Ended { seconds: 5 }
        );
        assert_eq!(
            WarmUp::of(std::slice::from_ref(&steady)),
            WarmUp::Ended { seconds: 0 }
        );
        assert_eq!(WarmUp::of(&[steady[..19].to_vec()]), WarmUp::Untold);
        assert_eq!(WarmUp::of(&[]), WarmUp::Untold);
    }

    #[test]
    fn a_run_that_never_settles_is_reported() {
        let falling: Vec<f64> = (0..60).map(|n| 100.0 - f64::from(n)).collect();
        let found = WarmUp::of(&[falling]);
        assert!(found.doubt().is_some(), "{found:?}");
        let late: Vec<f64> = level(30.0, 80).chain(level(10.0, 40)).collect();
        assert!(WarmUp::of(&[late]).doubt().is_some());
    }
}
