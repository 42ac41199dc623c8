//! Simulates whether the interval at the stop contains the true value as often as promised.

use plimsoll_stats::{Histogram, Looks, Random, interval};

/// Seconds of log-normal latencies whose level drifts from second to second (a first-order autoregression).
fn second(random: &mut Random, level: &mut f64, correlation: f64) -> Histogram {
    *level = correlation * *level + (1.0 - correlation * correlation).sqrt() * random.normal();
    let mut histogram = Histogram::new();
    for _ in 0..40 {
        histogram.record((0.1 * *level + 0.3 * random.normal()).exp());
    }
    histogram
}

/// The share of runs whose interval at the stop contains the median, and the share of runs that
/// stopped before the limit.
fn coverage(correlation: f64, precision: f64, runs: u64) -> (f64, f64) {
    const LAST: usize = 120;
    let (mut holds, mut stopped) = (0.0, 0.0);
    for seed in 0..runs {
        let mut random = Random::new(seed + 1);
        let mut level = random.normal();
        let mut looks = Looks::new(10, LAST);
        let mut windows = Vec::new();
        let mut last = None;
        while windows.len() < LAST {
            windows.push(second(&mut random, &mut level, correlation));
            let Some(confidence) = looks.due(windows.len()) else {
                continue;
            };
            let Ok(found) = interval::quantile(&windows, 0.5, confidence, seed) else {
                continue;
            };
            last = Some(found);
            if found.relative() <= precision {
                stopped += 1.0;
                break;
            }
        }
        // The median of the mixture is e^0.
        holds += f64::from(last.is_some_and(|found| found.holds(1.0)));
    }
    (holds / runs as f64, stopped / runs as f64)
}

#[test]
fn the_interval_at_the_stop_contains_the_true_value() {
    for (correlation, precision) in [(0.0, 0.08), (0.0, 0.05), (0.5, 0.12)] {
        let (holds, stopped) = coverage(correlation, precision, 300);
        assert!(
            stopped > 0.5,
            "too few runs stop for the simulation to show anything: {stopped}"
        );
        assert!(
            holds >= 0.95 - 0.03,
            "correlation {correlation}, ±{precision}: {holds}"
        );
    }
}
