//! Counts that must agree with each other.

use crate::block::{Block, Model, Tally, Tool};
use crate::finding::Level;
use crate::quantity::{Quantity, Unit, format_number, format_value};
use crate::report::{Findings, Report};

/// Compares the requested number of requests, or rate × time, with the counted number.
pub fn check_declared_count(report: &Report, findings: &mut Findings) {
    const RULE: &str = "declared-vs-counted";
    for block in &report.blocks {
        let counted = match block.tool {
            Tool::K6 => block.iterations.as_ref(),
            _ => block.requests.as_ref(),
        };
        let Some(counted) = counted else { continue };
        if let Some(requested) = &block.requested_count
            && counted.value < 0.99 * requested.value
        {
            findings.block(
                RULE,
                Level::Warning,
                block,
                counted.line,
                [
                    format!(
                        "{} requested, {} counted",
                        format_number(requested.value),
                        counted.text
                    ),
                    format!(
                        "{} ÷ {} = {}: {} were never sent",
                        counted.text,
                        format_number(requested.value),
                        format_value(counted.value / requested.value, Unit::Share),
                        format_number(requested.value - counted.value)
                    ),
                    "State that the run was cut short. Its figures describe only the part that ran."
                        .to_owned(),
                ],
            );
        }
        if let Some(requested) = &block.requested_count
            && counted.value > 1.02 * requested.value + 2.0
            && block.command.is_some()
        {
            findings.block(
                RULE,
                Level::Warning,
                block,
                counted.line,
                [
                    format!(
                        "the command requests {}, but {} were counted",
                        format_number(requested.value),
                        counted.text
                    ),
                    format!(
                        "{} ÷ {} = {:.2}",
                        counted.text,
                        format_number(requested.value),
                        counted.value / requested.value
                    ),
                    "Show the command that produced this output.".to_owned(),
                ],
            );
        }
        check_requested_time(block, counted, findings);
        if let (Model::Open, Tool::K6, Some(rate), Some(time)) = (
            block.model,
            block.tool,
            &block.requested_rate,
            &block.declared,
        ) {
            let requested = rate.value * time.value;
            if (counted.value - requested).abs() > 0.02 * requested + 2.0 {
                let dropped = block.dropped.as_ref().map_or(0.0, |dropped| dropped.value);
                findings.block(
                    RULE,
                    Level::Warning,
                    block,
                    counted.line,
                    [
                        format!(
                            "{} iterations/s for {}, {} counted, {} dropped",
                            rate.text,
                            time.text,
                            counted.text,
                            format_number(dropped)
                        ),
                        format!(
                            "{} × {} = {} requested; {} is {}",
                            rate.text,
                            time.text,
                            format_number(requested),
                            counted.text,
                            format_value(counted.value / requested, Unit::Share)
                        ),
                        "The load was lower than declared. Report the offered and the achieved load separately."
                            .to_owned(),
                    ],
                );
            }
        }
    }
}

/// Compares a tool's mean rate × the duration in the command with its count.
fn check_requested_time(block: &Block, counted: &Quantity, findings: &mut Findings) {
    let (Tool::Bombardier, Some(rate), Some(time), None) =
        (block.tool, &block.rate, &block.declared, &block.elapsed)
    else {
        return;
    };
    let expected = rate.value * time.value;
    if (counted.value / expected - 1.0).abs() <= 0.1 {
        return;
    }
    findings.block(
        "declared-vs-counted",
        Level::Warning,
        block,
        counted.line,
        [
            format!(
                "{}/s, {} by the command, {} responses counted",
                rate.text,
                time.text,
                format_number(counted.value)
            ),
            format!(
                "{} × {} = {} expected; {} ÷ {} = {} s at this rate",
                rate.text,
                time.text,
                format_number(expected.round()),
                format_number(counted.value),
                rate.text,
                format_number(counted.value / rate.value)
            ),
            "State how long the run took. Its figures describe only that time.".to_owned(),
        ],
    );
}

/// Compares the histogram, the status codes and the shares with the total.
pub fn check_total(report: &Report, findings: &mut Findings) {
    for block in &report.blocks {
        let n = block
            .requests
            .as_ref()
            .map_or(0.0, |requests| requests.value);
        if block.requests.is_none() {
            for (name, tally) in &block.rates {
                check_tally_share(block, name, tally, tally.passed, findings);
            }
            if let Some(tally) = &block.checks {
                check_tally_share(block, "checks", tally, tally.passed, findings);
            }
            if let (Some(tally), Tool::K6) = (&block.failures, block.tool) {
                check_tally_share(block, "http_req_failed", tally, tally.failed, findings);
            }
            continue;
        }
        let of_responses = matches!(block.tool, Tool::Hey | Tool::Oha);
        let responses: f64 = block
            .statuses
            .iter()
            .fold(0.0, |sum, (_, count)| sum + count.value);
        // hey and ghz record at most a million samples.
        let bars: f64 = match block.bars.is_empty() {
            true => block.histogram.iter().map(|bucket| bucket.count).sum(),
            false => block.bars.iter().sum(),
        };
        let sampled = bars == 1e6 && n > bars;
        let is_partial = block.histogram_cut || sampled || of_responses && responses == 0.0;
        // ghz may omit a sample on the boundary of a bar.
        let apart = (bars - n).abs() > 2.0 + 0.005 * n;
        if !block.bars.is_empty() && !is_partial && apart {
            check_sum(
                block,
                "the histogram's rows",
                bars,
                n,
                block.first_line,
                findings,
            );
        }
        if block.bars.is_empty() && !block.histogram.is_empty() && !is_partial {
            let sum = bars;
            let against = if of_responses { responses } else { n };
            check_sum(
                block,
                "the histogram's rows",
                sum,
                against,
                block.histogram[0].line,
                findings,
            );
            check_shares(block, n, findings);
            check_percentiles(block, n, findings);
        }
        for (name, tally) in &block.rates {
            check_tally_share(block, name, tally, tally.passed, findings);
        }
        let complete = matches!(
            block.tool,
            Tool::Vegeta | Tool::H2load | Tool::Ghz | Tool::Gcannon
        );
        // h2load counts an error instead of a status for each request without a response.
        let errors = block.lost.as_ref().filter(|_| block.tool == Tool::H2load);
        let completed = responses + errors.map_or(0.0, |errors| errors.value);
        if complete && !block.statuses.is_empty() {
            check_sum(
                block,
                "the status codes",
                completed,
                n,
                block.statuses[0].1.line,
                findings,
            );
        }
        let failures = match block.tool {
            Tool::K6 => "http_req_failed",
            _ => "failures",
        };
        for (name, tally, failed_first) in [
            (failures, &block.failures, true),
            ("checks", &block.checks, false),
        ] {
            let Some(tally) = tally else { continue };
            let sum = tally.passed + tally.failed;
            if failed_first && block.tool == Tool::K6 {
                check_sum(block, name, sum, n, tally.line, findings);
            }
            let part = if failed_first {
                tally.failed
            } else {
                tally.passed
            };
            check_tally_share(block, name, tally, part, findings);
        }
    }
}

/// Compares a printed share with its two counts. Tools round or truncate the last digit.
fn check_tally_share(block: &Block, name: &str, tally: &Tally, part: f64, findings: &mut Findings) {
    let sum = tally.passed + tally.failed;
    if let (Some(share), true) = (&tally.share, sum > 0.0)
        && (part / sum - share.value).abs() > share.step * 1.001 + 1e-9
    {
        report_wrong_share(block, name, part, sum, share, tally.line, findings);
    }
}

fn check_sum(block: &Block, what: &str, sum: f64, n: f64, line: usize, findings: &mut Findings) {
    if (sum - n).abs() < 0.5 {
        return;
    }
    findings.block(
        "total-mismatch",
        Level::Error,
        block,
        line,
        [
            format!(
                "{what}: {} together; requests: {}",
                format_number(sum),
                format_number(n)
            ),
            format!(
                "{} − {} = {}",
                format_number(sum),
                format_number(n),
                format_number(sum - n)
            ),
            "Show the tool's output unchanged. Its lines come from two runs, or some are missing."
                .to_owned(),
        ],
    );
}

fn check_shares(block: &Block, n: f64, findings: &mut Findings) {
    for bucket in &block.histogram {
        if let Some(share) = &bucket.share
            && (bucket.count / n - share.value).abs() > share.step * 1.001 + 1e-9
        {
            report_wrong_share(
                block,
                "a histogram's row",
                bucket.count,
                n,
                share,
                bucket.line,
                findings,
            );
            return;
        }
    }
}

fn report_wrong_share(
    block: &Block,
    what: &str,
    part: f64,
    whole: f64,
    share: &Quantity,
    line: usize,
    findings: &mut Findings,
) {
    findings.block(
        "total-mismatch",
        Level::Error,
        block,
        line,
        [
            format!(
                "{what}: {} of {}, printed as {}",
                format_number(part),
                format_number(whole),
                share.text
            ),
            format!(
                "{} ÷ {} = {}, not {}",
                format_number(part),
                format_number(whole),
                format_value(part / whole, Unit::Share),
                share.text
            ),
            "Show both as printed by the tool.".to_owned(),
        ],
    );
}

/// Checks that each percentile is within its histogram bucket. Tools estimate percentiles, so half
/// a percent of the samples may differ.
fn check_percentiles(block: &Block, n: f64, findings: &mut Findings) {
    let bounded = block
        .histogram
        .iter()
        .all(|bucket| bucket.upper > bucket.lower);
    let Some(latency) = block
        .latency()
        .filter(|_| bounded && block.tool == Tool::Vegeta)
    else {
        return;
    };
    for (q, figure) in &latency.quantiles {
        let mut seen = 0.0;
        let (mut low, mut high) = (None, None);
        for bucket in &block.histogram {
            seen += bucket.count / n;
            if low.is_none() && seen >= q - 0.005 {
                low = Some(bucket.lower);
            }
            if high.is_none() && seen >= q + 0.005 {
                high = Some(bucket.upper);
            }
        }
        let low = low.unwrap_or(0.0);
        let high = high.unwrap_or(f64::INFINITY);
        if figure.value < low || figure.value > high {
            findings.block(
                "total-mismatch",
                Level::Error,
                block,
                figure.line,
                [
                    format!(
                        "{} {}; histogram from line {}",
                        crate::block::quantile_name(*q),
                        figure.text,
                        block.histogram[0].line
                    ),
                    format!(
                        "by the histogram it is between {} and {}",
                        format_value(low, Unit::Time),
                        format_value(high, Unit::Time)
                    ),
                    "Show the histogram and the percentiles of the same run.".to_owned(),
                ],
            );
            return;
        }
    }
}

/// Compares count ÷ printed rate with the declared duration.
pub fn check_divisor(report: &Report, findings: &mut Findings) {
    for block in &report.blocks {
        if let (Tool::Hey | Tool::Oha | Tool::Ghz, Some(requested), Some(elapsed), Some(rate)) =
            (block.tool, &block.declared, &block.elapsed, &block.rate)
            && elapsed.value > 1.02 * requested.value + 0.1
        {
            let extra = elapsed.value - requested.value;
            findings.block(
                "divisor-includes-waiting",
                if extra > 0.1 * requested.value {
                    Level::Warning
                } else {
                    Level::Note
                },
                block,
                elapsed.line,
                [
                    format!(
                        "{} requested, but the rate of {} covers {}",
                        requested.text,
                        rate.text,
                        format_value(elapsed.value, Unit::Time)
                    ),
                    format!(
                        "{} − {} = {} of waiting for the last responses is included in the time of the rate",
                        format_value(elapsed.value, Unit::Time),
                        requested.text,
                        format_value(extra, Unit::Time)
                    ),
                    "Count the requests that ended within the requested time, and divide by that time."
                        .to_owned(),
                ],
            );
        }
        let rate = match (block.tool, &block.requests, &block.rate) {
            (Tool::K6, None, _) => block.iterations.as_ref().zip(block.iteration_rate.as_ref()),
            (Tool::K6, Some(count), Some(rate)) => Some((count, rate)),
            _ => None,
        };
        let (Some((count, rate)), Some(declared)) = (rate, &block.declared) else {
            continue;
        };
        if rate.value <= 0.0 || declared.value <= 0.0 {
            continue;
        }
        let time = count.value / rate.value;
        let extra = time - declared.value;
        if extra + rate.step / rate.value * time < -0.1 * declared.value
            && block.requested_count.is_none()
        {
            check_cut_short(block, count, rate, declared, findings);
        }
        if extra < 0.01 * declared.value {
            continue;
        }
        findings.block(
            "divisor-includes-waiting",
            if extra < 0.02 * declared.value { Level::Note } else { Level::Warning },
            block,
            rate.line,
            [
                format!("{} at {}, declared {}", count.text, rate.text, declared.text),
                format!(
                    "{} ÷ {} = {}: {} more than declared, for starting, draining or setup; over {} the rate is {}",
                    count.text,
                    rate.text,
                    format_value(time, Unit::Time),
                    format_value(extra, Unit::Time),
                    declared.text,
                    format_value(count.value / declared.value, Unit::Rate)
                ),
                "Count the requests that ended within a time window, and divide by the length of that window.".to_owned(),
            ],
        );
    }
}

/// Reports if count ÷ rate is far below the declared duration: the run was cut short, or the lines
/// come from two runs.
fn check_cut_short(
    block: &Block,
    count: &Quantity,
    rate: &Quantity,
    declared: &Quantity,
    findings: &mut Findings,
) {
    let time = count.value / rate.value;
    findings.block(
        "declared-vs-counted",
        Level::Warning,
        block,
        rate.line,
        [
            format!(
                "{} at {}, declared {}",
                count.text, rate.text, declared.text
            ),
            format!(
                "{} ÷ {} = {}, {} of the declared {}",
                count.text,
                rate.text,
                format_value(time, Unit::Time),
                format_value(time / declared.value, Unit::Share),
                declared.text
            ),
            "State how long the run took, or show the tool's summary unchanged.".to_owned(),
        ],
    );
}

/// Reports latencies that are equal in every digit.
pub fn check_copied_latencies(report: &Report, findings: &mut Findings) {
    for (one, other) in report.pairs() {
        let (Some(a), Some(b)) = (one.latency(), other.latency()) else {
            continue;
        };
        let texts = |trend: &crate::block::Trend| -> Vec<String> {
            trend
                .figures()
                .iter()
                .map(|(name, figure)| format!("{name} {}", figure.text))
                .collect()
        };
        let (first, second) = (texts(a), texts(b));
        let measured = first.iter().filter(|text| !text.ends_with(" 0s")).count();
        let counts = |block: &Block| block.samples();
        if measured >= 4 && first == second && counts(one) == counts(other) {
            findings.block(
                "copied-block",
                Level::Error,
                other,
                b.line,
                [
                    format!("{} (lines {} and {})", first.join(", "), a.line, b.line),
                    format!("{measured} figures and the count are equal to the last digit, which does not happen in two runs"),
                    "One of the results is a copy: repeat the run, or remove the copy.".to_owned(),
                ],
            );
        }
    }
}

/// Reports lines that are incomplete or missing.
pub fn check_orphan_rows(report: &Report, findings: &mut Findings) {
    for block in &report.blocks {
        if block.orphan_rows.is_empty() && !block.missing.is_empty() {
            findings.block(
                "torn-block",
                Level::Note,
                block,
                block.last_line,
                [
                    format!(
                        "{} lines of {}",
                        block.last_line + 1 - block.first_line.min(block.last_line),
                        block.tool.name()
                    ),
                    format!(
                        "this cannot be checked: `{}` is not printed",
                        block.missing.join("`, `")
                    ),
                    "Show the tool's output unchanged.".to_owned(),
                ],
            );
        }
        if let Some((_, line)) = block.orphan_rows.first() {
            let what: Vec<&str> = block
                .orphan_rows
                .iter()
                .map(|(what, _)| what.as_str())
                .collect();
            findings.block(
                "torn-block",
                Level::Warning,
                block,
                *line,
                [
                    what.join("; "),
                    format!(
                        "{} not as {} prints {}: the block was cut or edited",
                        match what.len() {
                            1 => "1 line is".to_owned(),
                            lines => format!("{lines} lines are"),
                        },
                        block.tool.name(),
                        if what.len() == 1 { "it" } else { "them" }
                    ),
                    "Show the tool's output unchanged.".to_owned(),
                ],
            );
        }
    }
}
