//! "Rate: 5" above a block that was sent at another rate.

use crate::block::Tool;
use crate::finding::Level;
use crate::pattern::{Pattern, pattern};
use crate::quantity::format_number;
use crate::report::{Findings, Report};

/// A line that contains only the rate, as scripts print it above each result.
static LABEL: Pattern = pattern!(
    r"(?i)^\W*(?:target |requested )?(?:rate|rps|qps)\W{1,4}(\d+(?:\.\d+)?)\s*(?:/s|rps|qps|req/s|requests/s)?\W*$"
);

/// Maximum distance in lines of such a label above its block.
const NEAR: usize = 8;

/// Only vegeta prints the rate at which it sent.
pub fn check_rate_label(report: &Report, findings: &mut Findings) {
    let lines: Vec<&str> = report.text.lines().collect();
    let mut after = 0;
    for block in &report.blocks {
        let from = block.first_line.saturating_sub(NEAR + 1).max(after);
        after = block.last_line;
        let (Tool::Vegeta, Some(sent)) = (block.tool, &block.requested_rate) else {
            continue;
        };
        let to = block.first_line.saturating_sub(1).min(lines.len());
        let Some((at, claimed)) = (from..to).rev().find_map(|at| {
            let claimed = LABEL.first(lines[at])?.get(1)?.as_str();
            Some((at, claimed.parse::<f64>().ok()?))
        }) else {
            continue;
        };
        let few = block.samples().is_none_or(|n| n < 10.0);
        if few || claimed <= 0.0 || (sent.value - claimed).abs() <= 0.1 * claimed.max(sent.value) {
            continue;
        }
        findings.block(
            "label-mismatch",
            Level::Warning,
            block,
            sent.line,
            [
                format!(
                    "\"{}\" (line {}); sent at {}",
                    lines[at].trim(),
                    at + 1,
                    sent.text
                ),
                format!(
                    "{} ÷ {} = {:.2}",
                    sent.text,
                    format_number(claimed),
                    sent.value / claimed
                ),
                "State the rate of this run above its output.".to_owned(),
            ],
        );
    }
}
