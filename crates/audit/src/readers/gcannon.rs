//! Reads `gcannon`, as text and `--json`. The text prints the percentiles in the same row as the mean.

use serde_json::Value;

use super::{BOUNDARY, Line, text_after_label};
use crate::block::{Block, Model, Role, Tool, Trend};
use crate::quantity::{Quantity, Unit, parse_data, parse_duration, parse_number, parse_unitless};

pub fn read(lines: &[Line]) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut open = false;
    for line in lines {
        let text = line.text.trim();
        if text == BOUNDARY {
            open = false;
        } else if text.starts_with("gcannon") && text.contains("io_uring") {
            let mut block = Block::new(Tool::Gcannon, "gcannon text", line.number);
            block.model = Model::Closed;
            block.no_think_time = true;
            blocks.push(block);
            open = true;
        } else if let Some(block) = blocks.last_mut().filter(|_| open)
            && read_row(block, text, line.number)
        {
            block.last_line = line.number;
        }
    }
    blocks.retain(|block| block.requests.is_some());
    blocks
}

fn read_row(block: &mut Block, text: &str, line: usize) -> bool {
    let words: Vec<&str> = text.split_whitespace().take(12).collect();
    match words[..] {
        ["Target:", target] => block.target = Some(target.to_owned()),
        ["Conns:", connections, ..] => block.users = parse_unitless(connections, Unit::Count, line),
        ["Pipeline:", depth] => block.streams = parse_unitless(depth, Unit::Count, line),
        ["Duration:", time] => block.declared = parse_duration(time, line),
        ["Latency", mean, p50, p90, p99, p999] => {
            let mut trend = Trend::new(Role::Request, "Latency", line);
            trend.mean = parse_duration(mean, line);
            for (quantile, figure) in [(0.5, p50), (0.9, p90), (0.99, p99), (0.999, p999)] {
                if let Some(figure) = parse_duration(figure, line) {
                    trend.insert_quantile(quantile, figure);
                }
            }
            block.trends.push(trend);
        }
        [sent, "requests", "in", time, responses, "responses"] => {
            block.requests = parse_unitless(responses, Unit::Count, line);
            block.elapsed = parse_duration(time.trim_end_matches(','), line);
            derive_lost_requests(block, parse_unitless(sent, Unit::Count, line));
        }
        ["Throughput:", rate, "req/s"] => block.rate = parse_scaled(rate, line),
        ["Bandwidth:", rate] => block.received.rate = parse_data(rate, line),
        ["Latency", "samples:", samples, ..] => {
            block.sampled = parse_number(samples).map(|(samples, _)| samples);
        }
        _ => match text_after_label(text, "Status codes:") {
            Some(codes) => {
                for part in codes.split(", ") {
                    if let Some((class, count)) = part.split_once('=')
                        && let Some(count) = parse_unitless(count, Unit::Count, line)
                            .filter(|count| count.value > 0.0)
                    {
                        block.statuses.push((class.to_owned(), count));
                    }
                }
            }
            None => return false,
        },
    }
    true
}

/// Requests without a response, if there are more of them than can be in flight at the end.
fn derive_lost_requests(block: &mut Block, sent: Option<Quantity>) {
    if let (Some(sent), Some(responses)) = (sent, &block.requests) {
        let lost = sent.value - responses.value;
        if lost > block.max_in_flight().unwrap_or(0.0) {
            block.errors.push((
                format!("{lost} of {} requests without a response", sent.text),
                sent.line,
            ));
            block.lost = Some(Quantity::exact(lost, Unit::Count, sent.line));
        }
    }
}

/// `355.94K`, `1.94M`
fn parse_scaled(text: &str, line: usize) -> Option<Quantity> {
    let (digits, scale) = match text.chars().last()? {
        'K' => (&text[..text.len() - 1], 1e3),
        'M' => (&text[..text.len() - 1], 1e6),
        _ => (text, 1.0),
    };
    let (value, step) = parse_number(digits)?;
    Some(Quantity {
        value: value * scale,
        unit: Unit::Rate,
        step: step * scale,
        text: text.to_owned(),
        line,
    })
}

/// `--json`: times in microseconds.
pub fn read_json(value: &Value, line: usize) -> Option<Block> {
    let latency = value.get("latency_us")?.as_object()?;
    let number = |key: &str| value.get(key).and_then(Value::as_f64);
    let pipeline = number("pipeline_depth")?;
    let exact = |value: f64, unit| Quantity::exact(value, unit, line);
    let mut block = Block::new(Tool::Gcannon, "gcannon JSON", line);
    block.model = Model::Closed;
    block.no_think_time = true;
    block.streams = Some(exact(pipeline, Unit::Count));
    block.users = number("connections").map(|n| exact(n, Unit::Count));
    block.declared = number("duration_sec").map(|n| exact(n, Unit::Time));
    block.elapsed = number("elapsed_sec").map(|n| exact(n, Unit::Time));
    block.requests = number("responses").map(|n| exact(n, Unit::Count));
    block.rate = number("rps").map(|n| exact(n, Unit::Rate));
    block.target = value
        .get("target")
        .and_then(Value::as_str)
        .map(str::to_owned);
    derive_lost_requests(
        &mut block,
        number("requests").map(|n| exact(n, Unit::Count)),
    );
    let mut trend = Trend::new(Role::Request, "latency", line);
    // gcannon prints whole microseconds.
    let time = |key: &str| {
        latency
            .get(key)
            .and_then(Value::as_f64)
            .map(|figure| Quantity {
                step: 1e-6,
                ..exact(figure / 1e6, Unit::Time)
            })
    };
    trend.mean = time("avg");
    for (key, quantile) in [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p999", 0.999)] {
        if let Some(figure) = time(key) {
            trend.insert_quantile(quantile, figure);
        }
    }
    block.sampled = latency.get("samples").and_then(Value::as_f64);
    block.trends.push(trend);
    block.add_statuses(value.get("status"), line);
    Some(block)
}
