//! Protocols and TLS handshakes.

use crate::block::{Block, Role, Tool};
use crate::finding::Level;
use crate::quantity::{Unit, format_number, format_value};
use crate::report::{Findings, Report};

/// The smallest and largest number of bytes sent per request that the printed total allows.
fn sent_bytes_per_request(block: &Block) -> Option<(f64, f64)> {
    let total = block.sent.total.as_ref()?;
    let requests = block.requests.as_ref()?.value;
    let (low, high) = total.bounds();
    (requests > 0.0).then(|| (low / requests, high / requests))
}

/// Whether the run made TLS handshakes, or `None` if the row is not printed.
fn uses_tls(block: &Block) -> Option<bool> {
    let max = block.trend(Role::Tls)?.max.as_ref()?;
    Some(max.value > 0.0)
}

/// The protocol that the titles name.
fn claimed_protocol(block: &Block) -> Option<u8> {
    let title = block.titles.last()?.to_lowercase();
    // The part after a comma describes the other side.
    let own = title.split([',', '→']).next().unwrap_or_default();
    let compact: String = own
        .chars()
        .filter(|letter| !letter.is_whitespace())
        .collect();
    if compact.contains("http2") || compact.contains("http/2") || compact.contains("h2") {
        Some(2)
    } else if compact.contains("http1") || compact.contains("http/1") || compact.contains("h1") {
        Some(1)
    } else {
        None
    }
}

/// Compares the sent bytes with and without TLS. TLS only adds bytes (RFC 8446, 5.2: per record 5
/// for the header, 1 for the type and 16 for the tag). If a run with TLS sends fewer bytes per
/// request, it sent something else: another request, or HTTP/2 with compressed headers (RFC 7541).
pub fn check_sent_bytes(report: &Report, findings: &mut Findings) {
    for block in report.blocks.iter().filter(|block| block.tool == Tool::K6) {
        if uses_tls(block) != Some(true) || claimed_protocol(block) == Some(2) {
            continue;
        }
        let Some((_, highest)) = sent_bytes_per_request(block) else {
            continue;
        };
        let plain_block = report
            .blocks
            .iter()
            .filter(|other| uses_tls(other) == Some(false))
            .filter_map(|other| Some((other, sent_bytes_per_request(other)?)))
            .filter(|(other, _)| {
                other.users.as_ref().map(|n| n.value) == block.users.as_ref().map(|n| n.value)
            })
            .max_by_key(|(other, _)| {
                let same = |at: &Block| at.titles.last() == block.titles.last();
                let group = other.titles.first() == block.titles.first();
                (same(other), group)
            });
        let Some((other, (lowest, _))) = plain_block else {
            continue;
        };
        if highest >= lowest {
            continue;
        }
        let h2_like = report
            .blocks
            .iter()
            .filter(|known| claimed_protocol(known) == Some(2))
            .find_map(|known| {
                let (low, high) = sent_bytes_per_request(known)?;
                (low <= highest && high >= sent_bytes_per_request(block)?.0).then(|| {
                    format!(
                        "; as many as the row \"{}\" ({low:.0}…{high:.0} B)",
                        known.name()
                    )
                })
            })
            .unwrap_or_default();
        let blocked = |block: &Block| {
            let trend = block.trend(Role::Blocked)?;
            Some(trend.median()?.text.clone())
        };
        let signature = match (blocked(other), blocked(block)) {
            (Some(one), Some(two)) if one != two => {
                format!("; http_req_blocked med {one} there, {two} here")
            }
            _ => String::new(),
        };
        let text = |block: &Block| {
            let total = block.sent.total.as_ref().map_or("", |total| &total.text);
            let requests = block.requests.as_ref().map_or("", |count| &count.text);
            format!("{total} ÷ {requests}")
        };
        let each = |block: &Block| {
            let total = block.sent.total.as_ref().map_or(0.0, |total| total.value);
            total / block.requests.as_ref().map_or(1.0, |count| count.value)
        };
        findings.block(
            "protocol-mismatch",
            Level::Error,
            block,
            block.sent.total.as_ref().map_or(block.first_line, |total| total.line),
            [
                format!(
                    "sent per request: {} = {:.0} B in \"{}\" (line {}), {} = {:.0} B in \"{}\"{h2_like}{signature}",
                    text(other),
                    each(other),
                    other.name(),
                    other.first_line,
                    text(block),
                    each(block),
                    block.name()
                ),
                format!(
                    "TLS adds at least 22 B to a record, but at most {highest:.0} B were sent, compared with at least {lowest:.0} B without TLS: this was another request, or HTTP/2 with compressed headers{}",
                    if claimed_protocol(block) == Some(1) { ", under a name with HTTP/1" } else { "" }
                ),
                "Verify and show the negotiated protocol, and compare equal protocols.".to_owned(),
            ],
        );
    }
}

/// Reports handshakes ÷ requests: at most 1 − q, if p(q) of the handshake time is 0.
pub fn check_handshakes(report: &Report, findings: &mut Findings) {
    let compared = report
        .blocks
        .iter()
        .any(|block| uses_tls(block) == Some(false));
    for block in &report.blocks {
        let (Some(tls), Some(requests)) = (block.trend(Role::Tls), &block.requests) else {
            continue;
        };
        let (Some(mean), Some(max)) = (&tls.mean, &tls.max) else {
            continue;
        };
        let zero = tls
            .quantiles
            .iter()
            .rfind(|(_, figure)| figure.value == 0.0);
        let Some((q, _)) = zero.filter(|(q, _)| *q >= 0.75 && max.value > 0.0) else {
            continue;
        };
        let total = mean.value * requests.value;
        let lowest = (total / max.value).ceil();
        findings.block(
            "handshake-amortised",
            if compared { Level::Warning } else { Level::Note },
            block,
            tls.line,
            [
                format!("{}: mean {}, {} 0s, max {}; {} requests", tls.name, mean.text, crate::block::quantile_name(*q), max.text, requests.text),
                format!(
                    "{} × {} = {} of handshakes in total, at most {} each: at least {} and fewer than {} of the requests made one; that is {} per request",
                    mean.text,
                    requests.text,
                    format_value(total, Unit::Time),
                    max.text,
                    format_number(lowest),
                    format_value(1.0 - q, Unit::Share),
                    mean.text
                ),
                "This shows the cost of encryption on reused connections, but not the cost of TLS handshakes. Measure new connections as well.".to_owned(),
            ],
        );
    }
}
