//! The outcomes of the lab file's objectives.

use plimsoll_results::lab::{LabResult, ObjectiveOutcome};

use crate::document::{Block, Head, Table, Words};
use crate::leads::figure_of;
use crate::naming::{capital, cell_id, counted, short_name};

/// One sentence for each objective.
pub fn sentences(result: &LabResult) -> Vec<Words> {
    let mut objectives: Vec<&str> = Vec::new();
    for outcome in &result.objectives {
        if !objectives.contains(&outcome.objective.as_str()) {
            objectives.push(&outcome.objective);
        }
    }
    objectives
        .iter()
        .map(|objective| sentence(result, objective))
        .collect()
}

fn sentence(result: &LabResult, objective: &str) -> Words {
    let all: Vec<&ObjectiveOutcome> = result
        .objectives
        .iter()
        .filter(|outcome| outcome.objective == objective)
        .collect();
    let of = |verdict: &str| -> Vec<&ObjectiveOutcome> {
        all.iter()
            .copied()
            .filter(|outcome| outcome.verdict == verdict)
            .collect()
    };
    let (kept, broken) = (of("kept"), of("broken"));
    let undecided: Vec<&ObjectiveOutcome> = all
        .iter()
        .copied()
        .filter(|outcome| !matches!(outcome.verdict.as_str(), "kept" | "broken"))
        .collect();
    let words = Words::plain(format!("{}: ", capital(&worded(result, objective))));
    let cells = counted(all.len(), "cell", "cells");
    if kept.len() == all.len() {
        return words.strong("met").text(if all.len() == 1 {
            " in its one cell.".to_owned()
        } else {
            format!(" in all {cells} it applies to.")
        });
    }
    let mut words = words.strong(format!("met in {} of {cells}", kept.len()));
    for (name, some) in [("missed in", &broken), ("undecided in", &undecided)] {
        if some.is_empty() {
            continue;
        }
        words = words.text(format!("; {name} {}", some.len()));
        // List the cells while there are few enough to read.
        if some.len() <= 3 {
            words = words.text(" (");
            for (index, outcome) in some.iter().enumerate() {
                words = if index == 0 { words } else { words.text(", ") };
                words = words.code(cell_name(result, outcome)).text(": ").figure(
                    outcome.measured,
                    interval(result, outcome),
                    &outcome.unit,
                );
            }
            words = words.text(")");
        }
    }
    words.text(".")
}

/// An objective with the label of its figure.
fn worded(result: &LabResult, objective: &str) -> String {
    let (name, rest) = objective.split_once(' ').unwrap_or((objective, ""));
    let mut figures = result.cells.iter().flat_map(|cell| &cell.figures);
    figures.find(|figure| figure.name == name).map_or_else(
        || objective.to_owned(),
        |figure| format!("{} {rest}", figure.label),
    )
}

/// The section's blocks; none without objectives.
pub fn blocks(result: &LabResult) -> Vec<Block> {
    if result.objectives.is_empty() {
        return Vec::new();
    }
    let shares = result
        .objectives
        .iter()
        .any(|outcome| outcome.within.is_some());
    let mut head = vec![
        Head::words("cell"),
        Head::words("objective"),
        Head::figures("measured"),
        Head::figures("limit"),
        Head::figures("margin"),
    ];
    if shares {
        head.push(Head::figures("within the limit"));
    }
    head.push(Head::words("verdict"));
    let rows = result
        .objectives
        .iter()
        .map(|outcome| row(result, outcome, shares))
        .collect();
    vec![
        Block::Prose(Words::plain(
            "An objective is met if the whole interval is within the limit, missed if none of it \
             is, and undecided if the interval spans the limit. The margin is the distance to \
             the limit, as a share of it.",
        )),
        Block::Table(Table {
            caption: "Objectives, with the margin to each limit".to_owned(),
            head,
            rows,
            names: 1,
        }),
    ]
}

fn row(result: &LabResult, outcome: &ObjectiveOutcome, shares: bool) -> Vec<Words> {
    let mut row = vec![
        cell_link(result, outcome),
        Words::plain(worded(result, &outcome.objective)),
        Words::new().figure(outcome.measured, interval(result, outcome), &outcome.unit),
        Words::plain(format!(
            "{} {}",
            plimsoll_plots::number::tick(outcome.limit),
            outcome.unit
        )),
        Words::plain(margin(outcome)),
    ];
    if shares {
        row.push(outcome.within.map_or_else(
            || Words::plain("–"),
            |within| Words::plain(format!("{} %", share(within))),
        ));
    }
    row.push(Words::new().verdict(outcome.text()));
    row
}

/// `12 %` if the limit is met, or `−3.1 %` if it is exceeded. For a lower limit the sign is
/// reversed.
fn margin(outcome: &ObjectiveOutcome) -> String {
    if outcome.limit == 0.0 {
        return "–".to_owned();
    }
    let left = (outcome.limit - outcome.measured) / outcome.limit.abs() * 100.0;
    let floor = outcome.objective.contains("at least");
    let left = if floor { -left } else { left };
    let places = u8::from(left.abs() < 10.0);
    format!(
        "{} %",
        plimsoll_plots::number::Place::decimals(places).print(left)
    )
}

/// A share in percent, with enough digits to distinguish it from 100 %.
pub fn share(share: f64) -> String {
    let percent = share * 100.0;
    let missing = 100.0 - percent;
    let places = if missing <= 0.0 || missing >= 1.0 {
        2
    } else {
        (2.0 - missing.log10().floor()).clamp(2.0, 6.0) as u8
    };
    let text = plimsoll_plots::number::Place::decimals(places).print(percent);
    // Rounding up to 100 % would claim too much.
    if missing > 0.0 && text.starts_with("100") {
        "99.999999".to_owned()
    } else {
        text
    }
}

fn interval(result: &LabResult, outcome: &ObjectiveOutcome) -> Option<(f64, f64)> {
    result
        .cells
        .iter()
        .find(|cell| cell.name == outcome.cell)
        .and_then(|cell| figure_of(cell, outcome.measured, &outcome.unit))
        .and_then(|figure| figure.interval)
}

fn cell_name(result: &LabResult, outcome: &ObjectiveOutcome) -> String {
    result
        .cells
        .iter()
        .find(|cell| cell.name == outcome.cell)
        .map_or_else(|| outcome.cell.clone(), |cell| short_name(result, cell))
}

fn cell_link(result: &LabResult, outcome: &ObjectiveOutcome) -> Words {
    result
        .cells
        .iter()
        .find(|cell| cell.name == outcome.cell)
        .map_or_else(
            || Words::new().code(outcome.cell.clone()),
            |cell| Words::new().link(short_name(result, cell), cell_id(result, cell)),
        )
}
