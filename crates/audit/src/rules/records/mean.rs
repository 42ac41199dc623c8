//! Checks that the mean of a record is within the bounds given by its percentiles, its minimum and
//! its maximum.

use super::identities::{format_field, label_prefix};
use super::warn;
use crate::quantity::{Unit, format_number, format_value};
use crate::records::{Field, Kind, Meaning, Record};
use crate::report::Findings;

/// Reports a mean outside the range that the percentiles, the minimum and the maximum allow.
pub fn check(record: &Record, group: &[&Field], findings: &mut Findings) {
    // Percentiles that are estimated from histogram buckets are inexact.
    const SLACK: f64 = 1.2;
    let means: Vec<&&Field> = group
        .iter()
        .filter(|field| field.name.meaning == Meaning::Mean)
        .collect();
    let [mean] = means[..] else {
        return;
    };
    let fits = |field: &Field| {
        field.figure.kind == mean.figure.kind && !field.figure.about && field.figure.value >= 0.0
    };
    let of_time = mean.figure.kind == Kind::Time
        || mean.figure.kind == Kind::Plain && group.iter().any(|field| field.name.is_latency());
    if !of_time || !group.iter().all(|field| fits(field)) {
        return;
    }
    let mut ladder: Vec<(f64, &Field)> = group
        .iter()
        .filter_map(|field| match field.name.meaning {
            Meaning::Quantile(quantile) => Some((quantile, *field)),
            _ => None,
        })
        .collect();
    ladder.sort_by(|one, other| one.0.total_cmp(&other.0));
    let twice = ladder.windows(2).any(|pair| pair[0].0 == pair[1].0);
    let (Some(first), Some(last)) = (ladder.first(), ladder.last()) else {
        return;
    };
    let low: f64 = ladder
        .iter()
        .enumerate()
        .map(|(at, (quantile, field))| {
            let next = ladder.get(at + 1).map_or(1.0, |(next, _)| *next);
            (next - quantile) * (field.figure.value - field.figure.coarse).max(0.0)
        })
        .sum();
    let max = group
        .iter()
        .find(|field| field.name.meaning == Meaning::Max);
    let high = max.map(|max| {
        let between: f64 = ladder
            .windows(2)
            .map(|pair| {
                (pair[1].0 - pair[0].0) * (pair[1].1.figure.value + pair[1].1.figure.coarse)
            })
            .sum();
        let ends = first.0 * (first.1.figure.value + first.1.figure.coarse)
            + (1.0 - last.0) * (max.figure.value + max.figure.coarse);
        (between + ends, *max)
    });
    let mean_value = mean.figure.value;
    let words = if low > SLACK * (mean_value + mean.figure.coarse) {
        let heaviest = ladder.iter().enumerate().max_by(|(a, one), (b, other)| {
            let weight = |at: usize, field: &Field| {
                let next = ladder.get(at + 1).map_or(1.0, |(next, _)| *next);
                (next - ladder[at].0) * field.figure.value
            };
            weight(*a, one.1).total_cmp(&weight(*b, other.1))
        });
        let shown_of = heaviest.map_or_else(String::new, |(_, (_, field))| format_field(field));
        format!(
            "the percentiles alone make a mean of at least {}, most of it by {shown_of}",
            format_in_unit(mean, low)
        )
    } else if let Some((high, max)) = high.filter(|(high, _)| mean_value > SLACK * high) {
        format!(
            "the percentiles and {} allow a mean of at most {}",
            format_field(max),
            format_in_unit(mean, high)
        )
    } else {
        return;
    };
    if twice {
        return;
    }
    warn(
        "percentile-disorder",
        record.line,
        [
            format!("{}{}", label_prefix(record), format_field(mean)),
            format!("{words}, not {}", mean.figure_with_unit()),
            "Take the mean and the percentiles from the same run.".to_owned(),
        ],
        findings,
    );
}

/// Formats a value in the unit of a field.
fn format_in_unit(field: &Field, value: f64) -> String {
    match field.figure.kind {
        Kind::Time => format_value(value, Unit::Time),
        _ => format_number(value),
    }
}
