//! Reads tables whose rows are k6's metrics: summaries that an author rewrote as a table.

use crate::block::{Block, Model, Role, Tally, Tool, Trend};
use crate::document::{Document, Table};
use crate::quantity::{Quantity, Unit, parse_duration, parse_number, parse_unitless};

/// The results in a document's tables. A table that repeats metrics starts a new result, and so
/// does each column of figures.
pub fn read(document: &Document) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut open: Option<Block> = None;
    let mut rows: Vec<Block> = Vec::new();
    for table in document.tables.iter().take(200) {
        if has_metric_columns(table) {
            rows.extend(read_results_in_rows(table));
            continue;
        }
        let named = table
            .rows
            .iter()
            .filter(|(_, row)| row.first().is_some_and(|name| split_metric(name).is_some()))
            .count();
        if named == 0 {
            // A table with custom names below a table with k6's names describes the same run.
            if let Some(block) = &mut open
                && is_about_results(table)
            {
                let mut merged = block.clone();
                if read_figures(&mut merged, table, None) {
                    *block = merged;
                }
            }
            continue;
        }
        let columns = variant_columns(table);
        match columns[..] {
            [] => {
                let again = open
                    .as_ref()
                    .is_none_or(|block| has_repeated_metric(block, table));
                if again {
                    blocks.extend(open.take());
                }
                let block =
                    open.get_or_insert_with(|| Block::new(Tool::K6, "k6 table", table.line));
                read_figures(block, table, None);
            }
            _ => {
                blocks.extend(open.take());
                for column in columns {
                    let mut block = Block::new(Tool::K6, "k6 table", table.line);
                    block
                        .titles
                        .push(table.header.get(column).cloned().unwrap_or_default());
                    if read_figures(&mut block, table, Some(column)) {
                        blocks.push(block);
                    }
                }
            }
        }
    }
    blocks.extend(open);
    // One result is enough to show that a table with several columns was read.
    merge_columns(&mut blocks);
    blocks.extend(rows);
    blocks.retain(|block| !block.trends.is_empty() || block.requests.is_some());
    blocks
}

/// Whether the columns are metrics, so that each row is a result.
fn has_metric_columns(table: &Table) -> bool {
    let names = table.header.iter().skip(1);
    names.filter(|name| split_metric(name).is_some()).count() >= 2
}

fn read_results_in_rows(table: &Table) -> Vec<Block> {
    let results = table.rows.iter().take(200).filter_map(|(line, row)| {
        let mut block = Block::new(Tool::K6, "k6 table", *line);
        block.titles.extend(row.first().cloned());
        let cells = table.header.iter().zip(row).skip(1);
        let turned = Table {
            line: *line,
            header: vec!["metric".to_owned(), "value".to_owned()],
            rows: cells
                .map(|(name, cell)| (*line, vec![name.clone(), cell.clone()]))
                .collect(),
        };
        read_figures(&mut block, &turned, None).then_some(block)
    });
    results.collect()
}

/// Keeps only the result of a table's first column, because the columns are variants of one comparison.
fn merge_columns(blocks: &mut Vec<Block>) {
    let mut seen = Vec::new();
    blocks.retain(|block| {
        let is_new = !seen.contains(&block.first_line);
        seen.push(block.first_line);
        is_new
    });
    // A later table on the page continues the same comparison.
    let several = blocks
        .iter()
        .filter(|block| !block.titles.is_empty())
        .count();
    if several > 1 {
        let first = blocks.iter().position(|block| !block.titles.is_empty());
        let mut at = 0;
        blocks.retain(|block| {
            let keep = block.titles.is_empty() || Some(at) == first;
            at += 1;
            keep
        });
    }
}

/// Splits the name of a row into the metric at its start and the rest.
fn split_metric(name: &str) -> Option<(&'static str, String)> {
    let name = name.trim().trim_matches('`');
    const METRICS: [&str; 14] = [
        "http_req_duration",
        "http_req_failed",
        "http_req_waiting",
        "http_req_blocked",
        "http_req_connecting",
        "http_req_tls_handshaking",
        "http_req_sending",
        "http_req_receiving",
        "http_reqs",
        "iteration_duration",
        "iterations",
        "data_received",
        "data_sent",
        "dropped_iterations",
    ];
    let found = METRICS.iter().find(|metric| name.starts_with(**metric))?;
    Some((found, name[found.len()..].trim().to_lowercase()))
}

fn is_about_results(table: &Table) -> bool {
    let head = table.header.join(" ").to_lowercase();
    head.contains("value") && table.header.len() == 2
}

/// The quantile that the name of a column denotes; -1 for the mean, -2 for the minimum, -3 for the
/// maximum.
fn parse_statistic(name: &str) -> Option<f64> {
    let name = name.trim().to_lowercase();
    let name = name.trim_start_matches(['(', '`']).trim_end_matches(')');
    match name {
        "avg" | "mean" | "average" => Some(-1.0),
        "min" => Some(-2.0),
        "max" => Some(-3.0),
        "med" | "median" | "p50" => Some(0.5),
        _ => {
            let percent = name.strip_prefix('p')?.trim_matches(['(', ')']);
            let percent: f64 = percent.parse().ok()?;
            (percent > 0.0 && percent < 100.0).then_some(percent / 100.0)
        }
    }
}

/// The columns that each contain the values of one variant. Empty if the columns are statistics, or
/// if there is only one column.
fn variant_columns(table: &Table) -> Vec<usize> {
    let words = [
        "value",
        "count",
        "rate",
        "result",
        "actual",
        "observed",
        "target",
        "threshold",
        "status",
        "change",
        "notes",
        "meaning",
        "expected",
    ];
    let values: Vec<usize> = (1..table.header.len())
        .filter(|at| {
            let name = table.header[*at].to_lowercase();
            parse_statistic(&name).is_none() && !words.iter().any(|word| name.contains(word))
        })
        .collect();
    if values.len() >= 2 {
        values
    } else {
        Vec::new()
    }
}

/// Whether the block already has one of the table's metrics.
fn has_repeated_metric(block: &Block, table: &Table) -> bool {
    table.rows.iter().any(|(_, row)| {
        row.first()
            .and_then(|name| split_metric(name))
            .is_some_and(|(metric, _)| match metric {
                "http_reqs" => block.requests.is_some(),
                "iterations" => block.iterations.is_some(),
                _ => block
                    .trends
                    .iter()
                    .any(|trend| trend.name == metric && trend.mean.is_some()),
            })
    })
}

/// Reads the figures of the table. Returns false if it has none.
fn read_figures(block: &mut Block, table: &Table, column: Option<usize>) -> bool {
    let mut some = false;
    for (line, row) in table.rows.iter().take(200) {
        let name = row.first().map_or("", String::as_str).trim_matches('`');
        let lower = name.to_lowercase();
        let (known, rest) = match split_metric(name) {
            Some((metric, rest)) => (metric, rest),
            None => match parse_generic_name(&lower) {
                Some(known) => known,
                None if lower.contains(" / ") => ("http_req_duration", lower.clone()),
                None => continue,
            },
        };
        let unit = lower.contains("(ms)").then_some("ms");
        let actual = table.header.iter().position(|name| {
            let name = name.to_lowercase();
            name.contains("actual") || name.contains("observed")
        });
        if rest.contains(" / ") {
            // `avg / med / max (ms)`: three figures in one cell.
            let cell = row.get(1).map_or("", String::as_str);
            for (name, value) in rest.split(" / ").zip(cell.split(" / ")) {
                let name = name.split_whitespace().next().unwrap_or("");
                some |= set_metric(block, known, name, value, unit, *line);
            }
            continue;
        }
        for (at, cell) in row.iter().enumerate().skip(1) {
            if column.or(actual).is_some_and(|column| column != at) {
                continue;
            }
            let head = table.header.get(at).map_or("", String::as_str);
            let name = if parse_statistic(head).is_some() || known == "http_reqs" && rest.is_empty()
            {
                head.to_lowercase()
            } else {
                rest.clone()
            };
            some |= set_metric(block, known, &name, cell, unit, *line);
        }
    }
    if some {
        block.last_line = block
            .last_line
            .max(table.rows.last().map_or(table.line, |(line, _)| *line));
    }
    some
}

/// The metric of a row with a plain-language name, in a table below one with k6's names.
fn parse_generic_name(name: &str) -> Option<(&'static str, String)> {
    let found = |metric, rest: &str| Some((metric, rest.to_owned()));
    match name {
        "total requests" => found("http_reqs", "count"),
        "throughput" => found("http_reqs", "rate"),
        "total iterations" => found("iterations", "count"),
        "dropped iterations" => found("dropped_iterations", "count"),
        "max response time" => found("http_req_duration", "max"),
        "average response time" | "mean response time" => found("http_req_duration", "avg"),
        "http failure rate" => found("http_req_failed", "share"),
        _ => {
            let rest = name
                .strip_suffix(" response time")
                .or(name.strip_suffix(" latency"))?;
            parse_statistic(rest)?;
            found("http_req_duration", rest)
        }
    }
}

fn set_metric(
    block: &mut Block,
    metric: &str,
    name: &str,
    cell: &str,
    unit: Option<&str>,
    line: usize,
) -> bool {
    let cell = cell.trim().trim_matches(['`', '*']);
    let first = cell.split_whitespace().next().unwrap_or("");
    let count = || parse_unitless(first, Unit::Count, line);
    let rate = || {
        parse_number(first).map(|(value, step)| Quantity {
            value,
            unit: Unit::Rate,
            step,
            text: cell.to_owned(),
            line,
        })
    };
    let is_rate = name.contains("rate") || cell.contains("/s");
    match metric {
        "http_reqs" if is_rate => set_if_none(&mut block.rate, rate()),
        "http_reqs" => set_if_none(&mut block.requests, count()),
        "iterations" if is_rate => set_if_none(&mut block.iteration_rate, rate()),
        "iterations" => set_if_none(&mut block.iterations, count()),
        "dropped_iterations" => set_if_none(&mut block.dropped, count()),
        "http_req_failed" => {
            let counts = cell.split_once('/').and_then(|(failed, of)| {
                Some((parse_number(failed)?.0, parse_number(of.trim())?.0))
            });
            if let Some((failed, of)) = counts {
                block.failures = Some(Tally {
                    passed: of - failed,
                    failed,
                    share: None,
                    line,
                    inverted: false,
                });
            }
            false
        }
        "data_received" | "data_sent" => false,
        _ => {
            let figure = match unit {
                Some(unit) => parse_duration(&format!("{first}{unit}"), line),
                None => parse_duration(cell, line),
            };
            let name = name.trim_start_matches("_").trim();
            let name = name.split_whitespace().next().unwrap_or("");
            let (Some(figure), Some(statistic)) = (figure, parse_statistic(name)) else {
                return false;
            };
            let role = match metric {
                "http_req_duration" => Role::Request,
                "http_req_waiting" => Role::Waiting,
                "http_req_blocked" => Role::Blocked,
                "http_req_connecting" => Role::Connecting,
                "http_req_tls_handshaking" => Role::Tls,
                "http_req_sending" => Role::Sending,
                "http_req_receiving" => Role::Receiving,
                _ => Role::Iteration,
            };
            if block.trend(role).is_none() {
                block.trends.push(Trend::new(role, metric, line));
            }
            let Some(trend) = block.trends.iter_mut().find(|trend| trend.role == role) else {
                return false;
            };
            match statistic {
                q if q > 0.0 => {
                    if trend.at(q).is_none() {
                        trend.insert_quantile(q, figure);
                    }
                    true
                }
                -1.0 => set_if_none(&mut trend.mean, Some(figure)),
                -2.0 => set_if_none(&mut trend.min, Some(figure)),
                _ => set_if_none(&mut trend.max, Some(figure)),
            }
        }
    }
    .then(|| block.model = Model::Unknown)
    .is_some()
}

/// Sets the value unless it is already set.
fn set_if_none(place: &mut Option<Quantity>, figure: Option<Quantity>) -> bool {
    let is_new = place.is_none() && figure.is_some();
    if is_new {
        *place = figure;
    }
    is_new
}
