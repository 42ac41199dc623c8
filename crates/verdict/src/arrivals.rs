//! Checks whether iterations started according to the requested arrival process, and describes how
//! that process affects percentiles.

use std::time::Duration;

use plimsoll_stats::goodness_of_fit::{anderson_darling, gamma_share, scaled_correlation};
use plimsoll_units::duration;

use crate::evidence::{Evidence, Findings};
use crate::sent_arrivals::{ArrivalGap, Arrivals, Requested};
use crate::{Cause, Level};

/// Maximum of the Anderson-Darling statistic. By chance, one run in 100,000 exceeds it.
const STATISTIC: f64 = 10.3;
/// Maximum correlation of a gap with any of the next three, in standard deviations. By chance, two
/// runs in 100,000 exceed it.
const CORRELATION: f64 = 4.5;
const LAGS: std::ops::RangeInclusive<usize> = 1..=3;
/// Minimum number of gaps that show a distribution.
const MIN_GAPS: usize = 100;
/// Maximum ratio of the send lag to the median latency. A smaller lag does not matter, because it
/// changes a percentile by at most the lag.
const SMALL_LAG: f64 = 0.1;
/// A smaller relative difference in variability does not matter.
const SIMILAR: f64 = 0.1;

/// How the gaps compare with the requested ones.
struct Fit {
    gaps: usize,
    statistic: f64,
    /// The lag with the largest correlation, and that correlation in standard deviations.
    lag: usize,
    correlation: f64,
    /// The ratio of the actual to the requested variance, as far as it affects queues. By Kingman's
    /// formula (1961), the mean wait in a busy queue is proportional to the variance of the gaps
    /// plus that of the service times. Correlated gaps add their covariances.
    variability: f64,
}

impl Fit {
    fn of(shape: f64, sent: &[Vec<ArrivalGap>]) -> Option<Fit> {
        let gaps = sent.iter().map(Vec::len).sum();
        if gaps < MIN_GAPS {
            return None;
        }
        let share = |gap: &ArrivalGap| gamma_share(shape * gap.places as f64, shape * gap.length);
        let shares: Vec<Vec<f64>> = sent
            .iter()
            .map(|series| series.iter().map(share).collect())
            .collect();
        let correlation = |lag| scaled_correlation(shares.iter().map(Vec::as_slice), lag);
        let correlations = LAGS.map(|lag| (lag, correlation(lag)));
        let (lag, correlation) = correlations.max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()))?;
        Some(Fit {
            gaps,
            statistic: anderson_darling(shares.concat()),
            lag,
            correlation,
            variability: variability(shape, sent),
        })
    }

    fn deviates(&self) -> bool {
        self.statistic > STATISTIC || self.correlation.abs() > CORRELATION
    }

    fn figures(&self) -> String {
        if self.correlation.abs() > CORRELATION && self.statistic <= STATISTIC {
            return format!(
                "correlation {:+.2} of intervals with the {} one, at most {:.2} by chance",
                self.correlation / (self.gaps as f64).sqrt(),
                ["next", "second", "third"][(self.lag - 1).min(2)],
                CORRELATION / (self.gaps as f64).sqrt()
            );
        }
        let limit = match self.statistic > STATISTIC {
            true => format!(", at most {STATISTIC} by chance"),
            false => String::new(),
        };
        format!(
            "Anderson-Darling {:.1} of {} intervals{limit}",
            self.statistic, self.gaps
        )
    }

    fn effect(&self) -> &'static str {
        if self.variability > 1.0 + SIMILAR {
            "the load came in bursts, so queues in the service were longer and high percentiles are too high"
        } else if self.variability < 1.0 - SIMILAR {
            "the load was too even, so queues in the service were shorter and high percentiles are too low"
        } else {
            "percentiles may differ"
        }
    }
}

fn variability(shape: f64, sent: &[Vec<ArrivalGap>]) -> f64 {
    let deviation = |gap: &ArrivalGap| {
        let places = gap.places as f64;
        (gap.length - places) * (shape / places).sqrt()
    };
    let series: Vec<Vec<f64>> = sent
        .iter()
        .map(|series| series.iter().map(deviation).collect())
        .collect();
    let mean_product = |lag: usize| {
        let pairs = series
            .iter()
            .flat_map(|gaps| gaps.iter().zip(gaps.iter().skip(lag)));
        let (sum, count) = pairs.fold((0.0, 0_u64), |(sum, count), (a, b)| {
            (sum + a * b, count + 1)
        });
        sum / count.max(1) as f64
    };
    mean_product(0) + 2.0 * LAGS.map(mean_product).sum::<f64>()
}

impl Arrivals {
    /// Explains how the process affects percentiles.
    fn meaning(&self) -> &'static str {
        match self.requested {
            Requested::Times => "percentiles include the queues that the recorded times cause",
            Requested::Gaps {
                in_bursts: true, ..
            } => "percentiles include the queues of its bursts, which equal intervals do not cause",
            Requested::Gaps { shape, .. } if shape < 1.0 => {
                "its queues are longer and its high percentiles higher than those of independent users"
            }
            Requested::Gaps { shape, .. } if shape > 1.0 => {
                "its queues are shorter and its high percentiles lower than those of independent users"
            }
            Requested::Gaps { .. } => {
                "percentiles include the queues of independent users, which equal intervals do not cause"
            }
        }
    }

    fn fit(&self) -> Option<Fit> {
        match &self.requested {
            Requested::Times => None,
            Requested::Gaps { shape, sent, .. } => Fit::of(*shape, sent),
        }
    }
}

impl Evidence {
    pub(crate) fn judge_arrivals(&self, found: &mut Findings) {
        if self.small_lag().is_some() {
            return;
        }
        for arrivals in &self.arrivals {
            let Some(fit) = arrivals.fit().filter(Fit::deviates) else {
                continue;
            };
            let (cause, dropped) = match self.dropped {
                0 => (Cause::Client, ""),
                _ => (Cause::Server, ", also because iterations were dropped"),
            };
            let text = format!(
                "iterations{} did not start as {} arrivals ({}){dropped}: {}",
                self.of_scenario(arrivals),
                arrivals.process,
                fit.figures(),
                fit.effect()
            );
            found.add(Level::Suspect, cause, text);
        }
    }

    /// The send lag, unless it is too large compared with the latency of this run.
    fn small_lag(&self) -> Option<Duration> {
        let (lag, latency) = self.send_lag_p99.zip(self.latency_median)?;
        (self.dropped == 0 && lag < latency.mul_f64(SMALL_LAG)).then_some(lag)
    }

    fn of_scenario(&self, arrivals: &Arrivals) -> String {
        match self.arrivals.len() {
            1 => String::new(),
            _ => format!(" of {}", arrivals.scenario),
        }
    }

    /// Describes what was checked, and what it means for percentiles.
    pub(crate) fn arrivals_seen(&self) -> impl Iterator<Item = String> {
        self.arrivals.iter().map(|arrivals| {
            let checked = match (arrivals.fit(), self.small_lag()) {
                (Some(fit), Some(lag)) if fit.deviates() => format!(
                    " except for a send lag of {} ({})",
                    duration::short(lag),
                    fit.figures()
                ),
                (Some(fit), _) => format!(" ({})", fit.figures()),
                (None, _) => String::new(),
            };
            format!(
                "arrivals{} {}{checked}: {}",
                self.of_scenario(arrivals),
                arrivals.process,
                arrivals.meaning()
            )
        })
    }
}

#[cfg(test)]
mod tests;
