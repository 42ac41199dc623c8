//! Tables that are drawn with blanks or bars in code: a header, a line below it, and rows.

use super::name::Name;
use crate::document::Table;
use crate::report::Report;

const MIN_COLUMNS: usize = 3;
const MIN_ROWS: usize = 2;
const MAX_LINES: usize = 400;
const MAX_TABLES: usize = 50;

pub fn find_tables(report: &Report) -> Vec<Table> {
    let mut found = Vec::new();
    for code in report.document.codes.iter().take(200) {
        if !report.document.markdown || found.len() >= MAX_TABLES {
            break;
        }
        let lines: Vec<(usize, Vec<String>)> = code
            .lines(report.text)
            .into_iter()
            .take(MAX_LINES)
            .filter(|line| !report.is_output(line.number) && line.text.len() < 300)
            .map(|line| (line.number, split_cells(line.text)))
            .collect();
        let mut at = 0;
        while at < lines.len() {
            match parse_table(&lines[at..]) {
                Some((table, length)) => {
                    found.push(table);
                    at += length;
                }
                None => at += 1,
            }
        }
    }
    found
}

/// Whether a line only separates rows.
fn is_rule(cells: &[String]) -> bool {
    !cells.is_empty()
        && cells.iter().all(|cell| {
            cell.chars().count() >= 3
                && cell.chars().all(|letter| {
                    matches!(letter, '-' | '=' | '+' | ':' | ' ')
                        || ('\u{2500}'..'\u{2580}').contains(&letter)
                })
        })
}

/// The cells of a line: between bars, or between two blanks or more.
fn split_cells(line: &str) -> Vec<String> {
    let bars = line.matches(['|', '│', '║']).count() >= 2;
    let parts: Vec<&str> = match bars {
        true => line
            .trim()
            .trim_matches(['|', '│', '║'])
            .split(['|', '│', '║'])
            .collect(),
        false => line.split("  ").flat_map(|part| part.split('\t')).collect(),
    };
    let cells = parts.into_iter().map(|cell| cell.trim().to_owned());
    cells.filter(|cell| bars || !cell.is_empty()).collect()
}

/// The table that begins with the first line, and its number of lines.
fn parse_table(lines: &[(usize, Vec<String>)]) -> Option<(Table, usize)> {
    let ((line, header), below) = lines.split_first()?;
    let named = header
        .iter()
        .all(|cell| cell.chars().any(char::is_alphabetic));
    let known = header
        .iter()
        .filter(|cell| Name::read(cell).is_known())
        .count();
    let ruled = below.first().is_some_and(|(_, cells)| is_rule(cells));
    if header.len() < MIN_COLUMNS || !named || is_rule(header) || known < if ruled { 1 } else { 2 }
    {
        return None;
    }
    let mut rows = Vec::new();
    let mut length = 1;
    for (line, cells) in below {
        if is_rule(cells) {
            length += 1;
            continue;
        }
        if cells.len() != header.len() {
            break;
        }
        rows.push((*line, cells.clone()));
        length += 1;
    }
    (rows.len() >= MIN_ROWS).then(|| {
        let table = Table {
            line: *line,
            header: header.clone(),
            rows,
        };
        (table, length)
    })
}
