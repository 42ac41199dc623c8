//! Compares the throughput of the network itself with the results measured over that network.

use crate::block::{Block, Tool};
use crate::document::Table;
use crate::finding::Level;
use crate::pattern::{Pattern, pattern};
use crate::quantity::{Quantity, Unit, format_number, format_value};
use crate::report::{Findings, Report};

use super::tables::{cell_at, find_column, parse_figure};

/// Reports a result above every baseline on the page.
pub fn check_against_baselines(report: &Report, findings: &mut Findings) {
    let baselines: Vec<(&Block, &Quantity)> = report
        .blocks
        .iter()
        .filter(|block| block.tool == Tool::Iperf3)
        .filter_map(|block| {
            Some((
                block,
                block.sent.rate.as_ref().or(block.received.rate.as_ref())?,
            ))
        })
        .collect();
    let fastest = baselines
        .iter()
        .max_by(|one, other| one.1.value.total_cmp(&other.1.value));
    let Some((network, baseline)) = fastest else {
        return;
    };
    for block in report
        .blocks
        .iter()
        .filter(|block| block.tool != Tool::Iperf3)
    {
        for rate in [&block.sent.rate, &block.received.rate]
            .into_iter()
            .flatten()
        {
            let bits = rate.value * 8.0;
            if rate.unit == Unit::ByteRate && bits > 1.02 * baseline.bounds().1 {
                findings.block(
                    "above-baseline",
                    Level::Error,
                    block,
                    rate.line,
                    [
                        format!("{} here, {} by iperf3 (line {})", rate.text, baseline.text, network.first_line),
                        format!("{} × 8 = {}, {:.2} times the throughput of the network", rate.text, format_value(bits, Unit::BitRate), bits / baseline.value),
                        "One of the two measurements used another network path, or was limited, compressed or counted wrongly.".to_owned(),
                    ],
                );
            }
        }
    }
    for table in &report.document.tables {
        check_fixed_work(table, &baselines, findings);
    }
}

static WORK: Pattern = pattern!(r"^(\d+)\s*(KB|kB|MB)\s*x\s*(\d+)$");

/// Reports rows such as `1MB x 400` with a time. The page does not define what was counted, so the
/// finding shows the calculation for both interpretations.
fn check_fixed_work(table: &Table, baselines: &[(&Block, &Quantity)], findings: &mut Findings) {
    let (Some(time_column), Some(from)) = (
        find_column(table, &["time", "duration"]),
        find_column(table, &["from", "client", "source"]),
    ) else {
        return;
    };
    let mut rows = Vec::new();
    for (line, row) in &table.rows {
        let label = cell_at(row, 0);
        let Some(found) = WORK.first(label) else {
            continue;
        };
        let number = |at: usize| {
            found
                .get(at)
                .and_then(|group| group.as_str().parse::<f64>().ok())
        };
        let (Some(size), Some(count), Some(time)) = (
            number(1),
            number(3),
            parse_figure(cell_at(row, time_column), *line)
                .filter(|time| time.unit == Unit::Time && time.value > 0.0),
        ) else {
            continue;
        };
        let scale = if label.contains("MB") {
            1_048_576.0
        } else {
            1024.0
        };
        let bits = size * scale * count * 8.0 / time.value;
        rows.push((*line, label, cell_at(row, from), time, bits));
    }
    let Some((_, network)) = baselines
        .iter()
        .max_by(|one, other| one.1.value.total_cmp(&other.1.value))
    else {
        return;
    };
    // The rows whose throughput is the same whole fraction of the fastest baseline.
    for whole in 2..=20_u32 {
        let factor = f64::from(whole);
        let fitting: Vec<_> = rows
            .iter()
            .filter(|row| (row.4 * factor / network.value - 1.0).abs() < 0.03)
            .collect();
        let Some(first) = fitting.first() else {
            continue;
        };
        if fitting.len() < 3 || fitting.iter().any(|row| row.2 != first.2) {
            continue;
        }
        let shown: Vec<String> = fitting
            .iter()
            .map(|row| {
                format!(
                    "{} in {} = {}",
                    row.1,
                    row.3.text,
                    format_value(row.4, Unit::BitRate)
                )
            })
            .collect();
        findings.page(
            "declared-vs-counted",
            Level::Note,
            first.0,
            [
                format!("from {}: {}; iperf3: {}", first.2, shown.join(", "), network.text),
                format!(
                    "each is 1/{whole} of the network's throughput ({}), which {whole} times the declared messages would fill. This is uncertain: neither messages nor bytes are printed",
                    fitting.iter().map(|row| format_number(network.value / row.4)).collect::<Vec<_>>().join(", ")
                ),
                "State how many messages and bytes the server received.".to_owned(),
            ],
        );
        let slower = baselines
            .iter()
            .min_by(|one, other| one.1.value.total_cmp(&other.1.value));
        let Some((_, slow)) = slower.filter(|(_, slow)| slow.value < 0.9 * network.value) else {
            return;
        };
        let over: Vec<String> = rows
            .iter()
            .filter(|row| row.2 != first.2 && row.4 * factor > 1.02 * slow.bounds().1)
            .map(|row| {
                format!(
                    "{} in {} = {}",
                    row.1,
                    row.3.text,
                    format_value(row.4 * factor, Unit::BitRate)
                )
            })
            .collect();
        if !over.is_empty() {
            findings.page(
                "above-baseline",
                Level::Note,
                rows.iter().find(|row| row.2 != first.2).map_or(first.0, |row| row.0),
                [
                    format!("with {whole} times the messages: {}; iperf3 in the slower direction: {}", over.join(", "), slow.text),
                    format!("if the factor {whole} is correct, {} row(s) exceed the throughput of that network; if not, the nearer rows use 1/{whole} of their network at every size. This is uncertain: the bytes are not printed", over.len()),
                    "Count the bytes, and measure the baseline with the same number of connections as the load.".to_owned(),
                ],
            );
        }
        return;
    }
}
