//! `ab`: whole milliseconds, and two lines both called `Time per request`.

use super::{Line, after};
use crate::block::{Block, Model, Role, Tally, Tool, Trend};
use crate::quantity::{Quantity, Unit, bare, number};

pub fn read(lines: &[Line]) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut command = None;
    for line in lines {
        let text = line.text.trim();
        let prompt = text.trim_start_matches(['$', '>', ' ']);
        if prompt.starts_with("ab -") {
            command = Some(prompt.to_owned());
        }
        if text.starts_with("Concurrency Level:") {
            let mut block = Block::new(Tool::Ab, "ab text", line.number);
            block.model = Model::Closed;
            block.thinks_never = true;
            block.command = command.take();
            block
                .trends
                .push(Trend::new(Role::Request, "Total", line.number));
            blocks.push(block);
        }
        if let Some(block) = blocks.last_mut()
            && row(block, text, line.number)
        {
            block.last_line = line.number;
        }
    }
    blocks.retain(|block| block.requests.is_some());
    for block in &mut blocks {
        let total = block.requests.as_ref().map_or(0.0, |count| count.value);
        if let Some(tally) = &mut block.failures {
            tally.passed = (total - tally.failed).max(0.0);
        }
        // ab counts an answer of another status among the complete ones.
        if let Some((_, bad)) = block.statuses.first().cloned() {
            let good = Quantity::exact(total - bad.value, Unit::Count, bad.line);
            block.statuses.push(("2xx".to_owned(), good));
        }
    }
    blocks
}

fn row(block: &mut Block, text: &str, line: usize) -> bool {
    let first = |value: &str, unit| bare(value.split_whitespace().next()?, unit, line);
    if let Some(value) = after(text, "Concurrency Level") {
        block.users = first(value, Unit::Count);
    } else if let Some(value) = after(text, "Time taken for tests") {
        block.elapsed = first(value, Unit::Time);
    } else if let Some(value) = after(text, "Complete requests") {
        block.requests = first(value, Unit::Count);
    } else if let Some(value) = after(text, "Failed requests") {
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
    } else if let Some(value) = after(text, "Non-2xx responses") {
        if let Some(count) = first(value, Unit::Count) {
            block.statuses.push(("non-2xx".to_owned(), count));
        }
    } else if let Some(value) = after(text, "Keep-Alive requests") {
        block.kept = first(value, Unit::Count);
    } else if let Some(value) = after(text, "Total transferred") {
        block.received.total = first(value, Unit::Bytes).map(|mut total| {
            total.step = 0.0;
            total
        });
    } else if let Some(value) = after(text, "Document Length") {
        block.answer_bytes = first(value, Unit::Bytes);
    } else if let Some(value) = after(text, "Requests per second") {
        block.rate = first(value, Unit::Rate);
    } else if let Some(value) = after(text, "Time per request") {
        if value.contains("across all concurrent requests") {
            block.inverse_rate = milliseconds(value.split_whitespace().next().unwrap_or(""), line);
        } else if let Some(trend) = block.trends.first_mut() {
            trend.mean = milliseconds(value.split_whitespace().next().unwrap_or(""), line);
        }
    } else if let Some(value) = after(text, "Transfer rate") {
        block.received.rate = first(value, Unit::ByteRate).map(|mut rate| {
            rate.value *= 1024.0;
            rate.step *= 1024.0;
            rate
        });
    } else if let Some(value) = text.strip_prefix("Total:") {
        let words: Vec<&str> = value.split_whitespace().collect();
        let [min, _, _, _, max] = words[..] else {
            return false;
        };
        if let Some(trend) = block.trends.first_mut() {
            trend.line = line;
            trend.min = milliseconds(min, line);
            trend.max = milliseconds(max, line);
        }
    } else if let Some(value) = text.strip_prefix("Connect:") {
        let words: Vec<&str> = value.split_whitespace().collect();
        let [min, mean, _, median, max] = words[..] else {
            return false;
        };
        let mut trend = Trend::new(Role::Connecting, "Connect", line);
        trend.min = milliseconds(min, line);
        trend.mean = milliseconds(mean, line);
        trend.max = milliseconds(max, line);
        if let Some(median) = milliseconds(median, line) {
            trend.put(0.5, median);
        }
        block.trends.push(trend);
    } else if let Some((percent, rest)) = text.split_once('%') {
        let (Ok(percent), Some(figure)) = (
            percent.trim().parse::<f64>(),
            milliseconds(rest.split_whitespace().next().unwrap_or(""), line),
        ) else {
            return false;
        };
        if let Some(trend) = block.trends.first_mut()
            && percent > 0.0
            && percent < 100.0
        {
            trend.put(percent / 100.0, figure);
        }
    } else {
        return false;
    }
    true
}

fn milliseconds(text: &str, line: usize) -> Option<Quantity> {
    let (value, step) = number(text)?;
    Some(Quantity {
        value: value / 1e3,
        unit: Unit::Time,
        step: step / 1e3,
        text: format!("{text} ms"),
        line,
    })
}
