//! "3x faster", "latency reduced by 40 %" next to a table: no two figures of the page differ by it.

use std::sync::LazyLock;

use regex_lite::Regex;

use super::subject::{Metric, is_uncertain};
use super::warn;
use crate::quantity::{digits, number};
use crate::records::{Field, Grid, Grids, Kind};
use crate::report::{Findings, Report};
use crate::rules::prose::shortened;

static BEFORE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)(?:^|[^\w.,–-])(\d+(?:\.\d+)?)\s?(%|x\b|×|times\b)\s*(?:\w+\s+){0,2}?(?:faster|slower|speed-?up|improvement|increase|decrease|reduction|lower|higher|gain|drop|less latency|more throughput|better)\b").ok()
});
static BEHIND: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:improv|reduc|increas|decreas|dropp|fell|rose|grew|cut|sped|lower)\w*\s+(?:[\w/-]+\s+){0,4}?by\s+(?:about |around |roughly |nearly |almost |over |~|≈)?(\d+(?:\.\d+)?)\s?(%|x\b|×|times\b)").ok()
});
static FIGURE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?i)\d\s?(?:ns|us|µs|ms|s|sec|seconds|minutes|req/s|rps|qps|tps|ops/s|k|kb|mb|gb)\b",
    )
    .ok()
});

/// With more figures than this, some pair has any ratio.
const MOST: usize = 60;
const MOST_FIELDS: usize = 2000;

/// The lines of a section: from its heading to the next one.
fn section(report: &Report, line: usize) -> std::ops::Range<usize> {
    let headings = &report.document.headings;
    let at = headings.partition_point(|(heading, _)| *heading <= line);
    let start = at.checked_sub(1).map_or(0, |at| headings[at].0);
    let end = headings.get(at).map_or(usize::MAX, |(next, _)| *next);
    start..end
}

pub fn sentence(report: &Report, grids: &Grids, text: &str, line: usize, findings: &mut Findings) {
    let lower = text.to_lowercase();
    let sized = lower.contains('%')
        || lower.contains('x')
        || lower.contains('×')
        || lower.contains("times");
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
    let mut found = [&BEFORE, &BEHIND]
        .into_iter()
        .flat_map(|pattern| pattern.as_ref())
        .flat_map(|pattern| pattern.captures_iter(&plain));
    let (Some(first), None) = (found.next(), found.next()) else {
        return;
    };
    // Its own figures are compared elsewhere.
    if FIGURE
        .as_ref()
        .is_none_or(|pattern| pattern.is_match(&plain))
    {
        return;
    }
    let Some(metric) = Metric::of(&plain) else {
        return;
    };
    let group = |at: usize| first.get(at).map_or("", |group| group.as_str());
    let Some((said, step)) = number(group(1)).filter(|(said, _)| *said > 0.0) else {
        return;
    };
    let percent = group(2) == "%";
    let own = section(report, line);
    let mut near = grids.tables.iter().filter(|grid| own.contains(&grid.line));
    let (Some(grid), None) = (near.next(), near.next()) else {
        return;
    };
    let Some((one, other)) = example(grid, metric) else {
        return;
    };
    let about = [
        "about",
        "around",
        "~",
        "≈",
        "roughly",
        "nearly",
        "almost",
        "over ",
        "approx",
        "more than",
        "at least",
    ];
    let about = about.iter().any(|word| lower.contains(word));
    if is_explained(report, grids, said, step, percent, about) {
        return;
    }
    let ratio = one.figure.value / other.figure.value;
    warn(
        "ratio-misstated",
        line,
        [
            format!(
                "\"{}\"; {}: {} and {}",
                shortened(text),
                one.name.text,
                one.figure.text,
                other.figure.text
            ),
            format!(
                "{} ÷ {} = {}, a difference of {} %; no two figures of the page differ by {}{}",
                one.figure.text,
                other.figure.text,
                digits(ratio),
                digits((ratio - 1.0).abs() * 100.0),
                group(1),
                if percent { " %" } else { " times" }
            ),
            "Compute it again from two figures, and name them.".to_owned(),
        ],
        findings,
    );
}

/// Two figures of a small table that the sentence may mean.
fn example(grid: &Grid, metric: Metric) -> Option<(&Field, &Field)> {
    let fits = |field: &&Field| {
        metric.has(field)
            && field.more_is_better().is_some()
            && field.figure.value > 0.0
            && !field.figure.bound
    };
    if grid.records.len() > 8 {
        return None;
    }
    for (at, record) in grid.records.iter().enumerate() {
        for field in record.fields.iter().filter(fits) {
            for other in &grid.records[at + 1..] {
                let twin = other
                    .fields
                    .iter()
                    .filter(fits)
                    .find(|twin| twin.name.text == field.name.text);
                if let Some(twin) = twin.filter(|twin| twin.figure.kind == field.figure.kind) {
                    return Some((field, twin));
                }
            }
        }
    }
    None
}

fn is_explained(
    report: &Report,
    grids: &Grids,
    said: f64,
    step: f64,
    percent: bool,
    about: bool,
) -> bool {
    let outputs = !report.blocks.is_empty();
    let all: Vec<&Field> = grids
        .tables
        .iter()
        .chain(&grids.rows)
        .flat_map(|grid| &grid.records)
        .chain(&grids.lists)
        .flat_map(|record| &record.fields)
        .take(MOST_FIELDS + 1)
        .collect();
    let computed = |field: &&&Field| {
        let figure = &field.figure;
        matches!(figure.kind, Kind::Percent | Kind::Factor)
            && (figure.value.abs() - said).abs() <= 1.5 * step + 0.02 * said
    };
    let mut figures: Vec<&Field> = all
        .iter()
        .copied()
        .filter(|field| field.figure.value > 0.0)
        .collect();
    figures.retain(|field| !matches!(field.figure.kind, Kind::Percent | Kind::Factor));
    figures.sort_by(|one, other| one.figure.value.total_cmp(&other.figure.value));
    figures.dedup_by(|one, other| one.figure == other.figure);
    if outputs
        || all.len() > MOST_FIELDS
        || figures.len() > MOST
        || all.iter().any(|field| computed(&field))
    {
        return true;
    }
    let share: f64 = if about { 0.2 } else { 0.05 };
    figures.iter().enumerate().any(|(at, one)| {
        figures[at + 1..].iter().any(|other| {
            let same = one.figure.kind == other.figure.kind;
            let ratio = other.figure.value / one.figure.value;
            let rights = match percent {
                true => [
                    (ratio - 1.0) * 100.0,
                    (1.0 - 1.0 / ratio) * 100.0,
                    100.0 / ratio,
                ],
                false => [ratio, ratio - 1.0, ratio],
            };
            let fits = |right: f64| {
                let share = if percent { share } else { share.max(0.1) };
                (said - right).abs() <= step + share * right
            };
            same && rights.into_iter().any(fits)
        })
    })
}
