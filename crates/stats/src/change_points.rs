//! Detects where a series of results changed its level. Uses e-divisive (Matteson and James 2014)
//! with a t-test for the significance of each point, as is common for performance histories.

use crate::warm_up::welch;

/// A change of level between two consecutive results.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChangePoint {
    /// Index of the first result at the new level.
    pub at: usize,
    /// The mean of the results between the previous change and this one.
    pub before: f64,
    /// The mean of the results between this change and the next one.
    pub after: f64,
    /// The p value of Welch's t-test.
    pub p: f64,
}

/// Number of results to analyze together.
pub const WINDOW: usize = 50;
/// The p value below which a change counts as significant.
pub const LEVEL: f64 = 0.001;
/// Minimum number of results on each side of a change.
const MIN_RESULTS: usize = 3;

/// Finds the changes of level, in order.
pub fn change_points(series: &[f64]) -> Vec<ChangePoint> {
    if series.iter().any(|value| !value.is_finite()) {
        return Vec::new();
    }
    // Windows overlap by half, so that a change at the boundary of two windows is inside a third one.
    let mut found: Vec<usize> = Vec::new();
    let mut start = 0;
    loop {
        let end = (start + WINDOW).min(series.len());
        split(series, start, end, &mut found);
        if end == series.len() {
            break;
        }
        start += WINDOW / 2;
    }
    found.sort_unstable();
    found.dedup();
    settle(series, found)
}

/// Splits recursively where the two sides differ most, as long as the difference is significant.
fn split(series: &[f64], start: usize, end: usize, found: &mut Vec<usize>) {
    let Some((at, _)) = best_split(&series[start..end]) else {
        return;
    };
    let at = start + at;
    if welch(&series[start..at], &series[at..end]) < LEVEL {
        found.push(at);
        split(series, start, at, found);
        split(series, at, end, found);
    }
}

/// Filters the points found in all windows: keeps those that are significant compared with their
/// neighboring levels. Removes the weakest point first, because its removal lengthens the
/// neighboring sides. Also moves each point to the position where its two sides differ most.
fn settle(series: &[f64], mut found: Vec<usize>) -> Vec<ChangePoint> {
    loop {
        let edges = |at: usize, found: &[usize]| {
            let start = at
                .checked_sub(1)
                .and_then(|at| found.get(at))
                .copied()
                .unwrap_or(0);
            let end = found.get(at + 1).copied().unwrap_or(series.len());
            (start, end)
        };
        for at in 0..found.len() {
            let (start, end) = edges(at, &found);
            if let Some((best, _)) = best_split(&series[start..end]) {
                found[at] = start + best;
            }
        }
        found.dedup();
        let points: Vec<ChangePoint> = (0..found.len())
            .map(|at| {
                let (start, end) = edges(at, &found);
                let (before, after) = (&series[start..found[at]], &series[found[at]..end]);
                let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
                ChangePoint {
                    at: found[at],
                    before: mean(before),
                    after: mean(after),
                    p: welch(before, after),
                }
            })
            .collect();
        let weakest = points
            .iter()
            .enumerate()
            .filter(|(_, point)| point.p >= LEVEL)
            .max_by(|one, other| one.1.p.total_cmp(&other.1.p));
        match weakest {
            Some((at, _)) => {
                found.remove(at);
            }
            None => return points,
        }
    }
}

/// The split with the greatest energy distance (Székely and Rizzo 2004) between the two sides, and
/// that distance: m·k ÷ (m + k) × (2·E|X−Y| − E|X−X′| − E|Y−Y′|). The means within a side are over
/// different pairs.
pub fn best_split(series: &[f64]) -> Option<(usize, f64)> {
    let n = series.len();
    if n < 2 * MIN_RESULTS {
        return None;
    }
    let apart = |one: usize, other: usize| (series[one] - series[other]).abs();
    // The sums of distances within the first `at` values, across, and within the rest. Each step
    // updates them by one value.
    let mut first = 0.0;
    let mut across = 0.0;
    let mut rest: f64 = (0..n)
        .map(|one| (one + 1..n).map(|other| apart(one, other)).sum::<f64>())
        .sum();
    let mut best: Option<(usize, f64)> = None;
    for at in 1..=n - MIN_RESULTS {
        let moved = at - 1;
        let to_first: f64 = (0..moved).map(|other| apart(moved, other)).sum();
        let to_rest: f64 = (at..n).map(|other| apart(moved, other)).sum();
        first += to_first;
        rest -= to_rest;
        across += to_rest - to_first;
        if at < MIN_RESULTS {
            continue;
        }
        let (m, k) = (at as f64, (n - at) as f64);
        let within = |sum: f64, size: f64| 2.0 * sum / (size * (size - 1.0));
        let energy =
            m * k / (m + k) * (2.0 * across / (m * k) - within(first, m) - within(rest, k));
        if best.is_none_or(|(_, greatest)| energy > greatest) {
            best = Some((at, energy));
        }
    }
    best
}
