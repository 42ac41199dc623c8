//! The figures of a cell over its restarts, with intervals.

use std::collections::{BTreeMap, BTreeSet};

use plimsoll_results::lab::{Figure, Variation};
use plimsoll_stats::interval::{self, Insufficient};
use plimsoll_stats::repetition::Repeated;

use super::repeat::{Measured, QUANTILES};
use super::until::confidence_of;
use crate::resolve::Cell;
use crate::resolve::conclusions::FIGURES;

/// The confidence of every interval.
const CONFIDENCE: f64 = 0.95;

/// All figures of a cell, with the built-in figures first.
pub fn of(cell: &Cell, repeats: &[Measured]) -> Vec<Figure> {
    of_runs(repeats, &|name| confidence_of(cell, name, CONFIDENCE))
}

fn of_runs(repeats: &[Measured], confidence: &dyn Fn(&str) -> f64) -> Vec<Figure> {
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
        .filter_map(|name| figure(name, repeats, confidence(name)))
        .collect()
}

fn figure(name: &str, runs: &[Measured], confidence: f64) -> Option<Figure> {
    let values: Vec<f64> = runs
        .iter()
        .filter_map(|run| run.figures.get(name).copied())
        .collect();
    let repeated = over_restarts(runs, confidence, |run| run.figures.get(name).copied())?;
    let (interval, why) = match (repeated.interval, runs) {
        (Some(interval), _) => (Some(interval), None),
        (None, [only]) => match within(name, only, repeated.value) {
            Ok(interval) => (Some(interval), None),
            Err(why) => (None, Some(why)),
        },
        (None, _) => (None, Some("there are no runs".to_owned())),
    };
    let from = match (runs.len(), repeated.restarts.len()) {
        (1, _) => Variation::OneRun,
        (_, 1) => Variation::Runs,
        _ => Variation::Restarts,
    };
    let (label, unit, better) = describe(name, runs);
    Some(Figure {
        name: name.to_owned(),
        label,
        unit,
        value: repeated.value,
        interval,
        interval_from: interval.is_some().then_some(from),
        why_no_interval: why,
        with_warm_up: over_restarts(runs, confidence, |run| run.whole.get(name).copied())
            .map(|whole| whole.value),
        better,
        repeats: values,
        restarts: repeated.restarts,
    })
}

/// A figure over the restarts; `None` unless each run has it.
fn over_restarts(
    runs: &[Measured],
    confidence: f64,
    value: impl Fn(&Measured) -> Option<f64>,
) -> Option<Repeated> {
    let mut restarts: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for run in runs {
        restarts
            .entry(run.repeat.restart)
            .or_default()
            .push(value(run)?);
    }
    Repeated::with(&restarts.into_values().collect::<Vec<_>>(), confidence)
}

/// The interval of a single run, computed from the figures of each second.
fn within(name: &str, run: &Measured, value: f64) -> Result<(f64, f64), String> {
    const SEED: u64 = 1;
    let found = if let Some((_, q)) = QUANTILES.iter().find(|(known, _)| *known == name) {
        interval::quantile(&run.windows, *q, CONFIDENCE, SEED)
    } else if name == "latency_mean" {
        interval::mean(&run.windows, CONFIDENCE, SEED)
    } else if let Some(seconds) = run.per_second.get(name) {
        interval::ratio_of_sums(seconds, CONFIDENCE, SEED)
    } else {
        return Err("a single run without this figure for each second".to_owned());
    };
    let found = found.map_err(|why| match why {
        Insufficient::Windows => "a single run of fewer than ten seconds".to_owned(),
        Insufficient::Samples => "fewer than ten values are above the percentile".to_owned(),
    })?;
    // The interval's center may include incomplete seconds.
    let scale = match found.estimate > 0.0 && value > 0.0 {
        true => value / found.estimate,
        false => 1.0,
    };
    Ok((found.low * scale, found.high * scale))
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
        "cpu_time_per_request" => ("CPU time per request".to_owned(), less),
        "makespan" => ("time until all work was done".to_owned(), less),
        "payload_megabytes_per_second" => ("payload in bytes".to_owned(), more),
        "payload_megabits_per_second" => ("payload in bits".to_owned(), more),
        "received_megabytes_per_second" => ("bytes received, with headers".to_owned(), more),
        "throughput" => ("throughput".to_owned(), more),
        "limit" => ("highest rate that met the objective".to_owned(), more),
        "generator_cpu" => ("CPU of the generator".to_owned(), None),
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

/// The percentile of a figure that only some tools report, for example `latency_p75`.
fn own_percentile(name: &str) -> Option<&str> {
    let p = name.strip_prefix("latency_p")?;
    p.parse::<u32>().is_ok().then_some(p)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(restart: u32, value: f64) -> Measured {
        let mut run = Measured::default();
        run.repeat.restart = restart;
        run.figures.insert("throughput".to_owned(), value);
        run
    }

    fn of(runs: &[Measured]) -> Figure {
        figure("throughput", runs, CONFIDENCE).expect("each run has it")
    }

    #[test]
    fn an_interval_contains_the_largest_variation_that_was_measured() {
        let restarts = of(&[run(1, 9.0), run(1, 9.0), run(2, 10.0), run(3, 11.0)]);
        assert_eq!(restarts.interval_from, Some(Variation::Restarts));
        assert_eq!(restarts.repeats, [9.0, 9.0, 10.0, 11.0]);
        assert_eq!(restarts.restarts, [9.0, 10.0, 11.0]);
        // Logarithms: mean 2.29923, s 0.10037, t(0.975, 2) = 4.3027: 2.29923 ± 0.24934.
        let (low, high) = restarts.interval.expect("an interval");
        assert!((low - 7.767).abs() < 0.01, "{low}");
        assert!((high - 12.790).abs() < 0.01, "{high}");

        let runs = of(&[run(1, 9.0), run(1, 10.0), run(1, 11.0)]);
        assert_eq!(runs.interval_from, Some(Variation::Runs));
        assert_eq!(runs.interval, restarts.interval);

        let one = of(&[run(1, 9.0)]);
        assert_eq!((one.interval, one.interval_from), (None, None));
        assert!(one.why_no_interval.is_some());
    }

    #[test]
    fn a_single_run_has_an_interval_from_its_own_seconds() {
        let mut only = run(1, 100.0);
        let seconds = (0..30).map(|second| (100.0 + f64::from(second % 5), 1.0));
        only.per_second
            .insert("throughput".to_owned(), seconds.collect());
        let figure = of(&[only]);
        assert_eq!(figure.interval_from, Some(Variation::OneRun));
        let (low, high) = figure.interval.expect("an interval");
        assert!(
            low > 95.0 && low < 100.0 && high > 100.0 && high < 105.0,
            "{low} {high}"
        );
    }
}
