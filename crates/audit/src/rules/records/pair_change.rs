//! "Compared with B, A delivers 40 % more requests", in any order: one change and two records of a
//! table whose figures do not differ by it.

use super::mentions::{mentioned_records, strip_markup};
use super::subject::{Metric, is_uncertain, matching_fields};
use super::warn;
use crate::pattern::{Pattern, group, pattern};
use crate::records::{Field, Grids, Kind, Record};
use crate::report::Findings;
use crate::rules::change::{Change, is_change};
use crate::rules::prose::shorten;

static SIZE: Pattern = pattern!(r"(?i)(?:^|[^\w.,–-])(\d+(?:\.\d+)?)\s?(%|x\b|×|times\b|-fold)");
static FIGURE: Pattern = pattern!(
    r"(?i)\d\s?(?:ns|us|µs|ms|s|sec|seconds|minutes|req/s|rps|qps|tps|ops/s|k|kb|mb|gb)\b"
);
/// Words for a change that is not the one between two rows.
const OPEN: [&str; 18] = [
    "up to",
    "target",
    "goal",
    "between",
    "average",
    "overall",
    "geometric",
    "geomean",
    "per ",
    "each",
    "other",
    "rest",
    "all ",
    "same",
    "of the time",
    "success",
    "hit rate",
    "confidence",
];

pub fn check_sentence(grids: &Grids, text: &str, line: usize, findings: &mut Findings) {
    let sized = text.contains(['%', '×', 'x', 'X']) || text.contains("times");
    if text.len() > 300 || !sized {
        return;
    }
    let lower = strip_markup(text);
    if OPEN.iter().any(|word| lower.contains(word))
        || !is_change(&lower)
        || FIGURE.is_match(&lower)
        || is_uncertain(text)
    {
        return;
    }
    let (Some(found), Some(metric)) = (SIZE.only(&lower), Metric::in_sentence(&lower)) else {
        return;
    };
    let Some(change) = Change::read(group(&found, 1), group(&found, 2), text) else {
        return;
    };
    let mut example: Option<(&Field, &Field)> = None;
    for grid in grids.grids() {
        let [one, other] = mentioned_records(grid, &lower)[..] else {
            continue;
        };
        // The change may be stated in the table, or be that of another figure.
        if states_change(one, &change) || states_change(other, &change) {
            return;
        }
        for (a, b) in matching_fields(one, other, Metric::Any) {
            if change.is_between(&a.figure, &b.figure) {
                return;
            }
            let judged = metric.applies_to(a) && a.more_is_better().is_some();
            if judged && a.figure.value != b.figure.value {
                example = example.or(Some((a, b)));
            }
        }
    }
    let Some((one, other)) = example else {
        return;
    };
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
            change.describe_difference(&one.figure, &other.figure),
            "Recalculate it from the two figures, and name them.".to_owned(),
        ],
        findings,
    );
}

/// Whether a record states the change itself.
fn states_change(record: &Record, change: &Change) -> bool {
    record.fields.iter().any(|field| {
        matches!(field.figure.kind, Kind::Percent | Kind::Factor)
            && change.is_stated_by(&field.figure)
    })
}
