//! "A has a p99 of 12.4 ms", "from 1016 ms to 2.59 ms": a figure that the table does not have, where
//! the words or the other figure name its cell.

use super::mentions::{mentioned_records, strip_markup};
use super::misnamed_figure::is_precise;
use super::subject::{Metric, is_uncertain};
use super::{quote_with_field, warn};
use crate::pattern::{Pattern, group, pattern};
use crate::quantity::{parse_number, parse_time_unit};
use crate::records::{Field, Grid, Grids, Kind, Record};
use crate::report::{Findings, Report};
use crate::rules::prose::shorten;

const RATE: &str = r"req/s(?:ec)?|reqs/s(?:ec)?|requests?/s(?:ec(?:ond)?)?|requests per second|rps|qps|tps|ops/s(?:ec)?";

static FIGURE: Pattern = pattern!(&format!(
    r"(?i)(?:^|[^\w.,–-])(\d[\d,]*(?:\.\d+)?)\s?(?:(ns|µs|μs|us|ms|s|seconds)|{RATE})\b"
));
static CHANGED: Pattern = pattern!(&format!(
    r"(?i)\bfrom\s+(\d[\d,]*(?:\.\d+)?)\s?(?:(ns|µs|μs|us|ms|s|seconds)|{RATE})\s+(?:down |up )?to\s+(\d[\d,]*(?:\.\d+)?)\s?(?:(ns|µs|μs|us|ms|s|seconds)|{RATE})\b"
));
/// Words for a figure of another run, or for one that is not a result.
pub(super) const OTHER: [&str; 26] = [
    "target",
    "goal",
    "limit",
    "threshold",
    "slo",
    "sla",
    "budget",
    "timeout",
    "previous",
    "earlier",
    "before",
    "baseline",
    "another",
    "other",
    "separate",
    "first run",
    "second run",
    "rerun",
    "warm-up",
    "warmup",
    "cold",
    "estimate",
    "theoretical",
    "up to",
    "difference",
    "saves",
];

/// A figure as written in a sentence.
struct Claim<'t> {
    written: &'t str,
    value: f64,
    step: f64,
    kind: Kind,
}

impl<'t> Claim<'t> {
    fn read(written: &'t str, unit: &str) -> Option<Claim<'t>> {
        let (value, step) = parse_number(written)?;
        let (scale, kind) = match unit {
            "" => (1.0, Kind::Rate),
            unit => (parse_time_unit(&unit.to_lowercase())?, Kind::Time),
        };
        (value > 0.0).then_some(Claim {
            written,
            value: value * scale,
            step: step * scale,
            kind,
        })
    }

    /// Whether a field may be printed like this. Either of them may be rounded.
    fn matches_field(&self, field: &Field) -> bool {
        let figure = &field.figure;
        (figure.value - self.value).abs() <= 1.01 * figure.step.max(self.step) + 0.01 * self.value
    }

    /// Whether a field is near enough to be the intended figure.
    fn is_near(&self, field: &Field) -> bool {
        field.is_exact()
            && field.figure.kind == self.kind
            && (0.5..2.0).contains(&(field.figure.value / self.value))
    }

    /// Whether the number is printed only once on the page.
    fn is_unique(&self, report: &Report) -> bool {
        let digit = |letter: Option<char>| {
            letter.is_some_and(|letter| letter.is_ascii_digit() || letter == '.')
        };
        let text = report.text;
        let all = text.match_indices(self.written).filter(|(at, _)| {
            let before = text.get(..*at).and_then(|text| text.chars().next_back());
            let rest = text.get(at + self.written.len()..).unwrap_or("");
            let mut after = rest.chars();
            let next = after.next();
            let longer = next.is_some_and(|letter| letter.is_ascii_digit())
                || matches!(next, Some('.' | ',')) && digit(after.next());
            !digit(before) && !longer
        });
        all.count() == 1
    }
}

pub fn check_sentence(
    report: &Report,
    grids: &Grids,
    text: &str,
    line: usize,
    findings: &mut Findings,
) {
    let lower = strip_markup(text);
    if text.len() > 300
        || !text.contains(|letter: char| letter.is_ascii_digit())
        || OTHER.iter().any(|word| lower.contains(word))
        || is_uncertain(text)
    {
        return;
    }
    let (Some(found), Some(metric)) = (FIGURE.only(&lower), Metric::in_sentence(&lower)) else {
        return;
    };
    let Some(claim) = Claim::read(group(&found, 1), group(&found, 2)) else {
        return;
    };
    let about = [
        "~",
        "≈",
        "about",
        "around",
        "over",
        "under",
        "<",
        ">",
        "more than",
        "less than",
    ];
    if metric == Metric::Any
        || !is_precise(claim.written)
        || about.iter().any(|word| lower.contains(word))
    {
        return;
    }
    let mut near: Option<&Field> = None;
    for grid in grids.grids() {
        let [record] = mentioned_records(grid, &lower)[..] else {
            continue;
        };
        let fields = record
            .fields
            .iter()
            .filter(|field| metric.applies_to(field));
        for field in fields.filter(|field| field.figure.kind == claim.kind) {
            if claim.matches_field(field) {
                return;
            }
            near = near.or(Some(field).filter(|field| claim.is_near(field)));
        }
    }
    let Some(field) = near.filter(|_| claim.is_unique(report)) else {
        return;
    };
    warn(
        "stale-prose",
        line,
        [
            quote_with_field(text, field),
            format!(
                "no result of the page has {}; the one of that name is {}",
                claim.written, field.figure.text
            ),
            "Copy the figure from the table.".to_owned(),
        ],
        findings,
    );
}

/// Checks "from A to B" in headings and sentences: where B is the only figure of its row after the
/// change, A must be the one before it.
pub fn check_changed(
    report: &Report,
    grids: &Grids,
    text: &str,
    line: usize,
    findings: &mut Findings,
) {
    let lower = strip_markup(text);
    if text.len() > 300 || !lower.contains("from ") || is_uncertain(text) {
        return;
    }
    let Some(found) = CHANGED.only(&lower) else {
        return;
    };
    let group = |at: usize| group(&found, at);
    let (Some(one), Some(other)) = (
        Claim::read(group(1), group(2)),
        Claim::read(group(3), group(4)),
    ) else {
        return;
    };
    if one.kind != other.kind || !is_precise(other.written) || !one.is_unique(report) {
        return;
    }
    let exact = |claim: &Claim, field: &Field| {
        field.figure.kind == claim.kind
            && (field.figure.value - claim.value).abs() <= 0.501 * field.figure.step.max(claim.step)
    };
    let mut twin: Option<(&Field, &Field)> = None;
    for grid in &grids.tables {
        let Some([before, after]) = before_and_after(grid) else {
            continue;
        };
        for field in after.fields.iter().filter(|field| exact(&other, field)) {
            let Some(known) = before.matching_field(field) else {
                continue;
            };
            if twin.is_some() || one.matches_field(known) {
                return;
            }
            twin = Some((known, field));
        }
    }
    let Some((known, field)) = twin.filter(|(known, _)| one.is_near(known)) else {
        return;
    };
    warn(
        "stale-prose",
        line,
        [
            format!(
                "\"{}\"; {}: {} and {}",
                shorten(text),
                field.name.text,
                known.figure.text,
                field.figure.text
            ),
            format!(
                "{} is {} of the table, but the figure next to it is {}, not {}",
                other.written, field.name.text, known.figure.text, one.written
            ),
            "Copy both figures from the same row.".to_owned(),
        ],
        findings,
    );
}

/// The records before and after a change: those with such a name, or the only two.
fn before_and_after(grid: &Grid) -> Option<[&Record; 2]> {
    if let [before, after] = &grid.records[..] {
        return Some([before, after]);
    }
    let only = |words: &[&str]| {
        let mut found = grid
            .records
            .iter()
            .filter(|record| matches!(&record.words[..], [word] if words.contains(&word.as_str())));
        found.next().filter(|_| found.next().is_none())
    };
    let before = only(&["before", "old", "baseline", "previous", "original"])?;
    Some([
        before,
        only(&["after", "new", "now", "optimized", "current"])?,
    ])
}
