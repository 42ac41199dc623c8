//! Comparisons of rows.

use std::collections::BTreeSet;

use crate::block::Block;
use crate::finding::Level;
use crate::quantity::{Quantity, Unit, format_value};
use crate::report::{Findings, Report};

use super::failures::unsuccessful_responses;
use super::series::{are_in_same_series, titles_without_numbers};

/// The requested load of a block.
fn requested_load(block: &Block) -> Option<&Quantity> {
    block.requested_rate.as_ref().or(block.users.as_ref())
}

/// `150.00/s` or `100 users`.
fn format_load(block: &Block) -> String {
    match (&block.requested_rate, &block.users) {
        (Some(rate), _) => format!("{}/s", rate.text.trim_end_matches("/s")),
        (None, Some(users)) => format!("{} users", users.text),
        (None, None) => String::new(),
    }
}

/// Reports more load with a smaller median, beyond rounding and one percent.
pub fn check_monotone(report: &Report, findings: &mut Findings) {
    for (one, other) in report.pairs() {
        let same_target =
            one.target.is_some() && one.target == other.target && one.requested_rate.is_some();
        if !(are_in_same_series(one, other) || same_target) {
            continue;
        }
        let (Some(a), Some(b)) = (requested_load(one), requested_load(other)) else {
            continue;
        };
        // A number of users and a request rate cannot be compared as loads.
        if a.unit != b.unit {
            continue;
        }
        let (low, high) = if a.value < b.value {
            (one, other)
        } else {
            (other, one)
        };
        let (Some(less), Some(more)) = (requested_load(low), requested_load(high)) else {
            continue;
        };
        check_failures(low, high, findings);
        let median = |block: &Block| {
            let latency = block.latency()?;
            latency.median().or(latency.mean.as_ref()).cloned()
        };
        let (Some(at_low), Some(at_high)) = (median(low), median(high)) else {
            continue;
        };
        if less.value >= more.value || at_low.bounds().0 <= at_high.bounds().1 * 1.01 {
            continue;
        }
        findings.block(
            "non-monotone",
            Level::Warning,
            low,
            at_low.line,
            [
                format!("{} at {}, {} at {} (line {})", at_low.text, format_load(low), at_high.text, format_load(high), at_high.line),
                format!("{} > {} with {:.2} times the load: they differ by {}, and without repeats, the variation between equal runs is unknown", at_low.text, at_high.text, less.value / more.value, format_value(at_low.value - at_high.value, Unit::Time)),
                "Repeat both runs alternately, at least six times, and state confidence intervals.".to_owned(),
            ],
        );
    }
}

/// Reports more load with a smaller share of failures, by at least a factor of two and one percent.
fn check_failures(low: &Block, high: &Block, findings: &mut Findings) {
    let share = |block: &Block| {
        let tally = block.failures.as_ref()?;
        let all = tally.passed + tally.failed;
        (all >= 100.0).then(|| (tally.failed / all, tally.line))
    };
    let (Some((at_low, line)), Some((at_high, other))) = (share(low), share(high)) else {
        return;
    };
    let (Some(less), Some(more)) = (requested_load(low), requested_load(high)) else {
        return;
    };
    if less.value >= more.value || at_low < 2.0 * at_high || at_low - at_high < 0.01 {
        return;
    }
    findings.block(
        "non-monotone",
        Level::Warning,
        low,
        line,
        [
            format!(
                "{} failed at {}, {} at {} (line {other})",
                format_value(at_low, Unit::Share),
                format_load(low),
                format_value(at_high, Unit::Share),
                format_load(high)
            ),
            format!(
                "{} > {} with {:.2} times the load: the load alone does not explain the failures",
                format_value(at_low, Unit::Share),
                format_value(at_high, Unit::Share),
                less.value / more.value
            ),
            "Find out what failed in the run with less load, and repeat both runs alternately."
                .to_owned(),
        ],
    );
}

/// Reports four or more systems within 1.5 % of each other: the run measured the limit of the
/// generator, the network or another shared resource.
pub fn check_common_cap(report: &Report, findings: &mut Findings) {
    const MIN_SYSTEMS: usize = 4;
    let rated: Vec<(&Block, f64)> = report
        .blocks
        .iter()
        .filter(|block| block.requested_rate.is_none() && !block.titles.is_empty())
        // If users have think time, the common rate follows from the think time.
        .filter(|block| {
            let turn = block.turn_duration().and_then(|turn| turn.mean.as_ref());
            let idle = block
                .think_time()
                .zip(turn)
                .map(|(think, turn)| think / turn.value);
            // With one user at a time and a distant server, the common rate follows from the
            // network latency.
            let latency = block.latency();
            let min = latency.and_then(|latency| latency.min.as_ref());
            let median = latency.and_then(|latency| latency.median());
            if min
                .zip(median)
                .is_some_and(|(min, median)| median.value < 1.5 * min.value)
            {
                return false;
            }
            block.no_think_time || idle.is_some_and(|idle| idle < 0.2)
        })
        .filter_map(|block| Some((block, block.rate.as_ref()?.value)))
        .filter(|(_, rate)| *rate > 0.0)
        .collect();
    for (first, top) in &rated {
        let users = first.users.as_ref().map(|users| users.value);
        let near: Vec<&Block> = rated
            .iter()
            .filter(|(block, rate)| {
                let others = block.users.as_ref().map(|users| users.value);
                block.tool == first.tool
                    && others.is_some()
                    && others == users
                    && *rate <= *top
                    && *rate >= top / 1.015
            })
            .map(|(block, _)| *block)
            .collect();
        // Systems have different names, but repeats of one system do not.
        let names: BTreeSet<Vec<String>> = near
            .iter()
            .map(|block| titles_without_numbers(&block.titles))
            .collect();
        if names.len() < MIN_SYSTEMS {
            continue;
        }
        let rates: Vec<String> = near
            .iter()
            .take(6)
            .map(|block| {
                format!(
                    "{} {}",
                    block.name(),
                    block.rate.as_ref().map_or("", |rate| &rate.text)
                )
            })
            .collect();
        let lowest = near
            .iter()
            .filter_map(|block| Some(block.rate.as_ref()?.value))
            .fold(f64::INFINITY, f64::min);
        findings.page(
            "common-cap",
            Level::Warning,
            first.rate.as_ref().map_or(first.first_line, |rate| rate.line),
            [
                rates.join(", "),
                format!(
                    "{} systems are within {:.1} % of each other, as if limited by the same generator, network or machine",
                    names.len(),
                    (top / lowest - 1.0) * 100.0
                ),
                "Find the shared limit: try more connections, a second generator, or a faster network link.".to_owned(),
            ],
        );
        return;
    }
}

/// Reports comparisons with one run per cell.
pub fn check_single_runs(report: &Report, findings: &mut Findings) {
    let blocks: Vec<&Block> = report
        .blocks
        .iter()
        .filter(|block| !block.titles.is_empty())
        .collect();
    let names: BTreeSet<&Vec<String>> = blocks.iter().map(|block| &block.titles).collect();
    if blocks.len() < 2 || names.len() != blocks.len() {
        return;
    }
    if let Some(first) = blocks.first() {
        findings.page(
            "single-run",
            Level::Note,
            first.first_line,
            [
                format!("{} blocks under {} different titles", blocks.len(), names.len()),
                "n = 1 everywhere: the difference between two results may be no larger than between two runs of the same configuration".to_owned(),
                "Repeat the runs alternately, at least six times, and state how much they vary.".to_owned(),
            ],
        );
    }
}

/// Compares the bytes per response of blocks in the same series, or of a block and its bulk variant.
pub fn check_response_sizes(report: &Report, findings: &mut Findings) {
    let each = |block: &Block| -> Option<(f64, f64)> {
        let total = block.received.total.as_ref()?;
        let requests = block.requests.as_ref()?.value;
        let (low, high) = total.bounds();
        (requests > 0.0 && total.unit == Unit::Bytes).then(|| (low / requests, high / requests))
    };
    let mut reported: Vec<usize> = Vec::new();
    for (one, other) in report.pairs() {
        let (Some(a), Some(b)) = (each(one), each(other)) else {
            continue;
        };
        let bulk = is_bulk_variant(one, other);
        let series = are_in_same_series(one, other)
            || (titles_without_numbers(&one.titles) == titles_without_numbers(&other.titles)
                && !one.titles.is_empty());
        if !(bulk || series) || has_many_failures(one) || has_many_failures(other) {
            continue;
        }
        let script = |block: &Block| -> Option<String> {
            let name = block.script.as_ref()?;
            name.rsplit(['/', '\\']).next().map(str::to_owned)
        };
        // Two scripts are two experiments, even under the same heading.
        if !bulk
            && let (Some(a), Some(b)) = (script(one), script(other))
            && a != b
        {
            continue;
        }
        let ((small, few), (large, many)) = if a.1 < b.1 {
            ((one, a), (other, b))
        } else {
            ((other, b), (one, a))
        };
        // Servers add headers of a few hundred bytes to the same content.
        if many.0 < 1.5 * few.1 || !bulk && many.0 - few.1 < 1000.0 {
            continue;
        }
        if reported.contains(&large.first_line) {
            continue;
        }
        reported.push(large.first_line);
        let rate = |block: &Block| block.rate.as_ref().map_or("", |rate| &rate.text).to_owned();
        findings.block(
            "unlike-questions",
            Level::Warning,
            large,
            large.rate.as_ref().map_or(large.first_line, |rate| rate.line),
            [
                format!(
                    "{} at {:.0} B per response, next to \"{}\" (line {}): {} at {:.0} B",
                    rate(large),
                    (many.0 + many.1) / 2.0,
                    small.name(),
                    small.first_line,
                    rate(small),
                    (few.0 + few.1) / 2.0
                ),
                format!(
                    "a response here is at least {:.1} times as large: a request is not the same unit of work in both{}",
                    many.0 / few.1,
                    if bulk { "; the number of items per request is not printed, so items per second are unknown" } else { "" }
                ),
                "Report the rate in a unit of useful work, such as items, rows or references per second.".to_owned(),
            ],
        );
    }
}

/// Error responses have a different size.
fn has_many_failures(block: &Block) -> bool {
    let failed = block.failed().max(unsuccessful_responses(block));
    failed > 0.02 * block.samples().unwrap_or(0.0)
}

/// Whether one name is the bulk variant of the other: `fetch-x-bulk` and `fetch-x-basic`.
fn is_bulk_variant(one: &Block, other: &Block) -> bool {
    let stem = |block: &Block| -> Option<(String, bool)> {
        [block.script.as_ref(), block.titles.last()]
            .into_iter()
            .flatten()
            .find_map(|name| {
                let name = name.rsplit(['/', '\\']).next()?.to_lowercase();
                let at = name.rfind(['-', '_'])?;
                let bulk = name.contains("bulk") || name.contains("batch");
                Some((name[..at].to_owned(), bulk))
            })
    };
    match (stem(one), stem(other)) {
        (Some((a, bulk_a)), Some((b, bulk_b))) => a == b && bulk_a != bulk_b,
        _ => false,
    }
}
