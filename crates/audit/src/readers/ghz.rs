//! Reads `ghz`, as text and `-O json`.

use serde_json::Value;

use super::{Line, hey};
use crate::block::{Block, Bucket, Model, Role, Tool, Trend};
use crate::quantity::{Quantity, Unit};

pub fn read(lines: &[Line]) -> Vec<Block> {
    let mut blocks = hey::read_summaries(lines, Tool::Ghz, |summary| summary.contains("Count:"));
    for block in &mut blocks {
        block.bars = block.histogram.iter().map(|bar| bar.count).collect();
        set_histogram_unit(block);
        // Without the command line, it is unknown whether the run had a fixed rate.
        block.model = Model::Unknown;
        block.no_think_time = false;
    }
    blocks
}

/// ghz prints its histogram without a unit. The first bar ends at the fastest request and the last
/// bar at the slowest one, which both have a unit. If they do not match, the times of the bars are
/// unknown.
fn set_histogram_unit(block: &mut Block) {
    let ends = |of: fn(&Trend) -> Option<&Quantity>| block.latency().and_then(of).cloned();
    let fastest = ends(|latency| latency.min.as_ref());
    let slowest = ends(|latency| latency.max.as_ref());
    let mut bars = std::mem::take(&mut block.histogram);
    let (Some(first), Some(last), Some(fastest), Some(slowest)) =
        (bars.first(), bars.last(), fastest, slowest)
    else {
        return;
    };
    let agrees = |mark: f64, figure: &Quantity| {
        (mark - figure.value).abs() <= figure.step + 0.001 * figure.value
    };
    let unit = [1e-3, 1.0, 1e-6]
        .into_iter()
        .find(|unit| agrees(first.upper * unit, &fastest) && agrees(last.upper * unit, &slowest));
    let Some(unit) = unit else {
        return;
    };
    for bar in &mut bars {
        bar.lower *= unit;
        bar.upper *= unit;
    }
    block.histogram = bars;
}

/// `-O json`: times in nanoseconds.
pub fn read_json(value: &Value, line: usize) -> Option<Block> {
    let options = value.get("options")?;
    let quantiles = value.get("latencyDistribution")?.as_array()?;
    let mut block = Block::new(Tool::Ghz, "ghz JSON", line);
    let exact = |value: f64, unit| Quantity::exact(value, unit, line);
    let number = |key: &str| value.get(key).and_then(Value::as_f64);
    let option = |key: &str| options.get(key).and_then(Value::as_f64);
    block.requests = number("count").map(|n| exact(n, Unit::Count));
    block.elapsed = number("total").map(|n| exact(n / 1e9, Unit::Time));
    block.rate = number("rps").map(|n| exact(n, Unit::Rate));
    block.users = option("concurrency").map(|n| exact(n, Unit::Count));
    block.requested_count = option("total")
        .filter(|n| *n > 0.0)
        .map(|n| exact(n, Unit::Count));
    block.requested_rate = option("rps")
        .or_else(|| option("load-start"))
        .filter(|n| *n > 0.0)
        .map(|n| exact(n, Unit::Rate));
    if block.requested_rate.is_some() {
        block.model = Model::Open;
    } else {
        block.model = Model::Closed;
        block.no_think_time = true;
    }
    let mut trend = Trend::new(Role::Request, "latency", line);
    let time = |key: &str| number(key).map(|n| exact(n / 1e9, Unit::Time));
    trend.min = time("fastest");
    trend.max = time("slowest");
    trend.mean = time("average");
    for row in quantiles {
        let percent = row.get("percentage").and_then(Value::as_f64);
        let latency = row.get("latency").and_then(Value::as_f64);
        if let (Some(percent), Some(latency)) = (percent, latency)
            && percent > 0.0
            && percent < 100.0
        {
            trend.insert_quantile(percent / 100.0, exact(latency / 1e9, Unit::Time));
        }
    }
    block.trends.push(trend);
    block.add_statuses(value.get("statusCodeDistribution"), line);
    let mut lower = 0.0;
    let bars = value.get("histogram").and_then(Value::as_array);
    for bar in bars.into_iter().flatten() {
        let mark = bar.get("mark").and_then(Value::as_f64);
        let count = bar.get("count").and_then(Value::as_f64);
        if let (Some(upper), Some(count)) = (mark, count) {
            block.histogram.push(Bucket {
                lower,
                upper,
                count,
                share: None,
                line,
            });
            lower = upper;
        }
    }
    Some(block)
}
