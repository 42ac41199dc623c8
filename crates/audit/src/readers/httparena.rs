//! Reads HttpArena's published results: either one file per framework with all its profiles, or one
//! file per profile with all its frameworks.

use serde_json::Value;

use crate::block::{Block, Model, Role, Tool, Trend};
use crate::quantity::{Quantity, Unit, parse_data, parse_duration};

pub fn read_json(value: &Value, line: usize) -> Vec<Block> {
    let name = |value: &Value| {
        value
            .get("framework")
            .and_then(Value::as_str)
            .map(str::to_owned)
    };
    let Some(framework) = name(value) else {
        return Vec::new();
    };
    match value.get("results").and_then(Value::as_object) {
        Some(profiles) => profiles
            .iter()
            .take(crate::MAX_BLOCKS + 1)
            .filter_map(|(profile, run)| {
                read_result(run, vec![framework.clone(), profile.clone()], line)
            })
            .collect(),
        None => read_result(value, vec![framework], line)
            .into_iter()
            .collect(),
    }
}

fn read_result(run: &Value, titles: Vec<String>, line: usize) -> Option<Block> {
    let number = |key: &str| run.get(key).and_then(Value::as_f64);
    let text = |key: &str| run.get(key).and_then(Value::as_str);
    let exact = |value: f64, unit| Quantity::exact(value, unit, line);
    let rate = number("rps")?;
    let mean = text("avg_latency").and_then(|text| parse_duration(text, line));
    let mut block = Block::new(Tool::HttpArena, "HttpArena JSON", line);
    block.titles = titles;
    // HttpArena prints whole requests per second.
    block.rate = Some(Quantity {
        step: 1.0,
        ..exact(rate, Unit::Rate)
    });
    block.declared = text("duration").and_then(|text| parse_duration(text, line));
    block.received.rate = text("bandwidth").and_then(|text| parse_data(text, line));
    let mut total = 0.0;
    for class in ["2xx", "3xx", "4xx", "5xx"] {
        let count = number(&format!("status_{class}")).unwrap_or(0.0);
        total += count;
        if count > 0.0 {
            block
                .statuses
                .push((class.to_owned(), exact(count, Unit::Count)));
        }
    }
    if total > 0.0 {
        block.requests = Some(exact(total, Unit::Count));
    }
    block.requested_rate = number("target_rate")
        .filter(|rate| *rate > 0.0)
        .map(|rate| exact(rate, Unit::Rate));
    block.model = if block.requested_rate.is_some() {
        Model::Open
    } else {
        Model::Closed
    };
    block.no_think_time = block.requested_rate.is_none();
    let streams = number("pipeline").unwrap_or(1.0);
    let connections = number("connections").filter(|n| *n > 0.0);
    // The results do not contain the number of HTTP/2 or HTTP/3 streams, so the number of users is
    // unknown.
    let in_flight = mean.as_ref().map(|mean| mean.value * rate);
    let multiplexed = connections
        .zip(in_flight)
        .is_some_and(|(connections, in_flight)| in_flight > 1.1 * connections * streams);
    if !multiplexed {
        block.users = connections.map(|n| exact(n, Unit::Count));
        block.streams = (streams > 1.0).then(|| exact(streams, Unit::Count));
    }
    let mut trend = Trend::new(Role::Request, "latency", line);
    trend.mean = mean;
    for (key, quantile) in [("p99_latency", 0.99), ("p99_9_latency", 0.999)] {
        if let Some(figure) = text(key).and_then(|text| parse_duration(text, line)) {
            trend.insert_quantile(quantile, figure);
        }
    }
    block.trends.push(trend);
    Some(block)
}
