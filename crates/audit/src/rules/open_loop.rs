//! Open loops: the requested rate, and requests that were not served.

use crate::block::{Model, Tool};
use crate::finding::Level;
use crate::quantity::{Unit, format_number, format_value};
use crate::report::{Findings, Report};

/// Reports rate ≈ requested rate: the run shows that the system sustained the load, not its maximum.
pub fn check_requested_rate(report: &Report, findings: &mut Findings) {
    for block in &report.blocks {
        let Some(requested) = &block.requested_rate else {
            continue;
        };
        let got = block
            .rate
            .as_ref()
            .or(block.iteration_rate.as_ref())
            .unwrap_or(requested);
        if block.model != Model::Open || (got.value / requested.value - 1.0).abs() > 0.02 {
            continue;
        }
        findings.block(
            "rate-is-the-asked-rate",
            Level::Note,
            block,
            got.line,
            [
                format!("requested {}, got {}", requested.text, got.text),
                format!(
                    "{} ÷ {} = {:.3}: the rate is a setting of the test",
                    got.text,
                    requested.text,
                    got.value / requested.value
                ),
                "Do not call it a capacity. Raise the rate until the system no longer reaches it."
                    .to_owned(),
            ],
        );
    }
}

/// Reports overload: the time after the last request was sent ÷ the sending time, or a mean of many
/// seconds.
pub fn check_overdriven(report: &Report, findings: &mut Findings) {
    for block in &report.blocks {
        let (Model::Open, Some(latency), Some(declared)) = (
            block.model,
            block.latency(),
            block.declared.as_ref().or(block.elapsed.as_ref()),
        ) else {
            continue;
        };
        let (Some(mean), Some(max)) = (&latency.mean, &latency.max) else {
            continue;
        };
        if declared.value <= 0.0 || block.samples().is_some_and(|n| n < 10.0) {
            continue;
        }
        // The queue grows during the whole run: its last requests wait longest, and the mean is
        // about half of that wait.
        let requested = block.requested_rate.as_ref();
        let served = block
            .samples()
            .zip(block.elapsed.as_ref())
            .map(|(n, time)| n / time.value);
        // A queue also shows in a much faster first request, or in fewer requests served than
        // requested. Without either, all requests are equally slow.
        let min_below = |share: f64| {
            let min = latency.min.as_ref();
            min.map(|min| min.value < share * max.value)
        };
        let fast = min_below(0.1) == Some(true);
        // If all requests took the same time, they waited for a timeout, and so did the unserved
        // requests.
        let is_timeout = min_below(0.9) == Some(false);
        let falls_short = requested
            .zip(served)
            .is_some_and(|(requested, served)| served < 0.98 * requested.value);
        let growing = max.value > 0.1 * declared.value && mean.value > 0.25 * max.value;
        if !growing || is_timeout || !(fast || falls_short) {
            continue;
        }
        let gap = match (requested, served) {
            (Some(requested), Some(served)) if served < 0.98 * requested.value => format!(
                "; requested {}, served {}: the queue grows by {} requests per second",
                requested.text,
                format_value(served, Unit::Rate),
                format_number(requested.value - served)
            ),
            _ => String::new(),
        };
        findings.block(
            "overdriven",
            Level::Warning,
            block,
            mean.line,
            [
                format!("mean {}, max {}, sending took {}{gap}", mean.text, max.text, declared.text),
                format!(
                    "{} ÷ {} = {:.0} % of the run was the longest wait, and mean ÷ max = {:.2}, as in a queue that grows during the whole run",
                    max.text,
                    declared.text,
                    max.value / declared.value * 100.0,
                    mean.value / max.value
                ),
                "Report the served rate as the limit, and measure latency below it.".to_owned(),
            ],
        );
    }
}

/// Reports iterations that the tool could not start, and a rate below the one on the command line.
pub fn check_saturation(report: &Report, findings: &mut Findings) {
    const RULE: &str = "generator-saturated";
    for block in &report.blocks {
        if let (Some(dropped), Some(iterations)) = (&block.dropped, &block.iterations)
            && dropped.value > 0.0
        {
            let all = dropped.value + iterations.value;
            findings.block(
                    RULE,
                    if dropped.value / all > 0.001 { Level::Warning } else { Level::Note },
                    block,
                    dropped.line,
                    [
                        format!("dropped_iterations {}, iterations {}", dropped.text, iterations.text),
                        format!("{} ÷ {} = {} of the load was never sent because no user was free, so the slowest moments are missing", dropped.text, format_number(all), format_value(dropped.value / all, Unit::Share)),
                        "Allow more users, or report the latency and the rate as those of the lower load.".to_owned(),
                    ],
                );
        }
        let flag = block
            .command
            .as_ref()
            .and_then(|command| rate_flag(block.tool, command));
        let flag = match block.tool {
            Tool::HttpArena | Tool::Zrk | Tool::Oha | Tool::Ghz => {
                block.requested_rate.as_ref().map(|rate| rate.value)
            }
            _ => flag,
        };
        let got = match block.tool {
            Tool::HttpArena | Tool::Zrk | Tool::Oha | Tool::Ghz => block.rate.as_ref(),
            Tool::Vegeta => block.requested_rate.as_ref(),
            Tool::Wrk2 => block.rate.as_ref(),
            _ => None,
        };
        if let (Some(flag), Some(got)) = (flag, got)
            && got.value < 0.98 * flag
        {
            findings.block(
                    RULE,
                    Level::Warning,
                    block,
                    got.line,
                    [
                        format!("{} was requested, the tool sent {}", format_value(flag, Unit::Rate), got.text),
                        format!("{} ÷ {} = {}", got.text, format_number(flag), format_value(got.value / flag, Unit::Share)),
                        "The tool, its workers, its connections or the system limited the load. State the load that was actually sent.".to_owned(),
                    ],
                );
        }
    }
}

fn rate_flag(tool: Tool, command: &str) -> Option<f64> {
    let mut words = command.split_whitespace();
    while let Some(word) = words.next() {
        let value = match tool {
            Tool::Vegeta => match word.trim_start_matches('-').strip_prefix("rate") {
                Some("") => words.next(),
                Some(rest) => rest.strip_prefix('='),
                None => None,
            },
            _ => match word.strip_prefix("-R") {
                Some("") => words.next(),
                other => other,
            },
        };
        if let Some(value) = value {
            return value.trim_end_matches("/s").parse().ok();
        }
    }
    None
}
