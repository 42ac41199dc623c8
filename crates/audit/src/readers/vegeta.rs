//! Reads `vegeta report`: text (with and without `min` and `90`), JSON, and the histogram.

use serde_json::Value;

use super::{BOUNDARY, Line};
use crate::block::{Block, Bucket, Model, Role, Tool, Trend};
use crate::quantity::{Quantity, Unit, parse_duration, parse_unitless};

pub fn read(lines: &[Line]) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let (mut heading, mut open) = (false, false);
    for (index, line) in lines.iter().enumerate() {
        // A terminal may show the keys that stopped the attack (such as `^C`) in front of the first line.
        let text = line.text.trim().trim_start_matches("^C");
        if text == BOUNDARY {
            // A histogram in a separate code fence is a separate block.
            (heading, open) = (false, false);
            continue;
        }
        let begins =
            text.contains("[total, rate") || (text.contains("equests") && text.contains("[total]"));
        let latencies_alone = text.starts_with("Latencies")
            && text.contains('[')
            && (!open || blocks.last().is_some_and(|block| !block.trends.is_empty()));
        if begins || latencies_alone {
            let mut block = Block::new(Tool::Vegeta, "vegeta text", line.number);
            block.model = Model::Open;
            if begins && !text.starts_with("Requests") {
                block.orphan_rows.push((
                    format!(
                        "the line `{}` has lost its first letters",
                        first_words(text)
                    ),
                    line.number,
                ));
            }
            if latencies_alone {
                block.missing.push("Requests");
            }
            blocks.push(block);
            open = true;
            heading = false;
        }
        if text.starts_with("Bucket") && text.contains("Histogram") {
            // This is a histogram without figures, or one below the figures of the text report.
            let alone = !open
                || blocks
                    .last()
                    .is_none_or(|block| !block.histogram.is_empty());
            if alone {
                let mut block = Block::new(Tool::Vegeta, "vegeta histogram", line.number);
                block.model = Model::Open;
                blocks.push(block);
                open = true;
            }
            heading = true;
            continue;
        }
        let Some(block) = blocks
            .last_mut()
            .filter(|_| open || parse_bucket(text, line.number).is_some())
        else {
            continue;
        };
        if let Some(bucket) = parse_bucket(text, line.number) {
            if !heading && block.histogram.is_empty() {
                block.orphan_rows.push((
                    format!(
                        "the histogram begins at `{}` without its line `Bucket # % Histogram`",
                        first_words(text)
                    ),
                    line.number,
                ));
            }
            block.histogram.push(bucket);
            block.last_line = line.number;
        } else if read_row(block, text, line.number) {
            block.last_line = line.number;
        } else if text.starts_with("Error Set:") {
            block.last_line = line.number;
            for error in lines[index + 1..].iter().take(20) {
                let text = error.text.trim();
                if text.is_empty() || text.starts_with('[') || text.starts_with("Bucket") {
                    break;
                }
                block.errors.push((text.to_owned(), error.number));
            }
        }
    }
    for block in &mut blocks {
        if block.requests.is_none() && !block.histogram.is_empty() {
            let total = block.histogram.iter().map(|bucket| bucket.count).sum();
            block.requests = Some(Quantity::exact(total, Unit::Count, block.first_line));
        }
    }
    blocks.retain(|block| block.requests.is_some() || !block.trends.is_empty());
    for block in &mut blocks {
        if block.trends.is_empty() && block.histogram.is_empty() {
            block.missing.push("Latencies");
        }
    }
    blocks
}

fn first_words(text: &str) -> String {
    text.split_whitespace()
        .take(4)
        .collect::<Vec<_>>()
        .join(" ")
}

/// `Latencies  [mean, 50, 95, 99, max]  4.8ms, 3.5ms, …`: names first, then values.
fn read_row(block: &mut Block, text: &str, line: usize) -> bool {
    let (Some(open), Some(close)) = (text.find('['), text.find(']')) else {
        return false;
    };
    if open == 0 || close < open {
        return false;
    }
    let label = text[..open].trim();
    let names: Vec<&str> = text[open + 1..close].split(',').map(str::trim).collect();
    let values: Vec<&str> = text[close + 1..].split([',']).map(str::trim).collect();
    let pairs = || names.iter().zip(&values);
    match label {
        label if label.ends_with("equests") => {
            for (name, value) in pairs() {
                match *name {
                    "total" => block.requests = parse_unitless(value, Unit::Count, line),
                    "rate" => block.requested_rate = parse_unitless(value, Unit::Rate, line),
                    "throughput" => block.rate = parse_unitless(value, Unit::Rate, line),
                    _ => {}
                }
            }
        }
        "Duration" => {
            for (name, value) in pairs() {
                match *name {
                    "total" => block.elapsed = parse_duration(value, line),
                    "attack" => block.declared = parse_duration(value, line),
                    "wait" => block.last_wait = parse_duration(value, line),
                    _ => {}
                }
            }
        }
        "Latencies" => {
            let mut trend = Trend::new(Role::Request, "Latencies", line);
            for (name, value) in pairs() {
                let Some(mut figure) = parse_duration(value, line) else {
                    continue;
                };
                // Go prints durations without trailing zeros, so they are accurate to at least a
                // microsecond.
                figure.step = figure.step.min(1e-6);
                match *name {
                    "min" => trend.min = Some(figure),
                    "mean" => trend.mean = Some(figure),
                    "max" => trend.max = Some(figure),
                    percent => {
                        if let Ok(percent) = percent.parse::<f64>()
                            && percent > 0.0
                            && percent < 100.0
                        {
                            trend.insert_quantile(percent / 100.0, figure);
                        }
                    }
                }
            }
            block.trends.push(trend);
        }
        "Bytes In" => {
            if let Some(total) = values.first() {
                block.received.total = parse_unitless(total, Unit::Bytes, line);
            }
            if let Some(mean) = values.get(1) {
                block.response_bytes = parse_unitless(mean, Unit::Bytes, line);
            }
        }
        "Success" => {
            block.success = values
                .first()
                .and_then(|value| parse_unitless(value, Unit::Share, line))
        }
        "Status Codes" => {
            for pair in text[close + 1..].split_whitespace() {
                if let Some((code, count)) = pair.split_once(':')
                    && let Some(count) = parse_unitless(count, Unit::Count, line)
                    // A script may print the line again above the report.
                    && block.statuses.iter().all(|(known, _)| known != code)
                {
                    block.statuses.push((code.to_owned(), count));
                }
            }
        }
        _ => return false,
    }
    true
}

/// `[1ms,   2ms]   12855   3.57%   ##`
fn parse_bucket(text: &str, line: usize) -> Option<Bucket> {
    let inner = text.strip_prefix('[')?;
    let (range, rest) = inner.split_once(']')?;
    let (lower, upper) = range.split_once(',')?;
    let lower = parse_duration(lower, line)?.value;
    let upper = match upper.trim() {
        "+Inf" => f64::INFINITY,
        upper => parse_duration(upper, line)?.value,
    };
    let mut words = rest.split_whitespace();
    let count = parse_unitless(words.next()?, Unit::Count, line)?.value;
    Some(Bucket {
        lower,
        upper,
        count,
        share: words
            .next()
            .and_then(|word| parse_unitless(word, Unit::Share, line)),
        line,
    })
}

/// `-type=json`: times in nanoseconds.
pub fn read_json(value: &Value, line: usize) -> Option<Block> {
    let latencies = value.get("latencies")?.as_object()?;
    value.get("status_codes")?;
    let mut block = Block::new(Tool::Vegeta, "vegeta JSON", line);
    block.model = Model::Open;
    let number = |key: &str| value.get(key).and_then(Value::as_f64);
    let exact = |value: f64, unit| Quantity::exact(value, unit, line);
    block.requests = number("requests").map(|n| exact(n, Unit::Count));
    block.requested_rate = number("rate").map(|n| exact(n, Unit::Rate));
    block.rate = number("throughput").map(|n| exact(n, Unit::Rate));
    block.declared = number("duration").map(|n| exact(n / 1e9, Unit::Time));
    let wait = number("wait").unwrap_or(0.0);
    block.elapsed = number("duration").map(|n| exact((n + wait) / 1e9, Unit::Time));
    block.success = number("success").map(|n| exact(n, Unit::Share));
    block.response_bytes = value
        .pointer("/bytes_in/mean")
        .and_then(Value::as_f64)
        .map(|n| exact(n, Unit::Bytes));
    let mut trend = Trend::new(Role::Request, "latencies", line);
    for (key, value) in latencies {
        let Some(ns) = value.as_f64() else { continue };
        let figure = exact(ns / 1e9, Unit::Time);
        match key.as_str() {
            "mean" => trend.mean = Some(figure),
            "min" => trend.min = Some(figure),
            "max" => trend.max = Some(figure),
            "50th" => trend.insert_quantile(0.5, figure),
            "90th" => trend.insert_quantile(0.9, figure),
            "95th" => trend.insert_quantile(0.95, figure),
            "99th" => trend.insert_quantile(0.99, figure),
            _ => {}
        }
    }
    block.trends.push(trend);
    let statuses = value
        .get("status_codes")
        .filter(|codes| codes.is_object())?;
    block.add_statuses(Some(statuses), line);
    let errors = value.get("errors").and_then(Value::as_array);
    for error in errors
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .take(20)
    {
        block.errors.push((error.to_owned(), line));
    }
    Some(block)
}
