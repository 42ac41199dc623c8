//! A column that is the product or the sum of two others in every row but one.

use super::columns::Column;
use super::warn;
use crate::quantity::format_number;
use crate::records::{Figure, Grid, Kind};
use crate::report::Findings;

/// Factors between units of the same kind: times, data, shares.
const SCALES: [f64; 13] = [
    1.0,
    1e-2,
    1e2,
    1e-3,
    1e3,
    1e-6,
    1e6,
    1e-9,
    1e9,
    60.0,
    1.0 / 60.0,
    3600.0,
    1024.0,
];
/// Minimum number of rows in which a relation must hold.
const MIN_ROWS: usize = 3;

#[derive(Clone, Copy, PartialEq)]
enum Relation {
    /// The third figure is the product of the other two, times a factor.
    Product(f64),
    Sum,
}

pub fn check(grid: &Grid, columns: &[Column], findings: &mut Findings) {
    if grid.records.len() <= MIN_ROWS {
        return;
    }
    for a in 0..columns.len() {
        for b in a + 1..columns.len() {
            for c in (0..columns.len()).filter(|c| *c != a && *c != b) {
                let parts = [&columns[a], &columns[b], &columns[c]];
                let relations = SCALES
                    .map(Relation::Product)
                    .into_iter()
                    .chain([Relation::Sum]);
                for relation in relations {
                    if let Some(row) = find_outlier(parts, relation) {
                        report(grid, parts, relation, row, findings);
                    }
                }
            }
        }
    }
}

fn figure_at<'r>(column: &Column<'r>, row: usize) -> Option<&'r Figure> {
    let figure = column.cells.get(row).copied().flatten()?;
    (figure.value > 0.0 && !figure.about).then_some(figure)
}

fn figures_at<'r>(parts: [&Column<'r>; 3], row: usize) -> Option<[&'r Figure; 3]> {
    Some([
        figure_at(parts[0], row)?,
        figure_at(parts[1], row)?,
        figure_at(parts[2], row)?,
    ])
}

/// The third figure according to a relation, and its uncertainty.
fn compute_figure([a, b, c]: [&Figure; 3], relation: Relation) -> (f64, f64) {
    match relation {
        Relation::Product(scale) => {
            let right = a.value * b.value * scale;
            let unsure = a.step / a.value + b.step / b.value;
            (right, unsure * right + c.step)
        }
        Relation::Sum => (a.value + b.value, a.step + b.step + c.step),
    }
}

/// The only row that does not match a relation.
fn find_outlier(parts: [&Column; 3], relation: Relation) -> Option<usize> {
    let rows = parts[0].cells.len();
    let (mut alike, mut others) = (Vec::new(), Vec::new());
    for row in 0..rows {
        let Some(figures) = figures_at(parts, row) else {
            continue;
        };
        let (right, unsure) = compute_figure(figures, relation);
        let printed = figures[2].value;
        let apart = (right - printed).abs();
        match relation {
            _ if unsure > 0.03 * right.max(printed) => return None,
            Relation::Sum
                if figures[0].kind != figures[2].kind || figures[1].kind != figures[2].kind =>
            {
                return None;
            }
            _ if apart <= 1.001 * unsure + 1e-9 * printed => alike.push(row),
            _ if apart > 0.05 * printed + 2.0 * unsure => others.push(row),
            _ => return None,
        }
        if others.len() > 1 {
            return None;
        }
    }
    let distinct = |column: &Column| {
        let mut values: Vec<f64> = alike
            .iter()
            .filter_map(|row| Some(figure_at(column, *row)?.value))
            .collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        values.len()
    };
    let varied = parts
        .iter()
        .all(|column| distinct(column) >= MIN_ROWS.min(alike.len()));
    let comparison = parts.iter().any(|column| {
        column
            .cells
            .iter()
            .flatten()
            .any(|figure| matches!(figure.kind, Kind::Factor | Kind::Percent))
    });
    (alike.len() >= MIN_ROWS && varied && !comparison).then(|| others.first().copied())?
}

fn report(
    grid: &Grid,
    parts: [&Column; 3],
    relation: Relation,
    row: usize,
    findings: &mut Findings,
) {
    let Some([a, b, c]) = figures_at(parts, row) else {
        return;
    };
    let (right, _) = compute_figure([a, b, c], relation);
    // Convert to the printed unit.
    let scale = match crate::quantity::split_number(c.text.trim_matches(['*', '`', ' '])) {
        Some((written, _)) => {
            crate::quantity::parse_number(written).map_or(1.0, |(value, _)| c.value / value)
        }
        None => 1.0,
    };
    let shown = if scale.is_finite() && scale > 0.0 {
        right / scale
    } else {
        right
    };
    let sign = if relation == Relation::Sum { "+" } else { "×" };
    warn(
        "total-mismatch",
        grid.records[row].line,
        [
            format!(
                "{}: {} {}, {} {}, {} {}",
                grid.records[row].label,
                parts[0].name,
                a.text,
                parts[1].name,
                b.text,
                parts[2].name,
                c.text
            ),
            format!(
                "as in every other row, {} {sign} {} is {}, not {}",
                a.text,
                b.text,
                format_number(shown),
                c.text
            ),
            "Take all three figures from the same run.".to_owned(),
        ],
        findings,
    );
}
