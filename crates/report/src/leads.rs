//! Selects the leading figures, and the axis that distinguishes the series of plots.

use plimsoll_results::lab::{Cell, Figure, LabResult};

use crate::naming::figures;

/// A figure that many cells have: its name, unit and label.
#[derive(Clone, Debug, PartialEq)]
pub struct Lead {
    pub name: String,
    pub label: String,
    pub unit: String,
}

/// Maximum number of overview plots in a report.
const MOST: usize = 4;

/// The figures that the report focuses on, in this order and without duplicates: the compared ones,
/// those with an objective, and the first one of each cell.
pub fn leads(result: &LabResult) -> Vec<Lead> {
    let mut leads: Vec<Lead> = Vec::new();
    let mut add = |figure: &Figure| {
        let lead = Lead {
            name: figure.name.clone(),
            label: figure.label.clone(),
            unit: figure.unit.clone(),
        };
        let known = |other: &Lead| other.name == lead.name && other.unit == lead.unit;
        if leads.len() < MOST && !leads.iter().any(known) {
            leads.push(lead);
        }
    };
    let all = || result.cells.iter().flat_map(figures);
    for comparison in &result.comparisons {
        if let Some(figure) = all().find(|figure| figure.name == comparison.figure) {
            add(figure);
        }
    }
    for outcome in &result.objectives {
        let cell = result.cells.iter().find(|cell| cell.name == outcome.cell);
        if let Some(figure) = cell.and_then(|cell| figure_of(cell, outcome.measured, &outcome.unit))
        {
            add(figure);
        }
    }
    for cell in &result.cells {
        if let Some(figure) = figures(cell).first() {
            add(figure);
        }
    }
    leads
}

/// The figure of a cell that an objective's value was taken from.
pub fn figure_of<'a>(cell: &'a Cell, value: f64, unit: &str) -> Option<&'a Figure> {
    figures(cell).iter().find(|figure| {
        figure.unit == unit && (figure.value - value).abs() <= 1e-9 * value.abs().max(1e-9)
    })
}

/// A cell's figure of this name and unit.
pub fn find<'a>(cell: &'a Cell, lead: &Lead) -> Option<&'a Figure> {
    figures(cell)
        .iter()
        .find(|figure| figure.name == lead.name && figure.unit == lead.unit)
}

/// The axis whose values are adjacent in plots: the one with the most comparisons, otherwise the
/// first with few values.
pub fn series_axis(result: &LabResult) -> Option<&str> {
    let few = |name: &str| {
        result
            .axes
            .iter()
            .any(|axis| axis.name == name && (2..=6).contains(&axis.values.len()))
    };
    let compared = |name: &str| {
        result
            .comparisons
            .iter()
            .filter(|comparison| comparison.axis == name)
            .count()
    };
    result
        .axes
        .iter()
        .map(|axis| axis.name.as_str())
        .filter(|name| few(name))
        // The first one in case of a tie.
        .rev()
        .max_by_key(|name| compared(name))
}

/// A cell's value on an axis.
pub fn value_on<'a>(cell: &'a Cell, axis: &str) -> Option<&'a str> {
    cell.place
        .iter()
        .find(|(name, _)| name == axis)
        .map(|(_, value)| value.as_str())
}
