//! Reads `oha`, as text and `-j`.

use serde_json::Value;

use super::{Line, hey};
use crate::block::{Block, Model, Role, Tool, Trend};
use crate::quantity::{Quantity, Unit};

pub fn read(lines: &[Line]) -> Vec<Block> {
    hey::read_summaries(lines, Tool::Oha, |summary| {
        summary.contains("Success rate:")
    })
}

/// `-j`, `--output-format json`: times in seconds.
pub fn read_json(value: &Value, line: usize) -> Option<Block> {
    let summary = value.get("summary")?;
    let quantiles = value.get("latencyPercentiles")?.as_object()?;
    let mut block = Block::new(Tool::Oha, "oha JSON", line);
    block.model = Model::Closed;
    block.no_think_time = true;
    let figure = |key: &str, unit| {
        summary
            .get(key)
            .and_then(Value::as_f64)
            .map(|value| Quantity::exact(value, unit, line))
    };
    block.elapsed = figure("total", Unit::Time);
    block.rate = figure("requestsPerSec", Unit::Rate);
    block.success = figure("successRate", Unit::Share);
    block.response_bytes = figure("sizePerRequest", Unit::Bytes);
    let mut trend = Trend::new(Role::Request, "latency", line);
    trend.min = figure("fastest", Unit::Time);
    trend.max = figure("slowest", Unit::Time);
    trend.mean = figure("average", Unit::Time);
    for (key, value) in quantiles {
        let percent = key
            .strip_prefix('p')
            .and_then(|key| key.parse::<f64>().ok());
        if let (Some(percent), Some(value)) = (percent, value.as_f64())
            && percent > 0.0
            && percent < 100.0
        {
            trend.insert_quantile(percent / 100.0, Quantity::exact(value, Unit::Time, line));
        }
    }
    block.trends.push(trend);
    let statuses = value.get("statusCodeDistribution");
    block.add_statuses(statuses, line);
    let responses: f64 = block.statuses.iter().map(|(_, count)| count.value).sum();
    if statuses.is_some_and(Value::is_object) {
        block.requests = Some(Quantity::exact(responses, Unit::Count, line));
    } else {
        block.missing.push("statusCodeDistribution");
        let made = block.rate.as_ref().zip(block.elapsed.as_ref());
        block.requests = made.map(|(rate, time)| {
            Quantity::exact((rate.value * time.value).round(), Unit::Count, line)
        });
    }
    let errors = value.get("errorDistribution").and_then(Value::as_object);
    for (error, count) in errors.into_iter().flatten().take(20) {
        block.errors.push((format!("[{count}] {error}"), line));
    }
    Some(block)
}
