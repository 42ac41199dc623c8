//! Records with different labels whose measured figures are equal to the last digit.

use super::warn;
use crate::records::{Field, Figure, Grid, Grids, Kind, Meaning, Record};
use crate::report::{Findings, Report};

/// Number of equal digits beyond the first that two measurements share by chance one time in a million.
const MIN_EQUAL_DIGITS: usize = 6;
const MAX_RECORDS: usize = 50;
const MAX_FIELDS: usize = 24;
const MAX_TABLES: usize = 100;

pub fn check(report: &Report, grids: &Grids, findings: &mut Findings) {
    for grid in grids.tables.iter().take(MAX_TABLES) {
        check_pairs(&grid.records, "rows", findings);
        check_pairs(&columns_as_records(grid), "columns", findings);
    }
    for grid in grids.rows.iter().take(MAX_TABLES) {
        check_groups(grid, findings);
    }
    for group in sibling_lists(report, grids) {
        check_pairs(&group, "lists", findings);
    }
}

fn check_pairs(records: &[Record], what: &str, findings: &mut Findings) {
    let records = &records[..records.len().min(MAX_RECORDS)];
    for (at, one) in records.iter().enumerate() {
        for other in &records[at + 1..] {
            if are_distinct(one, other) {
                compare(records, one, other, what, findings);
            }
        }
    }
}

/// Whether two labels name two things, neither of which is a sum or a selection of the others.
fn are_distinct(one: &Record, other: &Record) -> bool {
    const GENERAL: [&str; 27] = [
        "total",
        "aggregated",
        "all",
        "overall",
        "sum",
        "summary",
        "average",
        "mean",
        "best",
        "worst",
        "winner",
        "median",
        "combined",
        "final",
        "current",
        "baseline",
        "result",
        "results",
        "reference",
        "min",
        "max",
        "key",
        "conclusion",
        "overview",
        "fastest",
        "slowest",
        "highlights",
    ];
    let names = [&one.words, &other.words];
    let [a, b] = names;
    let inside = |one: &[String], other: &[String]| one.iter().all(|word| other.contains(word));
    let general = names
        .into_iter()
        .flatten()
        .any(|word| GENERAL.contains(&word.as_str()));
    !a.is_empty() && !b.is_empty() && !general && !inside(a, b) && !inside(b, a)
}

/// Whether a figure depends on the run, unlike a setting or a size.
fn is_measured(field: &Field) -> bool {
    matches!(field.figure.kind, Kind::Time | Kind::Rate)
        || field.figure.kind == Kind::Plain
            && (field.name.is_statistic() || field.name.meaning == Meaning::Rate)
}

/// The number of digits after the first one without trailing zeros, or 0 for fewer than three digits.
pub fn significant_digits(figure: &Figure) -> usize {
    let digits: String = figure.text.chars().filter(char::is_ascii_digit).collect();
    match digits.trim_matches('0').len() {
        length if length >= 3 && !figure.about => length - 1,
        _ => 0,
    }
}

fn compare(records: &[Record], one: &Record, other: &Record, what: &str, findings: &mut Findings) {
    let (mut same, mut apart, mut digits) = (Vec::new(), 0, 0);
    let measured = one.fields.iter().take(MAX_FIELDS);
    for field in measured.filter(|field| is_measured(field)) {
        let Some(twin) = other
            .fields
            .iter()
            .find(|twin| twin.name.text == field.name.text)
        else {
            continue;
        };
        if twin.figure != field.figure {
            apart += 1;
            continue;
        }
        // A figure that most rows share is a setting, or a single measurement for all of them.
        let shared = records.iter().flat_map(|record| &record.fields);
        let shared = shared
            .filter(|known| known.name.text == field.name.text && known.figure == field.figure);
        let weight = significant_digits(&field.figure);
        if weight > 0 && (records.len() == 2 || shared.count() * 2 <= records.len().max(4)) {
            digits += weight;
            same.push(format!("{} {}", field.name.text, field.figure.text));
        }
    }
    let all = apart == 0 && same.len() >= 2 && digits >= MIN_EQUAL_DIGITS;
    let nearly_all = apart < same.len() && same.len() >= 3 && digits >= MIN_EQUAL_DIGITS + 3;
    if !(all || nearly_all) {
        return;
    }
    warn(
        "copied-block",
        other.line,
        [
            format!("{} and {}: {}", one.label, other.label, same.join(", ")),
            format!(
                "{} figures of both {what} are equal in all of their digits, which does not happen in two runs",
                same.len()
            ),
            "One of them is a copy: show the figures of the actual run.".to_owned(),
        ],
        findings,
    );
}

/// The columns of a grid as records, if they have names of things and not of figures.
fn columns_as_records(grid: &Grid) -> Vec<Record> {
    let mut columns: Vec<Record> = Vec::new();
    for record in &grid.records {
        for field in &record.fields {
            if field.name.is_known() {
                continue;
            }
            let known = columns
                .iter()
                .position(|column| column.label == field.name.text);
            let at = known.unwrap_or_else(|| {
                columns.push(Record::new(grid.line, field.name.text.clone(), Vec::new()));
                columns.len() - 1
            });
            let mut field = field.clone();
            field.name.text.clone_from(&record.label);
            columns[at].fields.push(field);
        }
    }
    columns
}

/// Lists under sibling headings.
fn sibling_lists(report: &Report, grids: &Grids) -> Vec<Vec<Record>> {
    let mut groups: Vec<(Vec<String>, Vec<Record>)> = Vec::new();
    for list in &grids.lists {
        let mut titles = report.document.titles(list.line);
        let Some(label) = titles.pop() else {
            continue;
        };
        let record = Record::new(list.line, label, list.fields.clone());
        match groups.iter_mut().find(|(above, _)| *above == titles) {
            Some((_, records)) => records.push(record),
            None => groups.push((titles, vec![record])),
        }
    }
    groups.into_iter().map(|(_, records)| records).collect()
}

/// Compares groups of rows with the same label: each row of one group against the row at the same
/// place in another one.
fn check_groups(grid: &Grid, findings: &mut Findings) {
    let mut groups: Vec<&[Record]> = Vec::new();
    for group in grid.records.chunk_by(|one, other| one.words == other.words) {
        groups.push(group);
    }
    let Some(size) = groups.first().map(|group| group.len()) else {
        return;
    };
    let alike = groups.iter().all(|group| group.len() == size);
    if size < 3 || !alike || groups.len() < 2 || grid.records.len() > MAX_RECORDS {
        return;
    }
    for pair in groups.windows(2) {
        let [one, other] = pair else {
            continue;
        };
        let (mut digits, mut shown) = (0, Vec::new());
        let equal = one.iter().zip(other.iter()).all(|(one, other)| {
            let mut measured = one
                .fields
                .iter()
                .filter(|field| is_measured(field))
                .peekable();
            measured.peek().is_some()
                && measured.all(|field| {
                    digits += significant_digits(&field.figure);
                    if shown.len() < 4 {
                        shown.push(field.figure.text.clone());
                    }
                    other
                        .matching_field(field)
                        .is_some_and(|twin| twin.figure == field.figure)
                })
        });
        if !equal || digits < MIN_EQUAL_DIGITS + 3 || !are_distinct(&one[0], &other[0]) {
            continue;
        }
        warn(
            "copied-block",
            other[0].line,
            [
                format!(
                    "{} and {}: {}, …",
                    one[0].label,
                    other[0].label,
                    shown.join(", ")
                ),
                format!(
                    "all figures of {size} rows are equal in all of their digits, which does not happen in two runs"
                ),
                "One of them is a copy: show the figures of the actual run.".to_owned(),
            ],
            findings,
        );
    }
}
