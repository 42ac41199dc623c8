//! "All endpoints responded below 50 ms", "p95 stayed under 200 ms" or "no errors", next to a table
//! with a record that contradicts it.

use super::subject::named_records;
use super::{quote_with_field, warn};
use crate::pattern::{Pattern, group, pattern};
use crate::quantity::{parse_number, parse_time_unit};
use crate::records::{
    Field, Grid, Grids, Kind, Meaning, Name, Record, label_words as name, tokenize,
};
use crate::report::{Findings, Report};
use crate::rules::prose::shorten;

const LIMIT: &str = r"(?:below|under|less than|within|sub-?|<=?|≤|at most|no more than|above|over|exceed(?:s|ed)?)\s*~?(\d[\d,]*(?:\.\d+)?)\s?(ns|µs|μs|us|ms|milliseconds|s|seconds?)\b";

static ALL: Pattern = pattern!(&format!(
    r"(?i)\b(?:all|every|each|none of)\b[^.;]{{0,70}}?{LIMIT}"
));
static STAYS: Pattern = pattern!(&format!(
    r"(?i)\b(?:stays?|stayed|remains?|remained|kept|never|always|consistently)\b[^.;\d]{{0,40}}?{LIMIT}"
));
static DENIED: Pattern = pattern!(
    r"(?i)\b(?:(?:no|zero|without(?: any)?)\s+(?:(?:failed|http|request|single)\s+)?(?:errors?|failures?|failed requests|timeouts)\b|0\s+(?:errors|failures|failed requests)\b|100\s?%\s+success|0\s?% (?:errors?|failures?|error rate)\b)"
);
const OPEN: [&str; 31] = [
    "should",
    "would",
    "could",
    "may",
    "might",
    "target",
    "goal",
    "until",
    "up to",
    "except",
    " but ",
    "other than",
    "unless",
    "if ",
    "must",
    "slo",
    "sla",
    "threshold",
    "most",
    "almost",
    "nearly",
    "expect",
    "objective",
    "when",
    "while",
    "excluding",
    "only",
    "first",
    "last",
    "previous",
    "earlier",
];

pub fn check_sentence(
    report: &Report,
    grids: &Grids,
    text: &str,
    line: usize,
    findings: &mut Findings,
) {
    let lower = text.to_lowercase();
    if text.len() > 250
        || OPEN.iter().any(|word| lower.contains(word))
        || lower.trim_end().ends_with('?')
    {
        return;
    }
    let plain = text.replace(['*', '`'], "");
    check_limit(report, grids, text, &plain, line, findings);
    check_denied(report, grids, text, &plain, line, findings);
}

/// The only table with such figures under the headings of a line, or on the page.
fn find_table<'r>(
    report: &Report,
    grids: &'r Grids,
    line: usize,
    has: impl Fn(&Field) -> bool,
) -> Option<&'r Grid> {
    let titles = report.document.titles(line);
    let fits = |grid: &&Grid| {
        grid.records
            .iter()
            .flat_map(|record| &record.fields)
            .any(&has)
    };
    let all: Vec<&Grid> = grids.tables.iter().filter(fits).collect();
    let mut own = all
        .iter()
        .filter(|grid| report.document.titles(grid.line) == titles);
    match (own.next(), own.next()) {
        (Some(grid), None) => Some(grid),
        (None, _) => match all[..] {
            [grid] => Some(grid),
            _ => None,
        },
        _ => None,
    }
}

/// Whether a passage names some of the records, so that it does not apply to all.
fn names_a_record(grid: &Grid, text: &str) -> bool {
    let claimed = name(text);
    grid.records.iter().any(|record| {
        let label = record.label.trim_matches(['*', '`', ' ']);
        label.len() > 1 && text.contains(label)
            || !record.words.is_empty() && record.words.iter().all(|word| claimed.contains(word))
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
    let all = ALL.first(plain);
    let stays = || STAYS.first(plain);
    let Some(found) = all.or_else(stays) else {
        return;
    };
    let group = |at: usize| group(&found, at);
    let whole = group(0).to_lowercase();
    // "Always above" is the opposite of "never above".
    let above = ["above", "over", "exceed"]
        .iter()
        .any(|word| whole.contains(word));
    if above && !whole.contains("never") && !whole.contains("none of") {
        return;
    }
    let (Some((value, _)), Some(scale)) = (
        parse_number(group(1)),
        parse_time_unit(&group(2).to_lowercase()),
    ) else {
        return;
    };
    // Another number may be a condition.
    let words = tokenize(plain);
    let statistics: Vec<Meaning> = words
        .iter()
        .map(|word| Name::read(word))
        .filter(Name::is_statistic)
        .map(|name| name.meaning)
        .collect();
    let numbers = words
        .iter()
        .filter(|word| word.starts_with(|letter: char| letter.is_ascii_digit()));
    let ordinals = words.iter().filter(|word| word.ends_with("th")).count();
    if numbers.count() > 1 + ordinals || statistics.len() > 1 {
        return;
    }
    let bound = value * scale;
    let fits = |field: &Field| {
        let meant = match statistics.first() {
            Some(meaning) => field.name.meaning == *meaning,
            // If the sentence names no statistic, only these figures can contradict it.
            None => matches!(
                field.name.meaning,
                Meaning::Min | Meaning::Mean | Meaning::Quantile(0.5)
            ),
        };
        meant
            && field.figure.kind == Kind::Time
            && (field.name.is_latency() || field.name.quantity.is_empty())
            && !field.figure.bound
    };
    let Some(grid) =
        find_table(report, grids, line, fits).filter(|grid| !names_a_record(grid, plain))
    else {
        return;
    };
    const EARLIER: [&str; 6] = ["before", "baseline", "previous", "old", "original", "prior"];
    let is_earlier = |record: &Record| {
        record
            .words
            .iter()
            .any(|word| EARLIER.contains(&word.as_str()))
    };
    let compared = grid.records.iter().any(is_earlier);
    let beyond = grid
        .records
        .iter()
        .filter(|record| !(compared && is_earlier(record)))
        .flat_map(|record| record.fields.iter().map(move |field| (record, field)))
        .find(|(_, field)| fits(field) && field.figure.value - field.figure.step > bound * 1.001);
    let Some((record, field)) = beyond else {
        return;
    };
    warn(
        "objective-contradicted",
        line,
        [
            format!(
                "\"{}\"; {}, {}: {}",
                shorten(text),
                record.label,
                field.name.text,
                field.figure.text
            ),
            format!(
                "{} is not below {} {}",
                field.figure.text,
                group(1),
                group(2)
            ),
            "Name the records above the limit.".to_owned(),
        ],
        findings,
    );
}

fn check_denied(
    report: &Report,
    grids: &Grids,
    text: &str,
    plain: &str,
    line: usize,
    findings: &mut Findings,
) {
    let Some(found) = DENIED.find(plain) else {
        return;
    };
    let rest = format!("{} {}", &plain[..found.start()], &plain[found.end()..]);
    let lower = rest.to_lowercase();
    let other = [
        "log", "compil", "build", "crash", "warning", "at ", "below", "under", "cpu", "with ",
    ];
    if rest.contains(|letter: char| letter.is_ascii_digit())
        || other.iter().any(|word| lower.contains(word))
    {
        return;
    }
    let failed = |field: &Field| match (field.name.meaning, field.figure.kind) {
        (Meaning::Failed, Kind::Plain) | (Meaning::FailedShare, Kind::Percent) => {
            field.figure.value > 0.0
        }
        (Meaning::PassedShare, Kind::Percent) => field.figure.value < 100.0,
        _ => false,
    };
    let counted = |field: &Field| {
        matches!(
            field.name.meaning,
            Meaning::Failed | Meaning::FailedShare | Meaning::PassedShare
        )
    };
    let titles = report.document.titles(line);
    let Some(grid) = find_table(report, grids, line, counted)
        .filter(|grid| report.document.titles(grid.line) == titles)
    else {
        return;
    };
    let subject = rest.split([':', ',']).next().unwrap_or(&rest);
    let records = match named_records(grid, subject) {
        Some(records) => records,
        None if names_a_record(grid, plain) => return,
        None => grid.records.iter().collect(),
    };
    let counts: Vec<&Field> = records
        .iter()
        .flat_map(|record| &record.fields)
        .filter(|field| counted(field))
        .collect();
    let of_one = records.len() < grid.records.len();
    let Some(field) = counts.iter().find(|field| failed(field)) else {
        return;
    };
    if of_one && !counts.iter().all(|field| failed(field)) {
        return;
    }
    warn(
        "errors-denied",
        line,
        [
            quote_with_field(text, field),
            format!("{} is not {}", field.figure.text, found.as_str()),
            "State how many requests failed.".to_owned(),
        ],
        findings,
    );
}
