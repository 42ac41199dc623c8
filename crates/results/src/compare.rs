//! Is B other than A? Of runs in pairs, by an exact test; of one run each, by the intervals
//! of their own seconds.
//!
//! Either way a difference must also lie beyond the noise: what the same command differs
//! from itself between two runs. Seconds of one run know nothing of that, which is why two
//! single runs are held against a noise that is given or assumed.

use stats::comparison::{self, Conclusion as Told, Incomparable, LEAST_PAIRS, NoiseFloor};
use stats::{Interval, signed_rank};

use crate::figures::{FAILED, Figure, RunFigures};

/// The level of all figures together.
pub const LEVEL: f64 = 0.05;
/// The noise between runs that is assumed where it is not known.
pub const ASSUMED_NOISE: f64 = 0.10;
/// The noise of the share that failed, in points: it has no ratio.
pub const FAILED_NOISE: f64 = 0.005;

/// What a comparison of one figure concludes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conclusion {
    /// They differ, beyond chance and beyond noise.
    Different,
    /// They differ, and no more than the same does from itself.
    InsideNoise,
    /// Not told apart.
    NotShown,
    /// Nothing can be said.
    NotJudged,
}

impl Conclusion {
    /// Its name in results.
    pub fn name(self) -> &'static str {
        match self {
            Conclusion::Different => "different",
            Conclusion::InsideNoise => "inside-noise",
            Conclusion::NotShown => "not-shown",
            Conclusion::NotJudged => "not-judged",
        }
    }
}

/// One figure of A and B beside each other.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    pub figure: &'static Figure,
    /// The figure of A and of B; their medians where there are several runs.
    pub a: Option<f64>,
    pub b: Option<f64>,
    /// B ÷ A, and its 95 % interval; B − A of the share that failed.
    pub change: Option<Interval>,
    /// The p value after Holm's correction over the figures, where there was a test.
    pub p: Option<f64>,
    /// What lies within is noise: a share of A; points of the share that failed.
    pub noise: f64,
    pub conclusion: Conclusion,
    /// Why nothing can be said.
    pub why: Option<String>,
}

impl Compared {
    /// Whether B is worse, by the estimate.
    pub fn is_worse(&self) -> bool {
        self.effect() > 0.0 && self.figure.more_is_worse
            || self.effect() < 0.0 && !self.figure.more_is_worse
    }

    /// How much more B is: 0.1 for ten per cent, or for ten points.
    pub fn effect(&self) -> f64 {
        let neutral = if self.is_difference() { 0.0 } else { 1.0 };
        self.change.map_or(0.0, |change| change.estimate - neutral)
    }

    /// Whether [`Compared::change`] is B − A, not B ÷ A.
    pub fn is_difference(&self) -> bool {
        self.figure.name == FAILED
    }

    fn refused(figure: &'static Figure, why: &str) -> Compared {
        Compared {
            figure,
            a: None,
            b: None,
            change: None,
            p: None,
            noise: 0.0,
            conclusion: Conclusion::NotJudged,
            why: Some(why.to_owned()),
        }
    }
}

/// The noise floor: as it is known for each figure.
pub type Noise<'a> = &'a dyn Fn(&Figure) -> Option<f64>;

/// Compares runs in pairs `(a, b)`: medians, the Hodges–Lehmann estimate of the ratio,
/// Wilcoxon's exact test, Holm over the figures.
pub fn pairs(
    runs: &[(RunFigures, RunFigures)],
    figures: &[&'static Figure],
    noise: Noise<'_>,
) -> Vec<Compared> {
    let mut all: Vec<Compared> = figures
        .iter()
        .map(|figure| pair(runs, figure, noise))
        .collect();
    let tested: Vec<f64> = all.iter().filter_map(|one| one.p).collect();
    let mut adjusted = comparison::holm(&tested).into_iter();
    let why = too_few_for_all(runs.len(), tested.len());
    for one in all.iter_mut().filter(|one| one.p.is_some()) {
        one.p = adjusted.next();
        if one.p.is_none_or(|p| p > LEVEL) {
            one.conclusion = match why {
                Some(_) => Conclusion::NotJudged,
                None => Conclusion::NotShown,
            };
            one.why.clone_from(&why);
        }
    }
    all
}

/// What keeps so many pairs from showing anything in so many figures at once, if it does:
/// where all pairs agree Wilcoxon's p is 2 in 2ⁿ, and Holm multiplies the least p by the
/// number of figures.
fn too_few_for_all(pairs: usize, figures: usize) -> Option<String> {
    let least = |pairs: usize| 0.5_f64.powi(pairs as i32 - 1) * figures as f64;
    if least(pairs) <= LEVEL {
        return None;
    }
    let enough = (pairs..).find(|pairs| least(*pairs) <= LEVEL)?;
    Some(format!(
        "{pairs} pairs cannot show a difference in {figures} figures at once: {enough} can, or fewer --figures"
    ))
}

fn pair(runs: &[(RunFigures, RunFigures)], figure: &'static Figure, noise: Noise<'_>) -> Compared {
    let values: Vec<(f64, f64)> = runs
        .iter()
        .filter_map(|(a, b)| Some((a.value(figure)?, b.value(figure)?)))
        .collect();
    if values.len() < runs.len() {
        return Compared::refused(figure, "some runs have too few samples for it");
    }
    let median = |side: &dyn Fn(&(f64, f64)) -> f64| {
        let mut values: Vec<f64> = values.iter().map(side).collect();
        values.sort_unstable_by(f64::total_cmp);
        values.get(values.len() / 2).copied()
    };
    let mut compared = Compared {
        a: median(&|pair| pair.0),
        b: median(&|pair| pair.1),
        ..Compared::refused(figure, "")
    };
    if values.len() < LEAST_PAIRS {
        compared.why = Some(format!(
            "{} pairs are too few: {LEAST_PAIRS} at least can reach {} %",
            values.len(),
            LEVEL * 100.0
        ));
        return compared;
    }
    compared.why = None;
    if compared.is_difference() {
        by_difference(compared, &values, noise)
    } else {
        by_ratio(compared, &values, noise)
    }
}

fn by_ratio(mut compared: Compared, values: &[(f64, f64)], noise: Noise<'_>) -> Compared {
    let known = noise(compared.figure);
    compared.noise = known.unwrap_or(0.0);
    let floor = known.map(|share| NoiseFloor(1.0 + share));
    match comparison::compare(values, LEVEL, floor) {
        Ok(told) => {
            compared.change = Some(Interval {
                low: told.low,
                estimate: told.ratio,
                high: told.high,
            });
            compared.p = Some(told.p);
            compared.conclusion = match told.conclusion {
                Told::Different => Conclusion::Different,
                Told::InsideNoise => Conclusion::InsideNoise,
                Told::NotShown => Conclusion::NotShown,
            };
        }
        Err(why) => {
            compared.why = Some(match why {
                Incomparable::TooFewPairs => "the pairs do not differ at all".to_owned(),
                Incomparable::NotPositive => {
                    "some run's figure is 0, which has no ratio".to_owned()
                }
            });
        }
    }
    compared
}

/// The share that failed: differences, for most runs have none.
fn by_difference(mut compared: Compared, values: &[(f64, f64)], noise: Noise<'_>) -> Compared {
    compared.noise = noise(compared.figure).unwrap_or(FAILED_NOISE);
    let differences: Vec<f64> = values.iter().map(|(a, b)| b - a).collect();
    if differences.iter().all(|difference| *difference == 0.0) {
        compared.change = Some(Interval {
            low: 0.0,
            estimate: 0.0,
            high: 0.0,
        });
        compared.conclusion = Conclusion::NotShown;
        return compared;
    }
    if let Some(test) = signed_rank::signed_rank(&differences, 1.0 - LEVEL) {
        compared.change = Some(Interval {
            low: test.low,
            estimate: test.estimate,
            high: test.high,
        });
        compared.p = Some(test.p);
        compared.conclusion = beyond(test.estimate.abs() > compared.noise);
    }
    compared
}

fn beyond(noise: bool) -> Conclusion {
    if noise {
        Conclusion::Different
    } else {
        Conclusion::InsideNoise
    }
}

/// Compares one run with one other by the seconds of each. The intervals of both make that
/// of the ratio (MOVER: Zou and Donner 2008); what decides holds for all figures at once
/// (Bonferroni).
pub fn single(
    a: &RunFigures,
    b: &RunFigures,
    figures: &[&'static Figure],
    noise: Noise<'_>,
) -> Vec<Compared> {
    let confidence = 1.0 - LEVEL / figures.len().max(1) as f64;
    figures
        .iter()
        .map(|figure| one(a, b, figure, confidence, noise))
        .collect()
}

fn one(
    a: &RunFigures,
    b: &RunFigures,
    figure: &'static Figure,
    confidence: f64,
    noise: Noise<'_>,
) -> Compared {
    let mut compared = Compared {
        a: a.value(figure),
        b: b.value(figure),
        ..Compared::refused(figure, "")
    };
    let default = if compared.is_difference() {
        FAILED_NOISE
    } else {
        ASSUMED_NOISE
    };
    compared.noise = noise(figure).unwrap_or(default);
    let change = |confidence| {
        let of = |run: &RunFigures| {
            run.interval(figure, confidence).map_err(|why| match why {
                stats::interval::Insufficient::Windows => {
                    "a run of fewer than ten seconds has no interval: run longer, or in pairs"
                }
                stats::interval::Insufficient::Samples => "a run has too few samples for it",
            })
        };
        let (a, b) = (of(a)?, of(b)?);
        if compared.is_difference() {
            Ok(mover(a, b))
        } else {
            ratio(a, b).ok_or("some run's figure is 0, which has no ratio")
        }
    };
    match (change(1.0 - LEVEL), change(confidence)) {
        (Ok(shown), Ok(decisive)) => {
            let neutral = if compared.is_difference() { 0.0 } else { 1.0 };
            compared.change = Some(shown);
            compared.why = None;
            let noise = compared.noise;
            let effect = if compared.is_difference() {
                shown.estimate.abs() > noise
            } else {
                shown.estimate.ln().abs() > (1.0 + noise).ln()
            };
            compared.conclusion = if decisive.low <= neutral && neutral <= decisive.high {
                Conclusion::NotShown
            } else {
                beyond(effect)
            };
        }
        (Err(why), _) | (_, Err(why)) => compared.why = Some(why.to_owned()),
    }
    compared
}

fn ratio(a: Interval, b: Interval) -> Option<Interval> {
    let log = |interval: Interval| {
        // An interval that reaches 0 says nothing of how small the figure may be.
        (interval.low > 0.0).then(|| Interval {
            low: interval.low.ln(),
            estimate: interval.estimate.ln(),
            high: interval.high.ln(),
        })
    };
    let difference = mover(log(a)?, log(b)?);
    Some(Interval {
        low: difference.low.exp(),
        estimate: difference.estimate.exp(),
        high: difference.high.exp(),
    })
}

/// The interval of B − A from the interval of each.
fn mover(a: Interval, b: Interval) -> Interval {
    let estimate = b.estimate - a.estimate;
    let half = |one: f64, other: f64| (one * one + other * other).sqrt();
    Interval {
        low: estimate - half(b.estimate - b.low, a.high - a.estimate),
        estimate,
        high: estimate + half(b.high - b.estimate, a.estimate - a.low),
    }
}

/// The noise between runs of the same: what the figures of pairs of A and A differ by, at
/// the farther end of its interval. None with too few pairs.
pub fn measured_noise(runs: &[(RunFigures, RunFigures)], figure: &Figure) -> Option<f64> {
    let values: Vec<(f64, f64)> = runs
        .iter()
        .filter_map(|(a, b)| Some((a.value(figure)?, b.value(figure)?)))
        .collect();
    if figure.name == FAILED {
        let differences: Vec<f64> = values.iter().map(|(a, b)| b - a).collect();
        let most = differences
            .iter()
            .map(|difference| difference.abs())
            .fold(0.0, f64::max);
        return Some(most.max(FAILED_NOISE));
    }
    let floor = comparison::noise_floor(&values, 1.0 - LEVEL).ok()?;
    Some(floor.0 - 1.0)
}
