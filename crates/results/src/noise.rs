//! Estimates from their history how much identical runs differ.

use plimsoll_stats::student;

use crate::compare::FAILED_NOISE;
use crate::figures::{FAILED, Figure};

/// How much a metric varies between identical runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    /// Number of runs on which the estimate is based.
    pub runs: usize,
    /// The number of different levels among them. A change of level does not count as noise.
    pub levels: usize,
    /// The standard deviation of runs around their level, as a share of the level, or in percentage
    /// points for the failed share.
    pub spread: f64,
    /// The difference that 95 of 100 pairs of identical single runs do not exceed, in the same unit.
    pub between_two: f64,
}

/// With fewer degrees of freedom, a standard deviation is only a guess.
const MIN_FREEDOM: usize = 5;

/// Estimates the noise between runs from a metric's `values` and the indices at which its level
/// changed. Two identical runs differ by √2 × the standard deviation. Student's t accounts for the
/// estimate from only a few runs. `None` for fewer than six runs at one level, or for a metric that
/// is not above 0.
pub fn between_runs(values: &[f64], changes: &[usize], figure: &Figure) -> Option<Noise> {
    let as_points = figure.name == FAILED;
    let scaled: Vec<f64> = values
        .iter()
        .map(|value| if as_points { *value } else { value.ln() })
        .collect();
    if scaled.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let mut bounds = vec![0];
    bounds.extend(changes.iter().copied().filter(|at| *at < values.len()));
    bounds.push(values.len());
    bounds.sort_unstable();
    bounds.dedup();
    let levels: Vec<&[f64]> = bounds
        .windows(2)
        .filter_map(|ends| scaled.get(*ends.first()?..*ends.last()?))
        .collect();
    let freedom = scaled.len().checked_sub(levels.len())?;
    if freedom < MIN_FREEDOM {
        return None;
    }
    let squares: f64 = levels.iter().map(|level| about_mean(level)).sum();
    let spread = (squares / freedom as f64).sqrt();
    let apart = student::quantile(0.95, freedom as f64) * std::f64::consts::SQRT_2 * spread;
    Some(Noise {
        runs: scaled.len(),
        levels: levels.len(),
        spread,
        between_two: if as_points {
            apart.max(FAILED_NOISE)
        } else {
            apart.exp() - 1.0
        },
    })
}

/// The sum of squares around the mean.
fn about_mean(level: &[f64]) -> f64 {
    let mean = level.iter().sum::<f64>() / level.len() as f64;
    level.iter().map(|value| (value - mean).powi(2)).sum()
}

#[cfg(test)]
mod tests {
    use plimsoll_stats::Random;

    use super::*;
    use crate::figures;

    fn p95() -> &'static Figure {
        figures::find("p95").expect("a figure")
    }

    #[test]
    fn a_change_of_level_is_not_noise() {
        let values = [10.0, 10.2, 9.8, 10.1, 20.0, 20.4, 19.6, 20.2];
        let noise = between_runs(&values, &[4], p95()).expect("enough runs");
        assert_eq!((noise.runs, noise.levels), (8, 2));
        assert!((0.01..0.03).contains(&noise.spread), "{noise:?}");
        let all = between_runs(&values, &[], p95()).expect("enough runs");
        assert!(all.spread > 0.3, "{all:?}");
    }

    #[test]
    fn too_few_runs_give_no_noise_estimate() {
        assert_eq!(between_runs(&[1.0; 5], &[], p95()), None);
        assert_eq!(between_runs(&[1.0; 6], &[3], p95()), None);
        assert_eq!(between_runs(&[0.0; 9], &[], p95()), None);
        assert_eq!(between_runs(&[], &[7], p95()), None);
        let failed = figures::find("failed").expect("a figure");
        let noise = between_runs(&[0.0; 9], &[], failed).expect("points need no ratio");
        assert_eq!(noise.between_two, FAILED_NOISE);
    }

    /// In 95 of 100 histories, two further identical runs differ by less than the limit.
    #[test]
    fn two_runs_of_the_same_program_are_within_the_noise() {
        let mut random = Random::new(8);
        let mut run = || 12.0 * (0.04 * random.normal()).exp();
        let within = (0..2_000)
            .filter(|_| {
                let history: Vec<f64> = (0..8).map(|_| run()).collect();
                let noise = between_runs(&history, &[], p95()).expect("enough runs");
                (run() / run()).ln().abs() <= (1.0 + noise.between_two).ln()
            })
            .count();
        assert!((1_860..=1_940).contains(&within), "{within} of 2,000");
    }
}
