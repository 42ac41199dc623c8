//! Reads `ab`: whole milliseconds, and two lines that are both called `Time per request`.

use super::{BOUNDARY, Line, text_after_label};
use crate::block::{Block, Model, Role, Tally, Tool, Trend};
use crate::quantity::{Quantity, Unit, parse_number, parse_unitless};

pub fn read(lines: &[Line]) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut open = false;
    let (mut host, mut port, mut path) = (None, None, None);
    for line in lines {
        let text = strip_remark(line.text.trim());
        if text == BOUNDARY {
            open = false;
            continue;
        }
        if let Some(name) = text_after_label(text, "Server Hostname") {
            host = Some(name.to_owned());
            open = false;
        } else if let Some(number) = text_after_label(text, "Server Port") {
            port = number.parse::<u16>().ok();
        } else if let Some(name) = text_after_label(text, "Document Path") {
            path = Some(name.to_owned());
        }
        let again = |block: &Block| open && has_row(block, text);
        if starts_block(text) && (!open || blocks.last().is_some_and(again)) {
            let mut block = Block::new(Tool::Ab, "ab text", line.number);
            block.model = Model::Closed;
            block.no_think_time = true;
            if let Some(host) = host.take() {
                let port = port.take().map_or(String::new(), |port| format!(":{port}"));
                let path: String = path.take().unwrap_or_default();
                block.target = Some(format!("http://{host}{port}{path}"));
            }
            block
                .trends
                .push(Trend::new(Role::Request, "Total", line.number));
            blocks.push(block);
            open = true;
        }
        if let Some(block) = blocks.last_mut().filter(|_| open)
            && read_row(block, text, line.number)
        {
            block.last_line = line.number;
        }
    }
    blocks.retain(|block| is_result(block) || is_timed(block));
    for block in &mut blocks {
        derive_missing_figures(block);
        let total = block.requests.as_ref().map_or(0.0, |count| count.value);
        if let Some(tally) = &mut block.failures {
            tally.passed = (total - tally.failed).max(0.0);
        }
        // ab counts responses with an error status as complete.
        if let Some((_, bad)) = block.statuses.first().cloned() {
            let good = Quantity::exact(total - bad.value, Unit::Count, bad.line);
            block.statuses.push(("2xx".to_owned(), good));
        }
    }
    blocks
}

/// Removes what an author added after a row, as in `9501 # the port`, but keeps ab's own `[#/sec]`.
fn strip_remark(text: &str) -> &str {
    let remark = text
        .match_indices('#')
        .find(|(at, _)| *at > 0 && text[..*at].ends_with(char::is_whitespace));
    match remark {
        Some((at, _)) => text[..at].trim_end(),
        None => text,
    }
}

/// Whether a block has enough rows to count as a result.
fn is_result(block: &Block) -> bool {
    let mean = block.trends.first().and_then(|trend| trend.mean.as_ref());
    block.requests.is_some() || block.rate.is_some() || mean.is_some()
}

/// Whether a block has rows of `Connection Times (ms)` or percentiles.
fn is_timed(block: &Block) -> bool {
    let total = block.trends.first();
    block.trends.len() > 1
        || total.is_some_and(|trend| trend.mean.is_some() || !trend.quantiles.is_empty())
}

/// Whether this row can start a block.
fn starts_block(text: &str) -> bool {
    // A copied row may have lost its unit.
    let mean = text.contains("[#/sec]") || text.ends_with("(mean)");
    let rate = text.starts_with("Requests per second:") && mean;
    rate || [
        "Concurrency Level:",
        "Time taken for tests:",
        "Complete requests:",
        "Failed requests:",
        "Connection Times (ms)",
    ]
    .iter()
    .any(|label| text.starts_with(label))
        && !text.ends_with(['?', '`'])
        // This is a sentence that quotes the line.
        && text.split_whitespace().count() < 8
}

/// Whether the block already has this row, which means that another block starts here.
fn has_row(block: &Block, text: &str) -> bool {
    match text.split_once(':').map_or(text, |(label, _)| label) {
        "Concurrency Level" => block.users.is_some(),
        "Time taken for tests" => block.elapsed.is_some(),
        "Complete requests" => block.requests.is_some(),
        "Requests per second" => block.rate.is_some(),
        // An author may add the number of failures below a block.
        "Failed requests" => block.rate.is_some() && block.trends[0].quantiles.is_empty(),
        "Connection Times (ms)" => !block.trends[0].quantiles.is_empty(),
        _ => false,
    }
}

/// Maximum number of comment lines between the two parts of a block.
const BETWEEN: usize = 6;

/// Joins the summary of a run and its table of times. In plain text, a comment between the two
/// looks like a Markdown heading and starts another section.
pub fn join_parts(blocks: &mut Vec<Block>) {
    let mut joined: Vec<Block> = Vec::with_capacity(blocks.len());
    for block in blocks.drain(..) {
        if block.tool != Tool::Ab {
            joined.push(block);
            continue;
        }
        let only_times = block.elapsed.is_none() && block.rate.is_none() && is_timed(&block);
        match joined.last_mut() {
            Some(first)
                if only_times
                    && first.tool == Tool::Ab
                    && first.rate.is_some()
                    && !is_timed(first)
                    && (1..=BETWEEN)
                        .contains(&block.first_line.saturating_sub(first.last_line)) =>
            {
                first.trends = block.trends;
                first.last_line = block.last_line;
            }
            _ if is_result(&block) => joined.push(block),
            // This block is a table of times without the summary of the run.
            _ => {}
        }
    }
    *blocks = joined;
}

/// Derives the figures that ab does not print. The first `Time per request` is not measured: ab
/// computes it from the rate.
fn derive_missing_figures(block: &mut Block) {
    if block.requests.is_none() {
        block.missing.push("Complete requests");
        if let (Some(rate), Some(elapsed)) = (&block.rate, &block.elapsed) {
            let count = (rate.value * elapsed.value).round();
            block.requests = Some(Quantity::exact(count, Unit::Count, rate.line));
        }
    }
    if block.users.is_none()
        && let (Some(computed), Some(each)) = (&block.computed_mean, &block.inverse_rate)
        && each.value > 0.0
    {
        let users = (computed.value / each.value).round();
        if users > 1.0 && computed.step / computed.value < 0.01 && each.step / each.value < 0.01 {
            block.users = Some(Quantity::exact(users, Unit::Count, computed.line));
        }
    }
}

fn read_row(block: &mut Block, text: &str, line: usize) -> bool {
    let first = |value: &str, unit| parse_unitless(value.split_whitespace().next()?, unit, line);
    if let Some(value) = text_after_label(text, "Concurrency Level") {
        block.users = first(value, Unit::Count);
    } else if let Some(value) = text_after_label(text, "Time taken for tests") {
        block.elapsed = first(value, Unit::Time);
    } else if let Some(value) = text_after_label(text, "Complete requests") {
        block.requests = first(value, Unit::Count);
    } else if let Some(value) = text_after_label(text, "Failed requests") {
        // The author of the page added this figure below the block, but it counts the same.
        block.failures = first(value, Unit::Count).map(|count| Tally {
            passed: 0.0,
            failed: count.value,
            share: None,
            line,
            inverted: false,
        });
    } else if let Some(value) = text
        .strip_prefix("(Connect:")
        .and_then(|rest| rest.split("Length:").nth(1))
    {
        block.length_failures = first(
            value
                .trim_start()
                .trim_end_matches(')')
                .split(',')
                .next()
                .unwrap_or(""),
            Unit::Count,
        );
    } else if let Some(value) = text_after_label(text, "Non-2xx responses") {
        if let Some(count) = first(value, Unit::Count) {
            block.statuses.push(("non-2xx".to_owned(), count));
        }
    } else if let Some(value) = text_after_label(text, "Keep-Alive requests") {
        block.keep_alive = first(value, Unit::Count);
    } else if let Some(value) = text_after_label(text, "Total transferred") {
        block.received.total = first(value, Unit::Bytes).map(|mut total| {
            total.step = 0.0;
            total
        });
    } else if let Some(value) = text_after_label(text, "Document Length") {
        block.response_bytes = first(value, Unit::Bytes);
    } else if let Some(value) = text_after_label(text, "Requests per second") {
        block.rate = first(value, Unit::Rate);
    } else if let Some(value) = text_after_label(text, "Time per request") {
        if value.contains("across all concurrent requests") {
            block.inverse_rate =
                parse_milliseconds(value.split_whitespace().next().unwrap_or(""), line);
        } else {
            block.computed_mean =
                parse_milliseconds(value.split_whitespace().next().unwrap_or(""), line);
        }
    } else if let Some(value) = text_after_label(text, "Transfer rate") {
        block.received.rate = first(value, Unit::ByteRate).map(|mut rate| {
            rate.value *= 1024.0;
            rate.step *= 1024.0;
            rate
        });
    } else if let Some(value) = text.strip_prefix("Total:") {
        let words: Vec<&str> = value.split_whitespace().collect();
        let [min, mean, _, _, max] = words[..] else {
            return false;
        };
        if let Some(trend) = block.trends.first_mut() {
            trend.line = line;
            trend.min = parse_milliseconds(min, line);
            trend.mean = parse_milliseconds(mean, line);
            trend.max = parse_milliseconds(max, line);
        }
    } else if let Some(value) = text.strip_prefix("Processing:") {
        let words: Vec<&str> = value.split_whitespace().collect();
        if let [_, mean, _, _, _] = words[..]
            && let Some(mean) = parse_milliseconds(mean, line)
        {
            let mut trend = Trend::new(Role::Own, "Processing", line);
            trend.mean = Some(mean);
            block.trends.push(trend);
        }
    } else if let Some(value) = text.strip_prefix("Connect:") {
        let words: Vec<&str> = value.split_whitespace().collect();
        let [min, mean, _, median, max] = words[..] else {
            return false;
        };
        let mut trend = Trend::new(Role::Connecting, "Connect", line);
        trend.min = parse_milliseconds(min, line);
        trend.mean = parse_milliseconds(mean, line);
        trend.max = parse_milliseconds(max, line);
        if let Some(median) = parse_milliseconds(median, line) {
            trend.insert_quantile(0.5, median);
        }
        block.trends.push(trend);
    } else if let Some((percent, rest)) = text
        .split_once('%')
        .filter(|_| block.trends[0].mean.is_some() || block.rate.is_some())
    {
        let (Ok(percent), Some(figure)) = (
            percent.trim().parse::<f64>(),
            parse_milliseconds(rest.split_whitespace().next().unwrap_or(""), line),
        ) else {
            return false;
        };
        if percent == 100.0 {
            block.longest = Some(figure);
        } else if let Some(trend) = block.trends.first_mut()
            && percent > 0.0
            && percent < 100.0
        {
            trend.insert_quantile(percent / 100.0, figure);
        }
    } else {
        return false;
    }
    true
}

fn parse_milliseconds(text: &str, line: usize) -> Option<Quantity> {
    let (value, step) = parse_number(text)?;
    Some(Quantity {
        value: value / 1e3,
        unit: Unit::Time,
        step: step / 1e3,
        text: format!("{text} ms"),
        line,
    })
}
