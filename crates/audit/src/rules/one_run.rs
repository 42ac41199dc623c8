//! Figures of one output that must come from one run: its counts, its rates and its failures.

use crate::block::Tool;
use crate::finding::Level;
use crate::quantity::{Quantity, Unit, format_number, format_value};
use crate::report::{Findings, Report};

/// k6 divides the requests and the iterations by the same time.
pub fn check_times(report: &Report, findings: &mut Findings) {
    for block in report.blocks.iter().filter(|block| block.tool == Tool::K6) {
        let (Some(requests), Some(rate), Some(iterations), Some(iteration_rate)) = (
            &block.requests,
            &block.rate,
            &block.iterations,
            &block.iteration_rate,
        ) else {
            continue;
        };
        let (Some(one), Some(other)) = (
            implied_time(requests, rate),
            implied_time(iterations, iteration_rate),
        ) else {
            continue;
        };
        if one.0 <= 1.02 * other.1 && other.0 <= 1.02 * one.1 {
            continue;
        }
        let part = |count: &Quantity, rate: &Quantity| {
            format!(
                "{} ÷ {}/s = {}",
                count.text,
                rate.text.trim_end_matches("/s"),
                format_value(count.value / rate.value, Unit::Time)
            )
        };
        findings.block(
            "total-mismatch",
            Level::Error,
            block,
            iterations.line,
            [
                format!(
                    "http_reqs {} {} (line {}); iterations {} {}",
                    requests.text, rate.text, requests.line, iterations.text, iteration_rate.text
                ),
                format!(
                    "{}, but {}: one run has one duration",
                    part(requests, rate),
                    part(iterations, iteration_rate)
                ),
                "Show the output of a single run, unchanged.".to_owned(),
            ],
        );
    }
}

/// The shortest and the longest time that a count and its rate allow.
fn implied_time(count: &Quantity, rate: &Quantity) -> Option<(f64, f64)> {
    let (low, high) = rate.bounds();
    // A count such as `1.2k` is rounded.
    let (few, many) = count.bounds();
    (low > 0.0 && few > 0.0).then(|| (few / high, many / low))
}

/// ab counts a request once for each kind of failure, so it can print more failures than requests.
pub fn check_failures(report: &Report, findings: &mut Findings) {
    for block in report.blocks.iter().filter(|block| block.tool == Tool::Ab) {
        let (Some(requests), Some(tally)) = (&block.requests, &block.failures) else {
            continue;
        };
        // ab counts connections that it could not open, of which it allows ten, but no request.
        if tally.failed <= requests.value + 10.0 {
            continue;
        }
        findings.block(
            "total-mismatch",
            Level::Warning,
            block,
            tally.line,
            [
                format!(
                    "Failed requests: {}; Complete requests: {} (line {})",
                    format_number(tally.failed),
                    requests.text,
                    requests.line
                ),
                format!(
                    "{} > {}: ab counts a request once for each kind of failure, or the lines come from two runs",
                    format_number(tally.failed),
                    requests.text
                ),
                "State how many requests failed, not how many failures were counted.".to_owned(),
            ],
        );
    }
}
