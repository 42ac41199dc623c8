//! "A has the lowest latency", "Fastest: A": another record of the grid has a more extreme figure.

use super::comparison::{METRIC, VERB, compared_object};
use super::subject::{Metric, is_uncertain, named_records, text_before_verb};
use super::verdict::Verdict;
use super::{quote_with_field, warn};
use crate::pattern::{Pattern, group, pattern};
use crate::quantity::format_number;
use crate::records::{Field, Grid, Grids, Record};
use crate::report::Findings;

static MAX_COUNT: Pattern = pattern!(&format!(
    r"(?i)^(.+?)\s+{VERB}\s+(?:clearly |by far |still |also |again |overall |with )*(?:the\s+)?(fastest|slowest|(?:best|worst|highest|lowest|shortest|longest)(?:\s+[\w/()]+){{0,2}}?\s+{METRIC})\b"
));
static TITLE: Pattern = pattern!(&format!(
    r"(?i)^\W*(fastest|slowest|(?:best|worst|highest|lowest)(?:\s+[\w/()]+){{0,2}}?\s+{METRIC}|winner)(?:\s+[\w/()]+){{0,2}}?\W{{0,3}}:\W*(.+)$"
));
const EXTREMES: [&str; 9] = [
    "fastest", "slowest", "best", "worst", "highest", "lowest", "shortest", "longest", "winner",
];

pub fn check_sentence(grids: &Grids, sentence: &str, line: usize, findings: &mut Findings) {
    let lower = sentence.to_lowercase();
    let extreme = EXTREMES.iter().any(|word| lower.contains(word));
    if !extreme || sentence.len() > 400 || is_uncertain(sentence) {
        return;
    }
    let plain = sentence.replace(['*', '`', '"'], "");
    let (name, word) = if let Some(found) = MAX_COUNT.first(&plain) {
        (text_before_verb(group(&found, 1)), group(&found, 2))
    } else if let Some(found) = TITLE.first(&plain) {
        (compared_object(group(&found, 2)), group(&found, 1))
    } else {
        return;
    };
    let Some(metric) = Metric::in_sentence(&plain) else {
        return;
    };
    let verdict = Verdict::from_word(word);
    let mut against: Option<(&Field, &Field, &Record)> = None;
    for grid in grids.grids() {
        let Some(records) = named_records(grid, name) else {
            continue;
        };
        // If several rows have the same name, each may be the extreme for its own load.
        let [record] = &records[..] else {
            return;
        };
        for field in record
            .fields
            .iter()
            .filter(|field| metric.applies_to(field))
        {
            let Some(larger) = verdict.is_larger(field) else {
                continue;
            };
            match find_more_extreme(grid, record, field, larger) {
                Some((other, of)) => against = against.or(Some((field, other, of))),
                None => return,
            }
        }
    }
    let Some((field, other, of)) = against else {
        return;
    };
    warn(
        "comparison-reversed",
        line,
        [
            quote_with_field(sentence, field),
            format!(
                "{} of {} is beyond {}: {} ÷ {} = {}",
                other.figure.text,
                of.label,
                field.figure.text,
                other.figure.text,
                field.figure.text,
                format_number(other.figure.value / field.figure.value)
            ),
            "Name the record with the extreme figure, or name the other figure.".to_owned(),
        ],
        findings,
    );
}

/// Another record whose figure with this name is more extreme by more than 1 %. `None` if no other
/// record has this figure.
fn find_more_extreme<'r>(
    grid: &'r Grid,
    record: &Record,
    field: &Field,
    larger: bool,
) -> Option<(&'r Field, &'r Record)> {
    let others = grid
        .records
        .iter()
        .filter(|other| !std::ptr::eq(*other, record));
    let mut figures = others.filter_map(|other| Some((other.matching_field(field)?, other)));
    figures.find(|(other, _)| {
        let (mine, theirs) = (field.figure.value, other.figure.value);
        field.is_exact()
            && other.is_exact()
            && match larger {
                true => theirs > 1.01 * mine,
                false => theirs < 0.99 * mine,
            }
    })
}
