//! Identities of the figures of one record: percentiles in their order, the mean between minimum and
//! maximum, count ÷ time = rate, and shares of counts.

use crate::quantity::{Unit, digits, plain};
use crate::records::{Field, Kind, Meaning, Record};
use crate::report::Findings;

use super::{mean, warn};

pub fn check(record: &Record, findings: &mut Findings) {
    order(record, findings);
    rate(record, findings);
    share(record, findings);
    hidden(record, findings);
    time(record, findings);
    parts(record, findings);
    each(record, findings);
}

pub fn shown(field: &Field) -> String {
    format!("{}: {}", field.name.text, field.figure.text)
}

/// Minimum, percentiles and maximum of one quantity ascend, and the mean is between the ends.
fn order(record: &Record, findings: &mut Findings) {
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
    // A name without a quantity belongs to the only one that is named.
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
        mean::check(record, &group, findings);
        if let Some((low, high)) = disorder(&group) {
            warn(
                "percentile-disorder",
                record.line,
                [
                    format!("{} {}, {}", record.label, shown(low), shown(high)),
                    format!(
                        "{} is at most {} by definition, but {} > {}",
                        low.name.text, high.name.text, low.figure.text, high.figure.text
                    ),
                    "The columns are swapped, or the figures are from different runs.".to_owned(),
                ],
                findings,
            );
        }
    }
}

fn disorder<'r>(group: &[&'r Field]) -> Option<(&'r Field, &'r Field)> {
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

/// Passed and failed requests together are all of them.
fn parts(record: &Record, findings: &mut Findings) {
    let count = |meaning: Meaning| {
        let field = record.only(meaning)?;
        let whole = field.figure.kind == Kind::Plain && !field.figure.about;
        (whole && field.figure.value.fract() == 0.0).then_some(field)
    };
    let (Some(all), Some(passed), Some(failed)) = (
        count(Meaning::Requests),
        count(Meaning::Passed),
        count(Meaning::Failed),
    ) else {
        return;
    };
    let sum = passed.figure.value + failed.figure.value;
    let (said, ok) = (all.figure.value, passed.figure.value);
    // Some tools count failures separately from the requests.
    if sum == said || ok == said || said < 10.0 || !(0.5..2.0).contains(&(sum / said)) {
        return;
    }
    warn(
        "total-mismatch",
        record.line,
        [
            format!("{}, {}, {}", shown(all), shown(passed), shown(failed)),
            format!(
                "{} + {} = {}, not {}",
                passed.figure.text,
                failed.figure.text,
                digits(sum),
                all.figure.text
            ),
            "Count the requests that are in none of them.".to_owned(),
        ],
        findings,
    );
}

/// Users × requests of each = all requests.
fn each(record: &Record, findings: &mut Findings) {
    let per = record.fields.iter().find(|field| field.name.is_of_each());
    let (Some(users), Some(all), Some(per)) = (
        record.only(Meaning::Users),
        record.only(Meaning::Requests),
        per,
    ) else {
        return;
    };
    let exact = [users, all, per].iter().all(|field| {
        field.figure.kind == Kind::Plain && !field.figure.about && field.figure.value >= 1.0
    });
    let product = users.figure.value * per.figure.value;
    let ratio = product / all.figure.value;
    if !exact || (ratio - 1.0).abs() <= 0.02 || !(0.1..10.0).contains(&ratio) {
        return;
    }
    warn(
        "declared-vs-counted",
        record.line,
        [
            format!("{}, {}, {}", shown(users), shown(per), shown(all)),
            format!(
                "{} × {} = {}, not {}",
                users.figure.text,
                per.figure.text,
                digits(product),
                all.figure.text
            ),
            "State how many requests each user made.".to_owned(),
        ],
        findings,
    );
}

/// Requests ÷ time = rate.
fn rate(record: &Record, findings: &mut Findings) {
    let (Some(count), Some(time), Some(rate)) = (
        record.only(Meaning::Requests),
        record.only(Meaning::Duration),
        record.only(Meaning::Rate),
    ) else {
        return;
    };
    let fits = count.figure.kind == Kind::Plain
        && time.figure.kind == Kind::Time
        && rate.figure.kind == Kind::Rate;
    let figures = [count, time, rate].map(|field| &field.figure);
    // A "duration" of less than a second is that of a request.
    if !fits
        || time.figure.value < 1.0
        || figures
            .iter()
            .any(|figure| figure.about || figure.value <= 0.0)
    {
        return;
    }
    let right = count.figure.value / time.figure.value;
    let slack = time.figure.step / time.figure.value + rate.figure.step / rate.figure.value;
    let ratio = right / rate.figure.value;
    let near = (ratio - 1.0).abs() <= 0.1 + slack;
    // Far from it, one of them is of something else.
    if near || !(0.125..8.0).contains(&ratio) {
        return;
    }
    warn(
        "total-mismatch",
        record.line,
        [
            format!("{}, {}, {}", shown(count), shown(time), shown(rate)),
            format!(
                "{} ÷ {} = {}/s, not {}",
                count.figure.text,
                time.figure.text,
                digits(right),
                rate.figure.text
            ),
            "Take all three figures from one run.".to_owned(),
        ],
        findings,
    );
}

/// The share of failures, or of successes, next to their counts.
fn share(record: &Record, findings: &mut Findings) {
    let figure = |meaning| {
        let field = record.only(meaning)?;
        (field.figure.kind == Kind::Plain && !field.figure.about && field.figure.value >= 0.0)
            .then_some(field)
    };
    let (all, failed, passed) = (
        figure(Meaning::Requests),
        figure(Meaning::Failed),
        figure(Meaning::Passed),
    );
    let value = |field: Option<&Field>| field.map(|field| field.figure.value);
    for meaning in [Meaning::FailedShare, Meaning::PassedShare] {
        let Some(said) = record
            .only(meaning)
            .filter(|field| field.figure.kind == Kind::Percent && !field.figure.about)
        else {
            continue;
        };
        let of_failed = meaning == Meaning::FailedShare;
        let mut shares = Vec::new();
        if let (Some(all), Some(failed)) = (value(all), value(failed)) {
            for whole in [all, all + failed] {
                shares.push(failed / whole);
            }
        }
        if let (Some(all), Some(passed)) = (value(all), value(passed)) {
            shares.push(1.0 - passed / all);
        }
        if let (Some(passed), Some(failed)) = (value(passed), value(failed)) {
            shares.push(failed / (passed + failed));
        }
        shares.retain(|share| share.is_finite() && (0.0..=1.0).contains(share));
        let percents: Vec<f64> = shares
            .iter()
            .map(|share| 100.0 * if of_failed { *share } else { 1.0 - share })
            .collect();
        let slack = said.figure.step * 1.001 + 1e-9;
        let Some(first) = percents.first() else {
            continue;
        };
        if percents
            .iter()
            .any(|right| (right - said.figure.value).abs() <= slack)
        {
            continue;
        }
        let counts: Vec<String> = [failed, passed, all]
            .into_iter()
            .flatten()
            .map(shown)
            .collect();
        warn(
            "total-mismatch",
            record.line,
            [
                format!("{}; {}", shown(said), counts.join(", ")),
                format!(
                    "these counts give {} %, not {}",
                    digits(*first),
                    said.figure.text
                ),
                "Compute the share again from the counts.".to_owned(),
            ],
            findings,
        );
    }
}

/// Failures next to a share that is printed as 0.
fn hidden(record: &Record, findings: &mut Findings) {
    let (Some(failed), Some(share)) = (
        record.only(Meaning::Failed),
        record.only(Meaning::FailedShare),
    ) else {
        return;
    };
    let counted = failed.figure.kind == Kind::Plain && failed.figure.value >= 1.0;
    if !counted || share.figure.kind != Kind::Percent || share.figure.value != 0.0 {
        return;
    }
    warn(
        "failures-rounded-away",
        record.line,
        [
            format!("{}, {}", shown(failed), shown(share)),
            format!("{} failed, so the share is not 0", failed.figure.text),
            "Print the count, or as many digits as the share needs.".to_owned(),
        ],
        findings,
    );
}

/// All requests together take as long as the slowest percentile of which at least one exists.
fn time(record: &Record, findings: &mut Findings) {
    let (Some(count), Some(rate)) = (record.only(Meaning::Requests), record.only(Meaning::Rate))
    else {
        return;
    };
    let fits = count.figure.kind == Kind::Plain
        && rate.figure.kind == Kind::Rate
        && count.figure.value >= 10.0
        && rate.figure.value > 0.0;
    if !fits {
        return;
    }
    let all = count.figure.value / rate.figure.value;
    let slow = record.fields.iter().find(|field| {
        let exists = match field.name.meaning {
            Meaning::Quantile(quantile) => (1.0 - quantile) * count.figure.value >= 0.999,
            Meaning::Max => field.name.is_latency(),
            _ => false,
        };
        exists
            && field.figure.kind == Kind::Time
            && !field.figure.bound
            && field.figure.value - field.figure.coarse > 0.0
            && field.figure.value - 0.5 * field.figure.coarse > 1.1 * all
    });
    let Some(slow) = slow else {
        return;
    };
    warn(
        "total-mismatch",
        record.line,
        [
            format!(
                "{}: {}, {}, {}",
                record.label,
                shown(count),
                shown(rate),
                shown(slow)
            ),
            format!(
                "{} ÷ {} = {} for all of them, but one took {}",
                count.figure.text,
                rate.figure.text,
                plain(all, Unit::Time),
                slow.figure.text
            ),
            "Divide the count by the time of the whole run.".to_owned(),
        ],
        findings,
    );
}
