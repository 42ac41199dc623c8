//! As many slow samples as connections: they are the first request on each connection.

use crate::block::{Block, Trend, quantile_name};
use crate::finding::Level;
use crate::quantity::{Quantity, Unit, format_number, format_value};
use crate::report::{Findings, Report};

/// Reports a separate part of the histogram with about one sample per connection.
pub fn check_tail(report: &Report, findings: &mut Findings) {
    for block in &report.blocks {
        let (Some(users), Some(requests)) = (&block.users, &block.requests) else {
            continue;
        };
        let Some((count, from)) = samples_above_gap(block) else {
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
                    format_value(mean.value * requests.value, Unit::Time)
                )
            });
        findings.block(
            "connection-setup-tail",
            Level::Warning,
            block,
            line,
            [
                format!(
                    "{} of {} samples are outliers above {}; {} connections{connect}",
                    format_number(count),
                    requests.text,
                    format_value(from, Unit::Time),
                    users.text
                ),
                format!(
                    "{} samples ÷ {} connections = {:.2}: about one slow sample for each connection",
                    format_number(count),
                    users.text,
                    count / connections
                ),
                "Exclude the first request of each connection, or report connecting separately."
                    .to_owned(),
            ],
        );
    }
}

/// The number of samples above a gap of at least two empty bars, and the lower end of those samples.
fn samples_above_gap(block: &Block) -> Option<(f64, f64)> {
    let bars = &block.histogram;
    let total: f64 = bars.iter().map(|bar| bar.count).sum();
    let last_gap = (2..bars.len()).rfind(|at| {
        bars[at - 1].count == 0.0 && bars[at - 2].count == 0.0 && bars[*at].count > 0.0
    })?;
    let tail: f64 = bars[last_gap..].iter().map(|bar| bar.count).sum();
    (tail > 0.0 && tail < 0.25 * total).then(|| (tail, bars[last_gap].lower))
}

/// Without a histogram: reports two neighboring quantiles that are far apart, with about as many
/// samples above the gap as connections. The quantiles only bound that number, so this is a note.
pub fn check_quantile_gap(report: &Report, findings: &mut Findings) {
    for block in &report.blocks {
        let (Some(users), Some(samples), Some(latency)) =
            (&block.users, block.samples(), block.latency())
        else {
            continue;
        };
        let connections = users.value;
        if !block.histogram.is_empty() || connections < 3.0 || samples < 5.0 * connections {
            continue;
        }
        let Some([low, high]) = widest_gap(latency) else {
            continue;
        };
        let (max_samples, min_samples) = (samples * (1.0 - low.0), samples * (1.0 - high.0));
        // A wide range would match any number of connections.
        let fits = min_samples <= 1.2 * connections && max_samples >= 0.8 * connections;
        if !fits || max_samples > 20.0 * connections {
            continue;
        }
        findings.block(
            "connection-setup-tail",
            Level::Note,
            block,
            high.1.line,
            [
                format!(
                    "{} {}, {} {}; {} connections, {} samples",
                    quantile_name(low.0),
                    low.1.text,
                    quantile_name(high.0),
                    high.1.text,
                    users.text,
                    format_number(samples)
                ),
                format!(
                    "between {} and {} samples are above the gap, and there are {} connections: cannot tell whether they are the first requests on these connections",
                    format_number(min_samples.round()),
                    format_number(max_samples.round()),
                    users.text
                ),
                "Show the histogram, or exclude the first request of each connection.".to_owned(),
            ],
        );
    }
}

/// The widest gap between neighboring quantiles above the median, if it is at least tenfold and the
/// figures above it are similar. The maximum counts as a quantile.
fn widest_gap(latency: &Trend) -> Option<[(f64, &Quantity); 2]> {
    let mut ladder: Vec<(f64, &Quantity)> = latency
        .quantiles
        .iter()
        .filter(|(q, _)| *q >= 0.5)
        .map(|(q, figure)| (*q, figure))
        .collect();
    ladder.extend(latency.max.iter().map(|max| (1.0, max)));
    let top = ladder.last()?.1.value;
    let steps = ladder.windows(2).filter(|pair| pair[0].1.value > 0.0);
    let widest = steps.max_by(|one, other| {
        let ratio = |pair: &[(f64, &Quantity)]| pair[1].1.value / pair[0].1.value;
        ratio(one).total_cmp(&ratio(other))
    })?;
    let (low, high) = (widest[0], widest[1]);
    (high.1.value >= 10.0 * low.1.value && top <= 3.0 * high.1.value).then_some([low, high])
}
