//! A last row that is the sum or the mean of the other rows.

use super::columns::Column;
use super::warn;
use crate::quantity::digits;
use crate::records::{Figure, Grid, Kind, Meaning};
use crate::report::Findings;

/// Checks a last row that is the sum of the other rows.
pub fn sums(grid: &Grid, columns: &[Column], findings: &mut Findings) {
    let Some((last, others)) = grid.records.split_last() else {
        return;
    };
    let label = last.label.trim_matches(['*', ' ', ':']).to_lowercase();
    if others.len() < 2
        || !matches!(
            label.as_str(),
            "total" | "sum" | "итого" | "合计" | "gesamt"
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
        let Some((Some(said), parts)) = column.cells.split_last() else {
            continue;
        };
        let kinds = [Kind::Plain, Kind::Time, Kind::Data];
        let kinds = if counted { &kinds[..1] } else { &kinds };
        let whole = |figure: &&Figure| kinds.contains(&figure.kind) && !figure.about;
        let parts: Vec<&Figure> = parts.iter().flatten().copied().filter(whole).collect();
        if parts.len() != others.len() || !whole(said) {
            continue;
        }
        let right: f64 = parts.iter().map(|figure| figure.value).sum();
        let steps: f64 = parts.iter().map(|figure| figure.step).sum();
        let slack = if counted { 0.5 } else { said.coarse + steps };
        // A column of another quantity may not be a sum.
        let most = if counted { 2.0 } else { 1.1 };
        if (right - said.value).abs() <= slack
            || right > most * said.value
            || said.value > most * right
            || parts.iter().any(|figure| figure.kind != said.kind)
        {
            continue;
        }
        let texts: Vec<&str> = parts.iter().map(|figure| figure.text.as_str()).collect();
        warn(
            "total-mismatch",
            last.line,
            [
                format!("{}: {} in the last row", column.name, said.text),
                format!(
                    "{} = {}, not {}",
                    texts.join(" + "),
                    digits(right / said.step * number_step(said)),
                    said.text
                ),
                "Add the rows again.".to_owned(),
            ],
            findings,
        );
    }
}

/// Checks a last row that is the mean of the other rows: it must be within their range, and match
/// if another column does.
pub fn averages(grid: &Grid, columns: &[Column], findings: &mut Findings) {
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
            let (said, parts) = column.cells.split_last()?;
            let parts: Vec<f64> = parts.iter().flatten().map(|figure| figure.value).collect();
            let said = (*said).filter(|figure| !figure.about && parts.len() == others.len())?;
            let mean = parts.iter().sum::<f64>() / parts.len() as f64;
            let low = parts.iter().copied().fold(f64::MAX, f64::min);
            let high = parts.iter().copied().fold(f64::MIN, f64::max);
            Some((column, said, mean, low, high))
        })
        .collect();
    let fits =
        |said: &Figure, mean: f64| (said.value - mean).abs() <= said.coarse + 0.005 * mean.abs();
    let usual = judged
        .iter()
        .filter(|(_, said, mean, ..)| fits(said, *mean))
        .count();
    for (column, said, mean, low, high) in judged {
        let outside = said.value + said.step < low || said.value - said.step > high;
        let apart = (said.value - mean).abs() > said.coarse + 0.02 * mean.abs();
        if !(outside || usual >= 2 && apart) {
            continue;
        }
        warn(
            "total-mismatch",
            last.line,
            [
                format!("{}: {} in the last row", column.name, said.text),
                format!(
                    "the mean of the {} rows is {}, not {}",
                    others.len(),
                    digits(mean / said.step * number_step(said)),
                    said.text
                ),
                "Compute the mean again.".to_owned(),
            ],
            findings,
        );
    }
}

/// The step of a figure in its printed unit.
fn number_step(figure: &Figure) -> f64 {
    let text = figure
        .text
        .trim_start_matches(|letter: char| !letter.is_ascii_digit());
    crate::quantity::split_number(text)
        .and_then(|(written, _)| crate::quantity::number(written))
        .map_or(figure.step, |(_, step)| step)
}
