//! Units: compares bytes ÷ time with the printed rate, and a table with the raw block.

use crate::block::{Block, Tool, Traffic};
use crate::document::Table;
use crate::finding::Level;
use crate::quantity::{Quantity, Unit, format_number, format_value, parse_number, split_number};
use crate::records::{Meaning, Name};
use crate::report::{Findings, Report};

use super::tables::parse_figure;

pub fn check_units(report: &Report, findings: &mut Findings) {
    // The lines of a damaged output may come from two runs.
    let whole = report
        .blocks
        .iter()
        .filter(|block| block.orphan_rows.is_empty());
    for block in whole {
        for side in [&block.sent, &block.received] {
            check_rate(block, side, findings);
        }
    }
    for table in &report.document.tables {
        check_cells(report, table, findings);
        check_missing_units(table, findings);
        check_trends(report, table, findings);
    }
}

/// Checks total ÷ time = rate, in bytes or in bits.
fn check_rate(block: &Block, side: &Traffic, findings: &mut Findings) {
    let (Some(total), Some(rate)) = (&side.total, &side.rate) else {
        return;
    };
    // k6 prints its time to a tenth of a second, so count ÷ rate is more precise.
    let exact = block.divisor_time().filter(|_| block.tool == Tool::K6);
    let Some(time) = side
        .time
        .or(exact)
        .or(block.elapsed.as_ref().map(|elapsed| elapsed.value))
    else {
        return;
    };
    if time <= 0.0 || rate.value <= 0.0 {
        return;
    }
    let factor = if rate.unit == Unit::BitRate { 8.0 } else { 1.0 };
    let (low, high) = total.bounds();
    // iperf3 prints both ends of the interval with two digits, which matters if the transfer was short.
    let rounding = match (&block.elapsed, block.tool) {
        (Some(elapsed), Tool::Iperf3) => 2.0 * elapsed.step,
        _ => 0.0,
    };
    let (shortest, longest) = ((time - rounding).max(f64::MIN_POSITIVE), time + rounding);
    let (low, high) = (
        low * factor / longest * 0.97,
        high * factor / shortest * 1.03,
    );
    let (min_rate, max_rate) = rate.bounds();
    if max_rate >= low && min_rate <= high {
        return;
    }
    let computed = total.value * factor / time;
    findings.block(
        "unit-mismatch",
        Level::Error,
        block,
        rate.line,
        [
            format!(
                "{} in {}, printed as {}",
                total.text,
                format_value(time, Unit::Time),
                rate.text
            ),
            format!(
                "{} ÷ {} = {}, {:.2} times the printed value{}",
                total.text,
                format_value(time, Unit::Time),
                format_like(rate, computed),
                computed / rate.value,
                if (computed * 8.0 / rate.value - 1.0).abs() < 0.1
                    || (computed / 8.0 / rate.value - 1.0).abs() < 0.1
                {
                    ": bits and bytes were confused"
                } else {
                    ""
                }
            ),
            "State whether the units are bits or bytes, decimal or binary, and recalculate."
                .to_owned(),
        ],
    );
}

/// Formats a value in the unit of a printed rate. Some tools print binary multiples under decimal
/// names, so that only the printed number and its value show what the unit means.
fn format_like(printed: &Quantity, value: f64) -> String {
    let split = split_number(&printed.text);
    let known = split.and_then(|(number, unit)| Some((parse_number(number)?.0, unit.trim())));
    let Some((number, unit)) = known.filter(|(number, unit)| *number > 0.0 && !unit.is_empty())
    else {
        return format_value(value, printed.unit);
    };
    let per_second = match unit.contains('/') || unit.ends_with("ps") {
        true => "",
        false => "/s",
    };
    let converted = format_number(value / printed.value * number);
    format!("{converted} {unit}{per_second}")
}

/// Reports the same digits as in the raw block with another unit.
fn check_cells(report: &Report, table: &Table, findings: &mut Findings) {
    for (line, row) in &table.rows {
        let mut wrong = Vec::new();
        let mut raw_line = 0;
        for cell in row {
            let Some(shown) = parse_figure(cell, *line) else {
                continue;
            };
            if !matches!(shown.unit, Unit::ByteRate | Unit::BitRate) {
                continue;
            }
            let Some((number, _)) = split_number(&shown.text) else {
                continue;
            };
            let rates = || {
                report
                    .blocks
                    .iter()
                    .flat_map(|block| [&block.sent.rate, &block.received.rate])
                    .flatten()
            };
            let same =
                |raw: &&Quantity| split_number(&raw.text).is_some_and(|(raw, _)| raw == number);
            let right = rates().filter(same).any(|raw| raw.unit == shown.unit);
            if let (Some(raw), false) = (
                rates().find(|raw| same(raw) && raw.unit != shown.unit),
                right,
            ) {
                raw_line = raw.line;
                wrong.push((shown.clone(), raw.clone()));
            }
        }
        let Some((shown, raw)) = wrong.first() else {
            continue;
        };
        let pairs: Vec<String> = wrong
            .iter()
            .map(|(shown, raw)| format!("{} in the table, {} in the block", shown.text, raw.text))
            .collect();
        findings.page(
            "unit-mismatch",
            Level::Error,
            *line,
            [
                format!("{} (line {raw_line})", pairs.join("; ")),
                format!(
                    "{} = {}, {:.3} times the {} in the table",
                    raw.text,
                    format_value(
                        if raw.unit == Unit::BitRate {
                            raw.value / 8.0
                        } else {
                            raw.value * 8.0
                        },
                        shown.unit
                    ),
                    if raw.unit == Unit::BitRate {
                        raw.value / 8.0 / shown.value
                    } else {
                        raw.value * 8.0 / shown.value
                    },
                    shown.text
                ),
                "Use the unit of the output in the table.".to_owned(),
            ],
        );
    }
}

/// Reports a bare number in a column whose other cells all have a unit.
fn check_missing_units(table: &Table, findings: &mut Findings) {
    for column in 0..table.header.len().min(64) {
        let cells: Vec<(usize, &str)> = table
            .rows
            .iter()
            .map(|(line, row)| (*line, super::tables::cell_at(row, column)))
            .collect();
        let with: Vec<&str> = cells
            .iter()
            .filter(|(line, cell)| parse_figure(cell, *line).is_some())
            .map(|(_, cell)| *cell)
            .collect();
        let without: Vec<&(usize, &str)> = cells
            .iter()
            .filter(|(_, cell)| {
                !cell.trim().is_empty()
                    && cell.trim().parse::<f64>().is_ok_and(|value| value != 0.0)
            })
            .collect();
        let ([(line, cell)], true) = (
            &without[..],
            with.len() >= 3 && with.len() + 1 == cells.len(),
        ) else {
            continue;
        };
        // The name of the row contains the unit: `Requests/sec`.
        let side = table.rows.iter().find(|(row, _)| row == line);
        let side = side.map_or("", |(_, row)| super::tables::cell_at(row, 0));
        if column > 0 && !matches!(Name::read(side).meaning, Meaning::Other) {
            continue;
        }
        findings.page(
            "unit-mismatch",
            Level::Warning,
            *line,
            [
                format!(
                    "`{cell}` in the column `{}`, next to {} and {}",
                    table.header[column], with[0], with[1]
                ),
                format!(
                    "{} of {} cells have a unit, but this one does not",
                    with.len(),
                    cells.len()
                ),
                "Add the unit.".to_owned(),
            ],
        );
    }
}

/// Checks a cell that quotes several figures of a trend: they must belong to the same block.
fn check_trends(report: &Report, table: &Table, findings: &mut Findings) {
    for (line, row) in table.rows.iter().take(500) {
        for cell in row {
            let quoted: Vec<&str> = cell
                .trim_matches('`')
                .split_whitespace()
                .filter(|word| word.contains('='))
                .collect();
            if quoted.len() < 4 || !cell.contains("avg=") {
                continue;
            }
            let raw = report.text.lines().enumerate().any(|(at, text)| {
                at + 1 != *line && {
                    let words: Vec<&str> = text.split_whitespace().collect();
                    quoted.iter().all(|word| words.contains(word))
                }
            });
            if !raw && !report.blocks.is_empty() {
                findings.page(
                    "unit-mismatch",
                    Level::Error,
                    *line,
                    [
                        format!("`{}`", quoted.join(" ")),
                        format!(
                            "no output has these {} figures in one row",
                            format_number(quoted.len() as f64)
                        ),
                        "Copy the row from the output again.".to_owned(),
                    ],
                );
            }
        }
    }
}
