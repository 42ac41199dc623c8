//! Objectives with a ✅, or "all objectives are met", against the records with the same name.

use super::{quote_with_field, warn};
use crate::pattern::{Pattern, group, pattern};
use crate::quantity::parse_number;
use crate::records::{Field, Figure, Grids, Kind, Meaning, Record, label_words as name, read};
use crate::report::{Findings, Report};
use crate::rules::prose::{is_conditional, shorten};

static LIMIT: Pattern =
    pattern!(r"^\W*([^:<>≤≥]+):\s*\**\s*(<=|>=|[<≤>≥])\s*(\d[\d,.]*\s?[\w%/]*)");
static SUCCESS: Pattern = pattern!(
    r"(?i)^\W*([^:]+):\s*\**\s*(?:100(?:\.0+)?\s?% success|zero (?:errors|failures)|no (?:errors|failures)|0 (?:errors|failures))"
);
static ALL: Pattern = pattern!(
    r"(?i)\ball (?:\w+ ){0,2}(?:slos?|slas?|objectives|targets|thresholds|goals|criteria)\b.*?\b(?:pass(?:ing|ed)?|met|achieved|exceeded)\b"
);
static RATE: Pattern = pattern!(
    r"(?i)\b(?:fixed|constant|target|requested|offered)\b[^.;|]*?\b(?:rps|qps|tps|rate)\s*[=:]\s*(\d[\d,]*)"
);

pub fn check(report: &Report, grids: &Grids, findings: &mut Findings) {
    for prose in report.prose() {
        for (line, text) in prose.lines().filter(|(_, text)| text.len() < 300) {
            let text = &text.replace('*', "");
            check_limit(grids, text, line, findings);
            check_success(grids, text, line, findings);
            check_all(report, grids, text, line, findings);
            check_rate(grids, text, line, findings);
        }
    }
}

fn is_marked(text: &str) -> bool {
    let lower = text.to_lowercase();
    let met = ["✅", "✓", "✔"].iter().any(|mark| text.contains(mark)) || lower.contains("pass");
    met && !["❌", "✗", "⚠"].iter().any(|mark| text.contains(mark)) && !lower.contains("fail")
}

/// The records whose label has the same words.
fn records_labelled<'g>(grids: &'g Grids, label: &str) -> Vec<&'g Record> {
    let claimed = name(label);
    let grids = grids.grids().chain(&grids.rows);
    let records = grids.flat_map(|grid| &grid.records);
    records
        .filter(|record| {
            !claimed.is_empty() && claimed.iter().all(|word| record.words.contains(word))
        })
        .collect()
}

/// Whether a field is a measured value of a row and not its limit.
fn measured_field(record: &Record) -> Option<&Field> {
    const NAMES: [&str; 6] = [
        "measured", "actual", "observed", "achieved", "result", "value",
    ];
    record.fields.iter().find(|field| {
        let lower = field.name.text.to_lowercase();
        NAMES.iter().any(|name| lower.contains(name)) && !field.figure.bound
    })
}

fn misses(figure: &Figure, sign: &str, limit: &Figure) -> bool {
    figure.kind == limit.kind
        && match sign.starts_with(['<', '≤']) {
            true => figure.value - figure.step > limit.value,
            false => figure.value + figure.step < limit.value,
        }
}

/// Checks "Overhead: <5ms ✅ PASS" against a row of that name with another value.
fn check_limit(grids: &Grids, text: &str, line: usize, findings: &mut Findings) {
    if !text.contains(['<', '>', '≤', '≥']) || !text.contains(':') {
        return;
    }
    let Some(found) = LIMIT.first(text) else {
        return;
    };
    let group = |at: usize| group(&found, at);
    let Some(limit) = read(group(3)).filter(|_| is_marked(text)) else {
        return;
    };
    let records = records_labelled(grids, group(1));
    let mut values: Vec<&Field> = records
        .iter()
        .filter_map(|record| measured_field(record))
        .collect();
    // The same row appears twice, once for each orientation of its table.
    values.dedup_by(|one, other| one.figure == other.figure);
    let [value] = &values[..] else {
        return;
    };
    if !misses(&value.figure, group(2), &limit) {
        return;
    }
    warn(
        "objective-contradicted",
        line,
        [
            quote_with_field(text, value),
            format!("{} is not {} {}", value.figure.text, group(2), limit.text),
            "State by how much it was missed, or correct the figure.".to_owned(),
        ],
        findings,
    );
}

/// Checks "1000 concurrent requests: 100% success" against a table of that name with failures.
fn check_success(grids: &Grids, text: &str, line: usize, findings: &mut Findings) {
    let lower = text.to_lowercase();
    let words = ["success", "errors", "failures"];
    if !text.contains(':') || !words.iter().any(|word| lower.contains(word)) {
        return;
    }
    let Some(found) = SUCCESS.first(text) else {
        return;
    };
    let label = found.get(1).map_or("", |group| group.as_str());
    let shares: Vec<&Field> = records_labelled(grids, label)
        .into_iter()
        .flat_map(|record| &record.fields)
        .filter(|field| {
            field.name.meaning == Meaning::PassedShare && field.figure.kind == Kind::Percent
        })
        .collect();
    let below = |field: &&Field| field.figure.value + field.figure.step < 100.0;
    let Some(share) = shares.first().filter(|_| shares.iter().all(below)) else {
        return;
    };
    warn(
        "errors-denied",
        line,
        [
            quote_with_field(text, share),
            format!("{} is not 100 %", share.figure.text),
            "State how many requests failed.".to_owned(),
        ],
        findings,
    );
}

/// Checks "All objectives are met" above a table with a row that misses its limit.
fn check_all(report: &Report, grids: &Grids, text: &str, line: usize, findings: &mut Findings) {
    if !text.to_lowercase().contains("all ") {
        return;
    }
    if !ALL.is_match(text) || is_conditional(text) {
        return;
    }
    let titles = report.document.titles(line);
    let below = grids
        .rows
        .iter()
        .filter(|grid| grid.line > line && report.document.titles(grid.line) == titles);
    for record in below.flat_map(|grid| &grid.records) {
        let limit = record.fields.iter().find(|field| {
            let lower = field.name.text.to_lowercase();
            let named = ["target", "limit", "threshold", "goal"];
            field.figure.bound && named.iter().any(|name| lower.contains(name))
        });
        let (Some(limit), Some(value)) = (limit, measured_field(record)) else {
            continue;
        };
        let sign = if limit.figure.text.contains('<') {
            "<"
        } else {
            ">"
        };
        if !misses(&value.figure, sign, &limit.figure) {
            continue;
        }
        warn(
            "objective-contradicted",
            line,
            [
                format!(
                    "\"{}\"; {}: {}, limit {}",
                    shorten(text),
                    record.label,
                    value.figure.text,
                    limit.figure.text
                ),
                format!("{} is not {}", value.figure.text, limit.figure.text),
                "Name the objective that was missed.".to_owned(),
            ],
            findings,
        );
        return;
    }
}

/// Checks "Fixed rate = 1000" on a page whose rates are all lower.
fn check_rate(grids: &Grids, text: &str, line: usize, findings: &mut Findings) {
    let lower = text.to_lowercase();
    if !["rate", "rps", "qps", "tps"]
        .iter()
        .any(|word| lower.contains(word))
    {
        return;
    }
    let claimed = RATE
        .first(text)
        .and_then(|found| parse_number(found.get(1)?.as_str()));
    let Some((claimed, _)) = claimed else {
        return;
    };
    let rates = grids
        .grids()
        .flat_map(|grid| &grid.records)
        .flat_map(|record| &record.fields)
        .filter(|field| field.figure.kind == Kind::Rate);
    let Some(highest) = rates.max_by(|one, other| one.figure.value.total_cmp(&other.figure.value))
    else {
        return;
    };
    if highest.figure.value >= 0.95 * claimed || highest.figure.value < 0.05 * claimed {
        return;
    }
    warn(
        "generator-saturated",
        line,
        [
            quote_with_field(text, highest),
            format!(
                "{} of {claimed} are {:.1} %",
                highest.figure.text,
                100.0 * highest.figure.value / claimed
            ),
            "State the achieved rate, and why it is lower.".to_owned(),
        ],
        findings,
    );
}
