//! Finds stated changes that do not fit any two figures to which the sentence may refer: "At 200
//! users the throughput is 30 % higher than at 50", "/login: 45 % faster", "p95 improved by 34 %".

use super::entities::{Named, named};
use super::mentions::strip_markup;
use super::subject::{Metric, is_uncertain, matching_fields};
use super::warn;
use crate::pattern::{Pattern, group, pattern};
use crate::quantity::parse_time_unit;
use crate::records::{Field, Figure, Grids, Kind, Record, english, read};
use crate::report::{Findings, Report};
use crate::rules::change::{Change, is_change};
use crate::rules::prose::shorten;

static SIZE: Pattern =
    pattern!(r"(?:^|[^\w.,–-])[+−-]?(\d[\d,]*(?:\.\d+)?)\s?(%|x\b|×|times\b|-fold)");
static FIGURE: Pattern = pattern!(
    r"\d\s?(?:ns|us|µs|ms|s|sec|seconds|minutes|秒|毫秒|мс|req/s|rps|qps|tps|ops/s|k|kb|mb|gb)\b"
);
/// Figures with a unit in the text of a page.
static QUOTED: Pattern = pattern!(
    r"(?i)(\d[\d,]*(?:\.\d+)?)\s?(ns|us|µs|ms|s|seconds|req/s|requests/sec|rps|qps|tps|ops/s(?:ec)?)\b"
);

/// Words for a change that is not the one between two figures of the page.
const OPEN: [&str; 33] = [
    "up to",
    "at least",
    "target",
    "goal",
    "between",
    "overall",
    "geometric",
    "geomean",
    "per ",
    "each",
    "rest",
    "same",
    "of the time",
    "success",
    "hit rate",
    "hit ratio",
    "confidence",
    "cpu",
    "memory",
    "error",
    "previous",
    "earlier",
    "last year",
    "potential",
    "estimate",
    "theoretical",
    "expected",
    "limit",
    "threshold",
    "slo",
    "sla",
    "traffic",
    "total of",
];
/// The other side of a comparison.
const AGAINST: [&str; 8] = [
    " than ",
    " over ",
    " vs",
    " compared",
    " versus ",
    " against ",
    "relative to",
    " of ",
];
/// Words for several figures at once.
const COMBINED: [&str; 6] = ["average", "mean ", "all ", "both", "combined", "every"];

/// Maximum number of figures of one metric. With more of them, some pair matches any ratio.
const MAX_FIGURES: usize = 40;
/// Maximum number of rivals of a record that is compared with an unnamed one.
const MAX_RIVALS: usize = 4;

pub fn check_sentence(
    report: &Report,
    grids: &Grids,
    text: &str,
    line: usize,
    findings: &mut Findings,
) {
    let sized = text.contains(['%', '×', 'x', 'X', '倍', '배'])
        || text.contains("times")
        || text.contains("fold");
    if text.len() > 400 || !sized || !text.contains(|letter: char| letter.is_ascii_digit()) {
        return;
    }
    let own = strip_markup(text);
    let translated = english(&own);
    let lower = translated.as_deref().unwrap_or(&own);
    if !is_change(lower)
        || OPEN.iter().any(|word| lower.contains(word))
        || FIGURE.is_match(lower)
        || is_uncertain(lower)
    {
        return;
    }
    let (Some(found), Some(metric)) = (SIZE.only(lower), Metric::in_sentence(lower)) else {
        return;
    };
    let Some(change) = Change::read(group(&found, 1), group(&found, 2), lower) else {
        return;
    };
    // "99 % of all", and a table or a list that states the change itself.
    let after = found.get(0).and_then(|whole| lower.get(whole.end()..));
    if after.is_some_and(|after| after.trim_start().starts_with("of ")) || is_stated(grids, &change)
    {
        return;
    }
    let scopes = named(grids, &own);
    let example = match scopes.is_empty() {
        true => of_metric(report, grids, metric, &change, line),
        false => of_records(&scopes, lower, metric, &change)
            .filter(|(one, _)| !has_quoted_base(report, &scopes, one.figure.kind, &change)),
    };
    let Some((one, other)) = example else {
        return;
    };
    warn(
        "ratio-misstated",
        line,
        [
            format!("\"{}\"; {} and {}", shorten(text), shown(one), shown(other)),
            format!(
                "{}, and no other figures to which the sentence may refer do",
                change.describe_difference(&one.figure, &other.figure)
            ),
            "Recalculate it from the two figures, and name them.".to_owned(),
        ],
        findings,
    );
}

fn shown(field: &Field) -> String {
    format!("{}: {}", field.name.text, field.figure.text)
}

/// Whether a figure of the page is exactly this change.
fn is_stated(grids: &Grids, change: &Change) -> bool {
    let records = grids.tables.iter().chain(&grids.rows);
    let records = records.flat_map(|grid| &grid.records).chain(&grids.lists);
    records.flat_map(|record| &record.fields).any(|field| {
        let plain = field.figure.kind == Kind::Plain && super::columns::is_change(&field.name.text);
        (plain || matches!(field.figure.kind, Kind::Percent | Kind::Factor))
            && change.is_stated_by(&field.figure)
    })
}

/// Two figures to which the sentence may refer, if no such figures differ by the change.
fn of_records<'r>(
    scopes: &[Named<'r>],
    lower: &str,
    metric: Metric,
    change: &Change,
) -> Option<(&'r Field, &'r Field)> {
    let against = AGAINST.iter().any(|word| lower.contains(word));
    let mut example = None;
    for scope in scopes {
        for record in &scope.records {
            // Another named record is the other side, or else any record of the grid.
            let others: Vec<&Record> = match scope.records.len() {
                1 => scope.grid.records.iter().collect(),
                _ => scope.records.clone(),
            };
            for other in others {
                if std::ptr::eq(*record, other) {
                    continue;
                }
                let mut all = matching_fields(record, other, Metric::Any);
                if all.any(|(one, other)| change.is_between(&one.figure, &other.figure)) {
                    return None;
                }
            }
            // The change may also be between two columns of the same record.
            if columns(record).any(|(one, other)| change.is_between(&one.figure, &other.figure)) {
                return None;
            }
        }
        example = example.or_else(|| certain(scope, against, lower, metric));
    }
    example
}

/// Whether a figure of a named record and one in the text differ by the change.
fn has_quoted_base(report: &Report, scopes: &[Named], kind: Kind, change: &Change) -> bool {
    let bases = quoted(report, kind);
    let records = scopes.iter().flat_map(|scope| &scope.records);
    records.flat_map(|record| &record.fields).any(|field| {
        field.figure.kind == kind
            && field.is_exact()
            && bases
                .iter()
                .any(|base| change.is_between(base, &field.figure))
    })
}

/// Two fields of a record whose figures have the same unit.
fn columns(record: &Record) -> impl Iterator<Item = (&Field, &Field)> {
    let fields = record.fields.iter().take(MAX_FIGURES).enumerate();
    fields.flat_map(move |(at, one)| {
        let others = record.fields[at + 1..].iter().take(MAX_FIGURES);
        others
            .filter(move |other| other.figure.kind == one.figure.kind)
            .filter(move |other| one.is_exact() && other.is_exact())
            .map(move |other| (one, other))
    })
}

/// The two figures of a sentence about two records, or about one record with two columns or with
/// few rivals.
fn certain<'r>(
    scope: &Named<'r>,
    against: bool,
    lower: &str,
    metric: Metric,
) -> Option<(&'r Field, &'r Field)> {
    let differ = |(one, other): &(&Field, &Field)| {
        one.more_is_better().is_some() && one.figure.value != other.figure.value
    };
    if COMBINED.iter().any(|word| lower.contains(word)) {
        return None;
    }
    match scope.records[..] {
        [one, other] if scope.possible.len() <= 2 => {
            matching_fields(one, other, metric).find(|pair| differ(pair))
        }
        [record] => {
            let comparable = |field: &&Field| {
                field.is_exact()
                    && !field.name.is_statistic()
                    && matches!(field.figure.kind, Kind::Time | Kind::Rate)
            };
            let measured: Vec<&Field> = record.fields.iter().filter(comparable).collect();
            if let [one, other] = measured[..]
                && one.figure.kind == other.figure.kind
                && one.name.meaning == other.name.meaning
                && record.fields.len() <= 4
                && !against
            {
                return Some((one, other)).filter(differ);
            }
            let rivals = || {
                let others = scope.grid.records.iter();
                others.filter(|other| !std::ptr::eq(*other, record))
            };
            let few = (1..=MAX_RIVALS).contains(&rivals().count());
            if !few || against || metric == Metric::Any {
                return None;
            }
            rivals()
                .find_map(|other| matching_fields(record, other, metric).find(|pair| differ(pair)))
        }
        _ => None,
    }
}

/// Two figures of the metric in the only table of the section that has it, if no two figures of the
/// page with this metric differ by the change.
fn of_metric<'r>(
    report: &Report,
    grids: &'r Grids,
    metric: Metric,
    change: &Change,
    line: usize,
) -> Option<(&'r Field, &'r Field)> {
    if !matches!(metric, Metric::One(_) | Metric::Rate) {
        return None;
    }
    let fits = |field: &&Field| {
        metric.applies_to(field)
            && field.is_exact()
            && matches!(field.figure.kind, Kind::Time | Kind::Rate)
    };
    let titles = report.document.titles(line);
    let with_metric = |grid: &&crate::records::Grid| {
        let all = grid.records.iter().flat_map(|record| &record.fields);
        all.filter(fits).count() >= 2
    };
    let mut near = grids
        .tables
        .iter()
        .filter(|grid| report.document.titles(grid.line) == titles)
        .filter(with_metric);
    let (grid, None) = (near.next()?, near.next()) else {
        return None;
    };
    let records = grids.grids().flat_map(|grid| &grid.records);
    let fields = records
        .chain(&grids.lists)
        .flat_map(|record| &record.fields);
    let own: Vec<&Field> = fields.filter(fits).take(MAX_FIGURES + 1).collect();
    if own.len() > MAX_FIGURES {
        return None;
    }
    let kind = own.first()?.figure.kind;
    let mut figures: Vec<Figure> = own.iter().map(|field| field.figure.clone()).collect();
    figures.extend(quoted(report, kind));
    let matched = figures.iter().enumerate().any(|(at, one)| {
        let mut others = figures[at + 1..].iter();
        others.any(|other| one.kind == other.kind && change.is_between(one, other))
    });
    let mut all = grid.records.iter().flat_map(|record| &record.fields);
    let first = all.find(fits)?;
    let other = all.find(|field| fits(field) && field.figure.value != first.figure.value)?;
    (!matched && first.figure.kind == other.figure.kind).then_some((first, other))
}

/// The figures of a unit in the text, one of which may be the base of the change.
fn quoted(report: &Report, kind: Kind) -> Vec<Figure> {
    let mut figures: Vec<Figure> = Vec::new();
    for prose in report.prose() {
        for found in QUOTED.all(&prose.text).take(20) {
            let unit = group(&found, 2);
            let timed = parse_time_unit(&unit.to_lowercase()).is_some();
            if timed == (kind == Kind::Time)
                && let Some(figure) = read(&format!("{} {unit}", group(&found, 1)))
                && figure.value > 0.0
            {
                figures.push(figure);
            }
        }
        if figures.len() > 2 * MAX_FIGURES {
            break;
        }
    }
    figures
}
