//! "3x faster" or "latency reduced by 40 %" next to a table in which no two figures differ by that much.

use super::subject::{Metric, is_uncertain};
use super::warn;
use crate::pattern::{Pattern, group, pattern};
use crate::records::{Field, Figure, Grid, Grids, Kind};
use crate::report::{Findings, Report};
use crate::rules::change::Change;
use crate::rules::prose::shorten;

static BEFORE: Pattern = pattern!(
    r"(?i)(?:^|[^\w.,–-])(\d+(?:\.\d+)?)\s?(%|x\b|×|times\b)\s*(?:\w+\s+){0,2}?(?:faster|slower|speed-?up|improvement|increase|decrease|reduction|lower|higher|gain|drop|less latency|more throughput|better)\b"
);
static BEHIND: Pattern = pattern!(
    r"(?i)\b(?:improv|reduc|increas|decreas|dropp|fell|rose|grew|cut|sped|lower)\w*\s+(?:[\w/-]+\s+){0,4}?by\s+(?:about |around |roughly |nearly |almost |over |~|≈)?(\d+(?:\.\d+)?)\s?(%|x\b|×|times\b)"
);
static FIGURE: Pattern = pattern!(
    r"(?i)\d\s?(?:ns|us|µs|ms|s|sec|seconds|minutes|req/s|rps|qps|tps|ops/s|k|kb|mb|gb)\b"
);

static WORD: Pattern = pattern!(r"(?i)\b(doubl|halv|tripl|quadrupl)(?:es?|ed|ing)\b");

/// Maximum number of figures. With more of them, some pair matches any ratio.
const MAX_FIGURES: usize = 60;
const MAX_FIELDS: usize = 2000;

/// The lines of a section, from its heading to the next one.
fn section_lines(report: &Report, line: usize) -> std::ops::Range<usize> {
    let headings = &report.document.headings;
    let at = headings.partition_point(|(heading, _)| *heading <= line);
    let start = at.checked_sub(1).map_or(0, |at| headings[at].0);
    let end = headings.get(at).map_or(usize::MAX, |(next, _)| *next);
    start..end
}

pub fn check_sentence(
    report: &Report,
    grids: &Grids,
    text: &str,
    line: usize,
    findings: &mut Findings,
) {
    let lower = text.to_lowercase();
    let sized = lower.contains('%')
        || lower.contains('x')
        || lower.contains('×')
        || lower.contains("times")
        || WORD.is_match(&lower);
    const SPEED: [&str; 10] = [
        "faster",
        "slower",
        "speedup",
        "speed-up",
        "throughput",
        "latency",
        "response time",
        "rps",
        "req/s",
        "p9",
    ];
    const OPEN: [&str; 9] = [
        "up to", "expected", "target", "goal", "per ", "each", "cpu", "memory", "between",
    ];
    if text.len() > 300
        || !sized
        || !SPEED.iter().any(|word| lower.contains(word))
        || OPEN.iter().any(|word| lower.contains(word))
        || is_uncertain(text)
    {
        return;
    }
    let plain = text.replace(['*', '`'], "");
    let mut found = BEFORE.all(&plain).chain(BEHIND.all(&plain));
    let change = match (found.next(), found.next()) {
        (Some(first), None) => Change::read(group(&first, 1), group(&first, 2), text),
        (None, None) => WORD.only(&plain).and_then(|word| {
            let factor = match group(&word, 1).to_lowercase().as_str() {
                "tripl" => "3.0",
                "quadrupl" => "4.0",
                _ => "2.0",
            };
            Change::read(factor, "x", "about")
        }),
        _ => None,
    };
    // Another rule compares the sentence's own figures.
    if FIGURE.is_match(&plain) {
        return;
    }
    let (Some(change), Some(metric)) = (change, Metric::in_sentence(&plain)) else {
        return;
    };
    let own = section_lines(report, line);
    let mut near = grids.tables.iter().filter(|grid| own.contains(&grid.line));
    let (Some(grid), None) = (near.next(), near.next()) else {
        return;
    };
    let Some((one, other)) = find_example(grid, metric) else {
        return;
    };
    if is_explained(report, grids, &change) {
        return;
    }
    warn(
        "ratio-misstated",
        line,
        [
            format!(
                "\"{}\"; {}: {} and {}",
                shorten(text),
                one.name.text,
                one.figure.text,
                other.figure.text
            ),
            format!(
                "{}, and no two figures on the page do",
                change.describe_difference(&one.figure, &other.figure)
            ),
            "Recalculate it from two figures, and name them.".to_owned(),
        ],
        findings,
    );
}

/// Two figures of a small table to which the sentence may refer.
fn find_example(grid: &Grid, metric: Metric) -> Option<(&Field, &Field)> {
    let fits = |field: &Field| {
        metric.applies_to(field) && field.more_is_better().is_some() && field.is_exact()
    };
    if grid.records.len() > 8 {
        return None;
    }
    let pairs = grid.records.iter().enumerate().flat_map(|(at, record)| {
        let fields = record.fields.iter().filter(|field| fits(field));
        fields.flat_map(move |field| {
            let others = grid.records[at + 1..].iter();
            others.filter_map(move |other| Some((field, other.matching_field(field)?)))
        })
    });
    pairs.into_iter().find(|(_, twin)| fits(twin))
}

/// Whether two figures of the page differ by a change, or one figure states it.
fn is_explained(report: &Report, grids: &Grids, change: &Change) -> bool {
    let all: Vec<&Field> = grids
        .tables
        .iter()
        .chain(&grids.rows)
        .flat_map(|grid| &grid.records)
        .chain(&grids.lists)
        .flat_map(|record| &record.fields)
        .take(MAX_FIELDS + 1)
        .collect();
    let is_change = |figure: &Figure| matches!(figure.kind, Kind::Percent | Kind::Factor);
    let mut figures: Vec<&Figure> = all
        .iter()
        .map(|field| &field.figure)
        .filter(|figure| figure.value > 0.0 && !is_change(figure))
        .collect();
    figures.sort_by(|one, other| one.value.total_cmp(&other.value));
    figures.dedup();
    if !report.blocks.is_empty() || all.len() > MAX_FIELDS || figures.len() > MAX_FIGURES {
        return true;
    }
    let stated = all
        .iter()
        .any(|field| is_change(&field.figure) && change.is_stated_by(&field.figure));
    stated
        || figures.iter().enumerate().any(|(at, one)| {
            let others = figures[at + 1..].iter();
            let mut same = others.filter(|other| other.kind == one.kind);
            same.any(|other| change.is_between(one, other))
        })
}
