//! Compares count ÷ time with the printed rate, and the three durations of vegeta with each other.

use crate::block::{Block, Tool};
use crate::finding::Level;
use crate::quantity::{Quantity, Unit, format_number, format_value};
use crate::report::{Findings, Report};

/// The tools whose rate is count ÷ time, and the allowed relative deviation.
fn rate_tolerance(block: &Block) -> Option<f64> {
    match block.tool {
        Tool::Wrk
        | Tool::Wrk2
        | Tool::Ab
        | Tool::Drill
        | Tool::Gcannon
        | Tool::Zrk
        | Tool::Jmeter => Some(0.02),
        // Its rate counts only successful responses.
        Tool::H2load if block.failed() == 0.0 && block.errors.is_empty() => Some(0.02),
        // The declared duration excludes the warm-up.
        Tool::HttpArena => Some(0.1),
        _ => None,
    }
}

/// Reports a rate that differs from count ÷ time by more than the printed digits explain.
pub fn check_counted_rate(report: &Report, findings: &mut Findings) {
    check_runs_of_one_command(report, findings);
    for block in &report.blocks {
        check_throughput(block, findings);
        check_wait(block, findings);
        check_requested_duration(block, findings);
        check_sent_requests(block, findings);
        let (Some(tolerance), Some(count), Some(rate), None) = (
            rate_tolerance(block),
            &block.requests,
            &block.rate,
            block.ramp,
        ) else {
            continue;
        };
        let Some(time) = block.elapsed.as_ref().or(measured_time(block)) else {
            continue;
        };
        // In these files, the rate may describe only the end of a ramp.
        if block.layout == super::ramp::BENCHMARKER || time.value <= 0.0 || rate.value <= 0.0 {
            continue;
        }
        let expected = rate.value * time.value;
        let slack = rate.value * time.step + rate.step * time.value + count.step + 1.0;
        let apart = (count.value - expected).abs();
        if apart <= slack || apart <= tolerance * count.value.max(expected) {
            continue;
        }
        findings.block(
            "declared-vs-counted",
            Level::Warning,
            block,
            rate.line,
            [
                format!("{} requests in {}, {}", count.text, time.text, rate.text),
                format!(
                    "{} ÷ {} = {}, not {}; at {} they take {}",
                    format_number(count.value),
                    time.text,
                    format_value(count.value / time.value, Unit::Rate),
                    rate.text,
                    rate.text,
                    format_value(count.value / rate.value, Unit::Time)
                ),
                "Show the count, the time and the rate of the same run.".to_owned(),
            ],
        );
    }
}

/// Locust: reports a run that ended early, if the page has one command and another run of it took
/// the requested time.
fn check_runs_of_one_command(report: &Report, findings: &mut Findings) {
    let mut commands = report
        .commands
        .iter()
        .filter(|command| command.tool == Tool::Locust);
    let (Some(_), None) = (commands.next(), commands.next()) else {
        return;
    };
    let runs: Vec<(&Block, f64)> = report
        .blocks
        .iter()
        .filter(|block| block.tool == Tool::Locust)
        .filter_map(|block| Some((block, block.divisor_time()?)))
        .collect();
    let requested = runs.iter().find_map(|(block, time)| {
        let requested = block.declared.as_ref()?;
        ((time / requested.value - 1.0).abs() < 0.05).then_some(requested)
    });
    let Some(requested) = requested else {
        return;
    };
    for (block, time) in &runs {
        let (Some(count), Some(rate)) = (&block.requests, &block.rate) else {
            continue;
        };
        // The precision of the printed rate.
        let longest = count.value / (rate.value - rate.step).max(1e-9);
        let own = block
            .declared
            .as_ref()
            .is_some_and(|own| own.value != requested.value);
        if own || longest >= 0.9 * requested.value {
            continue;
        }
        findings.block(
            "declared-vs-counted",
            Level::Warning,
            block,
            rate.line,
            [
                format!(
                    "{} requests at {}/s; the command requests {}",
                    count.text, rate.text, requested.text
                ),
                format!(
                    "{} ÷ {} = {}, {:.2} of {}",
                    count.text,
                    rate.text,
                    format_value(*time, Unit::Time),
                    time / requested.value,
                    requested.text
                ),
                "State that the run ended early, and why.".to_owned(),
            ],
        );
    }
}

/// wrk prints both the requested and the measured duration. Other tools state the duration only in
/// the command and may run longer, which another rule checks.
fn check_requested_duration(block: &Block, findings: &mut Findings) {
    let (Some(requested), Some(elapsed)) = (&block.declared, &block.elapsed) else {
        return;
    };
    let prints_both = matches!(block.tool, Tool::Wrk | Tool::Wrk2);
    if !prints_both && !matches!(block.tool, Tool::Hey | Tool::Oha | Tool::Ghz) {
        return;
    }
    let early = elapsed.value + elapsed.step < 0.9 * (requested.value - requested.step);
    let late = prints_both && elapsed.value > 2.0 * (requested.value + requested.step) + 10.0;
    if !(early || late) {
        return;
    }
    findings.block(
        "declared-vs-counted",
        Level::Warning,
        block,
        elapsed.line,
        [
            format!(
                "a test of {}; the requests took {}",
                requested.text, elapsed.text
            ),
            format!(
                "{} ÷ {} = {:.2}",
                elapsed.text,
                requested.text,
                elapsed.value / requested.value
            ),
            if early {
                "State that the run was cut short.".to_owned()
            } else {
                "Check the machine's clock and repeat the run; its rates depend on that time."
                    .to_owned()
            },
        ],
    );
}

/// autocannon counts the requests that it sent, but its rate is the mean of the responses in each
/// second. It may miss samples at the start and the end, but it cannot get far more responses than
/// requests.
fn check_sent_requests(block: &Block, findings: &mut Findings) {
    let (Tool::Autocannon, Some(sent), Some(rate), Some(time)) =
        (block.tool, &block.requests, &block.rate, &block.elapsed)
    else {
        return;
    };
    let responses = (rate.value - rate.step) * (time.value - time.step - 1.0);
    if responses <= 1.25 * (sent.value + sent.step) || sent.value < 100.0 {
        return;
    }
    findings.block(
        "declared-vs-counted",
        Level::Warning,
        block,
        rate.line,
        [
            format!("{} requests in {}, {}/s", sent.text, time.text, rate.text),
            format!(
                "{} ÷ {} = {}, not {}/s; at that rate, {} responses would have arrived",
                sent.text,
                time.text,
                format_value(sent.value / time.value, Unit::Rate),
                rate.text,
                format_number((rate.value * time.value).round())
            ),
            "Divide the number of requests by the time; some seconds have no sample.".to_owned(),
        ],
    );
}

/// HttpArena publishes only the declared duration.
fn measured_time(block: &Block) -> Option<&Quantity> {
    block
        .declared
        .as_ref()
        .filter(|_| block.tool == Tool::HttpArena)
}

/// vegeta's throughput is the number of successes ÷ the time until the last response.
fn check_throughput(block: &Block, findings: &mut Findings) {
    let (Tool::Vegeta, Some(rate), Some(time), Some(success), Some(count)) = (
        block.tool,
        &block.rate,
        &block.elapsed,
        &block.success,
        &block.requests,
    ) else {
        return;
    };
    // After an attack with a single request, vegeta prints counts as rates.
    let single = block
        .declared
        .as_ref()
        .is_some_and(|sending| sending.value <= 0.0);
    if time.value <= 0.0 || single {
        return;
    }
    let good = success.value * count.value;
    let expected = good / time.value;
    // vegeta prints durations of a minute and longer without fractions.
    let slack = rate.step
        + success.step * count.value / time.value
        + expected * time.step.max(1e-3) / time.value;
    let apart = (rate.value - expected).abs();
    if apart <= slack || apart <= 0.01 * expected.max(rate.value) {
        return;
    }
    findings.block(
        "total-mismatch",
        Level::Error,
        block,
        rate.line,
        [
            format!(
                "throughput {}; {} requests, {} of them successful, in {}",
                rate.text, count.text, success.text, time.text
            ),
            format!(
                "{} × {} ÷ {} = {}, not {}",
                count.text,
                success.text,
                time.text,
                format_value(expected, Unit::Rate),
                rate.text
            ),
            "Show the tool's output unchanged. Its lines come from two runs, or were edited."
                .to_owned(),
        ],
    );
}

/// The wait for the last response is one of the latencies, so the maximum latency is at least as long.
fn check_wait(block: &Block, findings: &mut Findings) {
    let (Some(wait), Some(max)) = (
        &block.last_wait,
        block.latency().and_then(|latency| latency.max.as_ref()),
    ) else {
        return;
    };
    // The attack ends when the last request is due, which may be shortly before the request is sent.
    if wait.bounds().0 <= 1.05 * max.bounds().1 + 0.01 {
        return;
    }
    findings.block(
        "total-mismatch",
        Level::Error,
        block,
        wait.line,
        [
            format!("wait {}; max {}", wait.text, max.text),
            format!(
                "{} − {} = {}: no response took as long as the last one is said to",
                wait.text,
                max.text,
                format_value(wait.value - max.value, Unit::Time)
            ),
            "Show the tool's output unchanged. Its lines come from two runs, or were edited."
                .to_owned(),
        ],
    );
}
