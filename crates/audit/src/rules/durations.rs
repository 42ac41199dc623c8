//! Figures that are impossible.

use crate::block::{Block, Role, Tool, Trend};
use crate::finding::Level;
use crate::pattern::{Pattern, pattern};
use crate::quantity::{Quantity, Unit, format_number, format_value, parse_duration};
use crate::report::{Findings, Report};

static BELOW_ZERO: Pattern = pattern!(
    r"(?:^|\s)((?:avg|min|med|max|p\(\d+(?:\.\d+)?\))=-(\d+(?:\.\d+)?)(?:ns|us|µs|μs|ms|s|m))\b"
);

/// Checks a k6 row that is quoted without the other rows.
fn check_lone_negative_row(report: &Report, findings: &mut Findings) {
    for (at, line) in report.text.lines().enumerate().take(50_000) {
        if !line.contains("=-") || report.is_output(at + 1) {
            continue;
        }
        let found = BELOW_ZERO.first(line);
        let Some(figure) = found.and_then(|found| found.get(1)) else {
            continue;
        };
        findings.page(
            "negative-duration",
            Level::Error,
            at + 1,
            [
                format!("`{}`", figure.as_str()),
                format!("{} < 0: nothing ends before it begins; two clocks were compared, or a clock was set back", figure.as_str()),
                "Take both ends of a duration from the same monotonic clock. The other figures in this row are affected, too.".to_owned(),
            ],
        );
        return;
    }
}

/// Reports a minimum or any other column below zero.
pub fn check_negative(report: &Report, findings: &mut Findings) {
    check_lone_negative_row(report, findings);
    for block in &report.blocks {
        for trend in &block.trends {
            let below: Vec<String> = trend
                .figures()
                .into_iter()
                .filter(|(_, figure)| figure.value < 0.0)
                .map(|(name, figure)| format!("{name}={}", figure.text))
                .collect();
            if !below.is_empty() {
                findings.block(
                    "negative-duration",
                    Level::Error,
                    block,
                    trend.line,
                    [
                        format!("{}: {}", trend.name, below.join(", ")),
                        format!("{} < 0: nothing ends before it begins; two clocks were compared, or a clock was set back", below[0]),
                        "Take both ends of a duration from the same monotonic clock. The other figures in this row are affected, too.".to_owned(),
                    ],
                );
            }
        }
    }
}

/// Reports a first byte after no time, a request far shorter than its iteration, and phases longer
/// than the whole request.
pub fn check_impossible_minimum(report: &Report, findings: &mut Findings) {
    const RULE: &str = "impossible-minimum";
    for block in &report.blocks {
        let latency = block.latency();
        if let (Some(waiting), Some(latency)) = (block.trend(Role::Waiting), latency)
            && let (Some(wait), Some(lowest)) = (&waiting.min, &latency.min)
            && wait.value == 0.0
            && lowest.value > 0.0
        {
            findings.block(
                        RULE,
                        Level::Warning,
                        block,
                        waiting.line,
                        [
                            format!("{}: min={}; {}: min={}", waiting.name, wait.text, latency.name, lowest.text),
                            format!("the first byte of a response arrived {} after the last byte of its request; a server that reads the request first takes longer", wait.text),
                            "Quote the whole duration: a tool that records the end of sending late cannot separate the phases at this load.".to_owned(),
                        ],
                    );
        }
        if let (Some(iteration), Some(latency), Some(think)) =
            (block.trend(Role::Iteration), latency, block.think_time())
        {
            let one_each = block
                .mean_requests_per_turn()
                .is_some_and(|per| (per - 1.0).abs() < 0.001);
            if let (Some(whole), Some(part), Some(mean)) =
                (&iteration.min, &latency.min, &iteration.mean)
            {
                let idle = think / mean.value;
                if one_each
                    && part.value > 0.0
                    && part.value * 5.0 < whole.value
                    && idle.abs() < 0.2
                {
                    let outside = whole.value - part.value;
                    findings.block(
                        RULE,
                        Level::Warning,
                        block,
                        latency.line,
                        [
                            format!("{}: min={}; {}: min={}, avg={}", latency.name, part.text, iteration.name, whole.text, mean.text),
                            format!(
                                "every iteration is one request; the one with the {} request took at least {}, so {} of it, {:.0} %, was outside the request; for the mean iteration this is {:.1} %",
                                part.text,
                                whole.text,
                                format_value(outside, Unit::Time),
                                outside / whole.value * 100.0,
                                idle.max(0.0) * 100.0
                            ),
                            "Do not quote this minimum as the time of an exchange.".to_owned(),
                        ],
                    );
                }
            }
        }
        check_against_iteration(block, findings);
        check_parts(report, block, findings);
    }
}

/// Reports a request that takes longer than the iteration that contains it. Each iteration makes one
/// request, and none was interrupted.
fn check_against_iteration(block: &Block, findings: &mut Findings) {
    let one_each = block
        .mean_requests_per_turn()
        .is_some_and(|per| (per - 1.0).abs() < 1e-9);
    let (Some(iteration), Some(latency), true) = (
        block.trend(Role::Iteration),
        block.trend(Role::Request),
        one_each && block.interrupted == Some(0.0),
    ) else {
        return;
    };
    let pairs = [
        ("max", &latency.max, &iteration.max),
        ("avg", &latency.mean, &iteration.mean),
    ];
    for (name, part, whole) in pairs {
        let (Some(part), Some(whole)) = (part, whole) else {
            continue;
        };
        if part.value <= whole.value + printed_step(part) + printed_step(whole) {
            continue;
        }
        findings.block(
            "impossible-minimum",
            Level::Warning,
            block,
            iteration.line,
            [
                format!(
                    "{}: {name}={}; {}: {name}={}",
                    latency.name, part.text, iteration.name, whole.text
                ),
                format!(
                    "every iteration is one request, so {} is at most the {} of an iteration",
                    part.text, whole.text
                ),
                "The rows come from different runs, or were changed by hand.".to_owned(),
            ],
        );
    }
}

/// The value of one step of the last printed digit.
fn printed_step(figure: &Quantity) -> f64 {
    parse_duration(&figure.text, figure.line).map_or(figure.step, |read| read.step.max(figure.step))
}

/// Checks mean(sending) + mean(waiting) + mean(receiving) = mean(duration), which is k6's definition.
fn check_parts(_: &Report, block: &crate::block::Block, findings: &mut Findings) {
    let mean = |role| block.trend(role).and_then(|trend| trend.mean.as_ref());
    let (Some(sending), Some(waiting), Some(receiving), Some(whole)) = (
        mean(Role::Sending),
        mean(Role::Waiting),
        mean(Role::Receiving),
        mean(Role::Request),
    ) else {
        return;
    };
    let sum = sending.value + waiting.value + receiving.value;
    // A page may have rounded k6's values to two decimals.
    let slack = 2.0
        * (printed_step(sending)
            + printed_step(waiting)
            + printed_step(receiving)
            + printed_step(whole))
        + whole.value * 1e-6;
    if (sum - whole.value).abs() > slack {
        findings.block(
            "impossible-minimum",
            Level::Error,
            block,
            whole.line,
            [
                format!(
                    "sending avg={}, waiting avg={}, receiving avg={}; duration avg={}",
                    sending.text, waiting.text, receiving.text, whole.text
                ),
                format!(
                    "{} + {} + {} = {}, not {}",
                    sending.text,
                    waiting.text,
                    receiving.text,
                    format_value(sum, Unit::Time),
                    whole.text
                ),
                "The rows come from different runs, or were changed by hand.".to_owned(),
            ],
        );
    }
}

/// Checks min ≤ p(q) ≤ p(q') ≤ max for q < q', and min ≤ mean ≤ max.
pub fn check_order(report: &Report, findings: &mut Findings) {
    for block in &report.blocks {
        check_two_means(block, findings);
        check_two_maxima(block, findings);
        for trend in &block.trends {
            check_mean(block, trend, findings);
            let disorder = find_disorder(trend, allowed_difference(block));
            if disorder.is_empty() {
                continue;
            }
            let mut shown: Vec<&String> = Vec::new();
            for figure in disorder.iter().flat_map(|(one, other)| [one, other]) {
                if !shown.contains(&figure) {
                    shown.push(figure);
                }
            }
            let shown: Vec<&str> = shown.into_iter().map(String::as_str).collect();
            let reasons: Vec<String> = disorder
                .iter()
                .map(|(one, other)| format!("{one} is printed, but it can be at most {other}"))
                .collect();
            // In this row, hey prints the minimum and maximum of the whole request.
            let known = trend.name == "DNS+dialup";
            findings.block(
                "percentile-disorder",
                if known { Level::Note } else { Level::Error },
                block,
                trend.line,
                [
                    format!("{}: {}", trend.name, shown.join(", ")),
                    reasons.join("; "),
                    if known {
                        "The tool fills the second and third figure of this row from another row. Use neither of them.".to_owned()
                    } else {
                        "The columns are swapped, or do not describe the same samples.".to_owned()
                    },
                ],
            );
        }
    }
}

/// Compares the two means of wrk2: in the row `Latency`, and below the percentiles.
fn check_two_means(block: &Block, findings: &mut Findings) {
    let (Some(again), Some(mean)) = (
        &block.repeated_mean,
        block.latency().and_then(|latency| latency.mean.as_ref()),
    ) else {
        return;
    };
    let apart = (again.value - mean.value).abs();
    if apart <= 0.02 * again.value + again.step + mean.step {
        return;
    }
    findings.block(
        "percentile-disorder",
        Level::Warning,
        block,
        mean.line,
        [
            format!("Latency {}; #[Mean = {}]", mean.text, again.text),
            format!(
                "{} and {} are the mean of the same samples: {:.2} times as much",
                mean.text,
                again.text,
                mean.value / again.value
            ),
            "Show the output of a single run, unchanged.".to_owned(),
        ],
    );
}

/// Compares the two maxima of ab: in the row `Total:`, and below the percentiles.
fn check_two_maxima(block: &Block, findings: &mut Findings) {
    let (Some(longest), Some(max)) = (
        &block.longest,
        block.latency().and_then(|latency| latency.max.as_ref()),
    ) else {
        return;
    };
    let apart = (longest.value - max.value).abs();
    if apart <= longest.step + max.step {
        return;
    }
    findings.block(
        "percentile-disorder",
        Level::Error,
        block,
        longest.line,
        [
            format!(
                "Total: max {} (line {}); 100% {}",
                max.text, max.line, longest.text
            ),
            format!(
                "{} and {} are the longest of the same requests: they differ by {}",
                max.text,
                longest.text,
                format_value(apart, Unit::Time)
            ),
            "Show the output of a single run, unchanged.".to_owned(),
        ],
    );
}

/// Reports a mean that contradicts the quantiles and the maximum of the same samples.
fn check_mean(block: &Block, trend: &Trend, findings: &mut Findings) {
    // wrk2's percentiles cover different samples than its mean, and hey's cover at most a million.
    // A custom metric may have any number of samples.
    let samples = match trend.role {
        Role::Iteration => block.iterations.as_ref().map(|count| count.value),
        Role::Own => return,
        _ => block.samples(),
    };
    if block.tool == Tool::Wrk2 || block.tool == Tool::Hey && samples.is_none_or(|n| n >= 1e6) {
        return;
    }
    let (Some(mean), Some((lowest, highest))) = (&trend.mean, trend.mean_bounds(samples)) else {
        return;
    };
    // k6 truncates means to whole nanoseconds.
    let (low, high) = (mean.bounds().0, mean.bounds().1 + 1e-9);
    let parts: Vec<String> = trend
        .quantiles
        .last()
        .map(|(q, figure)| format!("{} {}", crate::block::quantile_name(*q), figure.text))
        .into_iter()
        .chain(trend.max.as_ref().map(|max| format!("max {}", max.text)))
        .collect();
    let conclusion = if high < lowest {
        format!(
            "these samples have a mean of at least {}, but {} is printed",
            format_value(lowest, Unit::Time),
            mean.text
        )
    } else if low > highest {
        format!(
            "these samples have a mean of at most {}, but {} is printed",
            format_value(highest, Unit::Time),
            mean.text
        )
    } else {
        return;
    };
    // Another finding already reports a mean outside of minimum and maximum.
    if !find_disorder(trend, allowed_difference(block)).is_empty() {
        return;
    }
    findings.block(
        "percentile-disorder",
        Level::Error,
        block,
        trend.line,
        [
            format!(
                "{}: mean {}, {}{}",
                trend.name,
                mean.text,
                parts.join(", "),
                samples.map_or(String::new(), |n| format!(", {} samples", format_number(n)))
            ),
            conclusion,
            "Take all figures of a row from the same run, and show the tool's output unchanged."
                .to_owned(),
        ],
    );
}

/// The allowed difference of two figures for the same samples. An HdrHistogram with three digits
/// returns the upper end of a bar as the percentile, but the maximum may be exact.
fn allowed_difference(block: &Block) -> f64 {
    match block.tool {
        Tool::Wrk2 | Tool::Zrk | Tool::Autocannon => 0.002,
        _ => 1e-9,
    }
}

/// The figures that are larger than the next ones in their order, or the mean outside of minimum and
/// maximum.
fn find_disorder(trend: &Trend, precision: f64) -> Vec<(String, String)> {
    let mut ladder = Vec::new();
    ladder.extend(trend.min.iter().map(|figure| ("min".to_owned(), figure)));
    for (q, figure) in &trend.quantiles {
        ladder.push((crate::block::quantile_name(*q), figure));
    }
    ladder.extend(trend.max.iter().map(|figure| ("max".to_owned(), figure)));
    let mut pairs: Vec<_> = ladder.windows(2).map(|pair| (&pair[0], &pair[1])).collect();
    let mean = trend.mean.as_ref().map(|mean| ("mean".to_owned(), mean));
    if let (Some(mean), Some(first), Some(last)) = (&mean, ladder.first(), ladder.last()) {
        if first.0 == "min" {
            pairs.push((first, mean));
        }
        if last.0 == "max" {
            pairs.push((mean, last));
        }
    }
    pairs
        .into_iter()
        .filter(|((_, low), (_, high))| {
            low.value - low.step - high.step > high.value + high.value.abs() * precision
        })
        .map(|((low_name, low), (high_name, high))| {
            (
                format!("{low_name} {}", low.text),
                format!("{high_name} {}", high.text),
            )
        })
        .collect()
}
