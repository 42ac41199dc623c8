//! The conclusion at the top: what the comparisons, the figures and the objectives show, in a few
//! sentences, and how far they can be trusted.

use plimsoll_plots::number;
use plimsoll_results::lab::{Cell, CellState, LabResult};

use crate::comparisons;
use crate::document::Words;
use crate::leads::{Lead, find, leads, series_axis, value_on};
use crate::naming::{capital, counted, is_believed, listed, short_name};
use crate::objectives;

/// Above this number of comparisons, only the table shows them.
const MOST_COMPARISONS: usize = 8;
/// Above this number of figures, only the plots show them.
const MOST_RANGES: usize = 3;

/// The sentences, most important first.
pub fn sentences(result: &LabResult) -> Vec<Words> {
    let mut sentences: Vec<Words> = Vec::new();
    let mut judged: Vec<Words> = crate::pooled::sentences(result);
    // Do not repeat for each cell what a sentence says about all cells together.
    let together = |group: &comparisons::Group| {
        result.pooled.iter().any(|one| {
            (one.axis.as_str(), one.figure.as_str()) == (group.axis, group.figure)
                && (one.base.as_str(), one.other.as_str()) == group.values
        })
    };
    judged.extend(
        comparisons::groups(result)
            .iter()
            .filter(|group| !together(group))
            .filter_map(|group| group.sentence(result)),
    );
    let none_judged = judged.is_empty();
    let more = judged.len().saturating_sub(MOST_COMPARISONS);
    sentences.extend(judged.into_iter().take(MOST_COMPARISONS));
    if more > 0 {
        sentences.push(
            Words::plain(format!(
                "{} more under ",
                counted(more, "comparison", "comparisons")
            ))
            .link("Comparisons", "comparisons")
            .text("."),
        );
    }
    let leads = leads(result);
    for (index, lead) in leads.iter().take(MOST_RANGES).enumerate() {
        sentences.extend(range(result, lead));
        if index == 0 && none_judged {
            sentences.extend(by_axis(result, lead));
        }
    }
    sentences.extend(objectives::sentences(result));
    sentences.extend(result.cells.iter().filter_map(|cell| limit(result, cell)));
    sentences.extend(comparisons::unjudged(result));
    sentences.push(trust(result));
    sentences.push(form(result));
    sentences
}

/// The cells where a figure is lowest and highest.
fn range(result: &LabResult, lead: &Lead) -> Option<Words> {
    let mut found: Vec<(&Cell, &plimsoll_results::lab::Figure)> = result
        .cells
        .iter()
        .filter_map(|cell| Some((cell, find(cell, lead)?)))
        .collect();
    found.sort_by(|one, other| one.1.value.total_cmp(&other.1.value));
    let ((low_cell, low), (high_cell, high)) = (found.first()?, found.last()?);
    let words = Words::plain(format!("{}: ", capital(&lead.label)));
    if found.len() == 1 {
        return Some(
            words
                .figure(low.value, low.interval, &lead.unit)
                .text(" at ")
                .code(short_name(result, low_cell))
                .text("."),
        );
    }
    Some(
        words
            .text("from ")
            .figure(low.value, low.interval, &lead.unit)
            .text(" at ")
            .code(short_name(result, low_cell))
            .text(" to ")
            .figure(high.value, high.interval, &lead.unit)
            .text(" at ")
            .code(short_name(result, high_cell))
            .text(format!(", over {}.", counted(found.len(), "cell", "cells"))),
    )
}

/// The figures for each value of the series axis, without claiming that they differ: that is what
/// comparisons are for.
fn by_axis(result: &LabResult, lead: &Lead) -> Option<Words> {
    let axis = series_axis(result)?;
    let values = &result.axes.iter().find(|known| known.name == axis)?.values;
    let mut words = Words::plain("Measured by ").code(axis).text(": ");
    let mut parts = 0;
    for value in values {
        let mut found: Vec<f64> = result
            .cells
            .iter()
            .filter(|cell| value_on(cell, axis) == Some(value))
            .filter_map(|cell| find(cell, lead).map(|figure| figure.value))
            .collect();
        found.sort_by(f64::total_cmp);
        let (Some(low), Some(high)) = (found.first(), found.last()) else {
            continue;
        };
        words = if parts == 0 { words } else { words.text("; ") };
        parts += 1;
        let range = if found.len() == 1 {
            number::short(*low)
        } else {
            format!("{} to {}", number::short(*low), number::short(*high))
        };
        words = words
            .code(value.clone())
            .text(format!(" {range} {}", lead.unit));
    }
    (parts > 1).then(|| words.text("."))
}

fn limit(result: &LabResult, cell: &Cell) -> Option<Words> {
    let search = cell.limit.as_ref().filter(|_| is_believed(cell))?;
    let words = Words::plain(format!(
        "The highest rate that meets {} at ",
        search.objective
    ))
    .code(short_name(result, cell))
    .text(match (search.kept, search.broken) {
        (Some(kept), Some(broken)) => format!(
            "  is between {} and {} requests/s",
            number::tick(kept),
            number::tick(broken)
        ),
        (Some(kept), None) => format!(" is at least {} requests/s", number::tick(kept)),
        (None, Some(broken)) => format!(" is below {} requests/s", number::tick(broken)),
        (None, None) => " was not found".to_owned(),
    });
    Some(words.text(match (search.confirmed, search.broken) {
        (true, _) => ".",
        (false, Some(_)) => "; the search ended before this was confirmed.",
        (false, None) => "; the search ended before it met the limit.",
    }))
}

/// How many cells are valid, and what happened to the others.
fn trust(result: &LabResult) -> Words {
    let count = |is: &dyn Fn(&Cell) -> bool| result.cells.iter().filter(|cell| is(cell)).count();
    let measured = |cell: &Cell| matches!(cell.state, CellState::Measured | CellState::Partial(_));
    let total = result.cells.len();
    let valid = count(&|cell| measured(cell) && cell.verdict == "valid");
    if valid == total && total > 0 {
        let partial = count(&|cell| matches!(cell.state, CellState::Partial(_)));
        let words = Words::plain(format!(
            "All {} were measured, and all their figures are valid",
            counted(total, "cell", "cells")
        ));
        return words.text(if partial == 0 {
            ".".to_owned()
        } else {
            format!("; {partial} with fewer runs than requested.")
        });
    }
    let mut words = Words::plain(format!(
        "Of {}, {valid} {} measured and valid",
        counted(total, "cell", "cells"),
        if valid == 1 { "was" } else { "were" }
    ));
    let others: [(usize, &str); 6] = [
        (
            count(&|cell| measured(cell) && cell.verdict == "suspect"),
            "suspect",
        ),
        (
            count(&|cell| measured(cell) && !matches!(cell.verdict.as_str(), "valid" | "suspect")),
            "invalid, without a figure",
        ),
        (
            count(&|cell| matches!(cell.state, CellState::Insane(_))),
            "not measured because the sanity request failed",
        ),
        (
            count(&|cell| matches!(cell.state, CellState::Failed(_))),
            "failed",
        ),
        (
            count(&|cell| cell.state == CellState::Missing),
            "not run yet",
        ),
        (
            count(&|cell| cell.state == CellState::LeftOut),
            "not part of this form",
        ),
    ];
    for (number, what) in others {
        if number > 0 {
            words = words.text(format!("; {number} {what}"));
        }
    }
    words.text(doubts(result))
}

/// The causes of doubtful figures, and the number of cells with each.
fn doubts(result: &LabResult) -> String {
    let named = |cause: &str| {
        let by = |cell: &&Cell| {
            let mut reasons = cell
                .repeats
                .iter()
                .filter(|repeat| repeat.generator.verdict != "valid")
                .flat_map(|repeat| &repeat.generator.reasons);
            reasons.any(|(known, _)| known == cause)
        };
        result.cells.iter().filter(by).count()
    };
    let parts: Vec<String> = [
        ("client", "the generator or its machine"),
        ("server", "a system at its limit"),
        ("network", "the network"),
        ("clock", "the clock"),
    ]
    .into_iter()
    .map(|(cause, what)| (named(cause), what))
    .filter(|(count, _)| *count > 0)
    .map(|(count, what)| format!("{what} in {count}"))
    .collect();
    if parts.is_empty() {
        ".".to_owned()
    } else {
        format!(". The causes: {}; each cell lists its own.", listed(&parts))
    }
}

/// The form of the lab, the number and length of its runs, and the limits of short runs.
fn form(result: &LabResult) -> Words {
    let runs = || result.cells.iter().flat_map(|cell| &cell.repeats);
    let words = Words::plain("Made by the ")
        .strong(format!("{} form", result.form))
        .text(" of the lab");
    let extent = |values: &mut dyn Iterator<Item = f64>| {
        values.fold(None, |reach: Option<(f64, f64)>, value| {
            let (low, high) = reach.unwrap_or((value, value));
            Some((low.min(value), high.max(value)))
        })
    };
    let per_cell = extent(
        &mut result
            .cells
            .iter()
            .filter(|cell| !cell.repeats.is_empty())
            .map(|cell| cell.repeats.len() as f64),
    );
    let length = extent(&mut runs().map(|run| run.duration_seconds));
    let (Some((fewest, most)), Some((shortest, longest))) = (per_cell, length) else {
        return words.text(".");
    };
    let reach = |low: f64, high: f64| {
        let (low, high) = (seconds(low), seconds(high));
        if low == high {
            low
        } else {
            format!("{low} to {high}")
        }
    };
    let words = words.text(format!(
        ": {} {} of {} s each.",
        reach(fewest, most),
        if most == 1.0 {
            "run a cell"
        } else {
            "runs a cell"
        },
        reach(shortest, longest)
    ));
    match result.form.as_str() {
        "quick" => words.text(
            " Such runs are short: they show that the lab works and the order of \
             magnitude, but little about tails and slow drifts.",
        ),
        "standard" => words.text(
            " These are shorter than a full run: they do not show what happens once in several minutes.",
        ),
        _ => words,
    }
}

/// Seconds without superfluous digits.
fn seconds(value: f64) -> String {
    let places = u8::from(value < 20.0 && (value - value.round()).abs() >= 0.05);
    number::Place::decimals(places).print(value)
}
