//! Checks the order of a record's percentiles, and that the mean is between minimum and maximum.

use super::identities::format_field;
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
        mean::check(record, &group, findings);
        if let Some((low, high)) = find_disorder(&group) {
            warn(
                "percentile-disorder",
                record.line,
                [
                    format!(
                        "{} {}, {}",
                        record.label,
                        format_field(low),
                        format_field(high)
                    ),
                    format!(
                        "{} is at most {} by definition, but {} > {}",
                        low.name.text, high.name.text, low.figure.text, high.figure.text
                    ),
                    "The columns are swapped, or the figures come from different runs.".to_owned(),
                ],
                findings,
            );
        }
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

fn find_disorder<'r>(group: &[&'r Field]) -> Option<(&'r Field, &'r Field)> {
    let first = group.first()?;
    let same = group
        .iter()
        .all(|field| field.figure.kind == first.figure.kind);
    let of_time = first.figure.kind == Kind::Time
        || first.figure.kind == Kind::Plain && group.iter().any(|field| field.name.is_latency());
    if !same || !of_time {
        return None;
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
        return None;
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
    pairs.into_iter().find(|(low, high)| {
        let slack = low.figure.coarse + high.figure.coarse + 0.002 * high.figure.value.abs();
        let about = low.figure.about || high.figure.about;
        !about && low.figure.value - slack > high.figure.value
    })
}
