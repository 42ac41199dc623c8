//! Comparisons by figure and values of an axis, and how their results are written.

use plimsoll_plots::number;
use plimsoll_results::lab::{Comparison, LabResult};

use crate::leads::value_on;

/// Comparisons of the same figure between the same two values of an axis.
pub struct Group<'a> {
    pub axis: &'a str,
    /// The base and the value compared with it.
    pub values: (&'a str, &'a str),
    pub figure: &'a str,
    pub label: String,
    pub unit: String,
    pub members: Vec<&'a Comparison>,
}

/// Groups comparisons, in the order of their first ones.
pub fn groups(result: &LabResult) -> Vec<Group<'_>> {
    let mut groups: Vec<Group> = Vec::new();
    for comparison in &result.comparisons {
        let value = |name: &str| {
            result
                .cells
                .iter()
                .find(|cell| cell.name == name)
                .and_then(|cell| value_on(cell, &comparison.axis))
        };
        let values = (
            value(&comparison.cells.0).unwrap_or(&comparison.cells.0),
            value(&comparison.cells.1).unwrap_or(&comparison.cells.1),
        );
        let known = groups.iter_mut().find(|group| {
            group.axis == comparison.axis
                && group.values == values
                && group.figure == comparison.figure
        });
        if let Some(group) = known {
            group.members.push(comparison);
            continue;
        }
        let figure = result
            .cells
            .iter()
            .flat_map(|cell| &cell.figures)
            .find(|figure| figure.name == comparison.figure);
        groups.push(Group {
            axis: &comparison.axis,
            values,
            figure: &comparison.figure,
            label: figure.map_or_else(|| comparison.figure.clone(), |figure| figure.label.clone()),
            unit: figure.map_or_else(String::new, |figure| figure.unit.clone()),
            members: vec![comparison],
        });
    }
    groups
}

/// The comparative for more or less of a figure.
pub fn comparative(unit: &str, more: bool) -> &'static str {
    match (unit, more) {
        ("ms" | "s" | "µs", true) => "longer",
        ("ms" | "s" | "µs", false) => "shorter",
        (_, true) => "higher",
        (_, false) => "lower",
    }
}

/// Three digits, or two decimals below 1.
pub fn ratio(value: f64) -> String {
    let decimals = match value {
        100.0.. => 0,
        10.0.. => 1,
        0.1.. => 2,
        _ => return number::short(value),
    };
    number::Place::decimals(decimals).print(value)
}

pub fn probability(p: f64) -> String {
    if p < 0.001 {
        "< 0.001".to_owned()
    } else {
        number::Place::decimals(3).print(p)
    }
}
