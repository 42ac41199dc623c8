//! The confidence interval of a mean or a percentile of one run, from its one-second histograms.
//! Uses a moving-block bootstrap (Künsch 1989), so that seconds that correlate with their neighbors
//! do not count as independent.

use crate::Histogram;
use crate::random::Random;
use crate::student;
use crate::tail::{at_or_below, is_reliable};

/// A value, and the range that contains the true value with the given confidence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    pub low: f64,
    pub estimate: f64,
    pub high: f64,
}

impl Interval {
    pub fn holds(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// The larger distance of an end from the estimate, as a share of the estimate. Infinite if the
    /// estimate is not positive.
    pub fn relative(&self) -> f64 {
        if self.estimate > 0.0 {
            (self.high - self.estimate).max(self.estimate - self.low) / self.estimate
        } else {
            f64::INFINITY
        }
    }
}

/// Why there is no interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Insufficient {
    /// There are fewer than ten one-second windows with samples.
    Windows,
    /// n × (1 − q) or n × q is below ten.
    Samples,
}

/// Minimum number of windows for drawing blocks.
const MIN_WINDOWS: usize = 10;
/// Number of resamples per interval.
const RESAMPLES: usize = 999;

/// The interval of the mean of all samples.
pub fn mean(windows: &[Histogram], confidence: f64, seed: u64) -> Result<Interval, Insufficient> {
    let parts: Vec<(f64, f64)> = windows
        .iter()
        .filter(|window| !window.is_empty())
        .map(|window| (window.sum(), window.count() as f64))
        .collect();
    ratio_of_sums(&parts, confidence, seed)
}

/// The interval of Σ numerators ÷ Σ denominators, given both for each window. Computed on the log
/// scale, so that it never reaches 0 unless the ratio itself is 0.
pub fn ratio_of_sums(
    parts: &[(f64, f64)],
    confidence: f64,
    seed: u64,
) -> Result<Interval, Insufficient> {
    let (estimate, half) = ratio(parts, confidence, seed)?;
    if !estimate.is_finite() {
        return Err(Insufficient::Samples);
    }
    let (low, high) = match estimate > 0.0 {
        true => {
            let factor = (half / estimate).exp();
            (estimate / factor, estimate * factor)
        }
        false => (estimate - half, estimate + half),
    };
    Ok(Interval {
        low,
        estimate,
        high,
    })
}

/// The interval of the quantile `q`. Resamples the share of samples at or below the estimate, and
/// converts its interval back through the pooled distribution (Woodruff 1952). Under resampling,
/// quantiles move in steps, but shares do not.
pub fn quantile(
    windows: &[Histogram],
    q: f64,
    confidence: f64,
    seed: u64,
) -> Result<Interval, Insufficient> {
    let mut pooled = Histogram::new();
    windows.iter().for_each(|window| pooled.merge(window));
    let total = pooled.count() as f64;
    if !is_reliable(total, q) || !is_reliable(total, 1.0 - q) {
        return Err(Insufficient::Samples);
    }
    let estimate = pooled.quantile(q);
    let parts: Vec<(f64, f64)> = windows
        .iter()
        .filter(|window| !window.is_empty())
        .map(|window| (at_or_below(window, estimate), window.count() as f64))
        .collect();
    let (_, half) = ratio(&parts, confidence, seed)?;
    let ends = pooled.quantiles(&[q - half, q + half]);
    Ok(Interval {
        low: ends.first().copied().unwrap_or(estimate),
        estimate,
        high: ends.get(1).copied().unwrap_or(estimate),
    })
}

/// Σ numerators ÷ Σ denominators, and half the width of its interval.
fn ratio(parts: &[(f64, f64)], confidence: f64, seed: u64) -> Result<(f64, f64), Insufficient> {
    let n = parts.len();
    if n < MIN_WINDOWS {
        return Err(Insufficient::Windows);
    }
    let whole = |parts: &mut dyn Iterator<Item = (f64, f64)>| {
        let (above, below) = parts.fold((0.0, 0.0), |sum, part| (sum.0 + part.0, sum.1 + part.1));
        above / below
    };
    let estimate = whole(&mut parts.iter().copied());
    // The contribution of each window to the error of the ratio (its influence).
    let influence: Vec<f64> = parts
        .iter()
        .map(|(above, below)| above - estimate * below)
        .collect();
    let block = block_length(&influence);
    let starts = n - block + 1;
    let blocks = n.div_ceil(block);
    // The sum of each possible block, so that a resample takes one step per block.
    let sums: Vec<(f64, f64)> = (0..starts)
        .map(|start| {
            parts[start..start + block]
                .iter()
                .fold((0.0, 0.0), |sum, part| (sum.0 + part.0, sum.1 + part.1))
        })
        .collect();
    let mut random = Random::new(seed);
    let resampled: Vec<f64> = (0..RESAMPLES)
        .map(|_| whole(&mut (0..blocks).map(|_| sums[random.below(starts)])))
        .collect();
    let center = resampled.iter().sum::<f64>() / RESAMPLES as f64;
    let spread = resampled
        .iter()
        .map(|value| (value - center).powi(2))
        .sum::<f64>()
        / (RESAMPLES - 1) as f64;
    // A resample has `blocks × block` windows, but the run has n. Overlapping blocks vary about
    // their own mean, which reduces the variance by block ÷ n. The rest of the correction accounts
    // for correlation beyond a block, as in a first-order autoregression.
    let length = (blocks * block) as f64 / n as f64;
    let shrunk = 1.0 - block as f64 / n as f64;
    // One degree of freedom less than the number of whole blocks. Overlapping blocks justify up to
    // half as many more (Meketon and Schmeiser 1984), but then intervals with skewed influences,
    // such as those of high quantiles, would contain the true value too rarely.
    let freedom = (n as f64 / block as f64 - 1.0).max(1.0);
    let beyond = beyond_block(&influence, block);
    let error = (spread * length / shrunk * beyond).sqrt();
    Ok((estimate, student::quantile(confidence, freedom) * error))
}

/// The autocovariance at a lag, divided by n as is usual for spectra.
fn autocovariance(series: &[f64], lag: usize) -> f64 {
    let n = series.len();
    let mean = series.iter().sum::<f64>() / n as f64;
    let products = series
        .iter()
        .zip(&series[lag.min(n)..])
        .map(|(one, other)| (one - mean) * (other - mean));
    products.sum::<f64>() / n as f64
}

/// The block length of Politis and White (2004), as corrected by Patton, Politis and White (2009),
/// from the autocovariances up to the lag where they vanish. At least 1.5 √n, because noise can
/// hide correlation in a single run.
pub fn block_length(series: &[f64]) -> usize {
    let n = series.len();
    let size = n as f64;
    let variance = autocovariance(series, 0);
    let max_length = ((3.0 * size.sqrt()).ceil() as usize).min(n / 4).max(1);
    let min_length = ((1.5 * size.sqrt()).ceil() as usize).min(max_length);
    if variance <= 0.0 {
        return min_length;
    }
    let bound = 2.0 * (size.log10() / size).sqrt();
    let run = (size.log10().sqrt().ceil() as usize).max(5);
    let reach = (size.sqrt().ceil() as usize + run).min(n - 1);
    let insignificant = |lag: usize| (autocovariance(series, lag) / variance).abs() < bound;
    let last = (1..=reach)
        .find(|first| (*first..(first + run).min(n)).all(insignificant))
        .map_or(reach, |first| first - 1);
    let window = (2 * last).clamp(1, reach);
    let (mut slope, mut spectrum) = (0.0, variance);
    for lag in 1..=window {
        let place = lag as f64 / window as f64;
        // Constant for the first half, then decreasing to zero.
        let weight = if place <= 0.5 {
            1.0
        } else {
            2.0 * (1.0 - place)
        };
        let covariance = autocovariance(series, lag);
        slope += 2.0 * weight * lag as f64 * covariance;
        spectrum += 2.0 * weight * covariance;
    }
    if spectrum <= 0.0 {
        return min_length;
    }
    let length = (2.0 * slope * slope / (4.0 / 3.0 * spectrum * spectrum)).cbrt() * size.cbrt();
    (length.ceil() as usize).clamp(min_length, max_length)
}

/// The factor by which blocks of this length underestimate the variance of a mean if the series is
/// a first-order autoregression: blocks contain Σ (1 − k ÷ b) ρᵏ of the whole Σ ρᵏ.
fn beyond_block(series: &[f64], block: usize) -> f64 {
    let variance = autocovariance(series, 0);
    if variance <= 0.0 {
        return 1.0;
    }
    // The estimate is too low by about (1 + 3ρ) ÷ n (Kendall 1954).
    let n = series.len() as f64;
    let seen = autocovariance(series, 1) / variance;
    let rho = (seen + (1.0 + 3.0 * seen) / n).clamp(0.0, 0.95);
    let whole = (1.0 + rho) / (1.0 - rho);
    let length = block as f64;
    let within = 1.0
        + 2.0
            * (1..block)
                .map(|lag| (1.0 - lag as f64 / length) * rho.powi(lag as i32))
                .sum::<f64>();
    (whole / within).max(1.0)
}
