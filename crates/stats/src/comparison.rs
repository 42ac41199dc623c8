//! Tests whether B differs from A. Runs come in pairs of one run each, so that drift of the machine
//! affects both.
//!
//! `compare` and `lab` share this implementation: Student's paired t-test on the logarithms of the
//! ratios. A rank test of n pairs cannot reach a p value below 2 ÷ 2ⁿ, so six pairs could show
//! nothing when three metrics are compared (3 × 0.031). A t-test has no such limit.

use crate::buckets::RELATIVE_WIDTH;
use crate::student;

/// The significance level of all tests.
pub const LEVEL: f64 = 0.05;
/// Minimum number of pairs. Fewer do not show how much pairs vary.
pub const MIN_PAIRS: usize = 3;
/// Maximum difference, as a share, that does not matter if the noise is unknown.
pub const MARGIN: f64 = 0.05;
/// The probability with which the recommended number of pairs settles a comparison.
const POWER: f64 = 0.8;
/// Maximum number of pairs to recommend.
const MAX_PAIRS: usize = 1000;

/// Which of the two to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    A,
    B,
}

/// The order of runs: ABBA ABBA …, so that steady drift cancels out.
pub fn order(pairs: usize) -> Vec<Side> {
    (0..pairs)
        .flat_map(|pair| match pair % 2 {
            0 => [Side::A, Side::B],
            _ => [Side::B, Side::A],
        })
        .collect()
}

/// The result of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// B is larger, significantly and by more than the noise if that is known.
    Larger,
    /// B is smaller, with the same conditions.
    Smaller,
    /// The whole interval is too close to zero for a difference that matters.
    NoDifference,
    /// None of the above: more pairs would settle it.
    Uncertain,
    /// There is no data to compare.
    NotMeasured,
}

impl Outcome {
    /// The name of the outcome in results.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Larger => "larger",
            Outcome::Smaller => "smaller",
            Outcome::NoDifference => "no-difference",
            Outcome::Uncertain => "uncertain",
            Outcome::NotMeasured => "not-measured",
        }
    }
}

/// The differences of pairs. For ratios, these are differences of logarithms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Paired {
    pub pairs: usize,
    /// The mean of the differences.
    pub estimate: f64,
    /// Half the width of the 95 % interval.
    pub half: f64,
    /// The standard error of the mean.
    pub error: f64,
    /// The two-sided p value.
    pub p: f64,
}

/// Maximum difference that is only due to rounding: the width of a histogram's bucket.
const RESOLUTION: f64 = RELATIVE_WIDTH;
/// Maximum standard error of numbers that are equal except for rounding.
const EXACT: f64 = 1e-9;

impl Paired {
    /// Tests differences. Those up to `resolution` count as zero. `None` for fewer than
    /// [`MIN_PAIRS`] pairs, or if a difference is not finite.
    pub fn of(differences: &[f64], resolution: f64) -> Option<Paired> {
        let pairs = differences.len();
        if pairs < MIN_PAIRS || differences.iter().any(|one| !one.is_finite()) {
            return None;
        }
        let n = pairs as f64;
        let mean = differences.iter().sum::<f64>() / n;
        let squares = differences.iter().map(|one| (one - mean).powi(2));
        let error = (squares.sum::<f64>() / (n - 1.0) / n).sqrt();
        let beyond = (mean.abs() - resolution).max(0.0);
        let p = match (error > EXACT, beyond > 0.0) {
            (true, _) => student::two_sided(beyond / error, n - 1.0),
            (false, true) => 0.0,
            (false, false) => 1.0,
        };
        Some(Paired {
            pairs,
            estimate: mean,
            half: student::quantile(1.0 - LEVEL, n - 1.0) * error + resolution,
            error,
            p,
        })
    }

    /// Tests the ratios B ÷ A of pairs `(a, b)`, on their logarithms.
    ///
    /// # Errors
    /// Returns the reason why the pairs cannot be compared.
    pub fn ratios(pairs: &[(f64, f64)]) -> Result<Paired, Incomparable> {
        if pairs.len() < MIN_PAIRS {
            return Err(Incomparable::TooFewPairs);
        }
        let positive = |value: f64| value.is_finite() && value > 0.0;
        if pairs.iter().any(|(a, b)| !positive(*a) || !positive(*b)) {
            return Err(Incomparable::NotPositive);
        }
        let logs: Vec<f64> = pairs.iter().map(|(a, b)| (b / a).ln()).collect();
        Paired::of(&logs, RESOLUTION).ok_or(Incomparable::NotPositive)
    }

    /// The ends of the 95 % interval.
    pub fn interval(&self) -> (f64, f64) {
        (self.estimate - self.half, self.estimate + self.half)
    }

    /// The outcome. `p` is [`Paired::p`], corrected for other comparisons if there are any. The
    /// interval and the outcome agree: if B is larger or smaller, the interval excludes zero.
    pub fn decide(&self, p: f64, limits: Limits) -> Decision {
        let effect = self.estimate.abs();
        let reach = effect + self.half;
        let limit = self.limit(limits);
        // Numbers without any variation are rounded, or are determined by the configuration.
        let least = if self.error > EXACT {
            limits.floor
        } else {
            limits.floor.max(limits.margin)
        };
        let outcome = if p <= LEVEL && effect > self.half && effect > least {
            match self.estimate > 0.0 {
                true => Outcome::Larger,
                false => Outcome::Smaller,
            }
        } else if reach <= limit {
            Outcome::NoDifference
        } else {
            Outcome::Uncertain
        };
        let would_decide = match outcome {
            Outcome::Uncertain => self.would_decide(p, limits),
            _ => None,
        };
        Decision {
            outcome,
            reach,
            would_decide,
        }
    }

    /// An interval within this distance of zero excludes any difference that matters. If the
    /// interval excludes zero, there is a difference, and the noise floor does not make it
    /// irrelevant.
    fn limit(&self, limits: Limits) -> f64 {
        match self.estimate.abs() > self.half {
            true => limits.margin,
            false => limits.same,
        }
    }

    /// The number of pairs that would probably show a difference of this size, or show that there
    /// is none.
    fn would_decide(&self, p: f64, limits: Limits) -> Option<usize> {
        let spread = self.error * (self.pairs as f64).sqrt();
        let effect = self.estimate.abs();
        // The significance level after the correction for other comparisons.
        let level = if p > self.p && p > 0.0 {
            LEVEL * self.p / p
        } else {
            LEVEL
        };
        let more = self.pairs + 1;
        let fewest = |level: f64, distance: f64| fewest(more, distance, spread, level);
        let to_show = if effect > limits.floor { effect } else { 0.0 };
        let to_exclude = self.limit(limits) - effect;
        let alternatives = [
            fewest(level, to_show - RESOLUTION),
            fewest(LEVEL, to_exclude - RESOLUTION),
        ];
        alternatives.into_iter().flatten().min()
    }
}

/// The minimum ratio of a difference to its standard error for this number of pairs to show the
/// difference with probability [`POWER`].
fn needed(pairs: usize, level: f64) -> f64 {
    let freedom = pairs as f64 - 1.0;
    student::quantile(1.0 - level, freedom) + student::quantile(2.0 * POWER - 1.0, freedom)
}

/// The smallest difference that this number of pairs probably shows, if pairs vary by `spread` (a
/// standard deviation).
pub fn detectable(pairs: usize, spread: f64, level: f64) -> Option<f64> {
    let n = pairs as f64;
    (pairs >= MIN_PAIRS).then(|| needed(pairs, level) * spread / n.sqrt())
}

/// The number of pairs that probably shows this difference, if pairs vary by `spread`. `None` if it
/// exceeds the maximum.
pub fn pairs_to_detect(difference: f64, spread: f64, level: f64) -> Option<usize> {
    fewest(MIN_PAIRS, difference, spread, level)
}

/// The smallest sufficient number of pairs. More pairs are always better.
fn fewest(least: usize, distance: f64, spread: f64, level: f64) -> Option<usize> {
    let suffices = |pairs: usize| needed(pairs, level) * spread / (pairs as f64).sqrt() <= distance;
    let (mut low, mut high) = (least, MAX_PAIRS);
    if distance <= 0.0 || low > high || !suffices(high) {
        return None;
    }
    while low < high {
        let middle = low + (high - low) / 2;
        match suffices(middle) {
            true => high = middle,
            false => low = middle + 1,
        }
    }
    Some(low)
}

/// The sizes of differences that count, on the scale of the differences.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Limits {
    /// The noise: how much identical systems differ. Smaller differences do not count. 0 if unknown.
    pub floor: f64,
    /// An interval within this distance of zero excludes any difference that matters.
    pub margin: f64,
    /// The same distance for an interval that includes zero: at least the noise.
    pub same: f64,
}

impl Limits {
    /// For ratios, with the noise as a share, if known.
    pub fn of_ratio(noise: Option<f64>) -> Limits {
        let margin = noise.unwrap_or(MARGIN).ln_1p();
        Limits {
            floor: noise.map_or(0.0, f64::ln_1p),
            margin,
            same: margin,
        }
    }

    /// For ratios, with the noise as a share, if known, and the measured noise floor, if any.
    pub fn with_floor(noise: Option<f64>, floor: Option<f64>) -> Limits {
        let limits = Limits::with_foreign_floor(noise, floor);
        Limits {
            same: limits.margin.max(limits.floor),
            ..limits
        }
    }

    /// For ratios, with the noise floor of another place. The floor may be larger here, so a
    /// difference must exceed it. It may also be smaller here, so it does not prove that there is
    /// no difference.
    pub fn with_foreign_floor(noise: Option<f64>, floor: Option<f64>) -> Limits {
        let limits = Limits::of_ratio(noise);
        Limits {
            floor: limits.floor.max(floor.map_or(0.0, f64::ln_1p)),
            ..limits
        }
    }
}

/// The conclusion of a comparison.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decision {
    pub outcome: Outcome,
    /// The distance from zero to the farther end of the interval: an upper bound for the difference.
    pub reach: f64,
    /// If uncertain: the number of pairs that would probably settle it, unless there are too many.
    pub would_decide: Option<usize>,
}

/// Why a comparison is impossible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Incomparable {
    /// There are fewer than [`MIN_PAIRS`] pairs.
    TooFewPairs,
    /// A value is not above zero and has no logarithm.
    NotPositive,
}

impl Incomparable {
    /// The reason as a sentence. `unit` is the word for a pair.
    pub fn text(self, pairs: usize, unit: &str) -> String {
        match self {
            Incomparable::TooFewPairs => format!(
                "{pairs} {unit}{} cannot show a difference of any size: use at least {MIN_PAIRS}",
                if pairs == 1 { "" } else { "s" }
            ),
            Incomparable::NotPositive => "a figure is 0, which has no ratio".to_owned(),
        }
    }
}

/// The difference between A and A, as a share: the end of the interval that is farther from zero,
/// over pairs of A and A.
///
/// # Errors
/// Returns the reason why it is unknown.
pub fn noise_floor(pairs: &[(f64, f64)]) -> Result<f64, Incomparable> {
    let paired = Paired::ratios(pairs)?;
    Ok((paired.estimate.abs() + paired.half).exp_m1())
}

/// Adjusts the p values of several comparisons by Holm's method (1979), in their order.
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
