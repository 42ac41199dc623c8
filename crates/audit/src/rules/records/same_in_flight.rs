//! The same number of requests in flight in every row of a table (rate × mean latency), although
//! the rows have different numbers of users: the users of most rows are not those of the run.

use super::warn;
use crate::quantity::format_number;
use crate::records::{Field, Grid, Grids, Kind, Meaning, Record};
use crate::report::Findings;

const MIN_ROWS: usize = 3;

/// A row: its users, its rate and its latency.
struct Row<'r> {
    record: &'r Record,
    users: f64,
    rate: &'r Field,
    time: &'r Field,
}

impl<'r> Row<'r> {
    fn of(record: &'r Record) -> Option<Row<'r>> {
        let users = record.only_field(Meaning::Users)?;
        let rate = record.only_field(Meaning::Rate)?;
        let mut times = record.fields.iter().filter(|field| {
            let mean = matches!(field.name.meaning, Meaning::Mean | Meaning::Other);
            mean && field.name.is_latency() && field.figure.kind == Kind::Time
        });
        let (time, None) = (times.next()?, times.next()) else {
            return None;
        };
        let exact = users.figure.kind == Kind::Plain
            && rate.figure.kind == Kind::Rate
            && [users, rate, time].iter().all(|field| field.is_exact());
        exact.then_some(Row {
            record,
            users: users.figure.value,
            rate,
            time,
        })
    }

    fn in_flight(&self) -> f64 {
        self.rate.figure.value * self.time.figure.value
    }
}

pub fn check(grids: &Grids, findings: &mut Findings) {
    for grid in &grids.tables {
        table(grid, findings);
    }
}

fn table(grid: &Grid, findings: &mut Findings) {
    let rows: Vec<Row> = grid.records.iter().filter_map(Row::of).collect();
    if rows.len() < MIN_ROWS || rows.len() != grid.records.len() {
        return;
    }
    let range = |values: Vec<f64>| {
        let low = values.iter().copied().fold(f64::MAX, f64::min);
        (low, values.iter().copied().fold(0.0, f64::max))
    };
    let (fewest, most) = range(rows.iter().map(|row| row.users).collect());
    let (low, high) = range(rows.iter().map(Row::in_flight).collect());
    let is_one = |row: &&Row| (row.users / row.in_flight() - 1.0).abs() <= 0.05;
    if most < 2.0 * fewest
        || low < 1.0
        || high > 1.06 * low
        || rows.iter().filter(is_one).count() != 1
    {
        return;
    }
    let Some(row) = rows.iter().find(|row| row.users > 1.5 * high) else {
        return;
    };
    let (rate, time) = (row.rate.figure_with_unit(), row.time.figure_with_unit());
    warn(
        "littles-law-gap",
        row.record.line,
        [
            format!(
                "{}: {} users, {rate}, {time}",
                row.record.label,
                format_number(row.users)
            ),
            format!(
                "{rate} × {time} is {} requests at once, as in the {} other rows, which have {} to {} users",
                format_number(row.in_flight()),
                rows.len() - 1,
                format_number(fewest),
                format_number(most)
            ),
            "Print the number of users with which each row was measured.".to_owned(),
        ],
        findings,
    );
}
