//! Figures of all requests in one table or list, and those of the endpoints in another one of the
//! same section: the parts must be able to form the whole.

use super::warn;
use crate::quantity::{Unit, format_number, format_value};
use crate::records::{Field, Grid, Grids, Kind, Meaning, Record};
use crate::report::{Findings, Report};

/// Maximum number of tables with parts, because each is compared with each record.
const MAX_GRIDS: usize = 50;
/// Words above a table or in its header that say that its rows are the parts.
const PARTS: [&str; 9] = [
    "breakdown",
    "per endpoint",
    "per-endpoint",
    "by endpoint",
    "each endpoint",
    "per request type",
    "by operation",
    "per operation",
    "per route",
];

pub fn check(report: &Report, grids: &Grids, findings: &mut Findings) {
    for grid in grids.rows.iter().take(MAX_GRIDS) {
        if grid.records.len() < 2 || grid.records.iter().any(is_whole) {
            continue;
        }
        let Some(whole) = find_whole(report, grids, grid) else {
            continue;
        };
        let counts: Option<Vec<f64>> = grid.records.iter().map(request_count).collect();
        let all = request_count(whole);
        let named = is_called_parts(report, grid, whole);
        let counts = counts.filter(|counts| counts.len() >= 2);
        let counted = match (&counts, all) {
            (Some(counts), Some(all)) => {
                let sum: f64 = counts.iter().sum();
                // With a smaller sum, some endpoints may not be listed.
                if named && sum > all {
                    check_requests(whole, counts, (sum, all), findings);
                }
                sum == all
            }
            _ => false,
        };
        if !(named || counted) {
            continue;
        }
        check_share(grid, whole, findings);
        if let (Some(counts), Some(all), true) = (&counts, all, counted) {
            check_mean(grid, whole, counts, all, findings);
            for (record, part) in grid.records.iter().zip(counts) {
                check_mean_of_part(record, whole, *part, all, findings);
            }
        }
    }
}

/// Whether a record of the table is itself the whole.
fn is_whole(record: &Record) -> bool {
    const WHOLES: [&str; 6] = ["total", "aggregated", "all", "sum", "overall", "average"];
    record
        .words
        .iter()
        .any(|word| WHOLES.contains(&word.as_str()))
}

fn request_count(record: &Record) -> Option<f64> {
    let field = record.only_field(Meaning::Requests)?;
    let figure = &field.figure;
    (figure.kind == Kind::Plain && !figure.about && figure.value.fract() == 0.0)
        .then_some(figure.value)
        .filter(|count| *count >= 1.0)
}

/// The only record with several figures of all requests under the headings of a table.
fn find_whole<'r>(report: &Report, grids: &'r Grids, grid: &Grid) -> Option<&'r Record> {
    let titles = report.document.titles(grid.line);
    if titles.is_empty() {
        return None;
    }
    let single = grids.tables.iter().filter(|one| one.records.len() == 1);
    let records = single.flat_map(|one| &one.records).chain(&grids.lists);
    let fits = |record: &&Record| {
        let figures = record.fields.iter().filter(|field| {
            field.name.is_statistic()
                || matches!(
                    field.name.meaning,
                    Meaning::Requests
                        | Meaning::Rate
                        | Meaning::PassedShare
                        | Meaning::FailedShare
                        | Meaning::Failed
                )
        });
        figures.count() >= 3
            && record.line != grid.line
            && report.document.titles(record.line) == titles
    };
    let mut fitting = records.filter(fits);
    let record = fitting.next()?;
    // The same table may be read as a list as well.
    fitting
        .all(|other| other.line == record.line)
        .then_some(record)
}

/// Whether the text between the whole and the parts, or the first column, calls them parts.
fn is_called_parts(report: &Report, grid: &Grid, whole: &Record) -> bool {
    if whole.line > grid.line {
        return false;
    }
    let between = report
        .prose()
        .filter(|prose| (whole.line..grid.line).contains(&prose.line));
    between
        .map(|prose| prose.text.to_lowercase())
        .any(|text| text.len() < 200 && PARTS.iter().any(|word| text.contains(word)))
}

/// Checks the number of all requests against the sum.
fn check_requests(whole: &Record, counts: &[f64], (sum, all): (f64, f64), findings: &mut Findings) {
    if counts.len() < 3 || counts.contains(&all) || !(0.8..1.25).contains(&(sum / all)) {
        return;
    }
    let texts: Vec<String> = counts.iter().map(|count| format_number(*count)).collect();
    warn(
        "total-mismatch",
        whole.line,
        [
            format!(
                "{} requests in all; {} rows",
                format_number(all),
                counts.len()
            ),
            format!(
                "{} = {}, not {}",
                texts.join(" + "),
                format_number(sum),
                format_number(all)
            ),
            "Recalculate the sum.".to_owned(),
        ],
        findings,
    );
}

/// Checks that the share of successes or failures of all requests is within those of the parts.
fn check_share(grid: &Grid, whole: &Record, findings: &mut Findings) {
    for meaning in [Meaning::PassedShare, Meaning::FailedShare] {
        let of = |record: &'_ Record| {
            let figure = &record.only_field(meaning)?.figure;
            (figure.kind == Kind::Percent && !figure.bound).then(|| figure.clone())
        };
        let parts: Option<Vec<_>> = grid.records.iter().map(of).collect();
        let (Some(printed), Some(parts)) = (of(whole), parts) else {
            continue;
        };
        let slack = |step: f64| step.max(0.1) + printed.step;
        let low = parts.iter().map(|part| part.value - slack(part.step));
        let high = parts.iter().map(|part| part.value + slack(part.step));
        let (low, high) = (low.fold(f64::MAX, f64::min), high.fold(f64::MIN, f64::max));
        if printed.about || (low..=high).contains(&printed.value) {
            continue;
        }
        let (edge, word) = match printed.value < low {
            true => (low, "lowest"),
            false => (high, "highest"),
        };
        let nearest = parts
            .iter()
            .min_by(|one, other| {
                let distance = |value: f64| (value - edge).abs();
                distance(one.value).total_cmp(&distance(other.value))
            })
            .map_or("", |part| part.text.as_str());
        warn(
            "total-mismatch",
            whole.line,
            [
                format!("{} of all requests; {} rows", printed.text, parts.len()),
                format!(
                    "the {word} share of the rows is {nearest}, so all rows together cannot have {}",
                    printed.text
                ),
                "Compute the share from the counts of all rows.".to_owned(),
            ],
            findings,
        );
        return;
    }
}

/// The only time of a record with this meaning.
fn only_time(record: &Record, meaning: Meaning) -> Option<&Field> {
    let field = record.only_field(meaning)?;
    let figure = &field.figure;
    (figure.kind == Kind::Time && !figure.bound && !figure.about && figure.value > 0.0)
        .then_some(field)
}

/// Checks the mean of all requests against the means of the parts, weighted by their requests.
fn check_mean(grid: &Grid, whole: &Record, counts: &[f64], all: f64, findings: &mut Findings) {
    let of = |record| only_time(record, Meaning::Mean);
    let parts: Option<Vec<&Field>> = grid.records.iter().map(of).collect();
    let (Some(printed), Some(parts)) = (of(whole), parts) else {
        return;
    };
    let weighted = |of: &dyn Fn(&Field) -> f64| {
        let sum: f64 = parts
            .iter()
            .zip(counts)
            .map(|(part, count)| of(part) * count)
            .sum();
        sum / all
    };
    let right = weighted(&|part| part.figure.value);
    let slack = weighted(&|part| part.figure.coarse) + printed.figure.coarse + 0.1 * right;
    if (printed.figure.value - right).abs() <= slack {
        return;
    }
    let shown: Vec<&str> = parts.iter().map(|part| part.figure.text.as_str()).collect();
    warn(
        "total-mismatch",
        whole.line,
        [
            format!(
                "{}: {}; rows: {}",
                printed.name.text,
                printed.figure.text,
                shown.join(", ")
            ),
            format!(
                "the mean of all rows, weighted by their requests, is {}, not {}",
                format_value(right, Unit::Time),
                printed.figure.text
            ),
            "Compute the mean of all requests again.".to_owned(),
        ],
        findings,
    );
}

/// Checks that the mean of a part is possible. At most n × (1 − q) of all n samples exceed the
/// percentile q, so the slowest samples of a part are bounded by the percentiles of the whole.
fn check_mean_of_part(
    record: &Record,
    whole: &Record,
    part: f64,
    all: f64,
    findings: &mut Findings,
) {
    let Some(mean) = only_time(record, Meaning::Mean) else {
        return;
    };
    let Some(max) = only_time(record, Meaning::Max).or_else(|| only_time(whole, Meaning::Max))
    else {
        return;
    };
    let mut bounds: Vec<(f64, f64, &Field)> = whole
        .fields
        .iter()
        .filter(|field| field.figure.kind == Kind::Time && field.is_exact() && !field.figure.about)
        .filter_map(|field| match field.name.meaning {
            Meaning::Quantile(quantile) => {
                // One more sample than the share, because tools round the rank differently.
                let above = (all * (1.0 - quantile)).ceil() + 1.0;
                Some((above, field.figure.value + field.figure.coarse, field))
            }
            _ => None,
        })
        .collect();
    bounds.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mut left = part;
    let mut taken = 0.0;
    let mut sum = 0.0;
    let mut limit = max.figure.value + max.figure.coarse;
    let mut used: Vec<String> = Vec::new();
    for (above, value, field) in &bounds {
        let samples = (above - taken).clamp(0.0, left);
        sum += samples * limit;
        left -= samples;
        taken += samples;
        if left <= 0.0 {
            break;
        }
        limit = limit.min(*value);
        used.push(format!("{}: {}", field.name.text, field.figure.text));
    }
    sum += left * limit;
    let largest = sum / part;
    let printed = mean.figure.value - mean.figure.coarse;
    if used.is_empty() || part < 10.0 || printed <= 1.02 * largest {
        return;
    }
    warn(
        "percentile-disorder",
        record.line,
        [
            format!(
                "{}, {}: {}; all requests: {}",
                record.label,
                mean.name.text,
                mean.figure.text,
                used.join(", ")
            ),
            format!(
                "with these percentiles of all {} requests, the mean of {} of them is at most {}, not {}",
                format_number(all),
                format_number(part),
                format_value(largest, Unit::Time),
                mean.figure.text
            ),
            "Compute the percentiles of all requests from the samples, not from the rows."
                .to_owned(),
        ],
        findings,
    );
}
