//! Additional results of the trials: the knee of the throughput curve, and the Universal Scalability Law. A result that
//! the trials do not support is not reported.

use plimsoll_stats::Interval;
use plimsoll_stats::knee::{NoKnee, Step, knee_of_runs};
use plimsoll_stats::scalability::{FitError, Scalability, scalability};
use serde_json::{Value, json};

use crate::trial::Trial;

/// The knee of the served rate as a function of the offered rate, in requests per second.
pub fn knee(trials: &[Trial]) -> Result<Interval, NoKnee> {
    let mut steps: Vec<Step> = Vec::new();
    let mut sorted_trials: Vec<&Trial> = trials.iter().collect();
    sorted_trials.sort_by_key(|trial| trial.rate);
    for trial in sorted_trials {
        let load = trial.rate as f64;
        match steps.last_mut() {
            Some(step) if step.load == load => step.reached.push(trial.served),
            _ => steps.push(Step {
                load,
                reached: vec![trial.served],
            }),
        }
    }
    knee_of_runs(&steps, 0.95, 1)
}

/// Fits the served rate as a function of the iterations in flight. Excludes trials without a load,
/// which do not show how iterations share the system.
pub fn fit(trials: &[Trial]) -> Result<Scalability, FitError> {
    let points: Vec<(f64, f64)> = trials
        .iter()
        .map(|trial| (trial.by_little, trial.served))
        .filter(|(load, served)| load.is_finite() && served.is_finite() && *load > 0.0)
        .collect();
    scalability(&points)
}

/// A sentence about the knee.
pub fn knee_text(knee: &Result<Interval, NoKnee>) -> String {
    match knee {
        Ok(knee) => format!(
            "The knee of served over offered load is at {:.0}/s ({:.0} to {:.0}, 95 %).",
            knee.estimate, knee.low, knee.high
        ),
        Err(why) => format!("No knee is given: {}.", no_knee(*why)),
    }
}

/// A sentence about the fit.
pub fn fit_text(fit: &Result<Scalability, FitError>) -> String {
    match fit {
        Ok(fit) => format!(
            "Universal Scalability Law: contention {}, coherence {}; its peak is {:.0}/s with {:.0} in flight.",
            interval(&fit.contention),
            interval(&fit.coherence),
            fit.peak.1,
            fit.peak.0
        ),
        Err(why) => format!("No scalability law is fitted: {}.", fit_error(why)),
    }
}

/// Both results as JSON: the figures, or why there are none.
pub fn json(trials: &[Trial]) -> (Value, Value) {
    let bounds = |interval: &Interval| json!({"low": interval.low, "estimate": interval.estimate, "high": interval.high});
    let knee = match knee(trials) {
        Ok(knee) => bounds(&knee),
        Err(why) => json!({ "refused": no_knee(why) }),
    };
    let fit = match fit(trials) {
        Ok(fit) => json!({
            "alone": bounds(&fit.alone),
            "contention": bounds(&fit.contention),
            "coherence": bounds(&fit.coherence),
            "peak": {"in_flight": fit.peak.0, "per_second": fit.peak.1},
        }),
        Err(why) => json!({ "refused": fit_error(&why) }),
    };
    (knee, fit)
}

fn interval(interval: &Interval) -> String {
    format!(
        "{:.3} ({:.3} to {:.3})",
        interval.estimate, interval.low, interval.high
    )
}

fn no_knee(why: NoKnee) -> &'static str {
    match why {
        NoKnee::TooFewLoads => "fewer than six rates were tried",
        NoKnee::Straight => "the served rate grew in proportion to the offered rate",
        NoKnee::NoRepeats => "most rates were tried once, so it would have no interval",
        NoKnee::Unsteady => "it moves or vanishes when the trials are resampled",
    }
}

fn fit_error(why: &FitError) -> String {
    match why {
        FitError::TooFewPoints => "fewer than six loads were measured".to_owned(),
        FitError::NotPositive => "a trial served nothing".to_owned(),
        FitError::Singular => "the trials do not determine a curve".to_owned(),
        FitError::SpansZero {
            contention,
            coherence,
        } => format!(
            "the interval of a term contains 0 (contention {}, coherence {}), so the trials do not show it",
            interval(contention),
            interval(coherence)
        ),
    }
}
