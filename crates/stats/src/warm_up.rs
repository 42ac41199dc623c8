//! Where the warm-up ends.

use crate::student;

/// What is left out, and whether the rest stands still.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WarmUp {
    /// Windows to leave out at the start.
    pub cut: usize,
    pub steadiness: Steadiness,
}

/// Whether the windows after the cut are of one level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Steadiness {
    /// The halves do not differ, at this p.
    Steady { p: f64 },
    /// The halves differ: the run was still moving.
    Moving { p: f64 },
    /// The best cut lies in the second half: the run is too short for its warm-up.
    TooShort,
}

/// Windows to a batch.
const BATCH: usize = 5;
/// The least number of windows: four batches, two to each half.
const LEAST: usize = 4 * BATCH;
/// The p below which halves are called different.
const LEVEL: f64 = 0.01;

/// MSER-5 (White, Cobb and Spratt 2000) on the figures of one-second windows: of all
/// cuts in the first half, the one after which the squared standard error of the mean is
/// smallest. None for fewer than twenty windows.
pub fn warm_up(windows: &[f64]) -> Option<WarmUp> {
    if windows.len() < LEAST || windows.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let batches: Vec<f64> = windows
        .chunks_exact(BATCH)
        .map(|batch| batch.iter().sum::<f64>() / BATCH as f64)
        .collect();
    let n = batches.len();
    let error = |cut: usize| {
        let rest = &batches[cut..];
        let size = rest.len() as f64;
        let mean = rest.iter().sum::<f64>() / size;
        rest.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (size * size)
    };
    // The last few batches always agree with each other; cuts there mean nothing.
    let best = (0..=n.saturating_sub(5).max(n / 2))
        .min_by(|one, other| error(*one).total_cmp(&error(*other)))
        .unwrap_or(0);
    if best > n / 2 {
        return Some(WarmUp {
            cut: best * BATCH,
            steadiness: Steadiness::TooShort,
        });
    }
    let rest = &batches[best..];
    let (first, second) = rest.split_at(rest.len() / 2);
    let p = welch(first, second);
    Some(WarmUp {
        cut: best * BATCH,
        steadiness: if p < LEVEL {
            Steadiness::Moving { p }
        } else {
            Steadiness::Steady { p }
        },
    })
}

/// The two-sided p of Welch's test for two means (Welch 1947). Two constants differ or
/// do not.
pub fn welch(one: &[f64], other: &[f64]) -> f64 {
    let of = |values: &[f64]| {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let spread = values
            .iter()
            .map(|value| (value - mean).powi(2))
            .sum::<f64>();
        (n, mean, spread / (n - 1.0) / n)
    };
    if one.len() < 2 || other.len() < 2 {
        return 1.0;
    }
    let ((n, mean, error), (m, other_mean, other_error)) = (of(one), of(other));
    let both = error + other_error;
    if both <= 0.0 {
        return if mean == other_mean { 1.0 } else { 0.0 };
    }
    let freedom = both * both / (error * error / (n - 1.0) + other_error * other_error / (m - 1.0));
    student::two_sided((mean - other_mean) / both.sqrt(), freedom)
}
