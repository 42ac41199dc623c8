//! Requested keys: all load on a single key, or keys that do not exist.

use std::sync::LazyLock;

use regex_lite::Regex;

use crate::block::Model;
use crate::finding::Level;
use crate::quantity::{Unit, format_number, format_value};
use crate::report::{Findings, Report};

use super::series::are_in_same_series;

/// Reports requests that are served one at a time: rate × shortest request ≈ 1 with many users, or
/// more users without a higher rate.
pub fn check_hot_key(report: &Report, findings: &mut Findings) {
    for block in &report.blocks {
        let (Some(users), Some(rate), Some(latency)) = (&block.users, &block.rate, block.latency())
        else {
            continue;
        };
        let Some(min) = &latency.min else { continue };
        let alone = rate.value * min.value;
        let idle = match (
            block.think_time(),
            block.turn_duration().and_then(|turn| turn.mean.as_ref()),
        ) {
            (Some(think), Some(turn)) => think / turn.value,
            _ => 0.0,
        };
        if block.model != Model::Closed || users.value < 5.0 || idle > 0.2 || min.value < 5e-4 {
            continue;
        }
        // If requests queue for a single server, the mean follows from the users and the rate.
        let queued = latency
            .mean
            .as_ref()
            .is_none_or(|mean| (mean.value * rate.value / users.value - 1.0).abs() < 0.2);
        // In such a queue, all requests wait about equally long.
        let alike = latency
            .median()
            .zip(latency.mean.as_ref())
            .is_none_or(|(median, mean)| (median.value / mean.value - 1.0).abs() < 0.5);
        if (alone - 1.0).abs() > 0.1 || !queued || !alike {
            continue;
        }
        let more = report
            .blocks
            .iter()
            .filter(|other| are_in_same_series(block, other))
            .find_map(|other| {
                let more = other
                    .users
                    .as_ref()
                    .filter(|more| more.value >= 2.0 * users.value)?;
                let no_faster = other
                    .rate
                    .as_ref()
                    .filter(|other| other.value < 1.1 * rate.value)?;
                Some(format!(
                    "; with {} users the rate is {}, {:.2} of it",
                    more.text,
                    format_value(no_faster.value, Unit::Rate),
                    no_faster.value / rate.value
                ))
            })
            .unwrap_or_default();
        findings.block(
            "hot-key",
            Level::Warning,
            block,
            rate.line,
            [
                format!("{} users, {}, fastest request {}{more}", users.text, format_value(rate.value, Unit::Rate), min.text),
                format!(
                    "{} × {} = {} request in service at a time, despite {} users: the mean latency is just {} users ÷ rate",
                    format_value(rate.value, Unit::Rate),
                    min.text,
                    format_number(alone),
                    users.text,
                    users.text
                ),
                "Look for a single resource that all requests wait for, such as a row or key, a lock, or a connection. The number of different keys is not shown: request more keys, and measure again.".to_owned(),
            ],
        );
    }
}

static RANGES: LazyLock<Vec<(Regex, Bounds)>> = LazyLock::new(|| {
    let table: [(&str, Bounds); 5] = [
        (r"\bseq\s+(\d+)\s+(\d+)", Bounds::Both),
        (r"randomIntBetween\(\s*(\d+)\s*,\s*(\d+)\s*\)", Bounds::Both),
        (r"=\s*(\d+)\s*;\s*\w+\s*<\s*(\d+)\s*;", Bounds::BelowSecond),
        (r"=\s*(\d+)\s*;\s*\w+\s*<=\s*(\d+)\s*;", Bounds::Both),
        (
            r"\bfloor\(\s*Math\.random\(\)\s*\*\s*(\d+)\s*\)",
            Bounds::FromZero,
        ),
    ];
    table
        .into_iter()
        .filter_map(|(pattern, bounds)| Some((Regex::new(pattern).ok()?, bounds)))
        .collect()
});

#[derive(Clone, Copy)]
enum Bounds {
    Both,
    BelowSecond,
    FromZero,
}

/// Reports two ranges of equal size that are shifted against each other.
pub fn check_unseeded_keys(report: &Report, findings: &mut Findings) {
    let mut ranges: Vec<(u64, u64, usize, String)> = Vec::new();
    for code in report
        .document
        .codes
        .iter()
        .filter(|_| report.document.markdown)
    {
        for line in code.lines(report.text) {
            for (pattern, bounds) in RANGES.iter() {
                for found in pattern.captures_iter(line.text).take(4) {
                    let number = |at: usize| {
                        found
                            .get(at)
                            .and_then(|group| group.as_str().parse::<u64>().ok())
                    };
                    let (Some(one), two) = (number(1), number(2)) else {
                        continue;
                    };
                    let range = match (bounds, two) {
                        (Bounds::Both, Some(two)) => Some((one, two)),
                        (Bounds::BelowSecond, Some(two)) => {
                            two.checked_sub(1).map(|two| (one, two))
                        }
                        (Bounds::FromZero, _) => one.checked_sub(1).map(|last| (0, last)),
                        _ => None,
                    };
                    if let Some((first, last)) = range.filter(|(first, last)| last > first) {
                        let text = found.get(0).map_or("", |all| all.as_str()).to_owned();
                        ranges.push((first, last, line.number, text));
                    }
                }
            }
        }
    }
    ranges.truncate(64);
    for (at, one) in ranges.iter().enumerate() {
        for other in &ranges[at + 1..] {
            let sizes = (one.1 - one.0, other.1 - other.0);
            if sizes.0 != sizes.1 || sizes.0 < 9 || one.0.abs_diff(other.0) != 1 {
                continue;
            }
            let (low, high) = if one.0 < other.0 {
                (one, other)
            } else {
                (other, one)
            };
            findings.page(
                "unseeded-keys",
                Level::Warning,
                other.2,
                [
                    format!("`{}` (line {}) and `{}` (line {})", one.3, one.2, other.3, other.2),
                    format!(
                        "one range is {}…{}, the other is {}…{}: they have the same length but are shifted, so {} or {} is requested but never written",
                        low.0, low.1, high.0, high.1, low.0, high.1
                    ),
                    "Write and request the same numbers, and check the response for a missing key.".to_owned(),
                ],
            );
            return;
        }
    }
}
