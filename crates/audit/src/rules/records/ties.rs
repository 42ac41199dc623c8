//! Two percentiles that are equal to the last digit in every row of a table: one column is a copy.

use super::copies::significant_digits;
use super::warn;
use crate::records::{Field, Grid, Kind, Meaning, Record};
use crate::report::Findings;

/// Minimum number of samples between the two percentiles, so that they differ.
const MIN_REQUESTS_BETWEEN: f64 = 4.0;
/// Minimum number of equal digits of all rows together.
const MIN_DIGITS: usize = 6;

pub fn check(grid: &Grid, findings: &mut Findings) {
    let Some(first) = grid.records.first() else {
        return;
    };
    let quantiles: Vec<(&Field, f64)> = first
        .fields
        .iter()
        .filter_map(|field| match field.name.meaning {
            Meaning::Quantile(quantile) => Some((field, quantile)),
            _ => None,
        })
        .take(12)
        .collect();
    for (at, (low, one)) in quantiles.iter().enumerate() {
        for (high, other) in &quantiles[at + 1..] {
            if low.name.quantity == high.name.quantity {
                compare(grid, (low, high), (other - one).abs(), findings);
            }
        }
    }
}

fn compare(grid: &Grid, (low, high): (&Field, &Field), between: f64, findings: &mut Findings) {
    let mut rows = 0;
    let mut digits = 0;
    let mut example: Option<(&Record, &Field)> = None;
    for record in &grid.records {
        let (Some(one), Some(other)) = (record.matching_field(low), record.matching_field(high))
        else {
            continue;
        };
        if one.figure.kind != Kind::Time || one.figure.value != other.figure.value {
            return;
        }
        // With few samples, both percentiles may be the same request.
        let enough = record
            .only_field(Meaning::Requests)
            .is_some_and(|count| count.figure.value * between >= MIN_REQUESTS_BETWEEN);
        if enough {
            rows += 1;
            digits += significant_digits(&one.figure);
            example = example.or(Some((record, one)));
        }
    }
    let (Some((record, field)), true) = (example, rows >= 2 && digits >= MIN_DIGITS) else {
        return;
    };
    warn(
        "copied-block",
        record.line,
        [
            format!(
                "{}: {} {}, {} {}",
                record.label, low.name.text, field.figure.text, high.name.text, field.figure.text
            ),
            format!(
                "{} and {} are equal in every row, {rows} of them with enough requests to differ",
                low.name.text, high.name.text
            ),
            "One column is a copy of the other: print the percentile that it names.".to_owned(),
        ],
        findings,
    );
}
