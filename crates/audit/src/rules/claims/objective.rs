//! "p95 = 85 ms (target < 100 ms) ✅", and tables of targets, results and verdicts.

use crate::block::Block;
use crate::document::Table;
use crate::finding::Level;
use crate::pattern::{Pattern, group, pattern};
use crate::quantity::{Unit, format_value, parse_number};
use crate::records::{Figure, Kind, read};
use crate::report::{Findings, Report};
use crate::rules::prose::shorten;
use crate::rules::tables::cell_at;

const RULE: &str = "objective-contradicted";

static CLAIM: Pattern = pattern!(
    r"(?i)(\d[\d,]*(?:\.\d+)?\s?(?:ms|µs|us|s|%|req/s|RPS|rps)?)\s*\((?:the )?(?:target|limit|threshold|slo|sla|goal|requirement)\s*:?\s*(<=|>=|[<≤>≥])\s*(\d[\d,]*(?:\.\d+)?\s?(?:ms|µs|us|s|%|req/s|RPS|rps)?)"
);

/// `512 ms < 500 ms`: two figures with units. The sign may have spaces around it.
static INEQUALITY: Pattern = pattern!(
    r"(?i)(?:^|[^\w.,])(\d[\d,]*(?:\.\d+)?\s?(?:ms|µs|us|s|%|req/s|rps))\s*(<=|>=|[<≤>≥])\s*(\d[\d,]*(?:\.\d+)?\s?(?:ms|µs|us|s|%|req/s|rps))(?:[^\w/]|$)"
);

pub fn check_sentence(sentence: &str, line: usize, findings: &mut Findings) {
    // Without a verdict, the sign itself claims that the limit is met.
    if sentence.contains(['<', '≤', '>', '≥']) && !is_missed(sentence) {
        judge_all(&INEQUALITY, sentence, true, line, findings);
    }
    if let Some(verdict) = parse_verdict(sentence) {
        judge_all(&CLAIM, sentence, verdict, line, findings);
    }
}

/// Checks each figure, sign and limit that the pattern matches.
fn judge_all(
    pattern: &Pattern,
    sentence: &str,
    verdict: bool,
    line: usize,
    findings: &mut Findings,
) {
    for found in pattern.all(sentence).take(8) {
        let group = |at: usize| group(&found, at);
        let (Some(figure), Some(limit)) = (read(group(1)), read(group(3))) else {
            continue;
        };
        let evidence = format!("\"{}\"", shorten(sentence));
        judge(&figure, group(2), &limit, verdict, evidence, line, findings);
    }
}

/// Whether a mark or a word states that the limit was met.
fn parse_verdict(text: &str) -> Option<bool> {
    let lower = text.to_lowercase();
    let met = ["✅", "✓", "✔"].iter().any(|mark| text.contains(mark))
        || ["pass", " met", "(met", "achieved"]
            .iter()
            .any(|word| lower.contains(word))
        || lower == "met"
        || lower == "ok";
    match (met, is_missed(text)) {
        (true, false) => Some(true),
        (false, true) => Some(false),
        _ => None,
    }
}

/// Whether a mark or a word states that the limit was missed.
fn is_missed(text: &str) -> bool {
    let lower = text.to_lowercase();
    ["❌", "✗", "✘", "⚠", "🔴"]
        .iter()
        .any(|mark| text.contains(mark))
        || ["fail", "missed", "not met", "exceed", "violat"]
            .iter()
            .any(|word| lower.contains(word))
}

fn judge(
    figure: &Figure,
    sign: &str,
    limit: &Figure,
    verdict: bool,
    evidence: String,
    line: usize,
    findings: &mut Findings,
) {
    if figure.kind != limit.kind {
        return;
    }
    let below = matches!(sign, "<" | "≤" | "<=");
    let missed = if below {
        figure.value - figure.step > limit.value
    } else {
        figure.value + figure.step < limit.value
    };
    // A run may fail for another reason although it meets the limit. The reverse is a contradiction.
    if !(verdict && missed) {
        return;
    }
    findings.page(
        RULE,
        Level::Error,
        line,
        [
            evidence,
            format!("{} is not {sign} {}", figure.text, limit.text),
            "State by how much it was missed, or correct the figure.".to_owned(),
        ],
    );
}

/// Checks a row with a target, a result and a verdict mark.
pub fn check_table(table: &Table, findings: &mut Findings) {
    let column = |words: &[&str]| {
        table.header.iter().position(|name| {
            let name = name.to_lowercase();
            words.iter().any(|word| name.contains(word))
        })
    };
    let (Some(target), Some(result), Some(status)) = (
        column(&[
            "target",
            "threshold",
            "slo",
            "sla",
            "limit",
            "goal",
            "requirement",
            "budget",
        ]),
        column(&["actual", "observed", "measured", "achieved", "result"]),
        column(&["status", "verdict", "pass", "met"]),
    ) else {
        check_rows(table, findings);
        return;
    };
    if target == result || result == status {
        return;
    }
    for (line, row) in table.rows.iter().take(500) {
        let (Some((sign, limit)), Some(verdict), Some(figure)) = (
            parse_limit(cell_at(row, target)),
            parse_verdict(cell_at(row, status)),
            read(cell_at(row, result)),
        ) else {
            continue;
        };
        let evidence = format!(
            "{}: {sign} {}, {}, {}",
            cell_at(row, 0),
            limit.text,
            figure.text,
            cell_at(row, status)
        );
        judge(&figure, sign, &limit, verdict, evidence, *line, findings);
    }
}

/// Parses a limit and the sign at the start of its cell.
fn parse_limit(text: &str) -> Option<(&'static str, Figure)> {
    let text = text.trim().trim_matches(['*', '`', ' ']);
    let sign = ["<=", ">=", "<", "≤", ">", "≥"]
        .into_iter()
        .find(|sign| text.starts_with(sign))?;
    Some((sign, read(text.trim_start_matches(sign))?))
}

/// Checks rows with one limit, one figure in the same unit and a mark that it was met. Does not
/// need the header, so it works in any language.
fn check_rows(table: &Table, findings: &mut Findings) {
    for (line, row) in table.rows.iter().take(500) {
        let limits: Vec<(&str, Figure)> = row.iter().filter_map(|cell| parse_limit(cell)).collect();
        let [(sign, limit)] = &limits[..] else {
            continue;
        };
        // A number without a unit may be anything.
        let known = !matches!(limit.kind, Kind::Plain);
        let figures: Vec<Figure> = row
            .iter()
            .skip(1)
            .filter(|cell| parse_limit(cell).is_none())
            .filter_map(|cell| read(cell))
            .filter(|figure| figure.kind == limit.kind)
            .collect();
        let [figure] = &figures[..] else {
            continue;
        };
        let text = row.join(" | ");
        let met = row
            .iter()
            .skip(1)
            .any(|cell| parse_verdict(cell) == Some(true));
        if known && met && !is_missed(&text) {
            judge(figure, sign, limit, true, shorten(&text), *line, findings);
        }
    }
}

static RATE: Pattern = pattern!(
    r"(?i)[>≥]=?\s*(\d[\d,]*)\s*(?:rps|tps|qps|req/s|reqs/s|requests/s|requests/sec|requests per second)\b"
);

/// The printed rate, or count ÷ time.
fn measured_rate(block: &Block) -> Option<f64> {
    let counted = block.requests.as_ref().zip(block.elapsed.as_ref());
    let counted = counted.filter(|(_, time)| time.value > 0.0);
    let printed = block.rate.as_ref().map(|rate| rate.value);
    printed.or(counted.map(|(count, time)| count.value / time.value))
}

/// Checks a minimum rate that is marked as met on a page whose outputs all have a lower rate.
pub fn check_min_rates(report: &Report, findings: &mut Findings) {
    let rated: Vec<f64> = report.blocks.iter().filter_map(measured_rate).collect();
    if !report.document.markdown || rated.is_empty() || rated.len() != report.blocks.len() {
        return;
    }
    let highest = rated.into_iter().fold(0.0, f64::max);
    for (at, line) in report.text.lines().enumerate().take(20_000) {
        let marked = line.len() < 300 && ["✅", "✓", "✔"].iter().any(|mark| line.contains(mark));
        if !marked || report.is_output(at + 1) {
            continue;
        }
        let limit = RATE
            .first(line)
            .and_then(|found| parse_number(found.get(1)?.as_str()));
        let Some((limit, _)) = limit.filter(|(limit, _)| highest < 0.95 * limit) else {
            continue;
        };
        findings.page(
            RULE,
            Level::Warning,
            at + 1,
            [
                format!(
                    "\"{}\"; the highest rate on the page is {}",
                    shorten(line.trim()),
                    format_value(highest, Unit::Rate)
                ),
                format!(
                    "{} is not above {}",
                    format_value(highest, Unit::Rate),
                    format_value(limit, Unit::Rate)
                ),
                "State by how much it was missed, or show the run that met it.".to_owned(),
            ],
        );
    }
}
