//! A column of ranks: a row is above another one although it is worse in all of their figures.

use super::orders::{TIE, is_ordered};
use super::warn;
use crate::document::Table;
use crate::records::{Field, Grid, Grids, Kind, Record, is_rank, parse_rank};
use crate::report::{Findings, Report};

pub fn check_tables(report: &Report, grids: &Grids, findings: &mut Findings) {
    for table in report.document.tables.iter().take(200) {
        let grid = grids.rows.iter().find(|grid| grid.line == table.line);
        if let Some(grid) = grid {
            check_order(table, grid, findings);
            check_winner_mark(grid, findings);
        }
    }
}

/// The rank of each row of a table, by line.
fn row_ranks(table: &Table) -> Option<Vec<(usize, u32)>> {
    let column = table.header.iter().position(|name| is_rank(name));
    // A row index is not a rank.
    let claimed = column.filter(|at| {
        let name = table.header[*at]
            .trim_matches(['*', ' ', '.'])
            .to_lowercase();
        !matches!(name.as_str(), "#" | "no")
    });
    let medal = |row: &[String]| {
        let cell = row
            .iter()
            .take(2)
            .find(|cell| cell.contains(['🥇', '🥈', '🥉']))?;
        parse_rank(cell)
    };
    let medals = table.rows.iter().any(|(_, row)| medal(row).is_some());
    if claimed.is_none() && !medals {
        return None;
    }
    let places = table.rows.iter().take(100).filter_map(|(line, row)| {
        let own = column.and_then(|at| parse_rank(row.get(at)?));
        Some((*line, own.or_else(|| medal(row))?))
    });
    let places: Vec<(usize, u32)> = places.collect();
    // The table contains several rankings.
    let rising = places.windows(2).all(|pair| pair[0].1 < pair[1].1);
    (places.len() >= 3 && rising).then_some(places)
}

/// Reports a row that is above another one although it is worse in all of their figures.
fn check_order(table: &Table, grid: &Grid, findings: &mut Findings) {
    const SCORES: [&str; 6] = ["score", "points", "overall", "weighted", "total", "rating"];
    let scored = table.header.iter().any(|name| {
        let lower = name.to_lowercase();
        SCORES.iter().any(|word| lower.contains(word))
    });
    let Some(places) = row_ranks(table).filter(|_| !scored) else {
        return;
    };
    let rows: Vec<(&Record, u32)> = places
        .iter()
        .filter_map(|(line, place)| {
            Some((grid.records.iter().find(|row| row.line == *line)?, *place))
        })
        .collect();
    let records: Vec<&Record> = rows.iter().map(|(row, _)| *row).collect();
    let ordered = |field: &Field| {
        let figures: Vec<f64> = records
            .iter()
            .filter_map(|row| Some(row.matching_field(field)?.figure.value))
            .collect();
        figures.len() == records.len() && is_ordered(&figures)
    };
    // The table may rank by this column, whatever it contains.
    if records.len() < 3 || records[0].fields.iter().any(ordered) {
        return;
    }
    for (at, (above, place)) in rows.iter().enumerate() {
        for (below, next) in &rows[at + 1..] {
            if let Some((worse, better)) = find_better_field(above, below) {
                warn(
                    "comparison-reversed",
                    above.line,
                    [
                        format!(
                            "{} has rank {place}, {}: {}; {} has rank {next}: {}",
                            above.label,
                            worse.name.text,
                            worse.figure.text,
                            below.label,
                            better.figure.text
                        ),
                        format!(
                            "{} is better than {}, and no other figure in the table ranks {} above {}",
                            better.figure.text, worse.figure.text, above.label, below.label
                        ),
                        "Rank by one figure, and state which.".to_owned(),
                    ],
                    findings,
                );
                return;
            }
        }
    }
}

/// Checks the only row with the mark of a winner: another row must not be better in all of their figures.
fn check_winner_mark(grid: &Grid, findings: &mut Findings) {
    const MARKS: [&str; 4] = ["🏆", "👑", "(winner)", "(fastest)"];
    let marked = |record: &&Record| {
        let label = record.label.to_lowercase();
        MARKS.iter().any(|mark| label.contains(mark))
    };
    let mut winners = grid.records.iter().filter(marked);
    let (Some(winner), None) = (winners.next(), winners.next()) else {
        return;
    };
    let better = grid
        .records
        .iter()
        .find_map(|other| Some((find_better_field(winner, other)?, other)));
    let Some(((worse, better), other)) = better else {
        return;
    };
    warn(
        "comparison-reversed",
        winner.line,
        [
            format!(
                "{}, {}: {}; {}: {}",
                winner.label, worse.name.text, worse.figure.text, other.label, better.figure.text
            ),
            format!(
                "{} is better than {}, and so are all other figures of {}",
                better.figure.text, worse.figure.text, other.label
            ),
            "Mark the row with the best figures.".to_owned(),
        ],
        findings,
    );
}

/// A figure in which the second record is better, if it is better in all comparable figures.
fn find_better_field<'r>(above: &'r Record, below: &'r Record) -> Option<(&'r Field, &'r Field)> {
    let mut first = None;
    for field in &above.fields {
        let Some(other) = below.matching_field(field) else {
            continue;
        };
        let (mine, theirs) = (field.figure.value, other.figure.value);
        // The table may rank by memory use.
        let more = match (field.more_is_better(), field.figure.kind) {
            (Some(more), _) => more,
            (None, Kind::Data | Kind::Percent) => false,
            (None, Kind::DataRate) => true,
            _ => continue,
        };
        let better = match more {
            true => theirs > (1.0 + TIE) * mine,
            false => theirs < (1.0 - TIE) * mine,
        };
        if !(better && field.is_exact() && other.is_exact()) {
            return None;
        }
        if field.more_is_better().is_some() {
            first = first.or(Some((field, other)));
        }
    }
    first
}
