//! Failed requests.

use crate::block::{Block, Role, Tool, Trend};
use crate::finding::Level;
use crate::pattern::{Pattern, pattern};
use crate::quantity::{Quantity, Unit, format_number, format_value, parse_unitless};
use crate::report::{Findings, Report};

/// Reports failures next to a share that prints as 0 % or 100 %, and marks with an inverted meaning.
pub fn check_rounded_shares(report: &Report, findings: &mut Findings) {
    const RULE: &str = "failures-rounded-away";
    let mut inverted = None;
    for block in &report.blocks {
        let zero = block.failures.as_ref().filter(|tally| {
            tally.failed > 0.0 && tally.share.as_ref().is_some_and(|share| share.value == 0.0)
        });
        let all = block.checks.as_ref().filter(|tally| {
            tally.failed > 0.0 && tally.share.as_ref().is_some_and(|share| share.value == 1.0)
        });
        for tally in zero.into_iter().chain(all) {
            let total = tally.failed + tally.passed;
            let share = tally.share.as_ref().map_or("", |share| &share.text);
            report_rounded_away(block, tally.line, tally.failed, total, share, findings);
        }
        if let Some(success) = block
            .success
            .as_ref()
            .filter(|success| success.text.starts_with("100"))
        {
            let bad = unsuccessful_responses(block);
            if bad > 0.0 && block.tool == Tool::Vegeta && success.step > 0.0 {
                let total = block.samples().unwrap_or(bad);
                report_rounded_away(block, success.line, bad, total, &success.text, findings);
            }
        }
        if block.failures.as_ref().is_some_and(|tally| tally.inverted) && inverted.is_none() {
            inverted = Some(block);
        }
    }
    if let Some((block, tally)) = inverted.and_then(|block| Some((block, block.failures.as_ref()?)))
    {
        findings.block(
            RULE,
            Level::Note,
            block,
            tally.line,
            [
                format!("http_req_failed: ✓ {} ✗ {}", format_number(tally.failed), format_number(tally.passed)),
                format!(
                    "in this layout ✓ counts requests for which `failed` is true: {} failed, {} did not; readers expect the opposite",
                    format_number(tally.failed),
                    format_number(tally.passed)
                ),
                format!("Quote the number with the word: \"{} of {} failed\".", format_number(tally.failed), format_number(tally.failed + tally.passed)),
            ],
        );
    }
}

fn report_rounded_away(
    block: &Block,
    line: usize,
    failed: f64,
    total: f64,
    printed: &str,
    findings: &mut Findings,
) {
    findings.block(
        "failures-rounded-away",
        Level::Error,
        block,
        line,
        [
            format!(
                "{printed}, but {} of {} failed",
                format_number(failed),
                format_number(total)
            ),
            format!(
                "{} ÷ {} = {}, printed as {printed}",
                format_number(failed),
                format_number(total),
                format_value(failed / total, Unit::Share)
            ),
            "State the number of failures, and what failed.".to_owned(),
        ],
    );
}

/// Reports unsuccessful responses, by their status lines.
pub fn unsuccessful_responses(block: &Block) -> f64 {
    block
        .statuses
        .iter()
        .filter(|(code, _)| !is_success(code))
        .map(|(_, count)| count.value)
        .sum()
}

fn is_success(code: &str) -> bool {
    code.starts_with(['1', '2', '3']) || code == "OK"
}

/// Reports failed requests in the rate, and their times in the latency.
pub fn check_failures_as_work(report: &Report, findings: &mut Findings) {
    const RULE: &str = "failures-as-work";
    for block in &report.blocks {
        let length = block
            .length_failures
            .as_ref()
            .map_or(0.0, |length| length.value);
        // ab counts a response of a different length as failed, although it did not fail.
        // autocannon's rate counts only responses.
        let errors = if block.tool == Tool::Autocannon {
            0.0
        } else {
            block.failed() - length
        };
        let failed = errors.max(unsuccessful_responses(block));
        check_failed_iterations(block, findings);
        if let (Tool::Vegeta, Some(requests)) = (block.tool, &block.requests) {
            check_failures_in_latency(block, failed, requests.value, findings);
        }
        let in_title = titled_requests(block);
        let requests = block.requests.as_ref().or(in_title.as_ref());
        let (Some(requests), Some(rate)) = (requests, &block.rate) else {
            continue;
        };
        let counted_out = block.tool == Tool::Vegeta;
        if failed <= 0.0 || requests.value <= 0.0 || counted_out {
            continue;
        }
        let latency = block.latency();
        if failed >= requests.value {
            let instant = latency
                .and_then(|latency| latency.max.as_ref())
                .filter(|max| max.value == 0.0 && block.tool != Tool::Autocannon);
            let passed = block.thresholds.iter().find(|threshold| threshold.passed);
            if instant.is_some() {
                findings.block(
                    RULE,
                    Level::Error,
                    block,
                    latency.map_or(rate.line, |latency| latency.line),
                    [
                        format!(
                            "{} of {} failed; latency max=0s",
                            format_number(failed),
                            requests.text
                        ),
                        format!(
                            "every latency is 0 s, from a request that was never sent{}",
                            passed.map_or(String::new(), |threshold| format!(
                                "; they make the threshold {} pass",
                                threshold.text
                            ))
                        ),
                        "There is no result, because no request got a response.".to_owned(),
                    ],
                );
            }
            continue;
        }
        let share = failed / requests.value;
        let good_rate = rate.value * (1.0 - share);
        let unlike = block.trend(Role::Expected).and_then(|expected| {
            let all = latency?;
            let (all_max, good_max) = (all.max.as_ref()?, expected.max.as_ref()?);
            (all_max.value > 2.0 * good_max.value).then(|| {
                let mean = all.mean.as_ref().zip(expected.mean.as_ref()).map(|(a, g)| {
                    (a.value * requests.value - g.value * (requests.value - failed)) / failed
                });
                format!(
                    "; the slowest request took {}, the slowest successful one {}{}",
                    all_max.text,
                    good_max.text,
                    mean.filter(|mean| *mean > 0.0).map_or(String::new(), |mean| format!(
                        "; failed requests took about {} each: (mean of all × all − mean of successful × successful) ÷ failed",
                        format_value(mean, Unit::Time)
                    ))
                )
            })
        });
        if share < 0.001 && unlike.is_none() {
            continue;
        }
        findings.block(
            RULE,
            Level::Warning,
            block,
            rate.line,
            [
                format!("{}, {} of {} failed{}", format_value(rate.value, Unit::Rate), format_number(failed), requests.text, unlike.unwrap_or_default()),
                format!(
                    "{} × (1 − {} ÷ {}) = {} got the expected response; {} of the rate are failures",
                    format_value(rate.value, Unit::Rate),
                    format_number(failed),
                    requests.text,
                    format_value(good_rate, Unit::Rate),
                    format_value(share, Unit::Share)
                ),
                "Report the rate and the latency of successful responses. A failed request is often faster than a successful one, or as slow as a timeout.".to_owned(),
            ],
        );
    }
}

static TITLE: Pattern = pattern!(r"(?i)(?:^|[^\w.,])(\d[\d,]*)\s+requests\b");

/// The number of requests in the heading above a part of ab's output that lacks it.
fn titled_requests(block: &Block) -> Option<Quantity> {
    if block.tool != Tool::Ab || block.requests.is_some() {
        return None;
    }
    let mut found = TITLE.all(block.titles.last()?);
    let digits = found.next()?.get(1)?.as_str();
    if found.next().is_some() {
        return None;
    }
    parse_unitless(&digits.replace(',', ""), Unit::Count, block.first_line)
}

/// Reports vegeta's latencies if requests failed: its throughput counts only successful responses,
/// but its latencies cover all.
fn check_failures_in_latency(block: &Block, failed: f64, requests: f64, findings: &mut Findings) {
    let share = failed / requests;
    let Some(latency) = block
        .latency()
        .filter(|_| share >= 0.01 && failed < requests)
    else {
        return;
    };
    let Some((name, typical)) = latency
        .median()
        .map(|median| ("median", median))
        .or(latency.mean.as_ref().map(|mean| ("mean", mean)))
    else {
        return;
    };
    let listed: Vec<String> = block
        .statuses
        .iter()
        .map(|(code, count)| format!("{code}:{}", count.text))
        .collect();
    findings.block(
        "failures-as-work",
        Level::Warning,
        block,
        latency.line,
        [
            format!("{}; {name} {}", listed.join(" "), typical.text),
            format!(
                "{} ÷ {} = {} of the latencies are of requests that failed",
                format_number(failed),
                format_number(requests),
                format_value(share, Unit::Share)
            ),
            "Report latencies of successful responses, and count the failures separately."
                .to_owned(),
        ],
    );
}

/// Reports iterations with a failed check in scripts without HTTP requests.
fn check_failed_iterations(block: &Block, findings: &mut Findings) {
    let (None, Some(iterations), Some(rate)) =
        (&block.requests, &block.iterations, &block.iteration_rate)
    else {
        return;
    };
    let worst = block
        .check_counts
        .iter()
        .filter(|check| check.passed + check.failed <= 1.01 * iterations.value)
        .max_by(|one, other| one.failed.total_cmp(&other.failed));
    let Some(check) = worst.filter(|check| check.failed >= 0.01 * iterations.value) else {
        return;
    };
    findings.block(
        "failures-as-work",
        Level::Warning,
        block,
        check.line,
        [
            format!("✓ {} / ✗ {}; {} iterations at {}", format_number(check.passed), format_number(check.failed), iterations.text, rate.text),
            format!(
                "{} ÷ {} = {} of the iterations failed a check and are in the rate and the durations",
                format_number(check.failed),
                iterations.text,
                format_value(check.failed / iterations.value, Unit::Share)
            ),
            "Report the rate and the duration of the iterations that did their work.".to_owned(),
        ],
    );
}

/// ab counts a response as failed if its length differs from that of the first response.
pub fn check_length_failures(report: &Report, findings: &mut Findings) {
    for block in &report.blocks {
        let (Some(length), Some(tally)) = (&block.length_failures, &block.failures) else {
            continue;
        };
        if length.value == tally.failed && tally.failed > 0.0 && block.statuses.is_empty() {
            findings.block(
                "length-failures",
                Level::Warning,
                block,
                tally.line,
                [
                    format!("Failed requests: {}, of them Length: {}; no line of non-2xx responses", format_number(tally.failed), length.text),
                    format!("{} − {} = 0 failed for another reason: the responses only differ in length from the first", format_number(tally.failed), length.text),
                    "Run ab with -l if responses vary in length.".to_owned(),
                ],
            );
        }
    }
}

/// Reports error responses next to a line that claims success.
pub fn check_non_success(report: &Report, findings: &mut Findings) {
    for block in &report.blocks {
        let bad = unsuccessful_responses(block);
        let total = block.samples().unwrap_or(0.0);
        if bad <= 0.0 || total <= 0.0 || bad / total < 0.01 {
            continue;
        }
        // If the tool itself reports failures, the rule failures-as-work covers it.
        let says_success = block
            .success
            .as_ref()
            .is_some_and(|success| success.value > 0.99);
        let says_nothing = block.success.is_none() && block.failed() == 0.0;
        let ab = block.tool == Tool::Ab;
        if !(says_success || says_nothing || ab || bad >= total) {
            continue;
        }
        let listed: Vec<String> = block
            .statuses
            .iter()
            .map(|(code, count)| format!("[{code}] {}", count.text))
            .collect();
        let line = block
            .statuses
            .first()
            .map_or(block.first_line, |(_, count)| count.line);
        findings.block(
            "non-success-as-success",
            if bad >= total {
                Level::Error
            } else {
                Level::Warning
            },
            block,
            line,
            [
                format!(
                    "{}{}",
                    listed.join(", "),
                    block
                        .success
                        .as_ref()
                        .map_or(String::new(), |success| format!(
                            "; success {}",
                            success.text
                        ))
                ),
                format!(
                    "{} of {} responses, {}, are errors, and the rate and the latency include them",
                    format_number(bad),
                    format_number(total),
                    format_value(bad / total, Unit::Share)
                ),
                match block.statuses.iter().all(|(code, _)| code == "0") {
                    true => "Check that the service is reachable, because no request got a response.",
                    false => {
                        "Check the address and the login, because the figures describe error responses."
                    }
                }
                .to_owned(),
            ],
        );
    }
}

/// The number of samples that are about as long as this figure or longer, according to the percentiles.
fn samples_at_least(block: &Block, latency: &Trend, figure: &Quantity) -> f64 {
    let quantile = latency
        .quantiles
        .iter()
        .find(|(_, other)| other.value >= 0.99 * figure.value);
    let share = quantile.map_or(0.0, |(q, _)| 1.0 - q);
    share * block.samples().unwrap_or(0.0)
}

/// Reports a value within 1 % of a round timeout if requests failed and successful responses are
/// far faster.
pub fn check_timeout(report: &Report, findings: &mut Findings) {
    const ROUND: [f64; 12] = [
        0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 15.0, 20.0, 30.0, 60.0, 90.0, 120.0,
    ];
    for block in &report.blocks {
        let named = block.errors.iter().any(|(error, _)| {
            let error = error.to_lowercase();
            // wrk prints the count even if it is 0.
            if block.sockets.is_some_and(|sockets| sockets.timeout == 0.0)
                || error.contains(" 0 timeouts")
            {
                return false;
            }
            error.contains("timeout") || error.contains("timed out") || error.contains("deadline")
        });
        let timeouts = block.sockets.map_or(0.0, |sockets| sockets.timeout);
        let failed = block
            .failed()
            .max(unsuccessful_responses(block))
            .max(timeouts);
        if failed <= 0.0 && !named {
            continue;
        }
        let Some(latency) = block.latency() else {
            continue;
        };
        let good = block
            .trend(Role::Expected)
            .and_then(|trend| trend.max.as_ref());
        let found = latency.figures().into_iter().find(|(name, figure)| {
            let round = ROUND
                .iter()
                .any(|round| figure.value >= *round && figure.value <= round * 1.01);
            let apart = good.is_some_and(|good| good.value < 0.5 * figure.value);
            // Two figures are at the same round time, so samples accumulate there.
            let piled = latency
                .figures()
                .iter()
                .filter(|(_, other)| (other.value / figure.value - 1.0).abs() < 0.01)
                .count()
                >= 2;
            let is_max = latency
                .max
                .as_ref()
                .is_none_or(|max| figure.value >= 0.99 * max.value);
            let apart = (apart && is_max) || piled;
            // wrk records no latency for a request that times out. So if all requests take this
            // long, the service itself is slow.
            let all = latency
                .mean
                .as_ref()
                .is_some_and(|mean| (mean.value / figure.value - 1.0).abs() < 0.01);
            let of_service = block.sockets.is_some() && unsuccessful_responses(block) <= 0.0 && all;
            // One failure explains one slow sample, but not the slowest hundredth.
            let enough = named || failed >= 0.5 * samples_at_least(block, latency, figure);
            name != "min" && name != "mean" && round && (apart || named) && enough && !of_service
        });
        let Some((name, figure)) = found else {
            continue;
        };
        let round = ROUND
            .iter()
            .copied()
            .find(|round| figure.value >= *round && figure.value <= round * 1.01)
            .unwrap_or(figure.value);
        findings.block(
            "timeout-as-percentile",
            Level::Warning,
            block,
            figure.line,
            [
                format!(
                    "{name} {}, {} failed{}",
                    figure.text,
                    format_number(failed),
                    good.map_or(String::new(), |good| format!("; slowest successful response {}", good.text))
                ),
                match (figure.value / round - 1.0) * 100.0 {
                    above if above < 0.05 => format!("{} is a round number, and requests failed", figure.text),
                    above => format!("{} is {above:.1} % above the round number {}, and requests failed", figure.text, format_value(round, Unit::Time)),
                },
                "Count these requests as lost, and report the latency of the others. This figure only shows how long the client waited.".to_owned(),
            ],
        );
    }
}
