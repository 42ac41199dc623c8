//! A list or a row that repeats the figures of a record of another table, except one, which is the
//! figure of another record.

use super::warn;
use crate::records::{Field, Figure, Grid, Grids, Kind, Meaning, Record};
use crate::report::Findings;

/// Minimum number of figures that are those of the same record.
const MIN_EQUAL: usize = 3;
/// Maximum number of comparisons of two records.
const MAX_PAIRS: usize = 20_000;

pub fn check(grids: &Grids, findings: &mut Findings) {
    let lists = grids.lists.iter().map(|list| (list, None));
    let tables = grids.tables.iter().flat_map(|grid| {
        grid.records
            .iter()
            .map(move |record| (record, Some(grid.line)))
    });
    let mut left = MAX_PAIRS;
    for (claim, own) in lists.chain(tables) {
        let fields: Vec<&Field> = claim
            .fields
            .iter()
            .filter(|field| is_measured(field) && claim.only_field(field.name.meaning).is_some())
            .collect();
        if fields.len() <= MIN_EQUAL {
            continue;
        }
        let mut odd: Option<(&Field, &Field, &Record, &Record)> = None;
        let mut whole = false;
        for grid in grids.tables.iter().filter(|grid| Some(grid.line) != own) {
            for record in &grid.records {
                left = left.saturating_sub(1);
                let pairs: Vec<(&Field, &Field)> = fields
                    .iter()
                    .filter_map(|field| Some((*field, record.only_field(field.name.meaning)?)))
                    .filter(|(field, other)| field.figure.kind == other.figure.kind)
                    .collect();
                let unlike =
                    |(field, other): &&(&Field, &Field)| !is_same(&field.figure, &other.figure);
                let mut differing = pairs.iter().filter(unlike);
                let different = differing.next();
                if pairs.len() <= MIN_EQUAL || differing.next().is_some() {
                    continue;
                }
                match different {
                    None => whole = true,
                    Some((field, other)) => {
                        let owner = find_owner(grid, record, field, other);
                        odd = odd.or(owner.map(|owner| (*field, *other, record, owner)));
                    }
                }
            }
        }
        if left == 0 {
            return;
        }
        let Some((field, right, record, owner)) = odd.filter(|_| !whole) else {
            continue;
        };
        let shown: Vec<String> = fields
            .iter()
            .map(|field| format!("{}: {}", field.name.text, field.figure.text))
            .collect();
        warn(
            "stale-prose",
            claim.line,
            [
                shown.join(", "),
                format!(
                    "the other figures are those of {}, whose {} is {}; {} is that of {}",
                    record.label,
                    right.name.text,
                    right.figure.text,
                    field.figure.text,
                    owner.label
                ),
                "Take all figures from the same row.".to_owned(),
            ],
            findings,
        );
    }
}

/// Whether it is a measured figure other than 0 with at least two digits, not a setting of the test.
fn is_measured(field: &Field) -> bool {
    let measured = field.name.is_statistic()
        || matches!(
            field.name.meaning,
            Meaning::Rate | Meaning::FailedShare | Meaning::PassedShare
        );
    let digits = field
        .figure
        .text
        .chars()
        .filter(char::is_ascii_digit)
        .collect::<String>();
    measured && field.is_exact() && digits.trim_matches('0').len() >= 2
}

/// Whether two figures are equal, given the steps of both.
fn is_same(one: &Figure, other: &Figure) -> bool {
    (one.value - other.value).abs() <= 0.501 * one.step.max(other.step) + 1e-9 * one.value
}

/// The other record of the table that has the claimed figure.
fn find_owner<'r>(
    grid: &'r Grid,
    record: &Record,
    field: &Field,
    right: &Field,
) -> Option<&'r Record> {
    let near =
        (field.figure.value / right.figure.value).max(right.figure.value / field.figure.value);
    if !near.is_finite() || near < 1.02 || right.figure.kind == Kind::Plain {
        return None;
    }
    grid.records.iter().find(|other| {
        !std::ptr::eq(*other, record)
            && other
                .matching_field(right)
                .is_some_and(|twin| is_same(&twin.figure, &field.figure))
    })
}
