//! The rate of the last seconds of a ramp, reported as the rate of the whole run.

use crate::block::Block;
use crate::finding::Level;
use crate::quantity::{Unit, format_number, format_value};
use crate::report::{Findings, Report};

/// The layout of the-benchmarker's files. Its load is a ramp, and the stored rate covers only the
/// last second.
pub const BENCHMARKER: &str = "the-benchmarker JSON";

const RULE: &str = "ramp-end-as-rate";

/// Minimum ratio of the printed rate to count ÷ time.
const ABOVE: f64 = 1.1;

/// Count ÷ time, and the ratio of the printed rate to it.
fn average_and_ratio(block: &Block) -> Option<(f64, f64)> {
    let (count, rate) = (block.requests.as_ref()?, block.rate.as_ref()?);
    let time = block.elapsed.as_ref().filter(|time| time.value > 0.0)?;
    let average = count.value / time.value;
    (average > 0.0 && rate.value > ABOVE * average).then(|| (average, rate.value / average))
}

/// Reports a rate above count ÷ time in a run with a ramp.
pub fn check_ramp_end(report: &Report, findings: &mut Findings) {
    for block in &report.blocks {
        let (Some((from, to)), Some((average, _))) = (block.ramp, average_and_ratio(block)) else {
            continue;
        };
        let (Some(rate), Some(count), Some(time)) = (&block.rate, &block.requests, &block.elapsed)
        else {
            continue;
        };
        findings.block(
            RULE,
            Level::Warning,
            block,
            rate.line,
            [
                format!(
                    "{} for a ramp from {}/s to {}/s; {} requests in {}",
                    format_value(rate.value, Unit::Rate),
                    format_number(from),
                    format_number(to),
                    format_number(count.value),
                    format_value(time.value, Unit::Time)
                ),
                format!(
                    "{} ÷ {} = {} over the whole run; the printed rate is that of the end of the run, when the requested rate was highest",
                    format_number(count.value),
                    format_value(time.value, Unit::Time),
                    format_value(average, Unit::Rate)
                ),
                "State the time window of the rate, or measure at a constant rate that the system sustains."
                    .to_owned(),
            ],
        );
    }
    check_table(report, findings);
    check_text(report, findings);
}

/// Published files with many systems: adds one finding if at least three systems are affected.
fn check_table(report: &Report, findings: &mut Findings) {
    let mut above: Vec<(&Block, f64, f64)> = report
        .blocks
        .iter()
        .filter(|block| block.layout == BENCHMARKER)
        .filter_map(|block| {
            let (average, factor) = average_and_ratio(block)?;
            Some((block, average, factor))
        })
        .collect();
    above.sort_by(|one, other| other.2.total_cmp(&one.2));
    let Some((block, average, factor)) = above.first().filter(|_| above.len() >= 3) else {
        return;
    };
    let Some(rate) = &block.rate else { return };
    findings.block(
        RULE,
        Level::Warning,
        block,
        rate.line,
        [
            format!(
                "{} results have a rate above their count ÷ time, at most {}: {} next to {}",
                above.len(),
                block.name(),
                format_value(rate.value, Unit::Rate),
                format_value(*average, Unit::Rate)
            ),
            format!(
                "{} ÷ {} = {factor:.2}: the stored rate describes only a part of the run",
                format_number(rate.value),
                format_number(*average)
            ),
            "Rank by the number of requests in the whole run, or by a constant rate that each system sustains."
                .to_owned(),
        ],
    );
}

/// Reports zrk's `achieved_rate` of a ramp if the text names it as the result.
fn check_text(report: &Report, findings: &mut Findings) {
    let ramp = report.commands.iter().find_map(|command| {
        let range = command
            .text
            .split_whitespace()
            .find_map(|word| word.strip_prefix("-R").filter(|rest| rest.contains(':')))?;
        (command.tool == crate::block::Tool::Zrk).then(|| (command, range.to_owned()))
    });
    let reported = findings.found.iter().any(|finding| finding.rule == RULE);
    let named = report.text.contains("achieved_rate");
    let Some((command, range)) = ramp.filter(|_| named && !reported) else {
        return;
    };
    findings.page(
        RULE,
        Level::Note,
        command.line,
        [
            format!("`-R{range}`, and the figure is `achieved_rate`"),
            format!(
                "zrk's achieved_rate covers only the last interval of the ramp {range}: cannot tell what the system sustained"
            ),
            "Measure at a constant rate, or use --closed.".to_owned(),
        ],
    );
}
