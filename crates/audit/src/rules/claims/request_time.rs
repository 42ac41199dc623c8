//! "each request takes about 220 ms" directly below an output that prints no time near this value.

use crate::block::Block;
use crate::finding::Level;
use crate::pattern::{Pattern, group, pattern};
use crate::quantity::{Unit, format_value, parse_duration};
use crate::report::{Findings, Report};
use crate::rules::prose::{is_conditional, shorten};

static TAKES: Pattern = pattern!(
    r"(?i)\b(?:(?:each|every|one|a|per|the average|average|all)\s+)?(?:(?:http\s+)?(?:request|response|call)s?|each)\s+(?:on average\s+)?(?:takes?|took|needs?|needed|is (?:done|completed|handled|served) in|(?:completes?|finishes|responds?) in)\s+(?:only |just |about |around |approximately |roughly |~|≈)*(\d+(?:\.\d+)?)\s?(ms|milliseconds|s|secs?|seconds|us|µs|microseconds)\b"
);

/// Maximum distance in lines of a sentence below the output that it describes.
const NEAR: usize = 6;

pub fn check_lines(report: &Report, findings: &mut Findings) {
    let lines: Vec<&str> = report.text.lines().collect();
    for (at, block) in report.blocks.iter().enumerate().take(500) {
        let next = report
            .blocks
            .get(at + 1)
            .map_or(usize::MAX, |next| next.first_line);
        let command = report.commands.iter().map(|command| command.line);
        let command = command.filter(|line| *line > block.last_line).min();
        let until = next
            .min(command.unwrap_or(usize::MAX))
            .min(block.last_line + NEAR + 1);
        for number in block.last_line + 1..until {
            let Some(line) = lines.get(number - 1) else {
                break;
            };
            if line.trim_start().starts_with('#') {
                break;
            }
            if line.len() > 400 || is_conditional(line) {
                continue;
            }
            let Some(found) = TAKES.first(line) else {
                continue;
            };
            let group = |at: usize| group(&found, at);
            if let Some(claimed) = parse_duration(&format!("{}{}", group(1), group(2)), number) {
                judge(block, line, claimed.value, number, findings);
            }
        }
    }
}

fn judge(block: &Block, line: &str, claimed: f64, number: usize, findings: &mut Findings) {
    let Some(latency) = block.latency() else {
        return;
    };
    let Some(mean) = latency.mean.as_ref().filter(|mean| mean.value > 0.0) else {
        return;
    };
    // The sentence may refer to any time of the output, including that of an iteration.
    let near = |value: f64| (claimed - value).abs() <= 0.3 * value;
    let known = block.trends.iter().any(|trend| {
        let mut figures = trend.figures().into_iter();
        figures.any(|(_, figure)| figure.unit == Unit::Time && near(figure.value))
    });
    let computed = [&block.computed_mean, &block.inverse_rate];
    let known = known
        || computed
            .into_iter()
            .flatten()
            .any(|figure| near(figure.value));
    // A value between the mean and the maximum may be another percentile.
    let apart = claimed < mean.value / 2.0 || claimed > mean.value * 2.0;
    if known || !apart {
        return;
    }
    findings.block(
        "stale-prose",
        Level::Warning,
        block,
        number,
        [
            format!(
                "\"{}\"; the mean is {} (line {})",
                shorten(line.trim()),
                mean.text,
                mean.line
            ),
            format!(
                "{} ÷ {} = {:.2}, and no other time in the output is close",
                format_value(claimed, Unit::Time),
                mean.text,
                claimed / mean.value
            ),
            "Copy the time from the latency row of the output, not from another row.".to_owned(),
        ],
    );
}
