//! Checks the order of a record's percentiles, and that the mean is between minimum and maximum.

use super::identities::{format_field, label_prefix};
use super::{mean, warn};
use crate::records::{Field, Kind, Meaning, Record};
use crate::report::Findings;

/// Checks that minimum, percentiles and maximum of one quantity ascend and enclose the mean.
pub fn check(record: &Record, findings: &mut Findings) {
    let statistics: Vec<&Field> = record
        .fields
        .iter()
        .filter(|field| field.name.is_statistic())
        .collect();
    let mut quantities: Vec<&str> = statistics
        .iter()
        .map(|field| field.name.quantity.as_str())
        .filter(|name| !name.is_empty())
        .collect();
    quantities.sort_unstable();
    quantities.dedup();
    // If the names mention only one quantity, a name without a quantity belongs to it.
    let quantities = if quantities.is_empty() {
        vec![""]
    } else {
        quantities
    };
    let alone = quantities.len() == 1;
    for quantity in quantities {
        let group: Vec<&Field> = statistics
            .iter()
            .filter(|field| {
                field.name.quantity == quantity || alone && field.name.quantity.is_empty()
            })
            .copied()
            .collect();
        let group = retain_common_unit(group);
        let disorder = find_disorder(&group);
        if !disorder.is_empty() {
            let mut shown: Vec<String> = Vec::new();
            for (low, high) in &disorder {
                for field in [low, high].map(|field| format_field(field)) {
                    if !shown.contains(&field) {
                        shown.push(field);
                    }
                }
            }
            let reasons: Vec<String> = disorder
                .iter()
                .map(|(low, high)| {
                    format!(
                        "{} is at most {} by definition, but {} > {}",
                        low.name.text,
                        high.name.text,
                        low.figure_with_unit(),
                        high.figure_with_unit()
                    )
                })
                .collect();
            warn(
                "percentile-disorder",
                record.line,
                [
                    format!("{}{}", label_prefix(record), shown.join(", ")),
                    reasons.join("; "),
                    "The columns are swapped, or the figures come from different runs.".to_owned(),
                ],
                findings,
            );
        }
        mean::check(record, &group, findings);
    }
}

/// Removes the figures that lack the unit of the others.
fn retain_common_unit(group: Vec<&Field>) -> Vec<&Field> {
    let timed = |field: &&Field| field.figure.kind == Kind::Time;
    let bare = |field: &&Field| field.figure.kind == Kind::Plain && field.name.unit.is_none();
    if group.iter().filter(|field| timed(field)).count() < 2
        || !group.iter().all(|field| timed(field) || bare(field))
    {
        return group;
    }
    group.into_iter().filter(timed).collect()
}

/// The neighbors in the order of the statistics whose figures are in the wrong order.
fn find_disorder<'r>(group: &[&'r Field]) -> Vec<(&'r Field, &'r Field)> {
    let Some(first) = group.first() else {
        return Vec::new();
    };
    let same = group
        .iter()
        .all(|field| field.figure.kind == first.figure.kind);
    let of_time = first.figure.kind == Kind::Time
        || first.figure.kind == Kind::Plain && group.iter().any(|field| field.name.is_latency());
    if !same || !of_time {
        return Vec::new();
    }
    // A row of changes (`+8 ms`) has differences of percentiles, which may be in any order.
    let is_change = |field: &&Field| field.figure.text.starts_with(['+', '-', '−']);
    if group.iter().any(is_change) {
        return Vec::new();
    }
    let place = |field: &Field| match field.name.meaning {
        Meaning::Min => Some(0.0),
        Meaning::Quantile(quantile) => Some(quantile),
        Meaning::Max => Some(1.0),
        _ => None,
    };
    let mut ladder: Vec<(f64, &Field)> = group
        .iter()
        .filter_map(|field| Some((place(field)?, *field)))
        .collect();
    ladder.sort_by(|one, other| one.0.total_cmp(&other.0));
    let twice = ladder.windows(2).any(|pair| pair[0].0 == pair[1].0);
    let means: Vec<&&Field> = group
        .iter()
        .filter(|field| field.name.meaning == Meaning::Mean)
        .collect();
    if twice || means.len() > 1 {
        return Vec::new();
    }
    let mut pairs: Vec<(&Field, &Field)> = ladder
        .windows(2)
        .map(|pair| (pair[0].1, pair[1].1))
        .collect();
    if let Some(mean) = means.first() {
        for (at, field) in &ladder {
            if *at == 0.0 {
                pairs.push((field, mean));
            }
            if *at == 1.0 {
                pairs.push((mean, field));
            }
        }
    }
    pairs
        .into_iter()
        .filter(|(low, high)| {
            let (one, other) = (rounding_step(low, group), rounding_step(high, group));
            // If both figures are rounded to the same step or to as many digits, rounding keeps
            // their order.
            let digits = |field: &Field, step: f64| (field.figure.value / step).log10().floor();
            let rounding =
                if (one / other - 1.0).abs() < 1e-6 || digits(low, one) == digits(high, other) {
                    0.0
                } else {
                    one + other
                };
            let slack = rounding + 0.002 * high.figure.value.abs();
            let about = low.figure.about || high.figure.about;
            !about && low.figure.value - slack > high.figure.value
        })
        .collect()
}

/// The step to which a figure may be rounded. Its trailing zeros come from rounding only if no figure
/// of the group that is at least as large has more digits: 10 is exact next to 12.
fn rounding_step(field: &Field, group: &[&Field]) -> f64 {
    group
        .iter()
        .filter(|other| other.figure.value >= field.figure.value)
        .map(|other| other.figure.coarse)
        .fold(field.figure.coarse, f64::min)
        .max(field.figure.step)
}
