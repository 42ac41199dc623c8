//! Connections that were counted, kept alive, or excluded.

use crate::block::{Block, Role, Tool};
use crate::finding::Level;
use crate::quantity::{Unit, digits, plain};
use crate::report::{Findings, Report};

/// Reports new connections in a comparison of durations that exclude connecting.
pub fn left_out(report: &Report, findings: &mut Findings) {
    for block in &report.blocks {
        by_median(block, findings);
    }
    by_titles(report, findings);
}

/// Reports if more than half of all requests opened a connection.
fn by_median(block: &Block, findings: &mut Findings) {
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
                "at least half of the requests opened a connection for {}, which the duration of {} excludes: {:.0} % more",
                plain(whole, Unit::Time),
                duration.text,
                whole / duration.value * 100.0
            ),
            "Add blocked, connecting and handshaking, or compare iterations.".to_owned(),
        ],
    );
}

/// Compares two rows whose titles differ only in a remark about connection reuse in brackets.
fn by_titles(report: &Report, findings: &mut Findings) {
    for (one, other) in report.pairs() {
        let (Some(a), Some(b)) = (one.titles.last(), other.titles.last()) else {
            continue;
        };
        let (fresh, kept) = match (reuses(a), reuses(b)) {
            (false, true) => (one, other),
            (true, false) => (other, one),
            _ => continue,
        };
        let parents = |block: &Block| block.titles[..block.titles.len() - 1].to_vec();
        if without_brackets(a) != without_brackets(b) || parents(one) != parents(other) {
            continue;
        }
        let shown = |block: &Block| block.trend(Role::Connecting).is_some();
        if shown(fresh) || shown(kept) {
            continue;
        }
        let mean = |block: &Block| Some(block.latency()?.mean.as_ref()?.clone());
        let turn = |block: &Block| Some(block.trend(Role::Iteration)?.mean.as_ref()?.clone());
        let (Some(fresh_mean), Some(kept_mean), Some(fresh_turn), Some(kept_turn)) =
            (mean(fresh), mean(kept), turn(fresh), turn(kept))
        else {
            continue;
        };
        let bytes = |block: &Block| {
            let total = block.received.total.as_ref()?;
            Some(total.value / block.iterations.as_ref()?.value)
        };
        let sizes = match (bytes(fresh), bytes(kept)) {
            (Some(fresh), Some(kept)) => {
                format!("; received {fresh:.0} B and {kept:.0} B an iteration")
            }
            _ => String::new(),
        };
        findings.block(
            "connect-left-out",
            Level::Warning,
            fresh,
            fresh_mean.line,
            [
                format!(
                    "new connections: duration mean {}, iteration mean {}; kept ones (line {}): {} and {}{sizes}",
                    fresh_mean.text, fresh_turn.text, kept_mean.line, kept_mean.text, kept_turn.text
                ),
                format!(
                    "the durations differ by {}, the iterations by {}; connecting is part of the iteration, but of no printed duration",
                    signed(fresh_mean.value - kept_mean.value),
                    signed(fresh_turn.value - kept_turn.value)
                ),
                "Compare whole iterations, with more digits, or time the connect.".to_owned(),
            ],
        );
    }
}

fn signed(seconds: f64) -> String {
    if seconds == 0.0 {
        return "0 at the printed precision".to_owned();
    }
    plain(seconds, Unit::Time)
}

fn reuses(title: &str) -> bool {
    let title = title.to_lowercase();
    ["reusing", "reused", "keep-alive", "keepalive", "kept"]
        .iter()
        .any(|word| title.contains(word))
}

fn without_brackets(title: &str) -> String {
    let mut depth = 0_u32;
    let kept: String = title
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
    kept.to_lowercase()
}

/// Reports connects ÷ requests, and connections × streams.
pub fn not_kept(report: &Report, findings: &mut Findings) {
    const RULE: &str = "keepalive-not-kept";
    for block in &report.blocks {
        if let (Some(kept), Some(requests)) = (&block.kept, &block.requests) {
            let fresh = requests.value - kept.value;
            if fresh > 0.01 * requests.value {
                findings.block(
                    RULE,
                    Level::Warning,
                    block,
                    kept.line,
                    [
                        format!("Keep-Alive requests: {} of {}", kept.text, requests.text),
                        format!(
                            "{} − {} = {} requests, {}, used a connection of their own",
                            requests.text,
                            kept.text,
                            digits(fresh),
                            plain(fresh / requests.value, Unit::Share)
                        ),
                        "Find out who closes them, and state that the figures include connecting."
                            .to_owned(),
                    ],
                );
            }
        }
        let connecting = block.trend(Role::Connecting);
        let told = block.command.as_ref().is_some_and(|command| {
            command.contains("no-connection-reuse") || command.contains("no-vu-connection-reuse")
        });
        if let (Tool::K6, Some(median), false) = (
            block.tool,
            connecting.and_then(|trend| trend.median()),
            told,
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
                    "at least half of the requests opened a connection; on a kept connection this takes 0 s"
                        .to_owned(),
                    "Find out who closes them, or state that reuse was disabled.".to_owned(),
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
                        format!("{} × {} = {} in flight on average, {} on each connection: streams multiply the users", rate.text, mean.text, digits(flight), digits(flight / users.value)),
                        "State requests in flight in addition to connections; compare at equal numbers of them.".to_owned(),
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
                        format!("up to {} requests are in flight at once, so the latency is not that of {} users", digits(users.value * streams.value), users.text),
                        "State requests in flight in addition to connections.".to_owned(),
                    ],
                );
        }
    }
}
