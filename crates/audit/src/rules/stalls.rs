//! Long tails and stalls.

use crate::block::{Block, Model, Role, quantile_name};
use crate::finding::Level;
use crate::quantity::{Unit, format_number, format_value};
use crate::report::{Findings, Report};

use super::failures::unsuccessful_responses;
use super::series::are_comparable;

/// Reports mean > p90: if 90 % of the samples are at most p90, the last 10 % contribute the rest of
/// the sum.
pub fn check_startup(report: &Report, findings: &mut Findings) {
    for block in &report.blocks {
        let Some(latency) = block.latency() else {
            continue;
        };
        let Some(mean) = &latency.mean else { continue };
        let below = latency
            .quantiles
            .iter()
            .find(|(q, figure)| *q >= 0.9 && mean.bounds().0 > figure.bounds().1);
        let Some((q, figure)) = below else { continue };
        // The typical request was one that failed immediately.
        let failed = block.failed().max(unsuccessful_responses(block));
        let mostly_failed = failed > 0.5 * block.samples().unwrap_or(0.0);
        if failed > 0.0 && (mostly_failed || figure.value == 0.0) {
            continue;
        }
        // A mean slightly above a very narrow p90 is not misleading.
        let apart = latency
            .median()
            .is_none_or(|median| mean.value >= 1.1 * median.value);
        if !apart {
            continue;
        }
        let tail_sum = mean.value - q * figure.value;
        let share = tail_sum / mean.value;
        // If all samples were equal, the last tenth would contribute a tenth of the sum.
        if share < 1.15 * (1.0 - q) {
            continue;
        }
        let mut evidence = format!(
            "{}: mean {}, {} {}",
            latency.name,
            mean.text,
            quantile_name(*q),
            figure.text
        );
        let mut advice =
            "Quote the median for a typical request, and exclude the warm-up.".to_owned();
        // Connections are opened once, at the start: p95 is 0 and the maximum is large.
        let connects = block.trend(Role::Connecting).filter(|connecting| {
            connecting
                .highest_quantile()
                .is_some_and(|(_, top)| top.value == 0.0)
        });
        match connects.and_then(|trend| Some((trend, trend.mean.as_ref()?, trend.max.as_ref()?))) {
            Some((trend, connect, max)) => {
                let total = connect.value * block.samples().unwrap_or(0.0);
                evidence.push_str(&format!(
                    "; {}: mean {}, max {}",
                    trend.name, connect.text, max.text
                ));
                advice.push_str(&format!(
                    " Connecting took {} in total and affected fewer than one request in twenty: those at the start.",
                    format_value(total, Unit::Time)
                ));
            }
            None => advice.push_str(" The output does not show when the slow requests occurred."),
        }
        findings.block(
            "startup-dominates",
            Level::Warning,
            block,
            mean.line,
            [
                evidence,
                format!(
                    "{} of the requests took {} or less and contribute at most {} × {} = {} to the mean; the other {} contribute at least {}, {:.0} % of it, with at least {} each",
                    format_value(*q, Unit::Share),
                    figure.text,
                    q,
                    figure.text,
                    format_value(q * figure.value, Unit::Time),
                    format_value(1.0 - q, Unit::Share),
                    format_value(tail_sum, Unit::Time),
                    share * 100.0,
                    format_value(tail_sum / (1.0 - q), Unit::Time)
                ),
                advice,
            ],
        );
    }
}

/// Reports max ÷ duration > 1 − q: a stall covers a larger share of the time than the highest
/// percentile excludes. The closed loop sends nothing during a stall, so only a few samples show
/// it.
pub fn check_hidden_stalls(report: &Report, findings: &mut Findings) {
    for block in &report.blocks {
        if block.model == Model::Open
            || block.failed() > 0.0 && block.trend(Role::Expected).is_none()
        {
            continue;
        }
        let printed = block.elapsed.as_ref().or(block.declared.as_ref());
        let Some(elapsed) = printed
            .map(|time| time.value)
            .or(block.divisor_time())
            .filter(|time| *time > 0.0)
        else {
            continue;
        };
        let latency = block.trend(Role::Expected).or(block.latency());
        let trends = latency
            .into_iter()
            .chain(block.trends.iter().filter(|trend| {
                // A custom metric may measure anything, not only the duration of a turn.
                (trend.role == Role::Iteration && block.failed() == 0.0)
                    || trend.name.starts_with("ws_")
            }));
        let worst = trends
            .filter_map(|trend| {
                let (q, highest_quantile) = trend.highest_quantile()?;
                let max = trend.max.as_ref()?;
                let share = max.value / elapsed;
                let hides = share > 2.0 * (1.0 - q)
                    && share >= 0.03
                    && max.value >= 10.0 * highest_quantile.value
                    && max.value > 0.1;
                hides.then_some((trend, *q, highest_quantile, max, share))
            })
            .next();
        let Some((trend, q, top, max, share)) = worst else {
            check_connecting(block, elapsed, findings);
            continue;
        };
        let typical = trend
            .median()
            .or(trend.mean.as_ref())
            .filter(|typical| typical.value > 0.0);
        let missed = typical.map_or(String::new(), |typical| {
            format!(
                "; an affected user sent 1 request in the time of {}",
                format_number((max.value / typical.value).floor())
            )
        });
        let weight = match (&block.users, block.samples()) {
            (Some(users), Some(samples)) if samples > 0.0 => format!(
                "; even {} affected users would be only {} of {} samples",
                users.text,
                format_value(users.value / samples, Unit::Share),
                format_number(samples)
            ),
            _ => String::new(),
        };
        findings.block(
            "hidden-stall",
            // The tool may not print the total number of users.
            if block.users.is_some() || share >= 0.3 { Level::Warning } else { Level::Note },
            block,
            max.line,
            [
                format!("{}: {} {}, max {}; the run took {}", trend.name, quantile_name(q), top.text, max.text, format_value(elapsed, Unit::Time)),
                format!(
                    "{} ÷ {} = {:.1} % of the run, and {} ignores {}{missed}{weight}",
                    max.text,
                    format_value(elapsed, Unit::Time),
                    share * 100.0,
                    quantile_name(q),
                    format_value(1.0 - q, Unit::Share)
                ),
                "Use an arrival rate and measure from the scheduled start, so that requests that were due during the stall count.".to_owned(),
            ],
        );
    }
}

/// Reports a connection that took a large part of the run to open. Percentiles do not show it: they
/// are 0, because most requests open no connection.
fn check_connecting(block: &Block, elapsed: f64, findings: &mut Findings) {
    let Some(trend) = block.trend(Role::Connecting) else {
        return;
    };
    let Some(max) = trend
        .max
        .as_ref()
        .filter(|max| max.value >= 0.03 * elapsed && max.value > 0.1)
    else {
        return;
    };
    findings.block(
        "hidden-stall",
        Level::Note,
        block,
        max.line,
        [
            format!(
                "{}: max {}; the run took {}",
                trend.name,
                max.text,
                format_value(elapsed, Unit::Time)
            ),
            format!(
                "{} ÷ {} = {:.1} % of the run to open one connection",
                max.text,
                format_value(elapsed, Unit::Time),
                max.value / elapsed * 100.0
            ),
            "Look for a full listen backlog, or open the connections before the run.".to_owned(),
        ],
    );
}

/// Reports |mean A − mean B| ≤ k × max ÷ n for a small k.
pub fn check_common_cause(report: &Report, findings: &mut Findings) {
    const HANDFUL: f64 = 10.0;
    for (one, other) in report.pairs() {
        if !are_comparable(one, other) {
            continue;
        }
        let mean = |block: &crate::block::Block| {
            let latency = block.latency()?;
            Some((
                latency.mean.clone()?,
                latency.max.clone()?,
                block.samples()?,
            ))
        };
        let (Some(a), Some(b)) = (mean(one), mean(other)) else {
            continue;
        };
        let difference = (a.0.value - b.0.value).abs();
        let slower = if a.0.value > b.0.value { &a } else { &b };
        let each = slower.1.value / slower.2;
        let needed = (difference / each).ceil();
        let real = difference > 0.03 * slower.0.value;
        if !real || !(1.0..=HANDFUL).contains(&needed) {
            continue;
        }
        findings.block(
            "one-stall-explains",
            Level::Note,
            other,
            b.0.line,
            [
                format!(
                    "means {} and {}; the slower one's maximum {} of {} samples",
                    a.0.text,
                    b.0.text,
                    slower.1.text,
                    format_number(slower.2)
                ),
                format!(
                    "the means differ by {}; one sample of {} adds {} ÷ {} = {}, so {} of them cause the whole difference",
                    format_value(difference, Unit::Time),
                    slower.1.text,
                    slower.1.text,
                    format_number(slower.2),
                    format_value(each, Unit::Time),
                    format_number(needed)
                ),
                "Compare medians, or repeat both runs alternately before calling one of them faster.".to_owned(),
            ],
        );
    }
}
