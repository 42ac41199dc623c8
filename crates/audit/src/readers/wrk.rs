//! `wrk` and `wrk2`. Their kB are 1024 bytes.

use super::{Line, after};
use crate::block::{Block, Model, Role, Tally, Tool, Trend};
use crate::quantity::{Quantity, Unit, bare, binary_data, duration};

pub fn read(lines: &[Line]) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut command = None;
    for line in lines {
        let text = line.text.trim();
        let prompt = text.trim_start_matches(['$', '>', ' ']);
        if prompt.starts_with("wrk ") || prompt.starts_with("wrk2 ") {
            command = Some(prompt.to_owned());
        }
        if text.starts_with("Running ") && text.contains(" test @ ") {
            let mut block = Block::new(Tool::Wrk, "wrk text", line.number);
            block.command = command.take();
            block.model = Model::Closed;
            block.thinks_never = true;
            if let Some((time, url)) = text["Running ".len()..].split_once(" test @ ") {
                block.declared = duration(time, line.number);
                block.target = Some(url.to_owned());
            }
            blocks.push(block);
            continue;
        }
        if let Some(block) = blocks.last_mut()
            && row(block, text, line.number)
        {
            block.last_line = line.number;
        }
    }
    for block in &mut blocks {
        finish(block);
    }
    blocks.retain(|block| block.requests.is_some() && block.rate.is_some());
    blocks
}

fn row(block: &mut Block, text: &str, line: usize) -> bool {
    let words: Vec<&str> = text.split_whitespace().collect();
    match words[..] {
        [_, "threads", "and", connections, "connections"] => {
            block.users = bare(connections, Unit::Count, line);
        }
        ["Latency", mean, _, max, ..] if mean != "Distribution" => {
            let mut trend = Trend::new(Role::Request, "Latency", line);
            trend.mean = duration(mean, line);
            trend.max = duration(max, line);
            block.trends.push(trend);
        }
        ["Latency", "Distribution", ..] => {
            if text.contains("HdrHistogram") {
                wrk2(block);
            }
        }
        ["Thread", "calibration:", ..] => wrk2(block),
        [percent, figure] if percent.ends_with('%') => {
            let percent = percent.trim_end_matches('%').parse::<f64>().ok();
            let (Some(percent), Some(figure)) = (percent, duration(figure, line)) else {
                return false;
            };
            let uncorrected = block.trends.len() > 1;
            if let Some(trend) = block.trends.first_mut().filter(|_| !uncorrected)
                && percent < 100.0
                && percent > 0.0
                && trend.at(percent / 100.0).is_none()
            {
                trend.put(percent / 100.0, figure);
            }
        }
        [requests, "requests", "in", time, size, "read"] => {
            block.requests = bare(requests, Unit::Count, line);
            block.elapsed = duration(time.trim_end_matches(','), line);
            block.received.total = binary_data(size, line);
        }
        // wrk2 throws away what it measured while it calibrated: `#[Max     =       11.312,
        // Total count    =        39500]` of 60,031 requests. The first is the corrected one.
        ["#[Max", "=", _, "Total", "count", "=", count] => {
            if let Some(count) = bare(count.trim_end_matches(']'), Unit::Count, line) {
                block.sampled.get_or_insert(count.value);
            }
        }
        ["Requests/sec:", rate] => block.rate = bare(rate, Unit::Rate, line),
        ["Transfer/sec:", rate] => {
            let size = binary_data(rate, line);
            block.received.rate = size.map(|mut size| {
                size.unit = Unit::ByteRate;
                size
            });
        }
        ["Non-2xx", "or", "3xx", "responses:", count] => {
            if let Some(count) = bare(count, Unit::Count, line) {
                block.failures = Some(Tally {
                    passed: (block.requests.as_ref().map_or(0.0, |n| n.value) - count.value)
                        .max(0.0),
                    failed: count.value,
                    share: None,
                    line,
                    inverted: false,
                });
                block.statuses.push(("non-2xx".to_owned(), count));
            }
        }
        _ => match after(text, "Socket errors:") {
            Some(errors) => block.errors.push((errors.to_owned(), line)),
            None => return false,
        },
    }
    true
}

fn wrk2(block: &mut Block) {
    block.tool = Tool::Wrk2;
    block.layout = "wrk2 text";
    block.model = Model::Open;
}

/// wrk2 takes its rate from the command line alone.
fn finish(block: &mut Block) {
    let Some(command) = &block.command else {
        return;
    };
    let mut words = command.split_whitespace().peekable();
    while let Some(word) = words.next() {
        let rate = match word {
            "-R" | "--rate" => words.peek().copied(),
            _ => word
                .strip_prefix("-R")
                .or_else(|| word.strip_prefix("--rate=")),
        };
        if let Some(rate) = rate.and_then(|rate| rate.parse::<f64>().ok())
            && block.tool == Tool::Wrk2
        {
            block.asked_rate = Some(Quantity::exact(rate, Unit::Rate, block.first_line));
        }
    }
}
