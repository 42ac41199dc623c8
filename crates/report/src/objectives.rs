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
        return words.strong("kept").text(if all.len() == 1 {
            " in its one cell.".to_owned()
        } else {
            format!(" in all {cells} it is about.")
        });
    }
    let mut words = words.strong(format!("kept in {} of {cells}", kept.len()));
    for (name, some) in [("broken in", &broken), ("undecided in", &undecided)] {
        if some.is_empty() {
            continue;
        }
        words = words.text(format!("; {name} {}", some.len()));
        // Named one by one as long as that can be read.
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

/// An objective with its figure called what a reader calls it.
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
            "An objective is kept where the whole interval lies within the limit, broken where \
             none of it does, and undecided where the interval spans the limit. The margin is \
             what is left to the limit, as a share of it.",
        )),
        Block::Table(Table {
            caption: "Objectives, with what is left to each limit".to_owned(),
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
    row.push(Words::new().verdict(outcome.verdict.clone()));
    row
}

/// `12 %` left, or `−3.1 %` beyond. Of a limit that is a floor the sign turns.
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

/// A share in percent, with as many nines as it takes to tell it from all.
pub fn share(share: f64) -> String {
    let percent = share * 100.0;
    let missing = 100.0 - percent;
    let places = if missing <= 0.0 || missing >= 1.0 {
        2
    } else {
        (2.0 - missing.log10().floor()).clamp(2.0, 6.0) as u8
    };
    let text = plimsoll_plots::number::Place::decimals(places).print(percent);
    // Rounded up to all would say more than is so.
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
