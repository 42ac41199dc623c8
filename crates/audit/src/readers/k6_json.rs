//! Reads k6's summaries in JSON: `--summary-export`, the data of `handleSummary`, and the
//! machine-readable summary.

use serde_json::Value;

use crate::block::{Block, Role, Tally, Threshold, Tool, Trend};
use crate::quantity::{Quantity, Unit};

pub fn read(value: &Value, line: usize) -> Option<Block> {
    let mut block = Block::new(Tool::K6, "k6 JSON", line);
    if let Some(metrics) = value.get("metrics").and_then(Value::as_object) {
        let state = value
            .pointer("/state/testRunDurationMs")
            .and_then(Value::as_f64);
        block.elapsed = state.map(|ms| Quantity::exact(ms / 1e3, Unit::Time, line));
        for (name, metric) in metrics {
            // The data of `handleSummary` have the figures one level deeper.
            read_metric(
                &mut block,
                name,
                metric.get("values").unwrap_or(metric),
                line,
            );
            read_thresholds(&mut block, name, metric, line);
        }
        read_check_names(&mut block, value.get("root_group"), line, 0);
    } else {
        let results = value.get("results")?;
        let elapsed = value.pointer("/config/duration").and_then(Value::as_f64);
        block.elapsed = elapsed.map(|s| Quantity::exact(s, Unit::Time, line));
        let lists = [results.get("metrics"), results.pointer("/checks/metrics")];
        for metric in lists
            .into_iter()
            .flatten()
            .filter_map(Value::as_array)
            .flatten()
        {
            if let (Some(name), Some(values)) = (
                metric.get("name").and_then(Value::as_str),
                metric.get("values"),
            ) {
                read_metric(&mut block, name, values, line);
            }
        }
        let checks = results.pointer("/checks/results").and_then(Value::as_array);
        for check in checks.into_iter().flatten() {
            if let Some(name) = check.get("name").and_then(Value::as_str) {
                push_check(&mut block, name, check, line);
            }
        }
        if let (Some(elapsed), Some(requests)) = (&block.elapsed, &block.requests)
            && block.rate.is_none()
            && elapsed.value > 0.0
        {
            block.rate = Some(Quantity::exact(
                requests.value / elapsed.value,
                Unit::Rate,
                line,
            ));
        }
    }
    (!block.trends.is_empty() && (block.iterations.is_some() || block.requests.is_some()))
        .then_some(block)
}

fn read_metric(block: &mut Block, name: &str, values: &Value, line: usize) {
    let figure = |key: &str, unit| {
        values
            .get(key)
            .and_then(Value::as_f64)
            .map(|value| Quantity::exact(value, unit, line))
    };
    if values.get("avg").is_some() || values.get("med").is_some() {
        if let Some(trend) = read_trend(name, values, line) {
            block.trends.push(trend);
        }
        return;
    }
    match name {
        "http_reqs" => {
            block.requests = figure("count", Unit::Count);
            block.rate = figure("rate", Unit::Rate);
        }
        "iterations" => {
            block.iterations = figure("count", Unit::Count);
            block.iteration_rate = figure("rate", Unit::Rate);
        }
        "dropped_iterations" => block.dropped = figure("count", Unit::Count),
        "data_received" => {
            block.received.total = figure("count", Unit::Bytes);
            block.received.rate = figure("rate", Unit::ByteRate);
        }
        "data_sent" => {
            block.sent.total = figure("count", Unit::Bytes);
            block.sent.rate = figure("rate", Unit::ByteRate);
        }
        "http_req_failed" => block.failures = read_tally(values, line, true),
        "checks" | "checks_succeeded" => block.checks = read_tally(values, line, false),
        "vus" => {
            if let (Some(last), Some(max)) =
                (figure("value", Unit::Count), figure("max", Unit::Count))
            {
                block.gauge = Some((last, max));
            }
        }
        _ => {}
    }
}

/// `passes` and `fails`, or `matches` of `total`.
fn read_tally(values: &Value, line: usize, of_failures: bool) -> Option<Tally> {
    let number = |key: &str| values.get(key).and_then(Value::as_f64);
    let (matching, others) = match (number("passes"), number("fails")) {
        (Some(passes), Some(fails)) => (passes, fails),
        _ => {
            let matches = number("matches")?;
            (matches, number("total")? - matches)
        }
    };
    let (passed, failed) = if of_failures {
        (others, matching)
    } else {
        (matching, others)
    };
    Some(Tally {
        passed,
        failed,
        share: None,
        line,
        inverted: false,
    })
}

/// Trends of times are in milliseconds.
fn read_trend(name: &str, values: &Value, line: usize) -> Option<Trend> {
    let role = match name {
        "http_req_duration" | "grpc_req_duration" => Role::Request,
        "http_req_duration{expected_response:true}" => Role::Expected,
        "http_req_blocked" => Role::Blocked,
        "http_req_connecting" => Role::Connecting,
        "http_req_tls_handshaking" => Role::Tls,
        "http_req_sending" => Role::Sending,
        "http_req_waiting" => Role::Waiting,
        "http_req_receiving" => Role::Receiving,
        "iteration_duration" => Role::Iteration,
        _ => return None,
    };
    let mut trend = Trend::new(role, name, line);
    for (key, value) in values.as_object()? {
        let Some(ms) = value.as_f64() else { continue };
        let figure = Quantity::exact(ms / 1e3, Unit::Time, line);
        match key.as_str() {
            "avg" => trend.mean = Some(figure),
            "min" => trend.min = Some(figure),
            "max" => trend.max = Some(figure),
            "med" => trend.insert_quantile(0.5, figure),
            _ => {
                let percent = key
                    .strip_prefix('p')
                    .map(|rest| rest.trim_matches(['(', ')']))
                    .and_then(|rest| rest.parse::<f64>().ok())
                    .filter(|percent| *percent > 0.0 && *percent < 100.0);
                if let Some(percent) = percent {
                    trend.insert_quantile(percent / 100.0, figure);
                }
            }
        }
    }
    Some(trend)
}

fn read_thresholds(block: &mut Block, name: &str, metric: &Value, line: usize) {
    let Some(found) = metric.get("thresholds").and_then(Value::as_object) else {
        return;
    };
    for (text, judged) in found {
        // In `--summary-export`, true means that the threshold was crossed; in `handleSummary`,
        // {"ok": true} means that it was met.
        let passed = match judged {
            Value::Bool(crossed) => !crossed,
            other => other.get("ok").and_then(Value::as_bool).unwrap_or(true),
        };
        block.thresholds.push(Threshold {
            text: format!("{name}: {text}"),
            line,
            passed,
        });
    }
}

/// Adds a check. One without a number of failures may have failed.
fn push_check(block: &mut Block, name: &str, check: &Value, line: usize) {
    let fails = check.get("fails").and_then(Value::as_f64);
    block.check_names.push((name.to_owned(), line));
    block.failed_marks += usize::from(fails.is_none_or(|fails| fails > 0.0));
}

/// Groups are nested. The limit is far above the nesting of any real script.
fn read_check_names(block: &mut Block, group: Option<&Value>, line: usize, depth: usize) {
    let Some(group) = group.filter(|_| depth < 32) else {
        return;
    };
    let entries = |key: &str| -> Vec<&Value> {
        match group.get(key) {
            Some(Value::Object(map)) => map.values().collect(),
            Some(Value::Array(list)) => list.iter().collect(),
            _ => Vec::new(),
        }
    };
    for check in entries("checks") {
        if let Some(name) = check.get("name").and_then(Value::as_str) {
            push_check(block, name, check, line);
        }
    }
    for inner in entries("groups") {
        read_check_names(block, Some(inner), line, depth + 1);
    }
}
