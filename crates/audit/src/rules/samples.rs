//! Too few samples, or too short a run.

use crate::block::quantile_name;
use crate::finding::Level;
use crate::quantity::{Unit, format_number, format_value};
use crate::report::{Findings, Report};

/// Reports n × (1 − q) < 10: a percentile needs ten samples above it to be reliable.
pub fn check_samples_above(report: &Report, findings: &mut Findings) {
    const MIN_SAMPLES_ABOVE: f64 = 10.0;
    for block in &report.blocks {
        let (Some(latency), Some(samples)) = (block.latency(), block.samples()) else {
            continue;
        };
        // Without samples, there is no percentile to quote.
        if samples <= 0.0 {
            continue;
        }
        let thin: Vec<_> = latency
            .quantiles
            .iter()
            .filter(|(q, _)| *q > 0.5 && samples * (1.0 - q) < MIN_SAMPLES_ABOVE - 1e-6)
            .collect();
        let Some((q, figure)) = thin.first() else {
            continue;
        };
        // People quote percentiles up to p99. Higher ones that a tool prints by default are worth
        // only a note.
        let level = if *q <= 0.99 {
            Level::Warning
        } else {
            Level::Note
        };
        findings.block(
            "percentile-undersampled",
            level,
            block,
            figure.line,
            [
                format!(
                    "{} {} of {} samples",
                    quantile_name(*q),
                    figure.text,
                    format_number(samples)
                ),
                format!(
                    "{} × (1 − {q}) = {}, below {MIN_SAMPLES_ABOVE}: the percentile depends on {} samples",
                    format_number(samples),
                    format_number(samples * (1.0 - q)),
                    format_number(round_up(samples * (1.0 - q)).max(1.0))
                ),
                format!(
                    "Do not quote percentiles above {}, or record {} samples.",
                    quantile_name(round_quantile((1.0 - MIN_SAMPLES_ABOVE / samples).max(0.5))),
                    format_number(round_up(MIN_SAMPLES_ABOVE / (1.0 - q)))
                ),
            ],
        );
    }
}

/// Rounds up to a whole number. In floating point, 100 × (1 − 0.95) is slightly more than 5.
fn round_up(value: f64) -> f64 {
    (value - 1e-6).ceil()
}

/// Formats a quantile with the usual number of digits: p98.8, p99.95.
fn round_quantile(quantile: f64) -> f64 {
    let steps = if quantile < 0.99 { 1e3 } else { 1e4 };
    (quantile * steps).floor() / steps
}

/// Reports fewer than five one-second windows: they do not show whether the run was steady.
pub fn check_duration(report: &Report, findings: &mut Findings) {
    const MIN_WINDOWS: f64 = 5.0;
    for block in &report.blocks {
        let printed = block.elapsed.as_ref().or(block.declared.as_ref());
        let Some(seconds) = printed
            .map(|elapsed| elapsed.value)
            .or(block.divisor_time())
        else {
            continue;
        };
        if seconds < MIN_WINDOWS - 0.05 {
            findings.block(
                "run-too-short",
                Level::Warning,
                block,
                printed.map_or(block.first_line, |elapsed| elapsed.line),
                [
                    format!("the run took {}", format_value(seconds, Unit::Time)),
                    format!("{} whole one-second windows, fewer than {MIN_WINDOWS}: cannot tell when the warm-up ended or whether the run was steady", seconds.floor()),
                    "Run for at least 30 seconds, and exclude the first seconds.".to_owned(),
                ],
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::round_up;

    #[test]
    fn floating_point_errors_are_not_rounded_up() {
        assert_eq!(round_up(100.0 * (1.0 - 0.95)), 5.0);
        assert_eq!(round_up(10.0 / (1.0 - 0.9)), 100.0);
        assert_eq!(round_up(4.2), 5.0);
    }
}
