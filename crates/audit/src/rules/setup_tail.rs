//! As many slow samples as connections: the first request of each.

use crate::block::Block;
use crate::finding::Level;
use crate::quantity::{Unit, digits, plain};
use crate::report::{Findings, Report};

/// A separate part of the histogram with about one sample per connection.
pub fn tail(report: &Report, findings: &mut Findings) {
    for block in &report.blocks {
        let (Some(users), Some(requests)) = (&block.users, &block.requests) else {
            continue;
        };
        let Some((count, from)) = apart(block) else {
            continue;
        };
        let connections = users.value;
        let fits = connections >= 3.0 && (count - connections).abs() <= 0.2 * connections;
        if !fits || requests.value < 5.0 * connections {
            continue;
        }
        let line = block
            .latency()
            .and_then(|latency| latency.max.as_ref())
            .map_or(block.first_line, |max| max.line);
        let connect = block
            .trends
            .iter()
            .find(|trend| trend.name.starts_with("DNS+dialup"))
            .and_then(|trend| trend.mean.as_ref())
            .filter(|mean| mean.value > 0.0)
            .map_or(String::new(), |mean| {
                format!(
                    "; connecting took {} per request on average, {} in total",
                    mean.text,
                    plain(mean.value * requests.value, Unit::Time)
                )
            });
        findings.block(
            "connection-setup-tail",
            Level::Warning,
            block,
            line,
            [
                format!(
                    "{} of {} samples lie apart, above {}; {} connections{connect}",
                    digits(count),
                    requests.text,
                    plain(from, Unit::Time),
                    users.text
                ),
                format!(
                    "{} samples ÷ {} connections = {:.2}: one slow request for each connection",
                    digits(count),
                    users.text,
                    count / connections
                ),
                "Exclude the first request of each connection, or report connecting separately."
                    .to_owned(),
            ],
        );
    }
}

/// The number of samples after two or more empty bars, and where they begin.
fn apart(block: &Block) -> Option<(f64, f64)> {
    let bars = &block.histogram;
    let total: f64 = bars.iter().map(|bar| bar.count).sum();
    let last_gap = (2..bars.len()).rfind(|at| {
        bars[at - 1].count == 0.0 && bars[at - 2].count == 0.0 && bars[*at].count > 0.0
    })?;
    let tail: f64 = bars[last_gap..].iter().map(|bar| bar.count).sum();
    (tail > 0.0 && tail < 0.25 * total).then(|| (tail, bars[last_gap].lower))
}
