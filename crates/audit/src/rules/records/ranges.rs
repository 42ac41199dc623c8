//! "Latency improved 20–30 % across p50/p95/p99": for each statistic, two records of the page differ by a
//! percentage of the range.

use std::sync::LazyLock;

use regex_lite::Regex;

use super::subject::is_uncertain;
use super::warn;
use crate::quantity::digits;
use crate::records::{Field, Grids, Kind, Meaning, Name, tokens};
use crate::report::Findings;
use crate::rules::prose::shortened;

static RANGE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(\d+(?:\.\d+)?)\s?%?\s?(?:-|–|—|to)\s?(\d+(?:\.\d+)?)\s?%").ok());

/// Maximum number of figures of one statistic.
const MOST: usize = 40;

pub fn sentence(grids: &Grids, sentence: &str, line: usize, findings: &mut Findings) {
    let lower = sentence.to_lowercase();
    let changed = [
        "improve", "reduc", "faster", "lower", "better", "decreas", "drop", "increas", "slower",
    ];
    if !lower.contains('%')
        || !changed.iter().any(|word| lower.contains(word))
        || is_uncertain(sentence)
    {
        return;
    }
    let Some((low, high)) = RANGE
        .as_ref()
        .and_then(|pattern| pattern.captures(sentence))
        .and_then(|found| {
            let group = |at: usize| found.get(at)?.as_str().parse::<f64>().ok();
            Some((group(1)?, group(2)?))
        })
        .filter(|(low, high)| low < high)
    else {
        return;
    };
    for meaning in tokens(sentence).iter().filter_map(|word| statistic(word)) {
        let figures: Vec<&Field> = grids
            .grids()
            .flat_map(|grid| &grid.records)
            .flat_map(|record| &record.fields)
            .filter(|field| field.name.meaning == meaning && field.figure.kind == Kind::Time)
            .filter(|field| field.figure.value > 0.0)
            .take(MOST)
            .collect();
        let mut changes = figures.iter().enumerate().flat_map(|(at, one)| {
            figures[at + 1..].iter().flat_map(move |other| {
                let ratio = one.figure.value / other.figure.value;
                [ratio, 1.0 / ratio].map(|ratio| (ratio - 1.0).abs() * 100.0)
            })
        });
        let fits = |change: f64| (0.9 * low - 1.0..=1.1 * high + 1.0).contains(&change);
        let (Some(first), Some(last)) = (figures.first(), figures.last()) else {
            continue;
        };
        if figures.len() < 2 || changes.any(fits) {
            continue;
        }
        let change = (first.figure.value - last.figure.value).abs() / first.figure.value * 100.0;
        warn(
            "ratio-misstated",
            line,
            [
                format!(
                    "\"{}\"; {}: {} and {}",
                    shortened(sentence),
                    first.name.text,
                    first.figure.text,
                    last.figure.text
                ),
                format!(
                    "{} and {} differ by {} % of the first; no two figures of {} differ by {low} to {high} %",
                    first.figure.text,
                    last.figure.text,
                    digits(change),
                    first.name.text
                ),
                "Give the range that holds for each of the figures.".to_owned(),
            ],
            findings,
        );
        return;
    }
}

/// The percentile, mean or maximum that a word names.
fn statistic(word: &str) -> Option<Meaning> {
    let named = word.starts_with('p') || matches!(word, "median" | "mean" | "average" | "avg");
    let name = Name::read(word);
    (named && name.is_statistic()).then_some(name.meaning)
}
