//! Tests whether B differs from A: Student's t-test for pairs of runs, confidence intervals over
//! the seconds of each run for single runs.
//!
//! The seconds of one run do not show how much identical runs differ. A difference between two
//! single runs must therefore also exceed a given or assumed noise.

use plimsoll_stats::Interval;
use plimsoll_stats::comparison::{self, Decision, Limits, Outcome, Paired};

use crate::change_text::{self, p_value};
use crate::figures::{FAILED, Figure, RunFigures};

pub use plimsoll_stats::comparison::LEVEL;

/// The noise between runs to assume if it is unknown.
pub const ASSUMED_NOISE: f64 = 0.10;
/// The noise of the failed share to assume, in percentage points because a share of zero has no ratio.
pub const FAILED_NOISE: f64 = 0.005;

/// One metric of A and B.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    pub figure: &'static Figure,
    /// The values of A and B, or their means if there are several runs: geometric if `change` is a ratio.
    pub a: Option<f64>,
    pub b: Option<f64>,
    /// B ÷ A with its 95 % interval. For the failed share, B − A.
    pub change: Option<Interval>,
    /// The p value after Holm's correction over all metrics, if a test was possible.
    pub p: Option<f64>,
    /// The noise: a share of A, or percentage points for the failed share. Smaller differences do
    /// not count. `None` if unknown.
    pub noise: Option<f64>,
    pub outcome: Outcome,
    /// If there is no difference: an upper bound for it, as a share of A, or in percentage points
    /// for the failed share.
    pub at_most: Option<f64>,
    /// If uncertain: the number of pairs that would probably settle it.
    pub would_decide: Option<usize>,
    /// Why nothing was measured, or why the outcome is uncertain.
    pub why: Option<String>,
}

impl Compared {
    /// Whether B is worse according to the estimate.
    pub fn is_worse(&self) -> bool {
        self.effect() > 0.0 && self.figure.more_is_worse
            || self.effect() < 0.0 && !self.figure.more_is_worse
    }

    /// Whether B is larger or smaller, with statistical significance.
    pub fn is_different(&self) -> bool {
        matches!(self.outcome, Outcome::Larger | Outcome::Smaller)
    }

    /// The relative increase from A to B: 0.1 for ten percent, or for ten percentage points.
    pub fn effect(&self) -> f64 {
        let neutral = if self.is_difference() { 0.0 } else { 1.0 };
        self.change.map_or(0.0, |change| change.estimate - neutral)
    }

    /// Whether [`Compared::change`] is the difference B − A instead of the ratio B ÷ A.
    pub fn is_difference(&self) -> bool {
        self.figure.name == FAILED
    }

    /// The change and its 95 % interval in words. `None` if there is no change to show.
    pub fn change_texts(&self) -> Option<(String, String)> {
        Some(match self.is_difference() {
            true => change_text::of_difference(self.change?),
            false => change_text::of_ratio(self.change?),
        })
    }

    /// Sets the outcome to "not measured" for this reason.
    pub fn refuse(&mut self, why: String) {
        self.outcome = Outcome::NotMeasured;
        (self.at_most, self.would_decide) = (None, None);
        self.why = Some(why);
    }

    fn not_measured(figure: &'static Figure, why: &str) -> Compared {
        Compared {
            figure,
            a: None,
            b: None,
            change: None,
            p: None,
            noise: None,
            outcome: Outcome::NotMeasured,
            at_most: None,
            would_decide: None,
            why: Some(why.to_owned()),
        }
    }

    /// Converts the noise to the scale of the test: logarithms, or percentage points.
    fn limits(&self) -> Limits {
        if self.is_difference() {
            let noise = self.noise.unwrap_or(FAILED_NOISE);
            return Limits {
                floor: noise,
                margin: noise,
                same: noise,
            };
        }
        Limits::of_ratio(self.noise)
    }

    fn conclude(&mut self, decision: Decision) {
        self.outcome = decision.outcome;
        self.would_decide = decision.would_decide;
        let reach = match self.is_difference() {
            true => decision.reach,
            false => decision.reach.exp_m1(),
        };
        self.at_most = (decision.outcome == Outcome::NoDifference).then_some(reach);
        self.why = None;
    }
}

/// The measured noise of each metric, if known.
pub type Noise<'a> = &'a dyn Fn(&Figure) -> Option<f64>;

/// Compares runs in pairs `(a, b)`. Reports means, and the mean ratio with its interval. Uses
/// Student's paired t-test on the logarithms of the ratios, and Holm's correction over the metrics.
pub fn pairs(
    runs: &[(RunFigures, RunFigures)],
    figures: &[&'static Figure],
    noise: Noise<'_>,
) -> Vec<Compared> {
    let mut all: Vec<(Compared, Option<Paired>)> = figures
        .iter()
        .map(|figure| pair(runs, figure, noise))
        .collect();
    let tested: Vec<f64> = all
        .iter()
        .filter_map(|(_, paired)| Some(paired.as_ref()?.p))
        .collect();
    let mut adjusted = comparison::holm(&tested).into_iter();
    for (compared, paired) in &mut all {
        let Some(paired) = paired else { continue };
        let p = adjusted.next().unwrap_or(1.0);
        compared.p = Some(p);
        compared.conclude(paired.decide(p, compared.limits()));
        if compared.outcome == Outcome::Uncertain && paired.p <= LEVEL && p > LEVEL {
            compared.why = Some(format!(
                "significant alone ({}), but not among {} figures",
                p_value(paired.p),
                tested.len()
            ));
        }
    }
    all.into_iter().map(|(compared, _)| compared).collect()
}

fn pair(
    runs: &[(RunFigures, RunFigures)],
    figure: &'static Figure,
    noise: Noise<'_>,
) -> (Compared, Option<Paired>) {
    let values: Vec<(f64, f64)> = runs
        .iter()
        .filter_map(|(a, b)| Some((a.value(figure)?, b.value(figure)?)))
        .collect();
    if values.len() < runs.len() {
        let why = "some runs have too few samples for it";
        return (Compared::not_measured(figure, why), None);
    }
    let mut compared = Compared {
        noise: noise(figure),
        ..Compared::not_measured(figure, "")
    };
    // Means whose difference or ratio is the mean change.
    let mean = |side: &dyn Fn(&(f64, f64)) -> f64| {
        let sides = values.iter().map(side);
        let is_positive = sides.clone().all(|value| value > 0.0);
        let count = values.len().max(1) as f64;
        Some(match is_positive && !compared.is_difference() {
            true => (sides.map(f64::ln).sum::<f64>() / count).exp(),
            false => sides.sum::<f64>() / count,
        })
    };
    (compared.a, compared.b) = (mean(&|pair| pair.0), mean(&|pair| pair.1));
    let paired = if compared.is_difference() {
        let differences: Vec<f64> = values.iter().map(|(a, b)| b - a).collect();
        Paired::of(&differences, 0.0).ok_or(comparison::Incomparable::TooFewPairs)
    } else {
        Paired::ratios(&values)
    };
    match paired {
        Ok(paired) => {
            let (low, high) = paired.interval();
            let shown = |value: f64| match compared.is_difference() {
                true => value,
                false => value.exp(),
            };
            compared.change = Some(Interval {
                low: shown(low),
                estimate: shown(paired.estimate),
                high: shown(high),
            });
            (compared, Some(paired))
        }
        Err(why) => {
            compared.why = Some(why.text(values.len(), "pair"));
            (compared, None)
        }
    }
}

/// Compares two single runs by their seconds. The intervals of both runs give the interval of the
/// ratio (MOVER: Zou and Donner 2008). The test is corrected for the number of metrics
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
        ..Compared::not_measured(figure, "")
    };
    let default = if compared.is_difference() {
        FAILED_NOISE
    } else {
        ASSUMED_NOISE
    };
    compared.noise = Some(noise(figure).unwrap_or(default));
    // On the scale of the test: logarithms of ratios, or percentage points.
    let change = |confidence| {
        let of = |run: &RunFigures| {
            run.interval(figure, confidence).map_err(|why| match why {
                plimsoll_stats::interval::Insufficient::Windows => {
                    "a run of fewer than ten seconds has no interval: run longer, or in pairs"
                }
                plimsoll_stats::interval::Insufficient::Samples => {
                    "a run has too few samples for it"
                }
            })
        };
        let (a, b) = (of(a)?, of(b)?);
        if compared.is_difference() {
            Ok(mover(a, b))
        } else {
            let ratio = log(a).zip(log(b)).map(|(a, b)| mover(a, b));
            ratio.ok_or("some run's figure is 0, which has no ratio")
        }
    };
    match (change(1.0 - LEVEL), change(confidence)) {
        (Ok(shown), Ok(decisive)) => {
            let limits = compared.limits();
            let effect = shown.estimate.abs();
            let reach = shown.high.abs().max(shown.low.abs());
            let is_shown = decisive.low > 0.0 || decisive.high < 0.0;
            let outcome = if is_shown && effect > limits.floor {
                match shown.estimate > 0.0 {
                    true => Outcome::Larger,
                    false => Outcome::Smaller,
                }
            } else if reach <= limits.margin {
                Outcome::NoDifference
            } else {
                Outcome::Uncertain
            };
            compared.conclude(Decision {
                outcome,
                // The interval over seconds does not include the variation between identical runs.
                reach: reach.max(limits.floor),
                would_decide: None,
            });
            if outcome == Outcome::Uncertain {
                compared.why = Some("one run each: several pairs of runs would decide".to_owned());
            }
            compared.change = Some(match compared.is_difference() {
                true => shown,
                false => Interval {
                    low: shown.low.exp(),
                    estimate: shown.estimate.exp(),
                    high: shown.high.exp(),
                },
            });
        }
        (Err(why), _) | (_, Err(why)) => compared.why = Some(why.to_owned()),
    }
    compared
}

/// The logarithm of an interval. An interval that reaches 0 has no lower bound here.
fn log(interval: Interval) -> Option<Interval> {
    (interval.low > 0.0).then(|| Interval {
        low: interval.low.ln(),
        estimate: interval.estimate.ln(),
        high: interval.high.ln(),
    })
}

fn mover(a: Interval, b: Interval) -> Interval {
    let estimate = b.estimate - a.estimate;
    let half = |one: f64, other: f64| (one * one + other * other).sqrt();
    Interval {
        low: estimate - half(b.estimate - b.low, a.high - a.estimate),
        estimate,
        high: estimate + half(b.high - b.estimate, a.estimate - a.low),
    }
}

/// The noise between identical runs, from pairs of A and A: the end of their interval that is
/// farther from zero. `None` for too few pairs.
pub fn measured_noise(runs: &[(RunFigures, RunFigures)], figure: &Figure) -> Option<f64> {
    let values: Vec<(f64, f64)> = runs
        .iter()
        .filter_map(|(a, b)| Some((a.value(figure)?, b.value(figure)?)))
        .collect();
    if figure.name == FAILED {
        let differences: Vec<f64> = values.iter().map(|(a, b)| b - a).collect();
        let bound = differences
            .iter()
            .map(|difference| difference.abs())
            .fold(0.0, f64::max);
        return Some(bound.max(FAILED_NOISE));
    }
    comparison::noise_floor(&values).ok()
}
