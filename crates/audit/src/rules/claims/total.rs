//! "Total requests: 5000" next to a block that counted another number.

use super::duration::headings_above;
use crate::block::Block;
use crate::finding::Level;
use crate::pattern::{Pattern, pattern};
use crate::quantity::{format_number, parse_number};
use crate::report::{Findings, Report};
use crate::rules::prose::shorten;

static LINE: Pattern = pattern!(
    r"(?i)^\W*(?:total (?:number of )?requests|number of requests|requests (?:made|sent))\W{1,6}(?:about |around )?(\d[\d,]*(?:\.\d+)?)(k?)(?:\s+(?:requests|in\b.*))?\W*$"
);

pub fn check_lines(report: &Report, findings: &mut Findings) {
    if !report.document.markdown {
        return;
    }
    for (at, line) in report.text.lines().enumerate().take(50_000) {
        if line.len() > 120 || report.is_output(at + 1) {
            continue;
        }
        let Some(found) = LINE.first(line) else {
            continue;
        };
        let Some((claimed, step)) = found
            .get(1)
            .and_then(|digits| parse_number(digits.as_str()))
        else {
            continue;
        };
        let scale = if found.get(2).is_some_and(|k| !k.as_str().is_empty()) {
            1e3
        } else {
            1.0
        };
        let (claimed, step) = (
            claimed * scale,
            if scale > 1.0 { step * scale } else { 0.0 },
        );
        let titles = headings_above(report, at + 1);
        let mut own = report
            .blocks
            .iter()
            .filter(|block| headings_above(report, block.first_line) == titles);
        let (Some(block), None) = (own.next(), own.next()) else {
            continue;
        };
        // The number may belong to a block elsewhere on the page.
        if claimed < 10.0
            || report
                .blocks
                .iter()
                .any(|block| has_count(block, claimed, step))
        {
            continue;
        }
        let Some(counted) = &block.requests else {
            continue;
        };
        findings.block(
            "declared-vs-counted",
            Level::Warning,
            block,
            at + 1,
            [
                format!(
                    "\"{}\"; {} (line {})",
                    shorten(line.trim()),
                    counted.text,
                    counted.line
                ),
                format!(
                    "{} ÷ {} = {:.2}: no output on the page counts {}",
                    format_number(counted.value),
                    format_number(claimed),
                    counted.value / claimed,
                    format_number(claimed)
                ),
                "Copy the number from the output, or show the output that it is from.".to_owned(),
            ],
        );
    }
}

/// Whether a count of the block is this number, within two percent.
pub fn has_count(block: &Block, claimed: f64, step: f64) -> bool {
    let made = block
        .rate
        .as_ref()
        .zip(block.elapsed.as_ref())
        .map(|(rate, time)| rate.value * time.value);
    let tallies = [&block.checks, &block.failures];
    let sums = tallies
        .into_iter()
        .flatten()
        .flat_map(|tally| [tally.passed, tally.failed, tally.passed + tally.failed]);
    [
        block.requests.as_ref().map(|n| n.value),
        block.iterations.as_ref().map(|n| n.value),
        block.requested_count.as_ref().map(|n| n.value),
        block.sampled,
        made,
    ]
    .into_iter()
    .flatten()
    .chain(sums)
    .any(|count| (count - claimed).abs() <= (0.02 * claimed).max(step))
}
