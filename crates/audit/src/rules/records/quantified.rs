//! "A outperforms B in all scenarios", "latency improved across the board", "by 24-34 % across all
//! percentiles": one row of a table contradicts a claim about all rows.

use super::columns::is_change;
use super::subject::is_uncertain;
use super::{quote_with_field, warn};
use crate::pattern::{Pattern, group, pattern};
use crate::quantity::parse_number;
use crate::records::{Field, Grid, Grids, Kind, Name, Record, label_words, tokenize};
use crate::report::{Findings, Report};

static ALL: Pattern = pattern!(
    r"(?i)\b(?:across the board|in (?:all|every|each)(?: of the| the)? (?:scenarios?|tests?|cases?|benchmarks?|categor(?:y|ies)|workloads?|endpoints?|operations?|runs?|rows?)|across all (?:scenarios|tests|cases|benchmarks|endpoints|operations|workloads))\b"
);
static BEATS: Pattern = pattern!(
    r"(?i)\b([A-Za-z][\w.+#-]*)\s+(?:consistently |clearly |always |significantly )*(?:outperforms?|outperformed|beats?|is (?:consistently |always |significantly )?faster than|was (?:consistently |always |significantly )?faster than)\s+([A-Za-z][\w.+#-]*)"
);
static RANGE: Pattern = pattern!(
    r"(?i)\b(\d+(?:\.\d+)?)\s?%?\s?[-–]\s?(\d+(?:\.\d+)?)\s?%\s+(?:\w+\s+){0,3}?(?:across|for|in|at|on) all percentiles\b"
);
/// Maximum number of rows of each side of a comparison.
const MAX_ROWS: usize = 40;
const IMPROVED: [&str; 7] = [
    "improve",
    "faster",
    "better",
    "reduced",
    "decreased",
    "dropped",
    "gain",
];

pub fn check_sentence(
    report: &Report,
    grids: &Grids,
    text: &str,
    line: usize,
    findings: &mut Findings,
) {
    let lower = text.to_lowercase();
    let possible = ["all ", "every ", "each ", "board"];
    if text.len() > 300 || !possible.iter().any(|word| lower.contains(word)) || is_uncertain(text) {
        return;
    }
    let plain = text.replace(['*', '`'], "");
    let limited = lower.contains(" but ") || lower.contains("except");
    if RANGE.is_match(&plain) {
        check_range(grids, text, &plain, line, findings);
    } else if ALL.is_match(&plain) && !limited {
        if let Some(found) = BEATS.only(&plain) {
            let names = [group(&found, 1), group(&found, 2)];
            check_all_rows_better(grids, text, names, line, findings);
        } else if IMPROVED.iter().any(|word| lower.contains(word)) {
            check_all_improved(report, grids, text, &lower, line, findings);
        }
    }
}

/// Compares each row of A with the row of B that has the same other words.
fn check_all_rows_better(
    grids: &Grids,
    text: &str,
    names: [&str; 2],
    line: usize,
    findings: &mut Findings,
) {
    let [one, other] = names.map(str::to_lowercase);
    let rest = |record: &Record, name: &str| -> Option<Vec<String>> {
        let words = &record.words;
        let rest = words.iter().filter(|word| *word != name).cloned();
        (words.iter().filter(|word| *word == name).count() == 1).then(|| rest.collect())
    };
    let (mut won, mut lost) = (0, None);
    for grid in &grids.tables {
        let of = |name: &str| -> Vec<(Vec<String>, &Record)> {
            let records = grid.records.iter();
            let named = records.filter_map(|record| Some((rest(record, name)?, record)));
            named
                .filter(|(words, _)| !words.is_empty())
                .take(MAX_ROWS)
                .collect()
        };
        let theirs = of(&other);
        for (words, record) in of(&one) {
            let mut twins = theirs.iter().filter(|(known, _)| *known == words);
            let (Some((_, twin)), None) = (twins.next(), twins.next()) else {
                continue;
            };
            for field in record.fields.iter().filter(|field| field.is_exact()) {
                let (Some(theirs), Some(more)) =
                    (twin.matching_field(field), field.more_is_better())
                else {
                    continue;
                };
                let ratio = field.figure.value / theirs.figure.value;
                let worse = if more { ratio < 0.95 } else { ratio > 1.05 };
                if worse {
                    lost = lost.or(Some((record, field, theirs)));
                } else {
                    won += 1;
                }
            }
        }
    }
    let Some((record, field, theirs)) = lost.filter(|_| won >= 2) else {
        return;
    };
    warn(
        "comparison-reversed",
        line,
        [
            quote_with_field(text, field),
            format!(
                "{}, {}: {} is worse than {}",
                record.label, field.name.text, field.figure.text, theirs.figure.text
            ),
            "Name the rows to which it does not apply.".to_owned(),
        ],
        findings,
    );
}

/// The only column of a table with signed changes.
fn signed_changes(grid: &Grid) -> Vec<(&Record, &Field)> {
    let mut found: Vec<(&Record, &Field)> = Vec::new();
    for record in &grid.records {
        let mut fields = record
            .fields
            .iter()
            .filter(|field| field.figure.kind == Kind::Percent && is_change(&field.name.text));
        if let (Some(field), None) = (fields.next(), fields.next()) {
            found.push((record, field));
        }
    }
    found
}

/// Checks a claim that all figures improved against a column of changes, if most changes have one sign.
fn check_all_improved(
    report: &Report,
    grids: &Grids,
    text: &str,
    lower: &str,
    line: usize,
    findings: &mut Findings,
) {
    let latency = lower.contains("latenc") || lower.contains("response time");
    let rate = lower.contains("throughput") || lower.contains("rps");
    if latency == rate {
        return;
    }
    let section = report.document.titles(line).first().cloned();
    for grid in &grids.rows {
        let changes = signed_changes(grid);
        let of_kind = |record: &Record| {
            let kind = if latency { Kind::Time } else { Kind::Rate };
            record
                .fields
                .iter()
                .filter(|field| field.figure.kind == kind)
                .count()
                >= 2
        };
        let signed: Vec<&(&Record, &Field)> = changes
            .iter()
            .filter(|(record, _)| of_kind(record))
            .collect();
        let better = |field: &Field| (field.figure.value < 0.0) == latency;
        let good = signed.iter().filter(|(_, field)| better(field)).count();
        let worse = signed
            .iter()
            .find(|(_, field)| !better(field) && field.figure.value.abs() >= 10.0);
        let Some((record, field)) = worse.filter(|_| good >= 2 && good * 2 > signed.len()) else {
            continue;
        };
        if report.document.titles(grid.line).first().cloned() != section {
            continue;
        }
        let shown: Vec<&str> = record
            .fields
            .iter()
            .map(|field| field.figure.text.as_str())
            .collect();
        warn(
            "comparison-reversed",
            line,
            [
                quote_with_field(text, field),
                format!("{}: {} became worse", record.label, shown.join(", ")),
                "Name the rows to which it does not apply.".to_owned(),
            ],
            findings,
        );
        return;
    }
}

/// Checks a range of changes of all percentiles against the rows that are percentiles.
fn check_range(grids: &Grids, text: &str, plain: &str, line: usize, findings: &mut Findings) {
    let Some(found) = RANGE.only(plain) else {
        return;
    };
    let (Some((low, step)), Some((high, _))) = (
        parse_number(group(&found, 1)),
        parse_number(group(&found, 2)),
    ) else {
        return;
    };
    let quantile = |record: &Record| {
        tokenize(&record.label).iter().any(|word| {
            matches!(
                Name::read(word).meaning,
                crate::records::Meaning::Quantile(_)
            )
        })
    };
    let mut outside = None;
    let mut inside = 0;
    for grid in &grids.rows {
        for (record, field) in signed_changes(grid) {
            if !quantile(record) {
                continue;
            }
            let value = field.figure.value.abs();
            if (low - 1.5 * step..=high + 1.5 * step).contains(&value) {
                inside += 1;
            } else {
                outside = outside.or(Some((record, field)));
            }
        }
    }
    let Some((record, field)) = outside.filter(|_| inside >= 1) else {
        return;
    };
    warn(
        "ratio-misstated",
        line,
        [
            quote_with_field(text, field),
            format!(
                "{} of {} is not between {} and {} %",
                field.figure.text,
                label_words(&record.label).join(" "),
                group(&found, 1),
                group(&found, 2)
            ),
            "State the range of all percentiles.".to_owned(),
        ],
        findings,
    );
}
