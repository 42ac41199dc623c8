//! A heading whose users, requests, duration or rate differ from those of the tables and lists below it.

use super::{quote_with_field, warn};
use crate::pattern::{Pattern, group, pattern};
use crate::quantity::{format_number, parse_number, parse_time_unit};
use crate::records::{Field, Grids, Kind, Meaning};
use crate::report::{Findings, Report};

static USERS: Pattern = pattern!(
    r"(?i)(?:^|[^\w.,–-])(\d[\d,]*)\s?(k\b)?\s*(?:(?:concurrent|virtual|parallel|simultaneous)\s+)*(?:users?|connections?|clients?|vus?|threads?|conns?)\b"
);
static REQUESTS: Pattern = pattern!(
    r"(?i)(?:^|[^\w.,–-])(\d[\d,]*)\s?(k\b)?\s*(?:total\s+)?(?:requests?|reqs|operations|messages)\b(?:[^/]|$)"
);
static DURATION: Pattern =
    pattern!(r"(?i)(?:^|[^\w.,–-])(\d+(?:\.\d+)?)[ -]?(s|sec|secs|seconds?|m|min|mins|minutes?)\b");
static RATE: Pattern = pattern!(
    r"(?i)(?:^|[^\w.,–-])(\d[\d,]*(?:\.\d+)?)\s?(k\b)?\s?(?:req(?:uest)?s?/s(?:ec(?:ond)?)?|requests per second|rps|qps|tps|ops/s(?:ec)?)"
);

/// Words in a heading for a range, a limit or a comparison.
const OPEN: [&str; 23] = [
    "up to",
    "ramp",
    "→",
    "->",
    " to ",
    "vs",
    "target",
    "limit",
    "goal",
    "max",
    ">",
    "<",
    "≥",
    "≤",
    "+",
    "~",
    "@",
    "per ",
    "each",
    "objective",
    "expected",
    "theor",
    "estimat",
];

pub fn check(report: &Report, grids: &Grids, findings: &mut Findings) {
    let headings = &report.document.headings;
    for (at, (line, title)) in headings.iter().enumerate().take(500) {
        let next = headings.get(at + 1).map_or(usize::MAX, |(next, _)| *next);
        let lower = title.to_lowercase();
        let digit = title.contains(|letter: char| letter.is_ascii_digit());
        let block = report
            .blocks
            .iter()
            .any(|block| (*line..next).contains(&block.first_line));
        if title.len() > 150 || !digit || block || OPEN.iter().any(|word| lower.contains(word)) {
            continue;
        }
        let inside = |below: usize| *line < below && below < next;
        let fields: Vec<&Field> = grids
            .tables
            .iter()
            .filter(|grid| inside(grid.line))
            .flat_map(|grid| &grid.records)
            .chain(grids.lists.iter().filter(|list| inside(list.line)))
            .flat_map(|record| &record.fields)
            .collect();
        let of = |meaning: Meaning, kind: Kind| -> Vec<&Field> {
            let all = fields.iter().copied();
            all.filter(|field| field.name.meaning == meaning && field.figure.kind == kind)
                .collect()
        };
        check_setting(
            title,
            *line,
            &USERS,
            &of(Meaning::Users, Kind::Plain),
            findings,
        );
        check_setting(
            title,
            *line,
            &REQUESTS,
            &of(Meaning::Requests, Kind::Plain),
            findings,
        );
        check_duration(title, *line, &of(Meaning::Duration, Kind::Time), findings);
        check_rate(
            report,
            title,
            *line,
            &of(Meaning::Rate, Kind::Rate),
            findings,
        );
    }
}

/// The only match of a pattern in a title, as a figure and as text.
fn only_match(title: &str, pattern: &'static Pattern) -> Option<(f64, bool, String)> {
    let found = pattern.only(title)?;
    let (value, _) = parse_number(group(&found, 1))?;
    let thousands = !group(&found, 2).is_empty();
    let scale = if thousands { 1e3 } else { 1.0 };
    Some((value * scale, thousands, group(&found, 0).trim().to_owned()))
}

fn report_mismatch(
    title: &str,
    line: usize,
    claimed: &str,
    field: &Field,
    rule: &'static str,
    findings: &mut Findings,
) {
    warn(
        rule,
        line,
        [
            quote_with_field(title, field),
            format!(
                "the heading states {claimed}, but every figure below it is {}",
                field.figure.text
            ),
            "Correct the heading, or show the run that it names.".to_owned(),
        ],
        findings,
    );
}

/// Reports a heading if all figures below it agree on another value.
fn common_field<'f>(fields: &[&'f Field]) -> Option<&'f Field> {
    let first = fields.first()?;
    let same = |field: &&Field| {
        (field.figure.value - first.figure.value).abs() <= 0.02 * first.figure.value
    };
    let exact = |field: &&Field| !field.figure.about && field.figure.value > 0.0;
    (fields.iter().all(|field| same(field) && exact(field))).then_some(*first)
}

fn check_setting(
    title: &str,
    line: usize,
    pattern: &'static Pattern,
    fields: &[&Field],
    findings: &mut Findings,
) {
    let (Some((claimed, _, text)), Some(field)) =
        (only_match(title, pattern), common_field(fields))
    else {
        return;
    };
    if claimed < 1.0 || (claimed - field.figure.value).abs() <= 0.05 * claimed {
        return;
    }
    report_mismatch(title, line, &text, field, "label-mismatch", findings);
}

fn check_duration(title: &str, line: usize, fields: &[&Field], findings: &mut Findings) {
    let (Some(found), Some(field)) = (DURATION.only(title), common_field(fields)) else {
        return;
    };
    let group = |at: usize| group(&found, at);
    let unit = match group(2).to_lowercase() {
        unit if unit.starts_with('m') => "m",
        _ => "s",
    };
    let (Some((value, _)), Some(scale)) = (parse_number(group(1)), parse_time_unit(unit)) else {
        return;
    };
    let (claimed, measured) = (value * scale, field.figure.value);
    // A duration of less than a second is the duration of a request.
    if claimed < 1.0 || measured < 1.0 || (0.66..1.5).contains(&(measured / claimed)) {
        return;
    }
    report_mismatch(
        title,
        line,
        group(0).trim(),
        field,
        "declared-vs-counted",
        findings,
    );
}

fn check_rate(
    report: &Report,
    title: &str,
    line: usize,
    fields: &[&Field],
    findings: &mut Findings,
) {
    const REQUESTED: [&str; 10] = [
        "rate", "load", "constant", "open", "offered", "at ", "under", "test", "stage", "scenario",
    ];
    let lower = title.to_lowercase();
    let Some((claimed, thousands, text)) = only_match(title, &RATE) else {
        return;
    };
    let Some(field) = fields.first() else {
        return;
    };
    let slack = if thousands { 0.15 } else { 0.05 };
    let near = |value: f64| (value - claimed).abs() <= slack * value.abs();
    let written: String = text
        .chars()
        .take_while(|letter| letter.is_ascii_digit() || matches!(letter, '.' | ','))
        .collect();
    let elsewhere = report
        .text
        .lines()
        .filter(|line| line.contains(&written))
        .nth(1)
        .is_some();
    let precise = written
        .chars()
        .filter(char::is_ascii_digit)
        .collect::<String>()
        .trim_matches('0')
        .len()
        >= 2;
    if REQUESTED.iter().any(|word| lower.contains(word))
        || !precise
        || elsewhere
        || fields.iter().any(|field| near(field.figure.value))
    {
        return;
    }
    warn(
        "stale-prose",
        line,
        [
            quote_with_field(title, field),
            format!(
                "{text} ÷ {} = {}, and no rate below the heading is {text}",
                field.figure.text,
                format_number(claimed / field.figure.value)
            ),
            "Copy the figure from the table.".to_owned(),
        ],
        findings,
    );
}
