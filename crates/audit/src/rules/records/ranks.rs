//! "B is second", "C takes third place", "D is the second slowest".

use super::orders::TIE;
use super::subject::{Metric, is_uncertain, named_records, text_before_verb};
use super::{quote_with_field, warn};
use crate::pattern::{Pattern, group, pattern};
use crate::records::{Field, Grid, Grids, Record};
use crate::report::Findings;

static PLACE: Pattern = pattern!(
    r"(?i)^(.+?)\s+(?:is|was|are|came|comes|ranks?|ranked|finish(?:es|ed)|takes?|took|places?|placed|sits|holds?)\s+(?:in\s+|at\s+|the\s+|a\s+|clear\s+|close\s+|solid\s+|still\s+|only\s+|number\s+|#)*(first|second|third|fourth|fifth|last|1st|2nd|3rd|4th|5th)\b\s*(?:(fastest|slowest|best|worst|highest|lowest|place|position|overall|in|with|by|for|on|behind|at|among|of|[.,;(:]|$))"
);

const PLACES: [&str; 11] = [
    "first", "second", "third", "fourth", "fifth", "last", "1st", "2nd", "3rd", "4th", "5th",
];

pub fn check_sentence(grids: &Grids, sentence: &str, line: usize, findings: &mut Findings) {
    let lower = sentence.to_lowercase();
    let possible = PLACES.iter().any(|word| lower.contains(word));
    if !possible || sentence.len() > 300 || is_uncertain(sentence) {
        return;
    }
    let plain = sentence.replace(['*', '`', '"'], "");
    let Some(found) = PLACE.first(&plain) else {
        return;
    };
    let part = |at: usize| group(&found, at).to_lowercase();
    let place = match part(2).as_str() {
        "first" | "1st" => 1,
        "second" | "2nd" => 2,
        "third" | "3rd" => 3,
        "fourth" | "4th" => 4,
        "fifth" | "5th" => 5,
        _ => 0,
    };
    let from_worst = matches!(part(3).as_str(), "slowest" | "worst");
    let of_value = match part(3).as_str() {
        "highest" => Some(true),
        "lowest" => Some(false),
        _ => None,
    };
    let Some(metric) = Metric::in_sentence(&plain) else {
        return;
    };
    let mut against = None;
    for grid in grids.grids().filter(|grid| grid.records.len() >= 3) {
        let Some(records) = named_records(grid, text_before_verb(group(&found, 1))) else {
            continue;
        };
        let [record] = &records[..] else {
            return;
        };
        for field in record
            .fields
            .iter()
            .filter(|field| metric.applies_to(field))
        {
            let Some(more) = of_value.or(field.more_is_better()) else {
                continue;
            };
            let more = more != from_worst;
            let Some((best, worst, all)) = possible_ranks(grid, record, field, more) else {
                continue;
            };
            let expected = if place == 0 { all } else { place };
            if (best..=worst).contains(&expected) {
                return;
            }
            against = against.or(Some((field.clone(), best, all)));
        }
    }
    let Some((field, best, all)) = against else {
        return;
    };
    warn(
        "comparison-reversed",
        line,
        [
            quote_with_field(sentence, &field),
            format!(
                "{} is number {best} of {all} in its column, and no other figure of the record has the stated rank",
                field.figure.text
            ),
            "Name the figure that gives it this rank.".to_owned(),
        ],
        findings,
    );
}

/// The possible ranks of a record in a column with ties, and the number of records in that column.
fn possible_ranks(
    grid: &Grid,
    record: &Record,
    field: &Field,
    more: bool,
) -> Option<(usize, usize, usize)> {
    let mine = field.figure.value;
    let (mut best, mut worst, mut all) = (1, 1, 1);
    for other in grid
        .records
        .iter()
        .filter(|other| !std::ptr::eq(*other, record))
    {
        let Some(figure) = other.matching_field(field).map(|field| field.figure.value) else {
            continue;
        };
        all += 1;
        let apart = (figure - mine).abs() > TIE * mine.abs();
        let ahead = if more { figure > mine } else { figure < mine };
        best += usize::from(apart && ahead);
        worst += usize::from(!apart || ahead);
    }
    (all >= 3 && mine > 0.0).then_some((best, worst, all))
}
