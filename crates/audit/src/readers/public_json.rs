//! Reads published result files: autocannon and bombardier in JSON, and the tables of TechEmpower
//! and the-benchmarker.

use serde_json::Value;

use crate::block::{Block, Model, Role, Tally, Tool, Trend};
use crate::quantity::{Quantity, Unit, parse_duration};

/// `autocannon --json`: times in milliseconds.
pub fn read_autocannon(value: &Value, line: usize) -> Option<Block> {
    let latency = value.get("latency")?.as_object()?;
    let requests = value.get("requests")?.as_object()?;
    latency.get("p97_5")?;
    let mut block = Block::new(Tool::Autocannon, "autocannon JSON", line);
    block.model = Model::Closed;
    block.no_think_time = true;
    let exact = |value: f64, unit| Quantity::exact(value, unit, line);
    let number = |key: &str| value.get(key).and_then(Value::as_f64);
    block.users = number("connections").map(|n| exact(n, Unit::Count));
    block.streams = number("pipelining").map(|n| exact(n, Unit::Count));
    block.elapsed = number("duration").map(|n| exact(n, Unit::Time));
    block.target = value.get("url").and_then(Value::as_str).map(str::to_owned);
    let of = |object: &serde_json::Map<String, Value>, key: &str| {
        object.get(key).and_then(Value::as_f64)
    };
    block.rate = of(requests, "average").map(|n| exact(n, Unit::Rate));
    block.requests = of(requests, "total").map(|n| exact(n, Unit::Count));
    let mut trend = Trend::new(Role::Request, "latency", line);
    let millisecond = |value: f64| Quantity {
        step: 1e-3,
        ..exact(value / 1e3, Unit::Time)
    };
    for (key, value) in latency {
        let Some(figure) = value.as_f64().map(millisecond) else {
            continue;
        };
        match key.as_str() {
            "average" | "mean" => trend.mean = Some(figure),
            "min" => trend.min = Some(figure),
            "max" => trend.max = Some(figure),
            _ => {
                let percent = key.strip_prefix('p').map(|key| key.replace('_', "."));
                if let Some(percent) = percent.and_then(|percent| percent.parse::<f64>().ok())
                    && percent > 0.0
                    && percent < 100.0
                {
                    trend.insert_quantile(percent / 100.0, figure);
                }
            }
        }
    }
    block.trends.push(trend);
    for (key, name) in [("2xx", "2xx"), ("non2xx", "non-2xx")] {
        if let Some(count) = number(key) {
            block
                .statuses
                .push((name.to_owned(), exact(count, Unit::Count)));
        }
    }
    if let Some(errors) = number("errors").filter(|errors| *errors > 0.0) {
        let timeouts = number("timeouts").unwrap_or(0.0);
        block
            .errors
            .push((format!("{errors} errors, {timeouts} timeouts"), line));
        block.lost = Some(exact(errors, Unit::Count));
    }
    Some(block)
}

/// `bombardier -o json`: times in microseconds.
pub fn read_bombardier(value: &Value, line: usize) -> Option<Block> {
    let spec = value.get("spec")?;
    let result = value.get("result")?;
    let seconds = result.get("timeTakenSeconds")?.as_f64()?;
    let mut block = Block::new(Tool::Bombardier, "bombardier JSON", line);
    block.model = Model::Closed;
    block.no_think_time = true;
    let exact = |value: f64, unit| Quantity::exact(value, unit, line);
    let number = |path: &str| result.pointer(path).and_then(Value::as_f64);
    block.elapsed = Some(exact(seconds, Unit::Time));
    block.users = spec
        .get("numberOfConnections")
        .and_then(Value::as_f64)
        .map(|n| exact(n, Unit::Count));
    block.target = spec.get("url").and_then(Value::as_str).map(str::to_owned);
    block.rate = number("/rps/mean").map(|n| exact(n, Unit::Rate));
    let mut total = 0.0;
    for class in ["1xx", "2xx", "3xx", "4xx", "5xx", "others"] {
        let key = if class == "others" {
            "/others".to_owned()
        } else {
            format!("/req{class}")
        };
        if let Some(count) = number(&key).filter(|count| *count > 0.0) {
            total += count;
            block
                .statuses
                .push((class.to_owned(), exact(count, Unit::Count)));
            if class == "others" {
                block.failures = Some(Tally {
                    passed: 0.0,
                    failed: count,
                    share: None,
                    line,
                    inverted: false,
                });
            }
        }
    }
    block.requests = Some(exact(total, Unit::Count));
    let mut trend = Trend::new(Role::Request, "latency", line);
    trend.mean = number("/latency/mean").map(|n| exact(n / 1e6, Unit::Time));
    trend.max = number("/latency/max").map(|n| exact(n / 1e6, Unit::Time));
    if let Some(percentiles) = result
        .pointer("/latency/percentiles")
        .and_then(Value::as_object)
    {
        for (percent, figure) in percentiles {
            if let (Ok(percent), Some(figure)) = (percent.parse::<f64>(), figure.as_f64())
                && percent > 0.0
                && percent < 100.0
            {
                trend.insert_quantile(percent / 100.0, exact(figure / 1e6, Unit::Time));
            }
        }
    }
    block.trends.push(trend);
    Some(block)
}

/// Reads a file with the results of many systems.
pub fn read_tables(value: &Value, line: usize) -> Vec<Block> {
    let mut blocks = read_tech_empower(value, line);
    if blocks.is_empty() {
        blocks = read_the_benchmarker(value, line);
    }
    blocks.truncate(crate::MAX_BLOCKS + 1);
    blocks
}

/// Reads TechEmpower's results.json: `rawData` by test, then by system, with one run per
/// concurrency level.
fn read_tech_empower(value: &Value, line: usize) -> Vec<Block> {
    let mut blocks = Vec::new();
    let levels: Vec<f64> = value
        .get("concurrencyLevels")
        .and_then(Value::as_array)
        .map(|levels| levels.iter().filter_map(Value::as_f64).collect())
        .unwrap_or_default();
    let Some(tests) = value.get("rawData").and_then(Value::as_object) else {
        return blocks;
    };
    for (test, systems) in tests {
        let Some(systems) = systems.as_object() else {
            continue;
        };
        for (system, runs) in systems {
            for (at, run) in runs.as_array().into_iter().flatten().enumerate() {
                if blocks.len() > crate::MAX_BLOCKS {
                    return blocks;
                }
                let text = |key: &str| run.get(key).and_then(Value::as_str);
                let number = |key: &str| run.get(key).and_then(Value::as_f64);
                let (Some(total), Some(mean)) = (
                    number("totalRequests"),
                    text("latencyAvg").and_then(|text| parse_duration(text, line)),
                ) else {
                    continue;
                };
                let mut block = Block::new(Tool::Wrk, "TechEmpower JSON", line);
                block.model = Model::Closed;
                block.no_think_time = true;
                block.titles = vec![test.clone(), system.clone()];
                let exact = |value: f64, unit| Quantity::exact(value, unit, line);
                block.requests = Some(exact(total, Unit::Count));
                if let (Some(start), Some(end)) = (number("startTime"), number("endTime"))
                    && end > start
                {
                    let mut elapsed = exact(end - start, Unit::Time);
                    elapsed.step = 1.0;
                    block.elapsed = Some(elapsed);
                }
                if levels.len() > at && levels.len() == runs.as_array().map_or(0, Vec::len) {
                    block.users = levels.get(at).map(|n| exact(*n, Unit::Count));
                }
                for key in ["5xx", "connect", "read", "write", "timeout"] {
                    if let Some(count) = number(key).filter(|count| *count > 0.0) {
                        block.errors.push((format!("{key} {count}"), line));
                    }
                }
                let mut trend = Trend::new(Role::Request, "latency", line);
                trend.mean = Some(mean);
                trend.max = text("latencyMax").and_then(|text| parse_duration(text, line));
                block.trends.push(trend);
                blocks.push(block);
            }
        }
    }
    blocks
}

/// Reads the data of the-benchmarker: the metrics of each system at a concurrency level, with times
/// in microseconds.
fn read_the_benchmarker(value: &Value, line: usize) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let Some(metrics) = value.get("metrics").and_then(Value::as_array) else {
        return blocks;
    };
    let mut seen: std::collections::BTreeMap<(String, u64), usize> =
        std::collections::BTreeMap::new();
    for metric in metrics {
        let (Some(system), Some(level), Some(label), Some(figure)) = (
            metric.get("framework_id").map(Value::to_string),
            metric.get("level").and_then(Value::as_u64),
            metric.get("label").and_then(Value::as_str),
            metric.get("value").and_then(Value::as_f64),
        ) else {
            continue;
        };
        if blocks.len() > crate::MAX_BLOCKS {
            break;
        }
        let at = *seen.entry((system.clone(), level)).or_insert_with(|| {
            let mut block = Block::new(Tool::Wrk, "the-benchmarker JSON", line);
            block.titles = vec![
                format!("{level} connections"),
                format!("framework {system}"),
            ];
            block.users = Some(Quantity::exact(level as f64, Unit::Count, line));
            block.model = Model::Closed;
            block.no_think_time = true;
            block
                .trends
                .push(Trend::new(Role::Request, "latency", line));
            blocks.push(block);
            blocks.len() - 1
        });
        let block = &mut blocks[at];
        let time = || Some(Quantity::exact(figure / 1e6, Unit::Time, line));
        let Some(trend) = block.trends.first_mut() else {
            continue;
        };
        match label {
            "total_requests" => block.requests = Some(Quantity::exact(figure, Unit::Count, line)),
            "duration_ms" => {
                block.elapsed =
                    run_seconds(figure).map(|time| Quantity::exact(time, Unit::Time, line));
            }
            "total_requests_per_s" => block.rate = Some(Quantity::exact(figure, Unit::Rate, line)),
            "average_latency" => trend.mean = time(),
            "minimum_latency" => trend.min = time(),
            "maximum_latency" => trend.max = time(),
            _ => {
                let percent = label.strip_prefix("percentile_").or_else(|| {
                    label
                        .strip_prefix("percentile")
                        .map(|rest| rest.trim_start_matches('_'))
                });
                let percent = percent.and_then(|percent| percent.parse::<f64>().ok());
                if let (Some(percent), Some(figure)) = (percent, time())
                    && percent > 0.0
                    && percent < 100.0
                {
                    trend.insert_quantile(percent / 100.0, figure);
                }
            }
        }
    }
    blocks.retain(|block| block.rate.is_some() || block.requests.is_some());
    blocks
}

/// The duration of a run in seconds. The column is called `duration_ms`, but most files store
/// microseconds in it. The magnitude decides, because a run takes between one second and 15
/// minutes.
fn run_seconds(figure: f64) -> Option<f64> {
    [1.0, 1e3, 1e6]
        .into_iter()
        .map(|scale| figure / scale)
        .find(|seconds| (1.0..1000.0).contains(seconds))
}
