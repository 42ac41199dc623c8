//! Reports figures finer than the resolution of the clock or of the output.

use crate::block::{Block, Role, Tool, Trend};
use crate::finding::Level;
use crate::quantity::{Unit, format_value};
use crate::report::{Findings, Report};

/// Reports requests that took 0 s, send times if half of them are 0 s, and trends that move in whole steps.
pub fn check_coarse_clock(report: &Report, findings: &mut Findings) {
    for block in &report.blocks {
        let mut evidence = Vec::new();
        let mut line = block.first_line;
        // A refused connection is not a request that took 0 s. The rule failures-as-work reports it.
        let checks = block
            .checks
            .as_ref()
            .is_some_and(|checks| checks.failed > 0.0);
        let whole = match block.failed() > 0.0 || checks && block.failures.is_none() {
            true => block.trend(Role::Expected),
            false => block.latency(),
        };
        for trend in whole.into_iter().chain(block.trend(Role::Iteration)) {
            let exact = trend.min.as_ref().filter(|min| min.value == 0.0);
            if let (Some(min), Tool::K6) = (exact, block.tool) {
                evidence.push(format!("{}: min={}", trend.name, min.text));
                line = trend.line;
            }
        }
        if let Some(sending) = block.trend(Role::Sending) {
            let some = sending.max.as_ref().is_some_and(|max| max.value > 0.0);
            // A request that was never sent takes 0 s to send.
            let sent = block
                .failures
                .as_ref()
                .is_none_or(|tally| tally.failed < 0.4 * (tally.passed + tally.failed));
            if let (Some(median), true) = (sending.median(), some && sent)
                && median.value == 0.0
            {
                evidence.push(format!("{}: med={}", sending.name, median.text));
                line = sending.line;
            }
        }
        let stepped = block
            .trends
            .iter()
            .filter(|trend| trend.role == Role::Own)
            .find_map(|trend| millisecond_step(trend).map(|step| (trend, step)));
        if let Some((trend, step)) = stepped {
            evidence.push(format!(
                "{}: every figure except the mean is a multiple of {}",
                trend.name,
                format_value(step, Unit::Time)
            ));
            line = trend.line;
        }
        if evidence.is_empty() {
            continue;
        }
        let tick = stepped.map(|(_, step)| step).or_else(|| clock_step(block));
        findings.block(
            "coarse-clock",
            Level::Error,
            block,
            line,
            [
                evidence.join("; "),
                match tick {
                    Some(tick) => format!(
                        "a request takes longer than 0 s; the clock moves in steps of about {}, so each figure may be off by that much",
                        format_value(tick, Unit::Time)
                    ),
                    None => "a request takes longer than 0 s: the clock did not move during it".to_owned(),
                },
                "Measure with a nanosecond clock (k6's clock on Windows ticks about every 0.5 ms), and do not rely on figures near the clock's step.".to_owned(),
            ],
        );
    }
}

/// The smallest plausible step in the columns of the phases.
fn clock_step(block: &Block) -> Option<f64> {
    [Role::Sending, Role::Receiving, Role::Blocked]
        .into_iter()
        .filter_map(|role| block.trend(role))
        .flat_map(|trend| &trend.quantiles)
        .map(|(_, figure)| figure.value)
        // A smaller value lies between two ticks: it is an interpolated percentile.
        .filter(|value| *value > 100e-6)
        .min_by(f64::total_cmp)
}

/// The step of a trend that starts at zero and contains only whole milliseconds.
fn millisecond_step(trend: &Trend) -> Option<f64> {
    const STEP: f64 = 1e-3;
    let min = trend.min.as_ref()?;
    let max = trend.max.as_ref()?;
    let whole = |value: f64| (value / STEP - (value / STEP).round()).abs() < 1e-9;
    let all = trend
        .quantiles
        .iter()
        .map(|(_, figure)| figure)
        .chain([min, max])
        .all(|figure| whole(figure.value));
    let fine = max.value < 0.1 && max.value > 0.0;
    (min.value == 0.0 && all && fine && trend.quantiles.len() >= 2).then_some(STEP)
}

/// Reports if step ÷ figure ≥ 10 %.
pub fn check_printed_digits(report: &Report, findings: &mut Findings) {
    const COARSE: f64 = 0.1;
    for block in &report.blocks {
        let Some(latency) = block.latency() else {
            continue;
        };
        if block.samples() == Some(0.0) {
            continue;
        }
        // Nobody quotes a percentile below the median.
        let lowest = latency.median().map_or(0.0, |median| median.value);
        let coarse: Vec<_> = latency
            .figures()
            .into_iter()
            .filter(|(_, figure)| figure.value >= lowest)
            .filter(|(_, figure)| figure.step > 0.0 && figure.step >= figure.value.abs() * COARSE)
            .collect();
        // The smallest column is often affected alone. If two columns are, so is the whole row.
        if coarse.len() < 2 {
            continue;
        }
        let shown: Vec<String> = coarse
            .iter()
            .take(4)
            .map(|(name, figure)| format!("{name} {}", figure.text))
            .collect();
        if let Some((_, figure)) = coarse.first() {
            // An uncertainty of half the figure is misleading. A tenth is only worth a note.
            let blind = coarse
                .iter()
                .filter(|(_, figure)| figure.step >= 0.5 * figure.value.abs())
                .count();
            findings.block(
                "printed-too-coarsely",
                if blind >= 2 { Level::Warning } else { Level::Note },
                block,
                figure.line,
                [
                    format!("{}: {}", latency.name, shown.join(", ")),
                    format!(
                        "the last printed digit is {}, and {} is less than ten times that, so its precision is only {:.0} %",
                        format_value(figure.step, Unit::Time),
                        figure.text,
                        if figure.value > 0.0 { figure.step / figure.value * 100.0 } else { 100.0 }
                    ),
                    "Take the figures from an output that prints more digits (JSON, CSV), and do not claim differences smaller than the last digit.".to_owned(),
                ],
            );
        }
    }
}
