//! Groups comparisons by figure and by values of an axis, and formats their results.

use plimsoll_plots::number;
use plimsoll_results::lab::{Comparison, LabResult};

use crate::leads::{axis_value, compared_figure};

/// Comparisons of the same figure, with the same label, between the same two values of an axis. Labels can differ: the
/// latency of some cells includes connecting, and that of others does not.
pub struct Group<'a> {
    pub axis: &'a str,
    /// The base and the value compared with it.
    pub values: (&'a str, &'a str),
    pub figure: &'a str,
    pub label: String,
    pub unit: String,
    pub members: Vec<&'a Comparison>,
}

/// Groups comparisons. Groups are in the order of their first comparisons.
pub fn groups(result: &LabResult) -> Vec<Group<'_>> {
    let mut groups: Vec<Group> = Vec::new();
    for comparison in &result.comparisons {
        let value = |name: &str| {
            result
                .cells
                .iter()
                .find(|cell| cell.name == name)
                .and_then(|cell| axis_value(cell, &comparison.axis))
        };
        let values = (
            value(&comparison.cells.0).unwrap_or(&comparison.cells.0),
            value(&comparison.cells.1).unwrap_or(&comparison.cells.1),
        );
        let figure = compared_figure(result, comparison);
        let label = figure.map_or(&comparison.figure, |figure| &figure.label);
        let known = groups.iter_mut().find(|group| {
            group.axis == comparison.axis
                && group.values == values
                && group.figure == comparison.figure
                && group.label == *label
        });
        if let Some(group) = known {
            group.members.push(comparison);
            continue;
        }
        groups.push(Group {
            axis: &comparison.axis,
            values,
            figure: &comparison.figure,
            label: label.clone(),
            unit: figure.map_or_else(String::new, |figure| figure.unit.clone()),
            members: vec![comparison],
        });
    }
    groups
}

/// Groups of one figure that compare values of an axis with the same base: the subject of one sentence.
pub struct Theme<'a> {
    /// The first group; its axis, base and figure are those of all groups.
    pub first: &'a Group<'a>,
    pub groups: Vec<&'a Group<'a>>,
}

impl Theme<'_> {
    /// Whether the lab declares one of its comparisons as primary.
    pub fn is_primary(&self) -> bool {
        let mut members = self.groups.iter().flat_map(|group| &group.members);
        members.any(|one| one.primary)
    }
}

/// Themes in the order of their first groups.
pub fn themes<'a>(groups: &'a [Group<'a>]) -> Vec<Theme<'a>> {
    let mut themes: Vec<Theme> = Vec::new();
    for group in groups {
        let known = themes.iter_mut().find(|theme| {
            theme.first.axis == group.axis
                && theme.first.values.0 == group.values.0
                && theme.first.figure == group.figure
                && theme.first.label == group.label
        });
        match known {
            Some(theme) => theme.groups.push(group),
            None => themes.push(Theme {
                first: group,
                groups: vec![group],
            }),
        }
    }
    themes
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
pub fn format_ratio(value: f64) -> String {
    let decimals = match value {
        100.0.. => 0,
        10.0.. => 1,
        0.1.. => 2,
        _ => return number::short(value),
    };
    number::Place::decimals(decimals).print(value)
}

pub fn format_probability(p: f64) -> String {
    if p < 0.001 {
        "< 0.001".to_owned()
    } else {
        number::Place::decimals(3).print(p)
    }
}
