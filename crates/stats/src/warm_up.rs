//! Detects the end of the warm-up.

use crate::student;

/// How much to exclude as warm-up, and whether the rest is steady.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WarmUp {
    /// Number of windows to exclude at the start.
    pub cut: usize,
    pub steadiness: Steadiness,
}

/// Whether the windows after the cut have a constant level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Steadiness {
    /// The halves do not differ significantly, with this p value.
    Steady { p: f64 },
    /// The halves differ, so the level was still changing.
    Moving { p: f64 },
    /// The best cut is in the second half, so the run is too short for its warm-up.
    TooShort,
}

/// Number of windows per batch.
const BATCH: usize = 5;
/// Minimum number of windows: four batches, two in each half.
const MIN_WINDOWS: usize = 4 * BATCH;
/// The p value below which the halves count as different.
const LEVEL: f64 = 0.01;

/// The p value above which the windows to exclude do not differ from the rest.
const EVIDENCE: f64 = 0.01;
/// Minimum difference between the windows to exclude and the rest, as a share of the mean of the
/// rest. A rate that is exact to the request has no noise that could hide a single late request.
const MATTERS: f64 = 0.01;

/// Applies MSER-5 (White, Cobb and Spratt 2000) to the values of one-second windows. It finds the
/// cut in the first half after which the squared standard error of the mean is smallest. It nearly
/// always finds a cut, even in noise, so the cut is used only if the excluded windows differ from
/// the rest. `None` for fewer than twenty windows.
pub fn warm_up(windows: &[f64]) -> Option<WarmUp> {
    if windows.len() < MIN_WINDOWS || windows.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let batches: Vec<f64> = windows
        .chunks_exact(BATCH)
        .map(|batch| batch.iter().sum::<f64>() / BATCH as f64)
        .collect();
    let n = batches.len();
    // The last few batches always agree with each other, so cuts there mean nothing.
    let latest = n.saturating_sub(5).max(n / 2);
    let error = |cut: usize| squares(&batches[cut..]) / ((n - cut) as f64).powi(2);
    let best = (0..=latest)
        .min_by(|one, other| error(*one).total_cmp(&error(*other)))
        .unwrap_or(0);
    let (out, rest) = batches.split_at(best);
    let cut = if differs(out, rest, latest) { best } else { 0 };
    if cut > n / 2 {
        return Some(WarmUp {
            cut: cut * BATCH,
            steadiness: Steadiness::TooShort,
        });
    }
    let rest = &batches[cut..];
    let (first, second) = rest.split_at(rest.len() / 2);
    let p = welch(first, second);
    Some(WarmUp {
        cut: cut * BATCH,
        steadiness: if p < LEVEL {
            Steadiness::Moving { p }
        } else {
            Steadiness::Steady { p }
        },
    })
}

/// Whether the batches to exclude (`out`) have another level than the `rest`. Uses Student's t for
/// their means, with the variance of the rest, because the variance during a warm-up differs.
/// Multiplies the p value by the number of possible cuts (Bonferroni), because the chosen cut is
/// the one that looks most like a warm-up.
fn differs(out: &[f64], rest: &[f64], cuts: usize) -> bool {
    if out.is_empty() || rest.len() < 2 {
        return false;
    }
    let apart = mean(out) - mean(rest);
    if apart.abs() <= MATTERS * mean(rest).abs() {
        return false;
    }
    let freedom = rest.len() as f64 - 1.0;
    let spread = squares(rest) / freedom;
    if spread <= 0.0 {
        return true;
    }
    let error = (spread * (1.0 / out.len() as f64 + 1.0 / rest.len() as f64)).sqrt();
    student::two_sided(apart / error, freedom) * cuts as f64 <= EVIDENCE
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The sum of squared deviations from the mean.
fn squares(values: &[f64]) -> f64 {
    let mean = mean(values);
    values.iter().map(|value| (value - mean).powi(2)).sum()
}

/// The two-sided p value of Welch's test for two means (Welch 1947). For two constants, it is 0 or 1.
pub fn welch(one: &[f64], other: &[f64]) -> f64 {
    let of = |values: &[f64]| {
        let n = values.len() as f64;
        (n, mean(values), squares(values) / (n - 1.0) / n)
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
