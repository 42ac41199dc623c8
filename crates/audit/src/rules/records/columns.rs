//! Columns that are calculated from other columns: a relation that holds in most rows and fails in one.

use crate::quantity::format_number;
use crate::records::{Figure, Grid, Kind, Meaning};
use crate::report::Findings;

use super::{relations, totals, warn};

/// A column: its name and the figure of each record.
pub struct Column<'r> {
    pub name: &'r str,
    pub meaning: Meaning,
    pub cells: Vec<Option<&'r Figure>>,
}

/// How a column may be calculated.
#[derive(Clone, Copy)]
enum Relation {
    /// From two columns of the same row.
    Ratio(usize, usize),
    /// From a row and another row of the same column.
    ToRow(usize, usize),
}

const MAX_COLUMNS: usize = 12;
const MAX_ROWS: usize = 40;

pub fn check(grid: &Grid, findings: &mut Findings) {
    let columns = grid_columns(grid);
    if grid.records.len() < 2 || columns.len() > MAX_COLUMNS || grid.records.len() > MAX_ROWS {
        return;
    }
    totals::check_sums(grid, &columns, findings);
    check_equal_work(grid, &columns, findings);
    totals::check_averages(grid, &columns, findings);
    totals::check_mixtures(grid, &columns, findings);
    relations::check(grid, &columns, findings);
    for (at, target) in columns.iter().enumerate() {
        if is_computed(target) {
            check_outlier(grid, &columns, at, findings);
        }
    }
}

fn grid_columns(grid: &Grid) -> Vec<Column<'_>> {
    let mut columns: Vec<Column> = Vec::new();
    for (row, record) in grid.records.iter().enumerate() {
        for field in &record.fields {
            let known = columns
                .iter()
                .position(|column| column.name == field.name.text);
            let at = known.unwrap_or_else(|| {
                columns.push(Column {
                    name: &field.name.text,
                    meaning: field.name.meaning,
                    cells: vec![None; grid.records.len()],
                });
                columns.len() - 1
            });
            columns[at].cells[row] = Some(&field.figure);
        }
    }
    columns
}

/// Whether the name of a column denotes a comparison of two other figures.
pub fn is_change(name: &str) -> bool {
    const WORDS: [&str; 13] = [
        "speedup",
        "speed-up",
        "ratio",
        "relative",
        "vs",
        "change",
        "diff",
        "improve",
        "δ",
        "delta",
        "faster",
        "slower",
        "reduction",
    ];
    let lower = name.to_lowercase();
    WORDS.iter().any(|word| lower.contains(word))
}

/// Whether the units of a column denote a comparison.
fn is_computed(column: &Column) -> bool {
    let cells = column.cells.iter().flatten();
    let of_share = matches!(column.meaning, Meaning::FailedShare | Meaning::PassedShare);
    let named = is_change(column.name);
    // A share of something, such as the CPU, is not a comparison.
    let signed = |figure: &&Figure| {
        figure
            .text
            .trim_start_matches('*')
            .starts_with(['+', '-', '−'])
    };
    let changes = column
        .cells
        .iter()
        .flatten()
        .copied()
        .any(|figure| signed(&figure));
    let mut any = false;
    let compared = cells.into_iter().all(|figure| {
        any = true;
        match figure.kind {
            Kind::Factor => true,
            Kind::Percent => named || changes,
            Kind::Plain => named,
            _ => false,
        }
    });
    any && compared && !of_share
}

/// The figure that a relation gives, and the uncertainty of its inputs.
fn compute_figure(
    columns: &[Column],
    relation: Relation,
    row: usize,
    percent: bool,
) -> Option<(f64, f64)> {
    let cell = |column: usize, row: usize| {
        let figure = columns.get(column)?.cells.get(row).copied().flatten()?;
        (figure.value.abs() > 0.0 && !matches!(figure.kind, Kind::Percent | Kind::Factor))
            .then_some(figure)
    };
    let (one, other) = match relation {
        Relation::Ratio(a, b) => (cell(a, row), cell(b, row)),
        Relation::ToRow(a, base) => (cell(a, row).filter(|_| base != row), cell(a, base)),
    };
    let (one, other) = one
        .zip(other)
        .filter(|(one, other)| one.kind == other.kind)?;
    let unsure = one.step / one.value.abs() + other.step / other.value.abs();
    let ratio = one.value / other.value;
    Some(match percent {
        true => ((ratio - 1.0).abs() * 100.0, unsure * ratio * 100.0),
        false => (ratio, unsure * ratio),
    })
}

/// Reports a row that does not match the relation of the other rows.
fn check_outlier(grid: &Grid, columns: &[Column], target: usize, findings: &mut Findings) {
    let mut relations = Vec::new();
    for a in (0..columns.len()).filter(|a| *a != target) {
        for b in (0..columns.len()).filter(|b| *b != target && *b != a) {
            relations.push(Relation::Ratio(a, b));
        }
        for row in 0..grid.records.len() {
            relations.push(Relation::ToRow(a, row));
        }
    }
    let judged: Vec<(Relation, Vec<usize>, Vec<usize>)> = relations
        .into_iter()
        .map(|relation| {
            let (mut holds, mut fails) = (Vec::new(), Vec::new());
            for (row, printed) in columns[target].cells.iter().enumerate() {
                match printed.and_then(|printed| matches_relation(columns, relation, row, printed))
                {
                    Some(true) => holds.push(row),
                    Some(false) => fails.push(row),
                    None => {}
                }
            }
            (relation, holds, fails)
        })
        .collect();
    // The inverse of a ratio is another relation between the same columns.
    let Some((relation, holds, fails)) = judged
        .iter()
        .filter(|(_, holds, fails)| !fails.is_empty() && holds.len() >= 2 * fails.len().max(1))
        .max_by_key(|(_, holds, _)| holds.len())
    else {
        return;
    };
    let complete = judged
        .iter()
        .any(|(_, holds, fails)| fails.is_empty() && holds.len() >= 2);
    if complete {
        return;
    }
    for row in fails {
        // The rows of another group are compared with a base row in their group.
        let elsewhere = judged.iter().any(|(other, holds, _)| {
            let grouped = match (relation, other) {
                (Relation::ToRow(a, _), Relation::ToRow(b, base)) => {
                    a == b && columns[target].cells[*base].is_none()
                }
                _ => false,
            };
            (holds.len() >= 2 || grouped) && holds.contains(row)
        });
        let known = columns[target].cells[*row];
        if let (Some(printed), false) = (known, elsewhere) {
            report(
                grid,
                columns,
                (target, *row),
                *relation,
                printed,
                holds,
                findings,
            );
        }
    }
}

/// Whether a relation gives the printed figure, or `None` if the figure proves nothing.
fn matches_relation(
    columns: &[Column],
    relation: Relation,
    row: usize,
    printed: &Figure,
) -> Option<bool> {
    let percent = printed.kind == Kind::Percent;
    let (right, unsure) = compute_figure(columns, relation, row, percent)?;
    let slack = printed.step * 1.001 + unsure + 1e-9;
    let value = printed.value.abs();
    // A coarse figure matches too much, and 0 % or 1.0x matches any equal cells.
    if slack > 0.2 * value.max(right) || value == 0.0 || printed.about {
        return None;
    }
    let near = |right: f64| (value - right).abs() <= slack;
    // More is better for a rate and less for a time, so the factors of two rows may be inverse.
    let inverse = 1.0 / right;
    let unsure = unsure / right * inverse;
    let turned = printed.kind == Kind::Factor
        && value > 1.0
        && right < 1.0
        && (value - inverse).abs() <= printed.step * 1.001 + unsure + 1e-9;
    Some(near(right) || turned)
}

fn report(
    grid: &Grid,
    columns: &[Column],
    (target, row): (usize, usize),
    relation: Relation,
    printed: &Figure,
    holds: &[usize],
    findings: &mut Findings,
) {
    let percent = printed.kind == Kind::Percent;
    let Some((right, _)) = compute_figure(columns, relation, row, percent) else {
        return;
    };
    let text = |column: usize, row: usize| {
        columns[column].cells[row].map_or("", |figure| figure.text.as_str())
    };
    let (one, other) = match relation {
        Relation::Ratio(a, b) => (text(a, row), text(b, row)),
        Relation::ToRow(a, base) => (text(a, row), text(a, base)),
    };
    let unit = if percent { " %" } else { "" };
    warn(
        "ratio-misstated",
        grid.records[row].line,
        [
            format!(
                "{}: {} in the column `{}`",
                grid.records[row].label, printed.text, columns[target].name
            ),
            format!(
                "as in the {} other rows, {one} and {other} give {}{unit}, not {}",
                holds.len(),
                format_number(right),
                printed.text
            ),
            "Recalculate the column from its two figures.".to_owned(),
        ],
        findings,
    );
}

/// Checks for the same work in each row: time × rate is equal in all rows but one.
fn check_equal_work(grid: &Grid, columns: &[Column], findings: &mut Findings) {
    let of = |kind: Kind| {
        let mut with = columns.iter().filter(|column| {
            let mut cells = column.cells.iter().flatten().peekable();
            cells.peek().is_some() && cells.all(|figure| figure.kind == kind && !figure.about)
        });
        let column = with.next()?;
        with.next().is_none().then_some(column)
    };
    let (Some(time), Some(rate)) = (of(Kind::Time), of(Kind::Rate)) else {
        return;
    };
    let products: Vec<(usize, f64)> = (0..grid.records.len())
        .filter_map(|row| Some((row, time.cells[row]?.value * rate.cells[row]?.value)))
        .collect();
    let mut sorted: Vec<f64> = products.iter().map(|(_, product)| *product).collect();
    sorted.sort_by(f64::total_cmp);
    let Some(median) = sorted.get(sorted.len() / 2).copied() else {
        return;
    };
    let apart = |product: f64| (product / median - 1.0).abs();
    let (alike, others): (Vec<_>, Vec<_>) = products
        .iter()
        .partition(|(_, product)| apart(*product) <= 0.03);
    let [(row, product)] = &others[..] else {
        return;
    };
    let figure =
        |column: &Column| column.cells[*row].map_or_else(String::new, |figure| figure.with_unit());
    if alike.len() < 4 || apart(*product) < 0.1 {
        return;
    }
    warn(
        "total-mismatch",
        grid.records[*row].line,
        [
            format!(
                "{}: {} {}, {} {}",
                grid.records[*row].label,
                time.name,
                figure(time),
                rate.name,
                figure(rate)
            ),
            format!(
                "{} × {} = {}; in the {} other rows the product is about {}",
                figure(time),
                figure(rate),
                format_number(*product),
                alike.len(),
                format_number(median)
            ),
            "Check the time and the rate of this row.".to_owned(),
        ],
        findings,
    );
}
