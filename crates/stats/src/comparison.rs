//! Is B other than A? Runs in pairs, one of each, so that what drifts meets both.

use crate::signed_rank::{SignedRank, signed_rank};

/// Below this many pairs no exact test can reach 5 %: two-sided, 2 ÷ 2⁵ = 6.25 %.
pub const LEAST_PAIRS: usize = 6;

/// Which of the two to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    A,
    B,
}

/// The order of runs: ABBA ABBA …, so that a steady drift cancels.
pub fn order(pairs: usize) -> Vec<Side> {
    (0..pairs)
        .flat_map(|pair| match pair % 2 {
            0 => [Side::A, Side::B],
            _ => [Side::B, Side::A],
        })
        .collect()
}

/// What a comparison concludes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conclusion {
    /// The test tells them apart, beyond the noise of A against A.
    Different,
    /// Told apart by the test, and within what A differs from itself.
    InsideNoise,
    /// Not told apart.
    NotShown,
}

/// A comparison of pairs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    pub pairs: usize,
    /// B ÷ A: 1.05 is five per cent more.
    pub ratio: f64,
    pub low: f64,
    pub high: f64,
    pub p: f64,
    pub conclusion: Conclusion,
}

/// Why there is no comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Incomparable {
    /// Fewer than [`LEAST_PAIRS`].
    TooFewPairs,
    /// A figure that is not above zero has no logarithm.
    NotPositive,
}

/// How far A differed from A, as a ratio above 1: the farther end of its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NoiseFloor(pub f64);

/// Compares figures (latencies, rates) of pairs `(a, b)` at a level such as 0.05, by
/// the logarithms of their ratios. A difference must lie beyond `noise`, if it is known.
pub fn compare(
    pairs: &[(f64, f64)],
    level: f64,
    noise: Option<NoiseFloor>,
) -> Result<Comparison, Incomparable> {
    let test = test(pairs, 1.0 - level)?;
    let ratio = test.estimate.exp();
    let beyond = noise.is_none_or(|NoiseFloor(floor)| test.estimate.abs() > floor.ln());
    Ok(Comparison {
        pairs: pairs.len(),
        ratio,
        low: test.low.exp(),
        high: test.high.exp(),
        p: test.p,
        conclusion: match (test.p <= level, beyond) {
            (false, _) => Conclusion::NotShown,
            (true, false) => Conclusion::InsideNoise,
            (true, true) => Conclusion::Different,
        },
    })
}

/// The noise floor from pairs of A and A.
pub fn noise_floor(pairs: &[(f64, f64)], confidence: f64) -> Result<NoiseFloor, Incomparable> {
    let test = test(pairs, confidence)?;
    Ok(NoiseFloor(test.low.abs().max(test.high.abs()).exp()))
}

fn test(pairs: &[(f64, f64)], confidence: f64) -> Result<SignedRank, Incomparable> {
    if pairs.len() < LEAST_PAIRS {
        return Err(Incomparable::TooFewPairs);
    }
    let positive = |value: f64| value.is_finite() && value > 0.0;
    if pairs.iter().any(|(a, b)| !positive(*a) || !positive(*b)) {
        return Err(Incomparable::NotPositive);
    }
    let logs: Vec<f64> = pairs.iter().map(|(a, b)| (b / a).ln()).collect();
    signed_rank(&logs, confidence).ok_or(Incomparable::TooFewPairs)
}

/// p values of a matrix of comparisons, adjusted after Holm (1979), in their order.
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|one, other| p[*one].total_cmp(&p[*other]));
    let mut adjusted = vec![1.0; p.len()];
    let mut least: f64 = 0.0;
    for (rank, at) in order.into_iter().enumerate() {
        least = least.max(p[at] * (p.len() - rank) as f64).min(1.0);
        adjusted[at] = least;
    }
    adjusted
}
