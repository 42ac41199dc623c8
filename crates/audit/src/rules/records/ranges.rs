//! "Latency improved 20–30 % across p50/p95/p99": for each statistic, two records of the page must
//! differ by a percentage within the range.

use super::subject::is_uncertain;
use super::{quote_with_field, warn};
use crate::pattern::{Pattern, group, pattern};
use crate::quantity::format_number;
use crate::records::{Field, Grids, Kind, Meaning, Name, tokenize};
use crate::report::Findings;
use crate::rules::prose::shorten;

static RANGE: Pattern = pattern!(r"(\d+(?:\.\d+)?)\s?%?\s?(?:-|–|—|to)\s?(\d+(?:\.\d+)?)\s?%");

/// Maximum number of figures for one statistic.
const MAX_FIGURES: usize = 40;

pub fn check_sentence(grids: &Grids, sentence: &str, line: usize, findings: &mut Findings) {
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
        .first(sentence)
        .and_then(|found| {
            let group = |at: usize| found.get(at)?.as_str().parse::<f64>().ok();
            Some((group(1)?, group(2)?))
        })
        .filter(|(low, high)| low < high)
    else {
        return;
    };
    for meaning in tokenize(sentence)
        .iter()
        .filter_map(|word| parse_statistic(word))
    {
        let figures: Vec<&Field> = grids
            .grids()
            .flat_map(|grid| &grid.records)
            .flat_map(|record| &record.fields)
            .filter(|field| field.name.meaning == meaning && field.figure.kind == Kind::Time)
            .filter(|field| field.figure.value > 0.0)
            .take(MAX_FIGURES)
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
                    shorten(sentence),
                    first.name.text,
                    first.figure.text,
                    last.figure.text
                ),
                format!(
                    "{} and {} differ by {} % of the first; no two figures of {} differ by {low} to {high} %",
                    first.figure.text,
                    last.figure.text,
                    format_number(change),
                    first.name.text
                ),
                "State a range that holds for every figure.".to_owned(),
            ],
            findings,
        );
        return;
    }
}

/// The percentile, mean or maximum that a word denotes.
fn parse_statistic(word: &str) -> Option<Meaning> {
    let named = word.starts_with('p') || matches!(word, "median" | "mean" | "average" | "avg");
    let name = Name::read(word);
    (named && name.is_statistic()).then_some(name.meaning)
}

static SPAN: Pattern = pattern!(
    r"(?i)([-−+]?\d+(?:\.\d+)?)\s?(%|x|×)?\s?(?:-|–|—|to)\s?[-−+]?(\d+(?:\.\d+)?)\s?(%|x\b|×)"
);

/// Names of columns with comparisons.
const COMPARED: [&str; 6] = ["speedup", "faster", "improvement", "ratio", "factor", "vs"];

/// Checks "Overhead of 5 to 20 %": an end of the range must not be far beyond every figure in the
/// columns of that name.
pub fn check_span(grids: &Grids, sentence: &str, line: usize, findings: &mut Findings) {
    if sentence.len() > 300 || is_uncertain(sentence) || !sentence.contains(['%', 'x', '×']) {
        return;
    }
    let Some(found) = SPAN.first(sentence) else {
        return;
    };
    let group = |at: usize| group(&found, at);
    let end = |text: &str| text.trim_start_matches(['-', '−', '+']).parse::<f64>().ok();
    let (Some(low), Some(high)) = (end(group(1)), end(group(3))) else {
        return;
    };
    let kind = if group(4) == "%" {
        Kind::Percent
    } else {
        Kind::Factor
    };
    let words = tokenize(sentence);
    let named = |field: &&Field| {
        let name = tokenize(&field.name.text);
        let compared =
            |words: &[String]| words.iter().any(|word| COMPARED.contains(&word.as_str()));
        name.iter()
            .any(|word| word.len() > 3 && words.contains(word))
            || compared(&name) && compared(&words)
    };
    let of_kind = |field: &&Field| field.figure.kind == kind && field.figure.value != 0.0;
    let all = || {
        grids
            .tables
            .iter()
            .flat_map(|grid| &grid.records)
            .chain(&grids.lists)
    };
    let figures: Vec<&Field> = all()
        .flat_map(|record| &record.fields)
        .filter(of_kind)
        .filter(named)
        .take(200)
        .collect();
    let (low, high) = (low.min(high), low.max(high));
    let values = || figures.iter().map(|field| field.figure.value.abs());
    let (smallest, largest) = (
        values().fold(f64::MAX, f64::min),
        values().fold(0.0, f64::max),
    );
    // Close to 100 %, the distance to 100 % counts: 99 % is far from 95 %.
    let beyond = match kind {
        Kind::Percent if high < 100.0 && largest > 80.0 => {
            100.0 - largest > 2.0 * (100.0 - high) + 0.2
        }
        _ => high > 1.3 * largest + 0.5,
    };
    let inside = low <= largest * 1.1 + 0.5 && smallest <= high;
    if figures.len() < 3 || !beyond || !inside {
        return;
    }
    let Some(top) = figures
        .iter()
        .find(|field| field.figure.value.abs() == largest)
    else {
        return;
    };
    warn(
        "ratio-misstated",
        line,
        [
            quote_with_field(sentence, top),
            format!(
                "the largest of the {} figures is {}, not {}",
                figures.len(),
                top.figure.text,
                format_number(high)
            ),
            "State the range in the table.".to_owned(),
        ],
        findings,
    );
}
