//! A table row that repeats the figures of one output, except for one cell that has another value
//! in that output.

use super::named_values::{Value, find_figure, read};
use super::repeated_output::Printed;
use super::words::{Metric, is_of_another_run, parse_metric};
use crate::block::Block;
use crate::document::Table;
use crate::finding::Level;
use crate::quantity::{Quantity, Unit, format_number, format_value, parse_data};
use crate::report::{Findings, Report};

/// Maximum number of tables, and of rows in each.
const MAX_TABLES: usize = 200;
const MAX_ROWS: usize = 200;

/// A row and the output whose figures it repeats.
struct Row<'r> {
    line: usize,
    cells: &'r [String],
    block: &'r Block,
}

pub fn check(report: &Report, findings: &mut Findings) {
    if !report.document.markdown || report.blocks.is_empty() {
        return;
    }
    let tables: Vec<&Table> = report
        .document
        .tables
        .iter()
        .filter(|table| table.header.len() >= 3)
        .filter(|table| !table.header.iter().any(|name| is_of_another_run(name)))
        .filter(|table| !report.is_output(table.line))
        .take(MAX_TABLES)
        .collect();
    if tables.is_empty() {
        return;
    }
    let printed = Printed::from_report(report);
    let rows: Vec<(&Table, Vec<Row>)> = tables
        .into_iter()
        .map(|table| (table, link_rows(table, &printed)))
        .collect();
    let of_a_row: Vec<&Block> = rows
        .iter()
        .flat_map(|(_, rows)| rows.iter().map(|row| row.block))
        .collect();
    for (table, rows) in &rows {
        for row in rows {
            check_cells(report, table, row, &of_a_row, findings);
        }
    }
}

fn link_rows<'r>(table: &'r Table, printed: &Printed<'r>) -> Vec<Row<'r>> {
    table
        .rows
        .iter()
        .take(MAX_ROWS)
        .filter_map(|(line, cells)| {
            let texts: Vec<&str> = cells.iter().map(String::as_str).collect();
            Some(Row {
                line: *line,
                cells,
                block: printed.find_by_figures(&texts, 1)?,
            })
        })
        .collect()
}

fn check_cells(
    report: &Report,
    table: &Table,
    row: &Row,
    of_a_row: &[&Block],
    findings: &mut Findings,
) {
    // If a row describes two runs, the cells of each run would contradict the other run.
    let mut wrong = Vec::new();
    let mut right = 0;
    for (name, cell) in table.header.iter().zip(row.cells).take(32) {
        let Some((claimed, shown)) = figures_to_compare(name, cell, row.block) else {
            continue;
        };
        if is_near(&claimed, shown.value) {
            right += 1;
            continue;
        }
        // The author may have meant an output that has no row.
        let of_another = report.blocks.iter().any(|other| {
            let own_row = of_a_row.iter().any(|known| std::ptr::eq(*known, other));
            !std::ptr::eq(other, row.block)
                && !own_row
                && figures_to_compare(name, cell, other)
                    .is_some_and(|(claimed, shown)| is_near(&claimed, shown.value))
        });
        let in_block = row.block.trends.iter().any(|trend| {
            let mut figures = trend.figures().into_iter();
            figures.any(|(_, figure)| figure.unit == shown.unit && is_near(&claimed, figure.value))
        });
        if !of_another && !in_block {
            wrong.push((name, cell, claimed, shown));
        }
    }
    let [(name, cell, claimed, shown)] = &wrong[..] else {
        return;
    };
    // A cell may have two figures of the output: `193.78ms, 635.76ms`.
    let parts = row.cells.iter().flat_map(|cell| cell.split(", "));
    let listed = parts.filter(|part| {
        let mut figures = row.block.trends.iter().flat_map(|trend| trend.figures());
        figures.any(|(_, figure)| figure.text == part.trim())
    });
    if right == 0 && listed.count() < 2 {
        return;
    }
    findings.block(
        "stale-prose",
        Level::Warning,
        row.block,
        row.line,
        [
            format!(
                "`{}` in the column `{name}`; the output with the other figures of this row has {} (line {})",
                cell.trim(),
                shown.text,
                shown.line
            ),
            format!(
                "{} ÷ {} = {:.2}",
                match shown.unit {
                    Unit::Time | Unit::ByteRate => format_value(claimed.value, shown.unit),
                    _ => format_number(claimed.value),
                },
                shown.text,
                claimed.value / shown.value
            ),
            "Copy this cell from the output again.".to_owned(),
        ],
    );
}

/// The figure in a cell, and the figure of the output for this column.
fn figures_to_compare(name: &str, cell: &str, block: &Block) -> Option<(Value, Quantity)> {
    if let Some(claimed) = parse_data_rate(cell) {
        let shown = block.received.rate.as_ref().or(block.sent.rate.as_ref())?;
        // Tools write binary multiples with decimal unit names, and authors copy the text.
        let written = parse_data(&shown.text, shown.line).map_or(shown.value, |raw| raw.value);
        let mut shown = shown.clone();
        shown.value = written;
        return (shown.value > 0.0 && shown.unit != Unit::BitRate).then_some((claimed, shown));
    }
    let metric = parse_metric(name)?;
    // A cell with two figures, such as a mean and a maximum, is not one of them.
    let two = cell.split(", ").skip(1).any(|part| {
        part.trim_start()
            .starts_with(|letter: char| letter.is_ascii_digit())
    });
    let claimed = read(cell).filter(|_| !two)?;
    let shown = find_figure(block, metric)?;
    let fits = match metric {
        Metric::Rate => matches!(claimed.unit, None | Some(Unit::Rate)),
        Metric::Requests => matches!(claimed.unit, None | Some(Unit::Count)),
        Metric::FailedShare | Metric::PassedShare => false,
        _ => {
            claimed.unit == Some(Unit::Time)
                || parse_column_unit(name).is_some() && claimed.unit.is_none()
        }
    };
    if !fits || shown.value <= 0.0 {
        return None;
    }
    let scale = match claimed.unit {
        None if shown.unit == Unit::Time => parse_column_unit(name)?,
        _ => 1.0,
    };
    Some((claimed.scaled_by(scale), shown))
}

/// The unit in the name of a column: `Mean (ms)`.
fn parse_column_unit(name: &str) -> Option<f64> {
    let (_, rest) = name.rsplit_once(['(', ',', '['])?;
    match rest.trim_matches([')', ']', ' ']) {
        "ms" | "мс" | "毫秒" => Some(1e-3),
        "s" | "sec" | "с" | "秒" => Some(1.0),
        "us" | "µs" | "μs" => Some(1e-6),
        _ => None,
    }
}

/// Parses data per second with the unit in the cell.
fn parse_data_rate(cell: &str) -> Option<Value> {
    let figure = parse_data(cell.trim().trim_matches(['*', '`', ' ']), 0)?;
    (figure.unit == Unit::ByteRate).then(|| Value::alternative(figure.value, figure.step))
}

fn is_near(claimed: &Value, shown: f64) -> bool {
    let share = if claimed.about { 0.15 } else { 0.05 };
    (claimed.value - shown).abs() <= claimed.step + share * shown
}
