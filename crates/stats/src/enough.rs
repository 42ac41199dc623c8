//! Decides when a lab may stop restarting a system: as soon as a figure over its restarts is
//! precise enough.

use crate::looks::Looks;
use crate::repetition::Repeated;

/// Number of restarts before the first look. The interval over two restarts is many times as wide
/// as the figure.
const FIRST: usize = 3;

/// The number of restarts, from the first one, after which the ends of the interval are at most
/// `precision` away from the figure, as a share of it. `None` if these restarts are not enough.
/// `max_restarts` is the maximum number of restarts: it determines when to look.
pub fn restarts_needed(
    restarts: &[Vec<f64>],
    max_restarts: usize,
    precision: f64,
) -> Option<usize> {
    let mut looks = Looks::new(FIRST, max_restarts);
    (FIRST..=restarts.len()).find(|count| {
        let Some(confidence) = looks.due(*count) else {
            return false;
        };
        let runs = restarts.get(..*count).unwrap_or_default();
        Repeated::with(runs, confidence)
            .and_then(|found| Some((found.value, found.interval?)))
            .is_some_and(|(value, (low, high))| {
                (value - low).max(high - value) <= precision * value.abs()
            })
    })
}

/// The confidence of an interval over restarts that stop when they are enough. With this
/// confidence, the interval contains the true value in at least 95 % of all cases.
pub fn confidence(max_restarts: usize) -> f64 {
    Looks::new(FIRST, max_restarts).confidence()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;

    #[test]
    fn equal_restarts_are_enough_at_the_first_look_and_different_ones_never() {
        let equal = vec![vec![10.0]; 5];
        assert_eq!(restarts_needed(&equal, 20, 0.05), Some(3));
        assert_eq!(
            restarts_needed(equal.get(..2).expect("two"), 20, 0.05),
            None
        );
        let different: Vec<Vec<f64>> = (0..20).map(|n| vec![1.0 + f64::from(n % 2)]).collect();
        assert_eq!(restarts_needed(&different, 20, 0.05), None);
    }

    /// Simulated restarts that vary by `spread`, on the log scale, around a true value of 1.
    fn coverage(spread: f64, precision: f64, seed: u64) -> (f64, f64) {
        const LABS: u32 = 2000;
        const MAX_RESTARTS: usize = 24;
        let mut random = Random::new(seed);
        let (mut covered, mut used) = (0, 0);
        for _ in 0..LABS {
            let restarts: Vec<Vec<f64>> = (0..MAX_RESTARTS)
                .map(|_| vec![(spread * random.normal()).exp()])
                .collect();
            let count = restarts_needed(&restarts, MAX_RESTARTS, precision).unwrap_or(MAX_RESTARTS);
            used += count;
            let runs = restarts.get(..count).expect("as many");
            let found = Repeated::with(runs, confidence(MAX_RESTARTS)).expect("values");
            let (low, high) = found.interval.expect("an interval");
            covered += u32::from(low <= 1.0 && 1.0 <= high);
        }
        (
            f64::from(covered) / f64::from(LABS),
            used as f64 / f64::from(LABS),
        )
    }

    /// The interval must cover the true value in 95 % of cases, although the lab stops when the
    /// figure happens to look precise.
    #[test]
    fn the_interval_at_the_stop_contains_the_true_value() {
        for (seed, spread) in [(1, 0.01), (2, 0.05), (3, 0.1), (4, 0.2)] {
            let (covered, used) = coverage(spread, 0.05, seed);
            assert!(covered >= 0.95, "spread {spread}: {covered}");
            // A steady system needs the fewest restarts, and a varying one needs all of them.
            match spread {
                0.01 => assert!(used < 5.5, "{used}"),
                0.2 => assert!(used > 22.0, "{used}"),
                _ => {}
            }
        }
    }
}
