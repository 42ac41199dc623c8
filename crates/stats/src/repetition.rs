//! The value and the interval of a figure that was measured in several restarts of a system, with
//! several runs each.
//!
//! Runs after the same start share its memory layout, its caches and its luck, so they agree more
//! with each other than with runs after another start. An interval over all runs of several starts
//! would therefore be too narrow. So each restart counts once, with the mean of its runs. The
//! variance of these means includes the variation between restarts, between runs and within runs.

use crate::comparison::LEVEL;
use crate::student;

/// A figure measured over restarts.
#[derive(Clone, Debug, PartialEq)]
pub struct Repeated {
    /// The mean over the restarts. It is the geometric mean unless a value is not above 0.
    pub value: f64,
    /// The mean of each restart, in order.
    pub restarts: Vec<f64>,
    /// The interval, with 95 % confidence unless requested otherwise. `None` for a single run.
    pub interval: Option<(f64, f64)>,
}

impl Repeated {
    /// Computes a figure from the values of runs, grouped by restart. Applies Student's t to the
    /// restarts, or to the runs if there is only one restart. Works on the log scale, because
    /// figures are positive and skewed. If a value is not above 0, works on the linear scale and
    /// cuts off the interval at 0. `None` without values.
    pub fn of(runs: &[Vec<f64>]) -> Option<Repeated> {
        Repeated::with(runs, 1.0 - LEVEL)
    }

    /// Like [`Repeated::of`], with an interval of another confidence, which must be above 0 and below 1.
    pub fn with(runs: &[Vec<f64>], confidence: f64) -> Option<Repeated> {
        let all = || runs.iter().flatten();
        if runs.is_empty() || runs.iter().any(Vec::is_empty) || all().any(|run| !run.is_finite()) {
            return None;
        }
        let by_logs = all().all(|run| *run > 0.0);
        let mean = |values: &[f64]| {
            let first = values.first().copied().unwrap_or_default();
            // If all values are equal, keep all their digits.
            if values.iter().all(|value| *value == first) {
                return first;
            }
            let n = values.len() as f64;
            match by_logs {
                true => (values.iter().map(|value| value.ln()).sum::<f64>() / n).exp(),
                false => values.iter().sum::<f64>() / n,
            }
        };
        let restarts: Vec<f64> = runs.iter().map(|runs| mean(runs)).collect();
        let units = match runs {
            [only] => only,
            _ => &restarts,
        };
        Some(Repeated {
            value: mean(&restarts),
            interval: interval(units, by_logs, confidence),
            restarts,
        })
    }
}

fn interval(units: &[f64], by_logs: bool, confidence: f64) -> Option<(f64, f64)> {
    if units.len() < 2 {
        return None;
    }
    let scaled: Vec<f64> = match by_logs {
        true => units.iter().map(|unit| unit.ln()).collect(),
        false => units.to_vec(),
    };
    let n = scaled.len() as f64;
    let mean = scaled.iter().sum::<f64>() / n;
    let squares = scaled.iter().map(|one| (one - mean).powi(2)).sum::<f64>();
    let error = (squares / (n - 1.0) / n).sqrt();
    let half = student::quantile(confidence, n - 1.0) * error;
    let (low, high) = (mean - half, mean + half);
    Some(match by_logs {
        true => (low.exp(), high.exp()),
        false => (low.max(0.0), high),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn restarts_count_once_however_many_runs_they_have() {
        let runs = [vec![9.0, 9.0, 9.0], vec![10.0], vec![11.0, 11.0]];
        let found = Repeated::of(&runs).expect("values");
        assert_eq!(found.restarts, [9.0, 10.0, 11.0]);
        // Logarithms: mean 2.29923, s 0.10037, t(0.975, 2) = 4.3027: 2.29923 ± 0.24934.
        let (low, high) = found.interval.expect("an interval");
        assert!((found.value - 9.9666).abs() < 1e-3, "{found:?}");
        assert!((low - 7.767).abs() < 0.01, "{low}");
        assert!((high - 12.790).abs() < 0.01, "{high}");
    }

    #[test]
    fn one_restart_uses_its_runs_and_one_run_has_no_interval() {
        let one = Repeated::of(&[vec![9.0, 10.0, 11.0]]).expect("values");
        let three = Repeated::of(&[vec![9.0], vec![10.0], vec![11.0]]).expect("values");
        assert_eq!(one.interval, three.interval);
        let single = Repeated::of(&[vec![7.0]]).expect("a value");
        assert_eq!((single.value, single.interval), (7.0, None));
        assert_eq!(Repeated::of(&[]), None);
        assert_eq!(Repeated::of(&[vec![1.0], vec![]]), None);
    }

    #[test]
    fn no_interval_is_below_zero() {
        let found = Repeated::of(&[vec![1.0], vec![100.0], vec![400.0]]).expect("values");
        assert!(found.interval.is_some_and(|(low, _)| low > 0.0));
        // A share of failures is often zero.
        let found = Repeated::of(&[vec![0.0], vec![0.0], vec![3.0]]).expect("values");
        assert_eq!(found.value, 1.0);
        assert_eq!(found.interval.map(|(low, _)| low), Some(0.0));
        let found = Repeated::of(&[vec![0.0], vec![0.0]]).expect("values");
        assert_eq!(found.interval, Some((0.0, 0.0)));
    }
}
