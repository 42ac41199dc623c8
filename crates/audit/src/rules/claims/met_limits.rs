//! "✅ p95 < 500 ms", "sub-5 ms p99", "✅ error rate < 1 %": limits that the page claims to meet
//! although every output on it misses them.

use crate::block::{Block, Tool, quantile_name};
use crate::finding::Level;
use crate::pattern::{Pattern, group, pattern};
use crate::quantity::{Quantity, format_number, parse_duration};
use crate::report::{Findings, Report};
use crate::rules::failures::unsuccessful_responses;
use crate::rules::prose::{is_conditional, sentences, shorten};

const RULE: &str = "objective-contradicted";

static LIMIT: Pattern = pattern!(
    r"(?i)\bp\s?\(?(\d\d(?:\.\d+)?)\)?(?:\s+(?:latency|response time|time|duration))?\W{0,6}[<≤]=?\s*(\d+(?:\.\d+)?\s?(?:ms|s))\b"
);
static SUB: Pattern = pattern!(
    r"(?i)\bsub[- ](\d+(?:\.\d+)?\s?(?:ms|s))\s+(?:p(\d\d(?:\.\d+)?)|(\d\d(?:\.\d+)?)th percentile)"
);
static ERRORS: Pattern =
    pattern!(r"(?i)\b(?:error|failure) rate\W{0,6}[<≤]=?\s*(\d+(?:\.\d+)?)\s?%");

pub fn check(report: &Report, findings: &mut Findings) {
    if !report.document.markdown {
        return;
    }
    for (at, line) in report.text.lines().enumerate().take(20_000) {
        let marked = line.len() < 300 && ["✅", "✓", "✔"].iter().any(|mark| line.contains(mark));
        let missed = ["❌", "✗", "✘", "⚠"].iter().any(|mark| line.contains(mark));
        if !marked || missed || report.is_output(at + 1) {
            continue;
        }
        if let Some(found) = LIMIT.first(line) {
            let group = |at: usize| group(&found, at);
            if let (Ok(percent), Some(limit)) =
                (group(1).parse::<f64>(), parse_duration(group(2), at + 1))
            {
                check_quantile(report, percent / 100.0, &limit, line.trim(), findings);
            }
        }
        let max_share = ERRORS
            .first(line)
            .and_then(|found| group(&found, 1).parse::<f64>().ok());
        if let Some(max_share) = max_share {
            check_errors(report, max_share, line.trim(), at + 1, findings);
        }
    }
    for prose in report.prose().filter(|prose| has_sub_prefix(&prose.text)) {
        for sentence in sentences(&prose.text).filter(|sentence| !is_conditional(sentence)) {
            let Some(found) = SUB.first(sentence) else {
                continue;
            };
            let percent = found.get(2).or_else(|| found.get(3));
            let percent = percent.and_then(|percent| percent.as_str().parse::<f64>().ok());
            let limit = found
                .get(1)
                .and_then(|limit| parse_duration(limit.as_str(), prose.line));
            if let (Some(percent), Some(limit)) = (percent, limit) {
                check_quantile(report, percent / 100.0, &limit, sentence, findings);
            }
        }
    }
}

fn has_sub_prefix(text: &str) -> bool {
    ["sub-", "Sub-", "sub "]
        .iter()
        .any(|word| text.contains(word))
}

/// Checks a limit on a quantile that is at or above the limit in every output.
fn check_quantile(
    report: &Report,
    quantile: f64,
    limit: &Quantity,
    text: &str,
    findings: &mut Findings,
) {
    let mut best: Option<(&Block, &Quantity)> = None;
    for block in &report.blocks {
        let Some(figure) = block.latency().and_then(|latency| latency.at(quantile)) else {
            return;
        };
        // autocannon truncates times to whole milliseconds. The other tools round them.
        let step = if block.tool == Tool::Autocannon {
            0.0
        } else {
            figure.step
        };
        if figure.value - step < limit.value {
            return;
        }
        if best.is_none_or(|(_, best)| figure.value < best.value) {
            best = Some((block, figure));
        }
    }
    let Some((block, figure)) = best else {
        return;
    };
    findings.block(
        RULE,
        Level::Warning,
        block,
        limit.line,
        [
            format!(
                "\"{}\"; the lowest {} on the page is {} (line {})",
                shorten(text),
                quantile_name(quantile),
                figure.text,
                figure.line
            ),
            format!("{} is not below {}", figure.text, limit.text),
            "State by how much it was missed, or show the run that met it.".to_owned(),
        ],
    );
}

/// Checks a limit on failures, in percent, that every output exceeds.
fn check_errors(report: &Report, max_share: f64, text: &str, line: usize, findings: &mut Findings) {
    let mut lowest: Option<(&Block, f64, f64)> = None;
    for block in &report.blocks {
        let length = block.length_failures.as_ref().map_or(0.0, |n| n.value);
        let failed = (block.failed() - length).max(unsuccessful_responses(block));
        let Some(n) = block.samples().filter(|n| *n > 0.0) else {
            return;
        };
        // The shares miss a limit such as "below 1 %" by far more than rounding explains.
        if failed / n * 100.0 <= 1.05 * max_share + 0.05 {
            return;
        }
        if lowest.is_none_or(|(_, failed_least, n_least)| failed / n < failed_least / n_least) {
            lowest = Some((block, failed, n));
        }
    }
    let Some((block, failed, n)) = lowest else {
        return;
    };
    findings.block(
        RULE,
        Level::Warning,
        block,
        line,
        [
            format!(
                "\"{}\"; at least {} of {} requests failed in every run of the page",
                shorten(text),
                format_number(failed),
                format_number(n)
            ),
            format!(
                "{} ÷ {} = {} %, above {} %",
                format_number(failed),
                format_number(n),
                format_number(failed / n * 100.0),
                format_number(max_share)
            ),
            "State by how much it was missed, or show the run that met it.".to_owned(),
        ],
    );
}
