//! "8 of 10 passed" or "all tests passed", next to the only table with verdicts in the section.

use super::subject::is_uncertain;
use super::warn;
use super::wins::replace_number_words;
use crate::document::Table;
use crate::pattern::{Pattern, group, pattern};
use crate::report::{Findings, Report};
use crate::rules::prose::shorten;
use crate::rules::tables::cell_at;

static PASSED: Pattern = pattern!(
    r"(?i)\b(\d{1,3})\s*(?:/|of|out of)\s*(?:the\s+|all\s+)?(\d{1,3})\s+(?:[\w-]+\s+){0,3}?(?:(?:were|are|have|has|was)\s+)?(?:pass(?:ed|ing)?|met|succeeded|successful|achieved)\b"
);
static ALL_PASSED: Pattern = pattern!(
    r"(?i)\b(?:all|every)\s+(?:(\d{1,3})\s+)?(?:of the\s+|the\s+)?(?:[\w-]+\s+){0,3}?(?:tests?|scenarios?|checks?|criteria|targets?|slos?|objectives?|goals?|benchmarks?|thresholds?|endpoints?|requirements?|metrics?)\s+(?:(?:were|are|have|has|was|been)\s+){0,2}(?:pass(?:ed|ing|es)?|met|achieved|exceeded|✅)"
);

pub fn check_sentence(report: &Report, text: &str, line: usize, findings: &mut Findings) {
    if text.len() > 300 || is_uncertain(text) {
        return;
    }
    let plain = replace_number_words(&text.replace(['*', '`', '"'], ""));
    let (claimed, all) = if let Some(found) = PASSED.first(&plain) {
        let number = |at: usize| group(&found, at).parse::<usize>().ok();
        (number(1), number(2))
    } else if let Some(found) = ALL_PASSED.first(&plain) {
        (None, group(&found, 1).parse::<usize>().ok())
    } else {
        return;
    };
    let titles = report.document.titles(line);
    let near = |table: &&Table| {
        let own = report.document.titles(table.line);
        own.starts_with(&titles) || titles.starts_with(&own) && !own.is_empty()
    };
    let tables = report.document.tables.iter().take(200);
    let mut judged = tables.filter(near).filter_map(table_verdicts);
    let (Some(rows), None) = (judged.next(), judged.next()) else {
        return;
    };
    let good = rows.iter().filter(|(_, good)| *good).count();
    let same = all.is_none_or(|all| all == rows.len());
    let wrong = match claimed {
        Some(claimed) => claimed != good,
        None => good < rows.len(),
    };
    if !same || !wrong {
        return;
    }
    let missed: Vec<&str> = rows
        .iter()
        .filter(|(_, good)| !good)
        .map(|(label, _)| *label)
        .collect();
    warn(
        if claimed.is_some() {
            "total-mismatch"
        } else {
            "objective-contradicted"
        },
        line,
        [
            format!(
                "\"{}\"; missed in the table: {}",
                shorten(text),
                missed.join(", ")
            ),
            format!("{good} of {} rows passed", rows.len()),
            "Count the rows again, and name those that were missed.".to_owned(),
        ],
        findings,
    );
}

/// Whether a cell states that its row passed.
fn parse_verdict(text: &str) -> Option<bool> {
    let lower = text.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    if text.len() > 60 {
        return None;
    }
    if has(&["❌", "✗", "✘", "fail", "missed", "not met"]) {
        return Some(false);
    }
    has(&["✅", "✓", "✔", "pass", "met"]).then_some(true)
}

/// The verdicts of a table, if it has a verdict column.
fn table_verdicts(table: &Table) -> Option<Vec<(&str, bool)>> {
    const NAMES: [&str; 8] = [
        "status",
        "result",
        "verdict",
        "pass",
        "pass?",
        "met?",
        "met",
        "pass/fail",
    ];
    let at = table.header.iter().rposition(|name| {
        let lower = name.trim_matches(['*', ' ']).to_lowercase();
        NAMES.contains(&lower.as_str())
    })?;
    let all = table
        .rows
        .iter()
        .take(200)
        .map(|(_, row)| Some((cell_at(row, 0), parse_verdict(cell_at(row, at))?)))
        .collect::<Option<Vec<_>>>()?;
    (all.len() >= 2).then_some(all)
}
