//! A printed share that no count can produce, and a table whose rows contradict their totals.

use crate::block::Tool;
use crate::finding::Level;
use crate::quantity::{Unit, format_number, format_value};
use crate::report::{Findings, Report};

/// k6 prints the share of failed requests without its counts: a whole number of requests must give
/// this share.
pub fn check_share_without_counts(report: &Report, findings: &mut Findings) {
    for block in &report.blocks {
        let (Tool::K6, None, Some(share), Some(requests)) = (
            block.tool,
            &block.failures,
            &block.failed_share,
            &block.requests,
        ) else {
            continue;
        };
        let n = requests.value;
        if n < 1.0 || !(0.0..=1.0).contains(&share.value) {
            continue;
        }
        let fits = |count: f64| (count / n - share.value).abs() <= share.step * 1.001 + 1e-9;
        let below = (share.value * n).floor();
        if fits(below) || fits(below + 1.0) {
            continue;
        }
        findings.block(
            "total-mismatch",
            Level::Error,
            block,
            share.line,
            [
                format!(
                    "http_req_failed {} of {} requests",
                    share.text, requests.text
                ),
                format!(
                    "{} ÷ {} = {} and {} ÷ {} = {}: no number of requests is {}",
                    format_number(below),
                    requests.text,
                    format_value(below / n, Unit::Share),
                    format_number(below + 1.0),
                    requests.text,
                    format_value((below + 1.0) / n, Unit::Share),
                    share.text
                ),
                "Show the tool's summary unchanged.".to_owned(),
            ],
        );
    }
}

/// The mean of all requests is the mean of the rows weighted by their numbers of requests.
pub fn check_weighted_mean(report: &Report, findings: &mut Findings) {
    for block in &report.blocks {
        let (Some(requests), Some(mean)) = (
            &block.requests,
            block.latency().and_then(|latency| latency.mean.as_ref()),
        ) else {
            continue;
        };
        let (mut counted, mut weighted) = (0.0, 0.0);
        for part in &block.parts {
            counted += part.requests;
            // If the mean of a row is missing, nothing is certain.
            weighted += part.requests * part.mean.as_ref().map_or(f64::NAN, |mean| mean.value);
        }
        // An author may have omitted rows.
        if counted != requests.value || counted <= 0.0 || !weighted.is_finite() {
            continue;
        }
        let right = weighted / counted;
        // Every mean is rounded or truncated to the same number of digits.
        if (right - mean.value).abs() <= 2.0 * mean.step {
            continue;
        }
        findings.block(
            "total-mismatch",
            Level::Error,
            block,
            mean.line,
            [
                format!(
                    "mean of all {}; {} rows with {} requests",
                    mean.text,
                    block.parts.len(),
                    requests.text
                ),
                format!(
                    "the rows' means, weighted by their requests, are {} together, not {}",
                    format_value(right, Unit::Time),
                    mean.text
                ),
                "Show the tool's table unchanged.".to_owned(),
            ],
        );
    }
}
