//! Reads `zrk`: two text layouts, and `--format json`. With a ramp, `achieved_rate` in the JSON
//! covers only the last interval.

use serde_json::Value;

use super::{BOUNDARY, Line};
use crate::block::{Block, Model, Role, SocketErrors, Tool, Trend};
use crate::quantity::{Quantity, Unit, parse_data, parse_duration, parse_number, parse_unitless};

/// Whether a `Running …` line, which wrk prints as well, starts the older layout of zrk.
pub fn has_header(lines: &[Line]) -> bool {
    lines
        .iter()
        .skip(1)
        .find(|line| !line.text.trim().is_empty())
        .is_some_and(|line| line.text.contains("connections, target rate "))
}

pub fn read(lines: &[Line]) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut open = false;
    for (at, line) in lines.iter().enumerate() {
        let text = line.text.trim();
        if text == BOUNDARY {
            open = false;
        } else if text.starts_with("Running ") && has_header(&lines[at..]) {
            let mut block = new_block("zrk text", line.number);
            if let Some((time, url)) = text["Running ".len()..].split_once(" test @ ") {
                block.declared = parse_duration(time, line.number);
                block.target = Some(url.to_owned());
            }
            blocks.push(block);
            open = true;
        } else if let Some(block) = read_one_line(text, line.number) {
            blocks.push(block);
            open = true;
        } else if let Some(block) = blocks.last_mut().filter(|_| open)
            && read_row(block, text, line.number)
        {
            block.last_line = line.number;
        }
    }
    blocks.retain(|block| block.requests.is_some() && block.rate.is_some());
    blocks
}

fn new_block(layout: &'static str, line: usize) -> Block {
    let mut block = Block::new(Tool::Zrk, layout, line);
    block.model = Model::Open;
    block
        .trends
        .push(Trend::new(Role::Request, "latency", line));
    block
}

/// `5500 requests in 10.00s, 1.2MiB read  ·  550 req/s  ·  120KiB/s`
fn read_one_line(text: &str, line: usize) -> Option<Block> {
    let mut parts = text.split('·').map(str::trim);
    let words: Vec<&str> = parts.next()?.split_whitespace().take(8).collect();
    let [count, "requests", "in", time, .., "read"] = words[..] else {
        return None;
    };
    let rate = parts.next()?.strip_suffix(" req/s")?;
    let mut block = new_block("zrk text", line);
    block.requests = parse_unitless(count, Unit::Count, line);
    block.elapsed = parse_duration(time.trim_end_matches(','), line);
    block.rate = parse_unitless(rate, Unit::Rate, line);
    block.received.rate = parts.next().and_then(|rate| parse_data(rate, line));
    Some(block)
}

fn read_row(block: &mut Block, text: &str, line: usize) -> bool {
    let words: Vec<&str> = text.split_whitespace().take(12).collect();
    match words[..] {
        [users, "connections,", "target", "rate", rate, "req/s"] => {
            block.users = parse_unitless(users, Unit::Count, line);
            match rate.split_once('→') {
                Some((from, to)) => block.ramp = parse_range(from, to),
                None => block.requested_rate = parse_unitless(rate, Unit::Rate, line),
            }
        }
        ["ramp", from, "→", to, "req/s", ..] => block.ramp = parse_range(from, to),
        ["latency", "(closed-loop", ..] => {
            block.model = Model::Closed;
            block.no_think_time = true;
        }
        [count, "requests", "in", time, ..] => {
            block.requests = parse_unitless(count, Unit::Count, line);
            block.elapsed = parse_duration(time.trim_end_matches(','), line);
        }
        ["Requests/sec:", rate] => block.rate = parse_unitless(rate, Unit::Rate, line),
        ["Transfer/sec:", rate] => block.received.rate = parse_data(&format!("{rate}/s"), line),
        ["Non-2xx", "or", "3xx", "responses:", count] | ["non-2xx/3xx:", count] => {
            if let Some(count) = parse_unitless(count, Unit::Count, line) {
                block.set_failed(count.value, line);
                block.statuses.push(("non-2xx".to_owned(), count));
            }
        }
        ["max", figure] => {
            if let Some(trend) = block.trends.first_mut() {
                trend.max = parse_duration(figure, line);
            }
        }
        [name, figure] => {
            let percent = name.strip_suffix('%').or(name.strip_prefix('p'));
            let percent = percent.and_then(|percent| percent.parse::<f64>().ok());
            let (Some(percent), Some(figure), Some(trend)) = (
                percent,
                parse_duration(figure, line),
                block.trends.first_mut(),
            ) else {
                return false;
            };
            if percent > 0.0 && percent < 100.0 && trend.at(percent / 100.0).is_none() {
                trend.insert_quantile(percent / 100.0, figure);
            }
        }
        _ => return false,
    }
    true
}

fn parse_range(from: &str, to: &str) -> Option<(f64, f64)> {
    Some((parse_number(from)?.0, parse_number(to)?.0))
}

/// `--format json`: times in microseconds.
pub fn read_json(value: &Value, line: usize) -> Option<Block> {
    let latency = value.get("latency_us")?.as_object()?;
    let number = |key: &str| value.get(key).and_then(Value::as_f64);
    let rate = number("achieved_rate")?;
    let config = value.get("config")?;
    let exact = |value: f64, unit| Quantity::exact(value, unit, line);
    let mut block = new_block("zrk JSON", line);
    block.rate = Some(Quantity {
        step: 0.01,
        ..exact(rate, Unit::Rate)
    });
    block.requests = number("requests").map(|n| exact(n, Unit::Count));
    block.elapsed = number("duration_s").map(|n| Quantity {
        step: 1e-3,
        ..exact(n, Unit::Time)
    });
    let option = |key: &str| config.get(key).and_then(Value::as_f64);
    block.users = option("connections").map(|n| exact(n, Unit::Count));
    block.streams = option("streams").map(|n| exact(n, Unit::Count));
    block.declared = option("duration_s").map(|n| exact(n, Unit::Time));
    block.target = value
        .pointer("/target/url")
        .and_then(Value::as_str)
        .map(str::to_owned);
    let (from, to) = (number("target_rate"), number("target_rate_end"));
    if config.get("closed").and_then(Value::as_bool) == Some(true) {
        block.model = Model::Closed;
        block.no_think_time = true;
    } else if let (Some(from), Some(to)) = (from, to)
        && from != to
    {
        block.ramp = Some((from, to));
    } else {
        block.requested_rate = from.map(|n| exact(n, Unit::Rate));
    }
    if let Some(trend) = block.trends.first_mut() {
        let microseconds = |figure: f64| Quantity {
            step: 1e-6,
            ..exact(figure / 1e6, Unit::Time)
        };
        for (key, figure) in latency {
            let Some(figure) = figure.as_f64().map(microseconds) else {
                continue;
            };
            let percent = key.strip_prefix('p').map(|key| key.replace('_', "."));
            match (key.as_str(), percent.and_then(|p| p.parse::<f64>().ok())) {
                ("min", _) => trend.min = Some(figure),
                ("mean", _) => trend.mean = Some(figure),
                ("max", _) => trend.max = Some(figure),
                (_, Some(percent)) if percent > 0.0 && percent < 100.0 => {
                    trend.insert_quantile(percent / 100.0, figure);
                }
                _ => {}
            }
        }
    }
    let errors = |key: &str| {
        value
            .get("errors")
            .and_then(|errors| errors.get(key))
            .and_then(Value::as_f64)
            .unwrap_or(0.0)
    };
    let sockets = SocketErrors {
        connect: errors("connect"),
        read: errors("read"),
        write: errors("write"),
        timeout: errors("timeout") + errors("deadline"),
        line,
    };
    if sockets.connect + sockets.read + sockets.write + sockets.timeout > 0.0 {
        block.sockets = Some(sockets);
    }
    block.add_statuses(value.get("status_codes"), line);
    if errors("non_2xx_3xx") > 0.0 {
        block.set_failed(errors("non_2xx_3xx"), line);
    }
    Some(block)
}
