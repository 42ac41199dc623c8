//! One sentence for each table: its question, and the figures that answer it.

use plimsoll_plots::number::Place;
use plimsoll_results::lab::{Cell, Figure, LabResult, TableLayout};

use crate::document::Words;
use crate::naming::short_name;
use crate::units::factor;

/// Values of an axis that a sentence lists; with more, it names the lowest and the highest.
const MOST_LISTED: usize = 5;

/// The sentences, in the order of the tables. A table without two valid cells has none.
pub fn sentences(result: &LabResult) -> Vec<Words> {
    // Searches for a limit have sentences of their own.
    let tables = result.tables.iter();
    tables
        .filter(|table| table.figures.first().is_some_and(|name| name != "limit"))
        .filter_map(|table| {
            let found = valid_cells(result, table)?;
            listed(result, table, &found).or_else(|| extremes(result, table, &found))
        })
        .collect()
}

/// A valid cell of a table, its value in the table's unit as text, and the number to order it by.
struct Found<'a> {
    cell: &'a Cell,
    value: f64,
    text: String,
}

fn unit<'a>(table: &'a TableLayout, figure: &'a Figure) -> (&'a str, f64) {
    let wanted = table.unit.as_deref();
    let converted = wanted.and_then(|unit| Some((unit, factor(&figure.unit, unit)?)));
    converted.unwrap_or((&figure.unit, 1.0))
}

/// The valid cells with the table's first figure, and the unit.
fn valid_cells<'a>(
    result: &'a LabResult,
    table: &'a TableLayout,
) -> Option<(Vec<Found<'a>>, &'a str)> {
    let name = table.figures.first()?;
    let mut shown = "";
    let cells = result
        .cells
        .iter()
        .filter(|cell| cell.verdict == "valid" && table.cells.contains(&cell.name));
    let found: Vec<Found<'_>> = cells
        .filter_map(|cell| {
            let figure = cell.figures.iter().find(|figure| figure.name == *name)?;
            let (unit, by) = unit(table, figure);
            shown = unit;
            let value = figure.value * by;
            let interval = figure.interval.map(|(low, high)| (low * by, high * by));
            let text = match value == 0.0 {
                true => "0".to_owned(),
                false => Place::of(value, interval).print(value),
            };
            Some(Found { cell, value, text })
        })
        .collect();
    (found.len() > 1).then_some((found, shown))
}

fn value_of<'a>(cell: &'a Cell, axis: &str) -> Option<&'a str> {
    let place = cell.place.iter().find(|(name, _)| name == axis)?;
    Some(&place.1)
}

/// `At wire=h1: haproxy 31,400, nginx 29,100 requests/s`: the rows of the first column with two valid cells.
fn listed(
    result: &LabResult,
    table: &TableLayout,
    (found, unit): &(Vec<Found<'_>>, &str),
) -> Option<Words> {
    let ([row], true) = (&table.rows[..], table.columns.len() <= 1) else {
        return None;
    };
    let column = table.columns.first();
    let values = result
        .axes
        .iter()
        .find(|axis| Some(&axis.name) == column)
        .map_or_else(
            || vec![None],
            |axis| {
                axis.values
                    .iter()
                    .map(|value| Some(value.as_str()))
                    .collect()
            },
        );
    let mut column_cells = values.into_iter().filter_map(|wanted| {
        let is_in = |one: &&Found<'_>| column.is_none_or(|axis| value_of(one.cell, axis) == wanted);
        let cells: Vec<&Found<'_>> = found.iter().filter(is_in).collect();
        (2..=MOST_LISTED)
            .contains(&cells.len())
            .then_some((wanted, cells))
    });
    let (wanted, mut cells) = column_cells.next()?;
    cells.sort_by(|one, other| other.value.total_cmp(&one.value));
    let mut words = Words::plain(format!("{} ", table.title));
    if let (Some(axis), Some(value)) = (column, wanted) {
        words = words.text("At ").code(format!("{axis}={value}")).text(": ");
    }
    for (at, one) in cells.iter().enumerate() {
        let comma = if at == 0 { "" } else { ", " };
        words = words
            .text(comma)
            .code(value_of(one.cell, row)?)
            .text(" ")
            .strong(one.text.clone());
    }
    Some(words.text(format!(" {unit}.")))
}

/// The lowest and the highest value, and their cells.
fn extremes(
    result: &LabResult,
    table: &TableLayout,
    (found, unit): &(Vec<Found<'_>>, &str),
) -> Option<Words> {
    let low = found
        .iter()
        .min_by(|one, other| one.value.total_cmp(&other.value))?;
    let high = found
        .iter()
        .max_by(|one, other| one.value.total_cmp(&other.value))?;
    let words = Words::plain(format!("{} ", table.title));
    if low.text == high.text {
        return Some(
            words
                .strong(low.text.clone())
                .text(format!(" {unit} in all {} valid cells.", found.len())),
        );
    }
    Some(
        words
            .text("From ")
            .strong(low.text.clone())
            .text(" (")
            .code(short_name(result, low.cell))
            .text(") to ")
            .strong(high.text.clone())
            .text(format!(" {unit} ("))
            .code(short_name(result, high.cell))
            .text(")."),
    )
}
