//! Selects the leading figures, and the axis that distinguishes the series of plots.

use plimsoll_results::lab::{Cell, Comparison, Figure, LabResult};

use crate::naming::figures;

/// A figure that many cells have: its name, unit and label.
#[derive(Clone, Debug, PartialEq)]
pub struct Lead {
    pub name: String,
    pub label: String,
    pub unit: String,
}

/// Maximum number of overview plots in a report.
const MAX_LEADS: usize = 5;

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
        if leads.len() < MAX_LEADS && !leads.contains(&lead) {
            leads.push(lead);
        }
    };
    for comparison in &result.comparisons {
        if let Some(figure) = compared_figure(result, comparison) {
            add(figure);
        }
    }
    for outcome in &result.objectives {
        let cell = result.cells.iter().find(|cell| cell.name == outcome.cell);
        if let Some(figure) =
            cell.and_then(|cell| find_judged_figure(cell, outcome.measured, &outcome.unit))
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

/// The figure of one of the compared cells, or else of any cell.
pub fn compared_figure<'a>(result: &'a LabResult, comparison: &Comparison) -> Option<&'a Figure> {
    let (base, other) = &comparison.cells;
    let is_compared = |name: &String| name == base || name == other;
    let of = |only_compared: bool| {
        let cells = result.cells.iter();
        cells
            .filter(|cell| !only_compared || is_compared(&cell.name))
            .flat_map(figures)
            .find(|figure| figure.name == comparison.figure)
    };
    of(true).or_else(|| of(false))
}

/// The figure of a cell from which an objective took its value.
pub fn find_judged_figure<'a>(cell: &'a Cell, value: f64, unit: &str) -> Option<&'a Figure> {
    figures(cell).iter().find(|figure| {
        figure.unit == unit && (figure.value - value).abs() <= 1e-9 * value.abs().max(1e-9)
    })
}

/// A cell's figure of this name, label and unit. The latency of other cells may have another label, because it is
/// another kind of latency.
pub fn find_figure<'a>(cell: &'a Cell, lead: &Lead) -> Option<&'a Figure> {
    figures(cell).iter().find(|figure| {
        figure.name == lead.name && figure.label == lead.label && figure.unit == lead.unit
    })
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
pub fn axis_value<'a>(cell: &'a Cell, axis: &str) -> Option<&'a str> {
    cell.place
        .iter()
        .find(|(name, _)| name == axis)
        .map(|(_, value)| value.as_str())
}
