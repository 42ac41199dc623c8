//! "Before: 212 ms", "After: 692 ms" and a change in the lines below: the change must be that of
//! the two figures.

use super::changes::UNIT;
use super::two_figures::parse_change_word;
use super::{report_contradiction, slight};
use crate::pattern::{Pattern, group, pattern};
use crate::records::{Figure, read};
use crate::report::{Findings, Report};
use crate::rules::change::{Change, is_change};

static BEFORE: Pattern = pattern!(
    r"(?i)^\W*(?:before|old|previous|previously|original|baseline|unoptimi[sz]ed)\b[^:：\d]{0,25}[:：]"
);
static AFTER: Pattern =
    pattern!(r"(?i)^\W*(?:after|new|now|current|optimi[sz]ed)\b[^:：\d]{0,25}[:：]");
static FIGURE: Pattern = pattern!(&format!(
    r"(?i)(?:^|[^\w.,/–-])(\d[\d,]*(?:\.\d+)?)\s?({UNIT})\b"
));
static SIZE: Pattern = pattern!(r"(?i)(?:^|[^\w.,–-])(\d+(?:\.\d+)?)\s?(%|x\b|×|times\b|-fold)");

/// Number of lines below the pair that may state its change.
const BELOW: usize = 2;
/// Maximum number of lines of a page.
const MAX_LINES: usize = 4000;

pub fn check_lines(report: &Report, findings: &mut Findings) {
    let lines: Vec<(usize, &str)> = report
        .prose()
        .flat_map(|prose| prose.lines())
        .filter(|(_, text)| !text.is_empty() && text.len() < 200)
        .take(MAX_LINES)
        .collect();
    for (at, pair) in lines.windows(2).enumerate() {
        let [(first, before), (second, after)] = pair else {
            continue;
        };
        if second.saturating_sub(*first) > 2 || !BEFORE.is_match(before) || !AFTER.is_match(after) {
            continue;
        }
        let (Some(one), Some(other)) = (only_figure(before), only_figure(after)) else {
            continue;
        };
        if one.kind != other.kind || one.value <= 0.0 || other.value <= 0.0 {
            continue;
        }
        let mut last = *second;
        for (line, text) in lines.iter().skip(at + 2).take(BELOW) {
            if line.saturating_sub(last) > 1 || FIGURE.is_match(text) {
                break;
            }
            last = *line;
            judge(text, *line, (&one, &other), findings);
        }
    }
}

/// The only figure with a unit of a line.
fn only_figure(text: &str) -> Option<Figure> {
    let found = FIGURE.only(text)?;
    let figure = read(&format!("{} {}", group(&found, 1), group(&found, 2)))?;
    (!figure.bound).then_some(figure)
}

fn judge(text: &str, line: usize, (one, other): (&Figure, &Figure), findings: &mut Findings) {
    if slight::is_slight(text) {
        slight::judge(text, line, (one, other), findings);
        return;
    }
    let lower = text.to_lowercase();
    let sized = SIZE
        .only(&lower)
        .filter(|_| is_change(&lower) || lower.contains("improvement"));
    let change = match sized {
        Some(found) => Change::read(group(&found, 1), group(&found, 2), text),
        None => parse_change_word(&lower),
    };
    let Some(change) = change.filter(|change| !change.is_between(one, other)) else {
        return;
    };
    report_contradiction(
        "ratio-misstated",
        text,
        line,
        [
            change.describe_difference(one, other),
            "Recalculate it from the two figures, and state the base of the percentage.".to_owned(),
        ],
        findings,
    );
}
