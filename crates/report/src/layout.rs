//! The layouts of the report's tables: as the lab declares them, or one for each set of figures.

use plimsoll_results::lab::{Cell, LabResult};

use crate::leads::{Lead, axis_value, leads};
use crate::matrix::CPU;
use crate::naming::{capitalize, figures, join_list};

/// Maximum number of values of an axis whose values become columns.
const MAX_COLUMNS: usize = 4;
/// Maximum number of figures in a table that the lab does not declare.
const MAX_FIGURES: usize = 2;
/// Number of leading figures by which cells are assigned to tables.
const COMPARED_FIGURES: usize = 5;

/// A table's axes, figures and cells.
#[derive(Clone)]
pub struct Layout<'a> {
    pub title: String,
    pub rows: Vec<&'a str>,
    pub columns: Vec<&'a str>,
    pub figures: Vec<String>,
    pub unit: Option<&'a str>,
    pub buckets: &'a [f64],
    pub cells: Vec<&'a Cell>,
    pub note: Option<&'a str>,
}

/// The layouts, in order. Every cell that the declared ones leave out gets a table of its own kind.
pub fn layouts(result: &LabResult) -> Vec<Layout<'_>> {
    let mut layouts: Vec<Layout> = Vec::new();
    for table in &result.tables {
        let cells: Vec<&Cell> = result
            .cells
            .iter()
            .filter(|cell| table.cells.contains(&cell.name))
            .collect();
        if cells.is_empty() {
            continue;
        }
        let mut layout = Layout {
            title: table.title.clone(),
            rows: table.rows.iter().map(String::as_str).collect(),
            columns: table.columns.iter().map(String::as_str).collect(),
            figures: table.figures.clone(),
            unit: table.unit.as_deref(),
            buckets: &table.buckets,
            cells,
            note: table.note.as_deref(),
        };
        layout.add_varying_axes(result);
        layouts.push(layout);
    }
    let rest: Vec<&Cell> = result
        .cells
        .iter()
        .filter(|cell| {
            !result
                .tables
                .iter()
                .any(|table| table.cells.contains(&cell.name))
        })
        .collect();
    layouts.extend(undeclared_layouts(result, &rest));
    layouts
}

impl<'a> Layout<'a> {
    /// Axes that vary and are neither rows nor columns become rows, so that no two cells share a
    /// field. Axes with one value among the cells are not shown.
    fn add_varying_axes(&mut self, result: &'a LabResult) {
        let cells = self.cells.clone();
        let varies = |axis: &str| {
            let mut values = cells.iter().map(|cell| axis_value(cell, axis));
            let first = values.next();
            values.any(|value| Some(value) != first)
        };
        self.columns.retain(|axis| varies(axis));
        for axis in &result.axes {
            if varies(&axis.name)
                && !self.rows.contains(&axis.name.as_str())
                && !self.columns.contains(&axis.name.as_str())
            {
                self.rows.push(&axis.name);
            }
        }
        self.rows.retain(|axis| varies(axis));
    }
}

/// Cells with the same figures share a table; those without any join the closest one.
fn undeclared_layouts<'a>(result: &'a LabResult, cells: &[&'a Cell]) -> Vec<Layout<'a>> {
    fn names(cell: &Cell) -> Vec<(&str, &str)> {
        figures(cell)
            .iter()
            .take(COMPARED_FIGURES)
            .map(|figure| (figure.name.as_str(), figure.unit.as_str()))
            .collect()
    }
    type Group<'a> = (Vec<(&'a str, &'a str)>, Vec<&'a Cell>);
    let mut groups: Vec<Group> = Vec::new();
    for cell in cells {
        let signature = if figures(cell).is_empty() {
            crate::matrix::nearest_measured_cell(result, cell)
                .map(names)
                .unwrap_or_default()
        } else {
            names(cell)
        };
        match groups.iter_mut().find(|group| group.0 == signature) {
            Some(group) => group.1.push(cell),
            None => groups.push((signature, vec![cell])),
        }
    }
    let leads = leads(result);
    groups
        .into_iter()
        .map(|(signature, cells)| new_layout(result, &leads, &signature, cells))
        .collect()
}

fn new_layout<'a>(
    result: &'a LabResult,
    leads: &[Lead],
    signature: &[(&str, &str)],
    cells: Vec<&'a Cell>,
) -> Layout<'a> {
    let has = |name: &str| {
        cells
            .iter()
            .flat_map(|cell| figures(cell))
            .any(|figure| figure.name == name)
    };
    let mut names: Vec<String> = Vec::new();
    for lead in leads {
        if lead.name != CPU && has(&lead.name) && !names.contains(&lead.name) {
            names.push(lead.name.clone());
        }
    }
    names.truncate(MAX_FIGURES);
    if names.is_empty() {
        names.extend(signature.first().map(|(name, _)| (*name).to_owned()));
    }
    let mut layout = Layout {
        title: String::new(),
        rows: Vec::new(),
        columns: Vec::new(),
        figures: names,
        unit: None,
        buckets: &[],
        cells,
        note: None,
    };
    layout.add_varying_axes(result);
    // The last axis with few values makes the columns, unless it is the only one.
    let count = |axis: &str| {
        let mut values: Vec<Option<&str>> = Vec::new();
        for cell in &layout.cells {
            let value = axis_value(cell, axis);
            if !values.contains(&value) {
                values.push(value);
            }
        }
        values.len()
    };
    let column = layout
        .rows
        .iter()
        .rposition(|axis| count(axis) <= MAX_COLUMNS)
        .filter(|_| layout.rows.len() > 1);
    if let Some(column) = column {
        let axis = layout.rows.remove(column);
        layout.columns.push(axis);
    }
    layout.title = layout_title(&layout);
    layout
}

/// `Rate and median by backend and place`.
fn layout_title(layout: &Layout) -> String {
    let labels: Vec<String> = layout
        .figures
        .iter()
        .filter_map(|name| {
            let mut all = layout.cells.iter().flat_map(|cell| figures(cell));
            all.find(|figure| figure.name == *name)
                .map(|figure| figure.label.clone())
        })
        .collect();
    if labels.is_empty() {
        return "Cells without figures".to_owned();
    }
    let axes: Vec<String> = layout
        .rows
        .iter()
        .chain(&layout.columns)
        .map(|axis| (*axis).to_owned())
        .collect();
    let by = if axes.is_empty() {
        String::new()
    } else {
        format!(" by {}", join_list(&axes))
    };
    format!("{}{by}", capitalize(&join_list(&labels)))
}
