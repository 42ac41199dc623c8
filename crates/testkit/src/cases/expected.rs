//! `expected.json`: what several runs of the judge had in common.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::metrics::{Metric, Series};
use super::observe::Observation;

/// Stands for any word of a line, where the judge's own runs differ.
pub const ANY: &str = "*";

/// What a run must show. The same form as an [`Observation`], with [`ANY`] and `null` where
/// anything will do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Expected(pub Observation);

impl Expected {
    /// What the runs have in common, or where they differ too much to say.
    pub fn common(runs: &[Observation]) -> Result<Expected, String> {
        let (first, others) = runs.split_first().ok_or("no run")?;
        let mut common = first.clone();
        for other in others {
            if common.exit != other.exit {
                return Err(format!("exit statuses {} and {}", common.exit, other.exit));
            }
            common.logs = common_lines(&common.logs, &other.logs)
                .map_err(|error| format!("logs: {error}"))?;
            common.screen = common_lines(&common.screen, &other.screen)
                .map_err(|error| format!("screen: {error}"))?;
            common.metrics = common_metrics(&common.metrics, &other.metrics)?;
            for (name, lines) in &mut common.files {
                let others = other.files.get(name).map(Vec::as_slice).unwrap_or_default();
                *lines = common_lines(lines, others).map_err(|error| format!("{name}: {error}"))?;
            }
        }
        Ok(Expected(common))
    }
}

fn common_lines(one: &[String], other: &[String]) -> Result<Vec<String>, String> {
    if one.len() != other.len() {
        return Err(format!(
            "{} and {} lines:\n{}\n--\n{}",
            one.len(),
            other.len(),
            one.join("\n"),
            other.join("\n")
        ));
    }
    let pairs = one.iter().zip(other);
    Ok(pairs.map(|(one, other)| common_line(one, other)).collect())
}

fn common_line(one: &str, other: &str) -> String {
    let (ones, others): (Vec<&str>, Vec<&str>) = (words(one), words(other));
    if ones.len() != others.len() {
        return ANY.to_owned();
    }
    let words = ones
        .iter()
        .zip(others)
        .map(|(&one, other)| if one == other { one } else { ANY });
    words.collect::<Vec<_>>().join(" ")
}

/// The words of a line; spaces at its start make empty ones, so the indent counts.
pub fn words(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

fn common_metrics(
    one: &BTreeMap<String, Metric>,
    other: &BTreeMap<String, Metric>,
) -> Result<BTreeMap<String, Metric>, String> {
    let names = |metrics: &BTreeMap<String, Metric>| metrics.keys().cloned().collect::<Vec<_>>();
    if !one.keys().eq(other.keys()) {
        return Err(format!("metrics: {:?} and {:?}", names(one), names(other)));
    }
    let mut common = one.clone();
    for (name, metric) in &mut common {
        let Some(other) = other.get(name) else {
            continue;
        };
        metric.tags = metric.tags.intersection(&other.tags).cloned().collect();
        metric.series = match (metric.series.take(), &other.series) {
            (Some(one), Some(other)) if one.keys().eq(other.keys()) => {
                let pairs = one.into_iter().zip(other.values());
                Some(
                    pairs
                        .map(|((tags, one), other)| (tags, common_series(&one, other)))
                        .collect(),
                )
            }
            _ => None,
        };
    }
    Ok(common)
}

fn common_series(one: &Series, other: &Series) -> Series {
    let near = |one: f64, other: f64| (one - other).abs() <= 1e-9 * one.abs().max(1.0);
    Series {
        count: one.count.filter(|count| Some(*count) == other.count),
        sum: one
            .sum
            .filter(|sum| other.sum.is_some_and(|other| near(*sum, other))),
    }
}
