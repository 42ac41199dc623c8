//! Connections that were counted, kept alive, or excluded.

use crate::block::{Block, Role, Tool};
use crate::finding::Level;
use crate::quantity::{Unit, format_number, format_value};
use crate::report::{Findings, Report};

/// Reports new connections in a comparison of durations that exclude connecting.
pub fn check_excluded_connecting(report: &Report, findings: &mut Findings) {
    for block in &report.blocks {
        check_median(block, findings);
    }
    check_titles(report, findings);
}

/// Reports if more than half of all requests opened a connection.
fn check_median(block: &Block, findings: &mut Findings) {
    let median = |role| block.trend(role).and_then(|trend| trend.median());
    let (Some(connect), Some(duration)) = (median(Role::Connecting), median(Role::Request)) else {
        return;
    };
    // ab's total includes the time to connect.
    if connect.value <= 0.0 || block.tool == Tool::Ab {
        return;
    }
    let tls = median(Role::Tls).map_or(0.0, |tls| tls.value);
    let whole = connect.value + tls;
    if whole < 0.05 * duration.value {
        return;
    }
    findings.block(
        "connect-left-out",
        Level::Warning,
        block,
        duration.line,
        [
            format!(
                "http_req_connecting med {}{}; http_req_duration med {}",
                connect.text,
                median(Role::Tls).filter(|tls| tls.value > 0.0).map_or(String::new(), |tls| format!(", http_req_tls_handshaking med {}", tls.text)),
                duration.text
            ),
            format!(
                "at least half of the requests spent {} on opening a connection, which the duration of {} excludes: {:.0} % more",
                format_value(whole, Unit::Time),
                duration.text,
                whole / duration.value * 100.0
            ),
            "Add the times for blocked, connecting and handshaking, or compare iterations.".to_owned(),
        ],
    );
}

/// Compares two rows whose titles differ only in a remark about connection reuse in brackets.
fn check_titles(report: &Report, findings: &mut Findings) {
    for (one, other) in report.pairs() {
        let (Some(a), Some(b)) = (one.titles.last(), other.titles.last()) else {
            continue;
        };
        let (new_ones, reused) = match (mentions_reuse(a), mentions_reuse(b)) {
            (false, true) => (one, other),
            (true, false) => (other, one),
            _ => continue,
        };
        let parents = |block: &Block| block.titles[..block.titles.len() - 1].to_vec();
        if strip_brackets(a) != strip_brackets(b) || parents(one) != parents(other) {
            continue;
        }
        let shown = |block: &Block| block.trend(Role::Connecting).is_some();
        if shown(new_ones) || shown(reused) {
            continue;
        }
        let mean = |block: &Block| Some(block.latency()?.mean.as_ref()?.clone());
        let turn = |block: &Block| Some(block.trend(Role::Iteration)?.mean.as_ref()?.clone());
        let (Some(new_mean), Some(reused_mean), Some(new_turn), Some(reused_turn)) =
            (mean(new_ones), mean(reused), turn(new_ones), turn(reused))
        else {
            continue;
        };
        let bytes = |block: &Block| {
            let total = block.received.total.as_ref()?;
            Some(total.value / block.iterations.as_ref()?.value)
        };
        let sizes = match (bytes(new_ones), bytes(reused)) {
            (Some(new_ones), Some(reused)) => {
                format!("; received {new_ones:.0} B and {reused:.0} B per iteration")
            }
            _ => String::new(),
        };
        findings.block(
            "connect-left-out",
            Level::Warning,
            new_ones,
            new_mean.line,
            [
                format!(
                    "new connections: duration mean {}, iteration mean {}; reused connections (line {}): {} and {}{sizes}",
                    new_mean.text, new_turn.text, reused_mean.line, reused_mean.text, reused_turn.text
                ),
                format!(
                    "the durations differ by {}, the iterations by {}; connecting is part of the iteration, but of no printed duration",
                    format_time(new_mean.value - reused_mean.value),
                    format_time(new_turn.value - reused_turn.value)
                ),
                "Compare whole iterations with more digits, or measure the time to connect.".to_owned(),
            ],
        );
    }
}

fn format_time(seconds: f64) -> String {
    if seconds == 0.0 {
        return "0 at the printed precision".to_owned();
    }
    format_value(seconds, Unit::Time)
}

fn mentions_reuse(title: &str) -> bool {
    let title = title.to_lowercase();
    ["reusing", "reused", "keep-alive", "keepalive", "kept"]
        .iter()
        .any(|word| title.contains(word))
}

fn strip_brackets(title: &str) -> String {
    let mut depth = 0_u32;
    let reused: String = title
        .chars()
        .filter(|letter| {
            match letter {
                '(' => depth += 1,
                ')' => {
                    depth = depth.saturating_sub(1);
                    return false;
                }
                _ => {}
            }
            depth == 0 && letter.is_alphanumeric()
        })
        .collect();
    reused.to_lowercase()
}

/// Reports connects ÷ requests, and connections × streams.
pub fn check_kept_connections(report: &Report, findings: &mut Findings) {
    const RULE: &str = "keepalive-not-kept";
    for block in &report.blocks {
        if let (Some(reused), Some(requests)) = (&block.keep_alive, &block.requests) {
            let new_ones = requests.value - reused.value;
            if new_ones > 0.01 * requests.value {
                findings.block(
                    RULE,
                    Level::Warning,
                    block,
                    reused.line,
                    [
                        format!("Keep-Alive requests: {} of {}", reused.text, requests.text),
                        format!(
                            "{} − {} = {} requests, {}, used a separate connection",
                            requests.text,
                            reused.text,
                            format_number(new_ones),
                            format_value(new_ones / requests.value, Unit::Share)
                        ),
                        "Find out which side closes the connections, and state that the figures include connecting."
                            .to_owned(),
                    ],
                );
            }
        }
        let connecting = block.trend(Role::Connecting);
        let names_reuse = block.command.as_ref().is_some_and(|command| {
            command.contains("no-connection-reuse") || command.contains("no-vu-connection-reuse")
        });
        if let (Tool::K6, Some(median), false) = (
            block.tool,
            connecting.and_then(|trend| trend.median()),
            names_reuse,
        ) && median.value > 0.0
            // The first request of each user opens a connection.
            && block.samples().is_none_or(|n| n >= 10.0)
        {
            findings.block(
                RULE,
                Level::Warning,
                block,
                median.line,
                [
                    format!("http_req_connecting: med {}", median.text),
                    "at least half of the requests opened a connection; on a reused connection, this takes 0 s"
                        .to_owned(),
                    "Find out which side closes the connections, or state that reuse was disabled.".to_owned(),
                ],
            );
        }
        if let (Tool::H2load, Some(users), Some(rate), Some(mean)) = (
            block.tool,
            &block.users,
            &block.rate,
            block.latency().and_then(|latency| latency.mean.as_ref()),
        ) {
            let flight = rate.value * mean.value;
            if flight > 1.5 * users.value && block.streams.is_none() {
                findings.block(
                    RULE,
                    Level::Warning,
                    block,
                    mean.line,
                    [
                        format!("{} connections, {}, mean {}", users.text, rate.text, mean.text),
                        format!("{} × {} = {} in flight on average, {} on each connection: streams multiply the users", rate.text, mean.text, format_number(flight), format_number(flight / users.value)),
                        "State the number of requests in flight in addition to connections, and compare runs with equal numbers.".to_owned(),
                    ],
                );
            }
        }
        if let (Some(streams), Some(users)) = (&block.streams, &block.users)
            && streams.value > 1.0
        {
            findings.block(
                    RULE,
                    Level::Note,
                    block,
                    block.first_line,
                    [
                        format!("{} connections × {} streams", users.text, streams.text),
                        format!("up to {} requests are in flight at once, so the latency is not that of {} users", format_number(users.value * streams.value), users.text),
                        "State the number of requests in flight in addition to connections.".to_owned(),
                    ],
                );
        }
    }
}
