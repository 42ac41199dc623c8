//! The figures of a cell over its repeats, with intervals.

use std::collections::BTreeSet;

use plimsoll_results::lab::Figure;
use plimsoll_stats::Histogram;

use super::repeat::{Measured, QUANTILES};
use crate::resolve::conclusions::FIGURES;

/// The confidence of every interval.
const CONFIDENCE: f64 = 0.95;

/// All figures of a cell, the built-in ones first.
pub fn of(repeats: &[Measured]) -> Vec<Figure> {
    let names: BTreeSet<&str> = repeats
        .iter()
        .flat_map(|repeat| repeat.figures.keys().map(String::as_str))
        .collect();
    let known = FIGURES
        .iter()
        .map(|(name, _)| *name)
        .filter(|name| names.contains(name));
    let own = names
        .iter()
        .copied()
        .filter(|name| !FIGURES.iter().any(|(known, _)| known == name));
    known
        .chain(own)
        .filter_map(|name| figure(name, repeats))
        .collect()
}

fn figure(name: &str, repeats: &[Measured]) -> Option<Figure> {
    let values: Vec<f64> = repeats
        .iter()
        .filter_map(|repeat| repeat.figures.get(name).copied())
        .collect();
    if values.is_empty() || values.len() != repeats.len() {
        return None;
    }
    let value = median(&values);
    let (interval, why) = match interval(name, repeats, &values, value) {
        Ok(interval) => (Some(interval), None),
        Err(why) => (None, Some(why)),
    };
    let with: Vec<f64> = repeats
        .iter()
        .filter_map(|repeat| repeat.whole.get(name).copied())
        .collect();
    let (label, unit, better) = describe(name, repeats);
    Some(Figure {
        name: name.to_owned(),
        label,
        unit,
        value,
        interval,
        interval_from: None,
        why_no_interval: why,
        with_warm_up: (with.len() == repeats.len()).then(|| median(&with)),
        better,
        repeats: values,
        restarts: Vec::new(),
    })
}

/// The median of some values; 0 if there are none.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    let at = |index: usize| sorted.get(index).copied().unwrap_or(0.0);
    match sorted.len() % 2 {
        0 => (at(middle.wrapping_sub(1)) + at(middle)) / 2.0,
        _ => at(middle),
    }
}

/// With three or more runs: Student's interval over the runs. With fewer: an interval from all
/// seconds of all runs.
fn interval(
    name: &str,
    repeats: &[Measured],
    values: &[f64],
    value: f64,
) -> Result<(f64, f64), String> {
    let n = values.len() as f64;
    // Figures are positive and skewed: on the log scale no interval goes below zero.
    if values.len() >= 3 && values.iter().all(|value| *value > 0.0) {
        let logs = || values.iter().map(|value| value.ln());
        let mean = logs().sum::<f64>() / n;
        let variance = logs().map(|log| (log - mean).powi(2)).sum::<f64>() / (n - 1.0);
        let half = plimsoll_stats::student::quantile(CONFIDENCE, n - 1.0) * (variance / n).sqrt();
        let (low, high) = ((mean - half).exp(), (mean + half).exp());
        return Ok((low.min(value), high.max(value)));
    }
    if values.len() >= 3 {
        let mean = values.iter().sum::<f64>() / n;
        let variance = values
            .iter()
            .map(|value| (value - mean).powi(2))
            .sum::<f64>()
            / (n - 1.0);
        let half = plimsoll_stats::student::quantile(CONFIDENCE, n - 1.0) * (variance / n).sqrt();
        // A share of failures is often zero, and never below.
        return Ok(((mean - half).max(0.0).min(value), (mean + half).max(value)));
    }
    let mut ends: Option<(f64, f64)> = None;
    if name == "limit" {
        return Err("a search has trials instead of an interval".to_owned());
    }
    for repeat in repeats {
        let (low, high) = within(name, repeat)?;
        let (least, most) = ends.unwrap_or((low, high));
        ends = Some((least.min(low), most.max(high)));
    }
    ends.ok_or_else(|| "there is no run".to_owned())
}

fn within(name: &str, repeat: &Measured) -> Result<(f64, f64), String> {
    const SEED: u64 = 1;
    let told = |why: plimsoll_stats::interval::Insufficient| match why {
        plimsoll_stats::interval::Insufficient::Windows => {
            "fewer than ten seconds in a run, and fewer than three runs".to_owned()
        }
        plimsoll_stats::interval::Insufficient::Samples => {
            "insufficient samples: n × (1 − q) < 10".to_owned()
        }
    };
    let found = if let Some((_, q)) = QUANTILES.iter().find(|(known, _)| *known == name) {
        plimsoll_stats::interval::quantile(&repeat.windows, *q, CONFIDENCE, SEED)
    } else if name == "latency_mean" {
        plimsoll_stats::interval::mean(&repeat.windows, CONFIDENCE, SEED)
    } else if name == "requests_per_second" {
        let windows: Vec<Histogram> = repeat
            .counts
            .iter()
            .map(|count| {
                let mut window = Histogram::new();
                window.record(*count);
                window
            })
            .collect();
        plimsoll_stats::interval::mean(&windows, CONFIDENCE, SEED)
    } else {
        return Err("fewer than three runs".to_owned());
    };
    found.map(|found| (found.low, found.high)).map_err(told)
}

/// The label of a figure, its unit, and which direction is better.
fn describe(name: &str, repeats: &[Measured]) -> (String, String, Option<String>) {
    let kind = repeats
        .first()
        .map_or("latency", |repeat| repeat.repeat.latency_kind.as_str());
    let unit = FIGURES
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, unit)| *unit);
    let more = Some("more".to_owned());
    let less = Some("less".to_owned());
    let (label, better) = match name {
        "requests_per_second" => ("requests per second".to_owned(), more),
        "iterations_per_second" => ("iterations per second".to_owned(), more),
        "latency_p50" => (format!("median {kind}"), less),
        "latency_p90" => (format!("90th percentile of {kind}"), less),
        "latency_p95" => (format!("95th percentile of {kind}"), less),
        "latency_p99" => (format!("99th percentile of {kind}"), less),
        "latency_p999" => (format!("99.9th percentile of {kind}"), less),
        "latency_mean" => (format!("mean {kind}"), less),
        "latency_max" => (format!("longest {kind}"), less),
        "iteration_p95" => ("95th percentile of iterations".to_owned(), less),
        "connect_p50" => ("median time to connect".to_owned(), less),
        "tls_p50" => ("median TLS handshake".to_owned(), less),
        "failed_share" => ("share of failed requests".to_owned(), less),
        "cpu_seconds_per_thousand" => (
            "CPU seconds of the systems per thousand requests".to_owned(),
            less,
        ),
        "makespan" => ("time until all work was done".to_owned(), less),
        "payload_megabytes_per_second" => ("payload in bytes".to_owned(), more),
        "payload_megabits_per_second" => ("payload in bits".to_owned(), more),
        "throughput" => ("throughput".to_owned(), more),
        "limit" => ("highest rate that met the objective".to_owned(), more),
        "latency_min" => (format!("shortest {kind}"), less),
        other if own_percentile(other).is_some() => {
            let p = own_percentile(other).unwrap_or_default();
            (format!("{p}th percentile of {kind}"), less)
        }
        own => match own.strip_suffix("_per_second") {
            Some(counter) => (format!("{counter} per second"), None),
            None => (own.to_owned(), None),
        },
    };
    let unit = unit.map_or_else(
        || match name.strip_suffix("_per_second") {
            Some(counter) => format!("{counter}/s"),
            None if name.starts_with("latency_") => "ms".to_owned(),
            None => "count".to_owned(),
        },
        str::to_owned,
    );
    (label, unit, better)
}

/// The percentile of a figure that only some tools report, such as `latency_p75`.
fn own_percentile(name: &str) -> Option<&str> {
    let p = name.strip_prefix("latency_p")?;
    p.parse::<u32>().is_ok().then_some(p)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0]), 2.5);
        assert_eq!(median(&[]), 0.0);
    }

    #[test]
    fn an_interval_over_three_runs_is_students_on_the_log_scale() {
        // Logarithms: mean 2.29923, s 0.10037, t(0.975, 2) = 4.3027: 2.29923 ± 0.24934.
        let (low, high) = interval("throughput", &[], &[9.0, 10.0, 11.0], 10.0).unwrap();
        assert!(
            (low - 7.767).abs() < 0.01 && (high - 12.790).abs() < 0.01,
            "{low} {high}"
        );
        let (low, _) = interval("throughput", &[], &[1.0, 100.0, 400.0], 100.0).unwrap();
        assert!(low > 0.0, "{low}");
        // A share may be zero.
        assert_eq!(
            interval("failed_share", &[], &[0.0; 3], 0.0),
            Ok((0.0, 0.0))
        );
    }
}
