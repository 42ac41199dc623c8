//! A row that begins with a figure where all other rows have a name: the rest of the row above it.

use super::warn;
use crate::records::{Kind, read};
use crate::report::{Findings, Report};

const MIN_ROWS: usize = 4;

pub fn check_tables(report: &Report, findings: &mut Findings) {
    for table in report.document.tables.iter().take(200) {
        if table.rows.len() < MIN_ROWS {
            continue;
        }
        let first = |row: &[String]| row.first().cloned().unwrap_or_default();
        let is_time = |cell: &str| read(cell).is_some_and(|figure| figure.kind == Kind::Time);
        let named = |cell: &str| read(cell).is_none() && cell.chars().any(char::is_alphabetic);
        let mut orphan_rows = table.rows.iter().filter(|(_, row)| is_time(&first(row)));
        let (Some((line, row)), None) = (orphan_rows.next(), orphan_rows.next()) else {
            continue;
        };
        let mut others = table.rows.iter().filter(|(other, _)| other != line);
        let all_named = others.clone().all(|(_, row)| named(&first(row)));
        let filled = row.iter().filter(|cell| !cell.trim().is_empty()).count();
        // The row above it ends early by as many cells as this row has.
        let above = others.rfind(|(other, _)| other < line);
        let missing = above.is_some_and(|(_, row)| {
            row.iter()
                .rev()
                .take_while(|cell| cell.trim().is_empty())
                .count()
                >= 2
        });
        if !all_named || filled < 2 || filled * 2 > row.len() + 1 || !missing {
            continue;
        }
        warn(
            "label-mismatch",
            *line,
            [
                format!("a row begins with {}", first(row).trim()),
                format!(
                    "every other row of the table begins with a name, and the row above this one lacks its last cells: its {filled} figures are under the wrong columns"
                ),
                "Write the output of one run into one row.".to_owned(),
            ],
            findings,
        );
    }
}
