//! "99.2 % recall" next to a table whose column `Recall` has no such figure, but another column has
//! it; and "99 %+ recall" next to a lower figure of that column.

use super::subject::is_uncertain;
use super::{quote_with_field, warn};
use crate::pattern::{Pattern, group, pattern};
use crate::quantity::parse_number;
use crate::records::{Field, Grid, Grids, Kind, tokenize};
use crate::report::{Findings, Report};

static VALUE: Pattern =
    pattern!(r"(?:^|[^\w.,–-])(\d[\d,]*(?:\.\d+)?)\s?%(\+?)\s+\(?([A-Za-z]{4,24})\b");

/// Words of a column's name that many columns have, or that say nothing about what it measures.
const GENERAL: [&str; 25] = [
    "latency",
    "time",
    "rate",
    "average",
    "avg",
    "mean",
    "median",
    "total",
    "value",
    "percent",
    "percentage",
    "share",
    "result",
    "change",
    "improvement",
    "faster",
    "slower",
    "less",
    "more",
    "lower",
    "higher",
    "target",
    "score",
    "ratio",
    "usage",
];

pub fn check_sentence(
    report: &Report,
    grids: &Grids,
    text: &str,
    line: usize,
    findings: &mut Findings,
) {
    if !text.contains('%') || text.len() > 400 || is_uncertain(text) {
        return;
    }
    let titles = report.document.titles(line);
    let Some(section) = titles.first() else {
        return;
    };
    let plain = text.replace(['*', '`'], "");
    for found in VALUE.all(&plain).take(4) {
        let (digits, word) = (group(&found, 1), group(&found, 3).to_lowercase());
        let Some((value, step)) = parse_number(digits) else {
            continue;
        };
        if GENERAL.contains(&word.as_str()) {
            continue;
        }
        // The only table on the page with a column of this name.
        let mut with = grids
            .rows
            .iter()
            .filter(|grid| find_column(grid, &word).is_some());
        let (Some(grid), None) = (with.next(), with.next()) else {
            continue;
        };
        if report.document.titles(grid.line).first() != Some(section) {
            continue;
        }
        let Some(name) = find_column(grid, &word) else {
            continue;
        };
        let claim = Claim {
            value,
            step,
            written: format!("{digits} % {}", group(&found, 3)),
        };
        if group(&found, 2) == "+" {
            claim.check_minimum(grid, &name, text, line, findings);
        } else {
            claim.check_other_columns(grids, grid, &name, text, line, findings);
        }
    }
}

/// The name of the only column with a word.
fn find_column(grid: &Grid, word: &str) -> Option<String> {
    let fields = grid.records.iter().flat_map(|record| &record.fields);
    let mut names: Vec<&str> = fields
        .map(|field| field.name.text.as_str())
        .filter(|name| tokenize(name).iter().any(|token| token == word))
        .collect();
    names.dedup();
    names.sort_unstable();
    names.dedup();
    match names[..] {
        [name] => Some(name.to_owned()),
        _ => None,
    }
}

/// A percentage in a sentence, with the word behind it.
struct Claim {
    value: f64,
    step: f64,
    written: String,
}

impl Claim {
    /// A figure as a percentage; a fraction without a unit is one, too.
    fn as_percent(field: &Field) -> Option<f64> {
        let figure = &field.figure;
        match figure.kind {
            Kind::Percent => Some(figure.value),
            Kind::Plain if (0.0..=1.0).contains(&figure.value) => Some(100.0 * figure.value),
            _ => None,
        }
    }

    fn matches_field(&self, field: &Field) -> bool {
        Claim::as_percent(field)
            .is_some_and(|value| (value - self.value).abs() <= 0.501 * self.step)
    }

    /// Checks that a figure of another column is not quoted under the name of this one.
    fn check_other_columns(
        &self,
        grids: &Grids,
        grid: &Grid,
        name: &str,
        text: &str,
        line: usize,
        findings: &mut Findings,
    ) {
        let precise = self.written.chars().filter(char::is_ascii_digit).count() >= 3;
        let fields = || grid.records.iter().flat_map(|record| &record.fields);
        let own: Vec<&Field> = fields().filter(|field| field.name.text == name).collect();
        let near = |field: &Field| {
            Claim::as_percent(field)
                .is_some_and(|value| (value - self.value).abs() <= 0.1 + self.step)
        };
        if !precise
            || own.len() < 2
            || own
                .iter()
                .any(|field| near(field) || Claim::as_percent(field).is_none())
        {
            return;
        }
        let lists = grids.lists.iter().flat_map(|list| &list.fields);
        if lists.into_iter().any(|field| self.matches_field(field)) {
            return;
        }
        let mut others: Vec<&Field> = fields()
            .filter(|field| field.name.text != name && self.matches_field(field))
            .collect();
        others.dedup_by(|one, other| one.name.text == other.name.text);
        let [other] = others[..] else {
            return;
        };
        let shown: Vec<&str> = own.iter().map(|field| field.figure.text.as_str()).collect();
        warn(
            "percentile-misquoted",
            line,
            [
                quote_with_field(text, other),
                format!(
                    "{} is a figure of {}; {name} has {}",
                    self.written,
                    other.name.text,
                    shown.join(", ")
                ),
                "Name the column that was quoted.".to_owned(),
            ],
            findings,
        );
    }

    /// Checks that no figure of the column is below the stated minimum.
    fn check_minimum(
        &self,
        grid: &Grid,
        name: &str,
        text: &str,
        line: usize,
        findings: &mut Findings,
    ) {
        let fields = grid.records.iter().flat_map(|record| &record.fields);
        let own: Vec<&Field> = fields.filter(|field| field.name.text == name).collect();
        // A sentence about one row names it.
        let some = grid.records.iter().any(|record| {
            let label = record.label.trim_matches(['*', '`', ' ']);
            label.len() > 1 && text.contains(label)
        });
        let below = own.iter().find(|field| {
            Claim::as_percent(field).is_some_and(|value| {
                let step = match field.figure.kind {
                    Kind::Percent => field.figure.step,
                    _ => 100.0 * field.figure.step,
                };
                value + 0.5 * step < self.value
            })
        });
        let (Some(below), false, true) = (below, some, own.len() >= 2) else {
            return;
        };
        warn(
            "objective-contradicted",
            line,
            [
                quote_with_field(text, below),
                format!("{} is below {}", below.figure.text, self.written),
                "State the lowest figure of the column.".to_owned(),
            ],
            findings,
        );
    }
}
