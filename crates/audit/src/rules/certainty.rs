//! Downgrades or removes findings about a block whose other findings make them uncertain. Runs
//! after all other rules.

use std::collections::BTreeSet;

use crate::block::Block;
use crate::finding::{Finding, Level};
use crate::report::{Findings, Report};

/// Rules that compare means, minima and rates and therefore assume a steady state.
const STEADY: [&str; 13] = [
    "startup-dominates",
    "hidden-stall",
    "littles-law-gap",
    "think-time-bound",
    "saturated-closed-loop",
    "lock-step",
    "hot-key",
    "impossible-minimum",
    "connect-left-out",
    "keepalive-not-kept",
    "overdriven",
    "non-monotone",
    "unlike-questions",
];

/// Rules whose calculation uses the mean. Another finding may show that the mean is wrong.
const OF_THE_MEAN: [&str; 4] = [
    "startup-dominates",
    "littles-law-gap",
    "saturated-closed-loop",
    "think-time-bound",
];

fn block_of_finding<'r>(report: &'r Report, finding: &Finding) -> Option<&'r Block> {
    report.blocks.get(finding.block?.checked_sub(1)?)
}

/// Turns findings that assume a steady state into notes if the run has fewer than ten requests.
pub fn demote_findings_of_short_runs(report: &Report, findings: &mut Findings) {
    const MIN_REQUESTS: f64 = 10.0;
    for finding in &mut findings.found {
        let few = block_of_finding(report, finding)
            .and_then(Block::samples)
            .is_some_and(|samples| samples < MIN_REQUESTS);
        if few && STEADY.contains(&finding.rule) {
            finding.level = Level::Note;
        }
    }
}

/// If the percentiles of a latency contradict each other, drops the findings calculated from its
/// mean: they have the same cause.
pub fn drop_findings_with_same_cause(report: &Report, findings: &mut Findings) {
    let broken: BTreeSet<usize> = findings
        .found
        .iter()
        .filter(|finding| finding.rule == "percentile-disorder" && finding.level == Level::Error)
        .filter(|finding| {
            block_of_finding(report, finding)
                .and_then(Block::latency)
                .is_some_and(|latency| latency.line == finding.line)
        })
        .filter_map(|finding| finding.block)
        .collect();
    findings.found.retain(|finding| {
        let same = finding.block.is_some_and(|block| broken.contains(&block));
        !(same && OF_THE_MEAN.contains(&finding.rule))
    });
}
