//! Comparisons of two values of an axis over all cells: the table.

use plimsoll_results::lab::{LabResult, Outcome, Pooled};

use crate::document::{Head, Table, Words};
use crate::groups::{comparative, format_probability, format_ratio};
use crate::naming::{capitalize, describe_value};

fn describe_finding(result: &LabResult, one: &Pooled) -> String {
    let (_, unit) = label_and_unit(result, one);
    match one.outcome {
        Outcome::Larger => comparative(&unit, true).to_owned(),
        Outcome::Smaller => comparative(&unit, false).to_owned(),
        _ => one.text(),
    }
}

/// The label of the figure, and its unit.
fn label_and_unit(result: &LabResult, one: &Pooled) -> (String, String) {
    let mut figures = result.cells.iter().flat_map(|cell| &cell.figures);
    figures
        .find(|figure| figure.name == one.figure)
        .map_or_else(
            || (one.figure.clone(), String::new()),
            |figure| (figure.label.clone(), figure.unit.clone()),
        )
}

/// The table; `None` without such comparisons.
pub fn table(result: &LabResult) -> Option<Table> {
    let rows: Vec<Vec<Words>> = result
        .pooled
        .iter()
        .map(|one| {
            vec![
                Words::plain(format!(
                    "{} over {}",
                    describe_value(result, &one.axis, &one.other),
                    describe_value(result, &one.axis, &one.base)
                )),
                Words::plain(capitalize(&label_and_unit(result, one).0)),
                Words::plain(one.cells.to_string()),
                Words::plain(one.pairs.to_string()),
                Words::new()
                    .text("×")
                    .figure(one.ratio, Some(one.interval), ""),
                Words::plain(one.range.map_or_else(
                    || "–".to_owned(),
                    |(low, high)| format!("×{} to ×{}", format_ratio(low), format_ratio(high)),
                )),
                Words::plain(format_probability(one.p)),
                Words::plain(describe_finding(result, one)),
            ]
        })
        .collect();
    (!rows.is_empty()).then(|| Table {
        caption: "Over all cells together: the ratio of a typical cell, with its 95 % interval"
            .to_owned(),
        head: vec![
            Head::words("pair"),
            Head::words("figure"),
            Head::figures("cells"),
            Head::figures("pairs of runs"),
            Head::figures("ratio"),
            Head::figures("of single cells"),
            Head::figures("p, corrected"),
            Head::words("outcome"),
        ],
        rows,
        names: 1,
    })
}
