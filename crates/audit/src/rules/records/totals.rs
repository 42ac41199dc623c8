//! A last row that is the sum or the mean of the other rows.

use super::columns::Column;
use super::warn;
use crate::quantity::format_number;
use crate::records::{Field, Figure, Grid, Kind, Meaning, Record};
use crate::report::Findings;

/// Checks a last row that is the sum of the other rows.
pub fn check_sums(grid: &Grid, columns: &[Column], findings: &mut Findings) {
    let Some((last, others)) = grid.records.split_last() else {
        return;
    };
    let label = last.label.trim_matches(['*', ' ', ':']).to_lowercase();
    if others.len() < 2
        || !matches!(
            label.as_str(),
            "total" | "aggregated" | "sum" | "итого" | "合计" | "gesamt"
        )
    {
        return;
    }
    for column in columns {
        let counted = matches!(
            column.meaning,
            Meaning::Requests | Meaning::Failed | Meaning::Passed
        );
        if !counted && column.meaning != Meaning::Other {
            continue;
        }
        let Some((Some(printed), parts)) = column.cells.split_last() else {
            continue;
        };
        let kinds = [Kind::Plain, Kind::Time, Kind::Data];
        let kinds = if counted { &kinds[..1] } else { &kinds };
        let whole = |figure: &&Figure| kinds.contains(&figure.kind) && !figure.about;
        let parts: Vec<&Figure> = parts.iter().flatten().copied().filter(whole).collect();
        if parts.len() != others.len() || !whole(printed) {
            continue;
        }
        let right: f64 = parts.iter().map(|figure| figure.value).sum();
        let steps: f64 = parts.iter().map(|figure| figure.step).sum();
        let slack = if counted { 0.5 } else { printed.coarse + steps };
        // A column of another quantity may not be a sum.
        let max_ratio = if counted { 2.0 } else { 1.1 };
        if (right - printed.value).abs() <= slack
            || right > max_ratio * printed.value
            || printed.value > max_ratio * right
            || parts.iter().any(|figure| figure.kind != printed.kind)
        {
            continue;
        }
        let texts: Vec<&str> = parts.iter().map(|figure| figure.text.as_str()).collect();
        warn(
            "total-mismatch",
            last.line,
            [
                format!("{}: {} in the last row", column.name, printed.text),
                format!(
                    "{} = {}, not {}",
                    texts.join(" + "),
                    format_number(right / printed.step * step_in_own_unit(printed)),
                    printed.text
                ),
                "Recalculate the sum.".to_owned(),
            ],
            findings,
        );
    }
}

/// Checks the mean and the percentiles of a last row for all requests against the other rows.
pub fn check_mixtures(grid: &Grid, columns: &[Column], findings: &mut Findings) {
    let Some((last, others)) = grid.records.split_last() else {
        return;
    };
    let label = last.label.trim_matches(['*', ' ', ':']).to_lowercase();
    let named = matches!(label.as_str(), "total" | "aggregated" | "overall" | "all");
    let mut counted = columns
        .iter()
        .filter(|column| column.meaning == Meaning::Requests);
    let (Some(counts), None, true) = (counted.next(), counted.next(), named) else {
        return;
    };
    let exact = |figure: &Figure| figure.kind == Kind::Plain && !figure.about;
    let numbers: Vec<f64> = counts
        .cells
        .iter()
        .flatten()
        .filter(|figure| exact(figure))
        .map(|figure| figure.value)
        .collect();
    let Some((all, parts)) = numbers.split_last() else {
        return;
    };
    // An author may have left out rows.
    if parts.len() != others.len() || parts.len() < 2 || parts.iter().sum::<f64>() != *all {
        return;
    }
    for column in columns
        .iter()
        .filter(|column| column.meaning == Meaning::Mean)
    {
        let Some((Some(printed), means)) = column.cells.split_last() else {
            continue;
        };
        let means: Vec<&Figure> = means.iter().flatten().copied().collect();
        let bounded = means
            .iter()
            .chain([printed])
            .any(|figure| figure.bound || figure.about);
        if means.len() != parts.len()
            || bounded
            || means.iter().any(|mean| mean.kind != printed.kind)
        {
            continue;
        }
        let weighted = |of: &dyn Fn(&Figure) -> f64| {
            let sum: f64 = means
                .iter()
                .zip(parts)
                .map(|(mean, part)| of(mean) * part)
                .sum();
            sum / all
        };
        let right = weighted(&|mean| mean.value);
        let slack = weighted(&|mean| mean.coarse) + printed.coarse + 0.1 * right;
        if (printed.value - right).abs() <= slack {
            continue;
        }
        let shown: Vec<&str> = means.iter().map(|mean| mean.text.as_str()).collect();
        warn(
            "total-mismatch",
            last.line,
            [
                format!(
                    "{}: {} in the last row, {} above it",
                    column.name,
                    printed.text,
                    shown.join(", ")
                ),
                format!(
                    "the mean of all rows, weighted by their requests, is {}, not {}",
                    format_number(right / printed.step * step_in_own_unit(printed)),
                    printed.text
                ),
                "Compute the mean of all requests again.".to_owned(),
            ],
            findings,
        );
    }
    check_quantiles(grid, parts, *all, findings);
}

/// Checks that a percentile of all requests leaves enough requests above and below it, given the
/// percentiles of the parts.
fn check_quantiles(grid: &Grid, parts: &[f64], all: f64, findings: &mut Findings) {
    let Some((last, others)) = grid.records.split_last() else {
        return;
    };
    let timed = |field: &&Field| {
        (field.figure.kind == Kind::Time
            || field.figure.kind == Kind::Plain && field.name.is_latency())
            && !field.figure.bound
            && !field.figure.about
    };
    for printed in last.fields.iter().filter(timed) {
        let Meaning::Quantile(quantile) = printed.name.meaning else {
            continue;
        };
        let value = printed.figure.value;
        let known = |record: &Record| -> Vec<(f64, f64, f64)> {
            let fields = record.fields.iter().filter(timed);
            fields
                .filter(|field| field.figure.kind == printed.figure.kind)
                .filter_map(|field| match field.name.meaning {
                    Meaning::Min => Some((0.0, field.figure.value, field.figure.coarse)),
                    Meaning::Quantile(level) => {
                        Some((level, field.figure.value, field.figure.coarse))
                    }
                    _ => None,
                })
                .collect()
        };
        let (mut above, mut below) = (0.0, 0.0);
        for (record, part) in others.iter().zip(parts) {
            let steps = |coarse: f64| coarse + printed.figure.coarse + 0.05 * value;
            let known = known(record);
            let over = known
                .iter()
                .filter(|(_, figure, coarse)| figure - steps(*coarse) > value)
                .map(|(level, ..)| 1.0 - level)
                .fold(0.0, f64::max);
            let under = known
                .iter()
                .filter(|(_, figure, coarse)| figure + steps(*coarse) < value)
                .map(|(level, ..)| *level)
                .fold(0.0, f64::max);
            above += over * part;
            below += under * part;
        }
        let (count, limit, word) = if above > 1.1 * (1.0 - quantile) * all + 2.0 {
            (above, (1.0 - quantile) * all, "above")
        } else if below > quantile * all + 0.02 * all + 2.0 {
            (below, quantile * all, "below")
        } else {
            continue;
        };
        warn(
            "percentile-disorder",
            last.line,
            [
                format!(
                    "{}: {} in the last row",
                    printed.name.text, printed.figure.text
                ),
                format!(
                    "by the percentiles of the rows, at least {} of {} requests are {word} {}, and only {} may be",
                    format_number(count.round()),
                    format_number(all),
                    printed.figure.text,
                    format_number(limit.round())
                ),
                "Compute the percentiles of all requests from the samples, not from the rows."
                    .to_owned(),
            ],
            findings,
        );
    }
}

/// Checks a last row that is the mean of the other rows: it must be within their range, and match
/// if another column does.
pub fn check_averages(grid: &Grid, columns: &[Column], findings: &mut Findings) {
    let Some((last, others)) = grid.records.split_last() else {
        return;
    };
    let label = last.label.trim_matches(['*', ' ', ':']).to_lowercase();
    let named = matches!(
        label.as_str(),
        "average" | "mean" | "avg" | "средн" | "平均" | "media" | "média"
    );
    if !named || others.len() < 2 {
        return;
    }
    let judged: Vec<(&Column, &Figure, f64, f64, f64)> = columns
        .iter()
        .filter_map(|column| {
            let (printed, parts) = column.cells.split_last()?;
            let parts: Vec<f64> = parts.iter().flatten().map(|figure| figure.value).collect();
            let printed =
                (*printed).filter(|figure| !figure.about && parts.len() == others.len())?;
            let mean = parts.iter().sum::<f64>() / parts.len() as f64;
            let low = parts.iter().copied().fold(f64::MAX, f64::min);
            let high = parts.iter().copied().fold(f64::MIN, f64::max);
            Some((column, printed, mean, low, high))
        })
        .collect();
    let fits = |printed: &Figure, mean: f64| {
        (printed.value - mean).abs() <= printed.coarse + 0.005 * mean.abs()
    };
    let usual = judged
        .iter()
        .filter(|(_, printed, mean, ..)| fits(printed, *mean))
        .count();
    for (column, printed, mean, low, high) in judged {
        let outside = printed.value + printed.step < low || printed.value - printed.step > high;
        let apart = (printed.value - mean).abs() > printed.coarse + 0.02 * mean.abs();
        if !(outside || usual >= 2 && apart) {
            continue;
        }
        warn(
            "total-mismatch",
            last.line,
            [
                format!("{}: {} in the last row", column.name, printed.text),
                format!(
                    "the mean of the {} rows is {}, not {}",
                    others.len(),
                    format_number(mean / printed.step * step_in_own_unit(printed)),
                    printed.text
                ),
                "Recalculate the mean.".to_owned(),
            ],
            findings,
        );
    }
}

/// The step of a figure in its printed unit.
fn step_in_own_unit(figure: &Figure) -> f64 {
    let text = figure
        .text
        .trim_start_matches(|letter: char| !letter.is_ascii_digit());
    crate::quantity::split_number(text)
        .and_then(|(written, _)| crate::quantity::parse_number(written))
        .map_or(figure.step, |(_, step)| step)
}
