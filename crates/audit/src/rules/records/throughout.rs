//! "p99 ≤ 25 ms throughout", "0.8–0.95 cores regardless of the load": a limit or a range for every
//! figure of a column, and one figure outside of it.

use super::subject::is_uncertain;
use super::{quote_with_field, warn};
use crate::pattern::{Pattern, group, pattern};
use crate::quantity::{parse_number, parse_time_unit};
use crate::records::{
    Field, Figure, Grid, Grids, Kind, Meaning, Name, Record, label_words, tokenize,
};
use crate::report::{Findings, Report};

/// Words for all rows of all tables.
const ALL: [&str; 16] = [
    "throughout",
    "regardless of",
    "at every",
    "at each",
    "at all ",
    "in all ",
    "in every",
    "across all",
    "for every",
    "for all",
    "any of the runs",
    "under any",
    "in any",
    "constant",
    "consistently",
    "independent of",
];
/// Words for a figure that is not a result, or for a part of the results.
const OPEN: [&str; 19] = [
    "target",
    "goal",
    "limit",
    "threshold",
    "slo",
    "sla",
    "budget",
    "require",
    "expect",
    "except",
    "most",
    "nearly all",
    "almost all",
    "improve",
    "reduc",
    "faster",
    "slower",
    " but ",
    "previous",
];

static LIMIT: Pattern = pattern!(
    r"(?i)\b(p\d\d(?:\.\d+)?|mean|average|avg|median|max|maximum)\b[^.;,\d]{0,30}?(?:<=?|≤|below|under|within|at most|less than|no more than|never above)\s*~?(\d[\d,]*(?:\.\d+)?)\s?(ns|µs|μs|us|ms|milliseconds|s|seconds?)\b"
);
static RANGE: Pattern = pattern!(
    r"(?:^|[^\w.,–-])~?(\d[\d,]*(?:\.\d+)?)\s?([a-zµ%]{0,3})\s?(?:–|—|-|to)\s?(\d[\d,]*(?:\.\d+)?)\s?([\w/%µ]{1,10})"
);

/// Maximum number of figures to check.
const MAX_FIGURES: usize = 400;

pub fn check_sentence(
    report: &Report,
    grids: &Grids,
    text: &str,
    line: usize,
    findings: &mut Findings,
) {
    let lower = text.to_lowercase();
    if text.len() > 300
        || !ALL.iter().any(|word| lower.contains(word))
        || OPEN.iter().any(|word| lower.contains(word))
        || is_uncertain(text)
    {
        return;
    }
    let plain = text.replace(['*', '`'], "");
    check_limit(report, grids, text, &plain, line, findings);
    check_range(report, grids, text, &plain, line, findings);
}

/// The records of the tables under the headings of a line that have such a field, or else those of
/// all tables.
fn find_rows<'r>(
    report: &Report,
    grids: &'r Grids,
    line: usize,
    fits: &dyn Fn(&Field) -> bool,
) -> Vec<(&'r Record, &'r Field)> {
    let titles = report.document.titles(line);
    let of_tables = |is_wanted: &dyn Fn(&Grid) -> bool| -> Vec<(&'r Record, &'r Field)> {
        let grids = grids.tables.iter().filter(|grid| is_wanted(grid));
        grids
            .flat_map(|grid| &grid.records)
            .flat_map(|record| record.fields.iter().map(move |field| (record, field)))
            .filter(|(_, field)| fits(field))
            .take(MAX_FIGURES)
            .collect()
    };
    let own = of_tables(&|grid| report.document.titles(grid.line) == titles);
    match own.is_empty() {
        false => own,
        true => of_tables(&|_| true),
    }
}

/// Whether a sentence names a row, so that it may not be about the others.
fn names_row(rows: &[(&Record, &Field)], plain: &str) -> bool {
    let claimed = label_words(plain);
    rows.iter().any(|(record, _)| {
        let named = record
            .words
            .iter()
            .any(|word| word.chars().any(char::is_alphabetic));
        named && record.words.iter().all(|word| claimed.contains(word))
    })
}

fn check_limit(
    report: &Report,
    grids: &Grids,
    text: &str,
    plain: &str,
    line: usize,
    findings: &mut Findings,
) {
    let Some(found) = LIMIT.only(plain) else {
        return;
    };
    let group = |at: usize| group(&found, at);
    let meaning = Name::read(&group(1).to_lowercase()).meaning;
    let (Some((value, _)), Some(scale)) = (
        parse_number(group(2)),
        parse_time_unit(&group(3).to_lowercase()),
    ) else {
        return;
    };
    let bound = value * scale;
    let fits = |field: &Field| {
        field.name.meaning == meaning
            && field.figure.kind == Kind::Time
            && field.is_exact()
            && (field.name.is_latency() || field.name.quantity.is_empty())
    };
    let rows = find_rows(report, grids, line, &fits);
    let within = |figure: &Figure| figure.value <= bound * 1.001;
    let kept = rows.iter().filter(|(_, field)| within(&field.figure));
    let beyond = rows
        .iter()
        .find(|(_, field)| field.figure.value - field.figure.step > bound * 1.02);
    let Some((record, field)) = beyond.filter(|_| kept.count() >= 3) else {
        return;
    };
    if names_row(&rows, plain) {
        return;
    }
    let is = format!("is above {} {}", group(2), group(3));
    let fix = "Name the rows or the tables to which it applies.";
    report_contradiction(text, line, (record, field), &is, fix, findings);
}

/// Reports a figure that the sentence excludes.
fn report_contradiction(
    text: &str,
    line: usize,
    (record, field): (&Record, &Field),
    is: &str,
    fix: &str,
    findings: &mut Findings,
) {
    let figure = format!("{} of {} {is}", field.figure.text, record.label);
    let message = [quote_with_field(text, field), figure, fix.to_owned()];
    warn("objective-contradicted", line, message, findings);
}

fn check_range(
    report: &Report,
    grids: &Grids,
    text: &str,
    plain: &str,
    line: usize,
    findings: &mut Findings,
) {
    let Some(found) = RANGE.only(plain) else {
        return;
    };
    let group = |at: usize| group(&found, at);
    let (Some((low, low_step)), Some((high, high_step))) =
        (parse_number(group(1)), parse_number(group(3)))
    else {
        return;
    };
    let scale = parse_time_unit(group(4)).unwrap_or(1.0);
    let (low, high) = (low * scale, high * scale);
    let step = low_step.max(high_step) * scale;
    if low >= high || low <= 0.0 {
        return;
    }
    // The column is the one that the sentence names.
    let words = tokenize(plain);
    let statistics: Vec<Meaning> = words
        .iter()
        .map(|word| Name::read(word))
        .filter(Name::is_statistic)
        .map(|name| name.meaning)
        .collect();
    const GENERAL: [&str; 8] = [
        "time", "rate", "total", "average", "latency", "requests", "response", "number",
    ];
    let named = |field: &Field| match statistics.first() {
        Some(meaning) => field.name.meaning == *meaning,
        None => tokenize(&field.name.text).iter().any(|word| {
            word.len() > 3 && !GENERAL.contains(&word.as_str()) && words.contains(word)
        }),
    };
    let fits = |field: &Field| {
        let timed = (field.figure.kind == Kind::Time) == parse_time_unit(group(4)).is_some();
        named(field) && timed && field.is_exact()
    };
    if statistics.len() > 1 {
        return;
    }
    let rows = find_rows(report, grids, line, &fits);
    let slack = |field: &Field| step + field.figure.step + 0.01 * high;
    let is = |field: &Field, end: f64| {
        (field.figure.value - end).abs() <= 0.501 * step.max(field.figure.step) + 1e-9
    };
    let has = |end: f64| rows.iter().any(|(_, field)| is(field, end));
    let outside = |field: &Field| {
        field.figure.value + slack(field) < low || field.figure.value - slack(field) > high
    };
    let kept = rows.iter().filter(|(_, field)| !outside(field)).count();
    // Both ends are in the column, so the column is certain.
    let Some((record, field)) = rows
        .iter()
        .find(|(_, field)| outside(field))
        .filter(|_| has(low) && has(high) && kept >= 3 && 2 * kept > rows.len())
    else {
        return;
    };
    if names_row(&rows, plain) {
        return;
    }
    let is = format!("is not between {} and {}", group(1), group(3));
    let fix = "State a range that holds for every row, or name the rows.";
    report_contradiction(text, line, (record, field), &is, fix, findings);
}
