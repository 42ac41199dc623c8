//! Finds the load above which throughput hardly grows, with Kneedle (Satopää, Albrecht, Irwin and
//! Raghavan 2011).

use crate::interval::Interval;
use crate::random::Random;

/// A load and the throughputs that its runs achieved.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    pub load: f64,
    pub reached: Vec<f64>,
}

/// Why there is no knee.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoKnee {
    /// There are fewer than six loads.
    TooFewLoads,
    /// Throughput still grows with the load.
    Straight,
    /// A load has fewer than two runs, so no interval can be given.
    NoRepeats,
    /// More than one in ten resamples have no knee.
    Unsteady,
}

const MIN_LOADS: usize = 6;
const RESAMPLES: usize = 999;

/// The knee of a curve that rises and flattens. `points` must be in ascending order of load. The
/// sensitivity is S = 1, as in the paper. `None` for a straight line.
pub fn knee(points: &[(f64, f64)]) -> Option<f64> {
    const SENSITIVITY: f64 = 1.0;
    let n = points.len();
    let ends = |values: &mut dyn Iterator<Item = f64>| {
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            (low.min(value), high.max(value))
        })
    };
    let (left, right) = ends(&mut points.iter().map(|point| point.0));
    let (low, high) = ends(&mut points.iter().map(|point| point.1));
    if n < 3 || right <= left || high <= low {
        return None;
    }
    // The distance of the curve above the diagonal, scaled to the unit square.
    let above: Vec<f64> = points
        .iter()
        .map(|(x, y)| (y - low) / (high - low) - (x - left) / (right - left))
        .collect();
    let mean_step = 1.0 / (n - 1) as f64;
    let mut candidate: Option<(usize, f64)> = None;
    for at in 1..n - 1 {
        if above[at] > above[at - 1] && above[at] >= above[at + 1] {
            candidate = Some((at, above[at] - SENSITIVITY * mean_step));
        }
        // The curve has fallen after a maximum, so that maximum was the knee.
        if let Some((knee, threshold)) = candidate
            && above[at + 1] < threshold
        {
            return Some(points[knee].0);
        }
    }
    None
}

/// The knee of the medians, with an interval from resampling the runs at each load. Returns an
/// error if there is no knee or it is not stable.
pub fn knee_of_runs(steps: &[Step], confidence: f64, seed: u64) -> Result<Interval, NoKnee> {
    if steps.len() < MIN_LOADS {
        return Err(NoKnee::TooFewLoads);
    }
    let medians = |pick: &mut dyn FnMut(&[f64]) -> Vec<f64>| -> Vec<(f64, f64)> {
        steps
            .iter()
            .map(|step| {
                let mut reached = pick(&step.reached);
                reached.sort_unstable_by(f64::total_cmp);
                (
                    step.load,
                    reached.get(reached.len() / 2).copied().unwrap_or(0.0),
                )
            })
            .collect()
    };
    let estimate = knee(&medians(&mut <[f64]>::to_vec)).ok_or(NoKnee::Straight)?;
    if steps.iter().any(|step| step.reached.len() < 2) {
        return Err(NoKnee::NoRepeats);
    }
    let mut random = Random::new(seed);
    let mut found: Vec<f64> = (0..RESAMPLES)
        .filter_map(|_| {
            knee(&medians(&mut |reached| {
                reached
                    .iter()
                    .map(|_| reached[random.below(reached.len())])
                    .collect()
            }))
        })
        .collect();
    if found.len() * 10 < RESAMPLES * 9 {
        return Err(NoKnee::Unsteady);
    }
    found.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| found[((found.len() - 1) as f64 * share).round() as usize];
    Ok(Interval {
        low: at((1.0 - confidence) / 2.0).min(estimate),
        estimate,
        high: at((1.0 + confidence) / 2.0).max(estimate),
    })
}
