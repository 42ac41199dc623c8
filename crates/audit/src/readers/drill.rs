//! Reads `drill`: times in whole milliseconds, each on a separate line.

use super::{BOUNDARY, Line};
use crate::block::{Block, Model, Role, Tool, Trend};
use crate::quantity::{Unit, parse_duration, parse_unitless};

pub fn read(lines: &[Line]) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let (mut users, mut open) = (None, false);
    for line in lines {
        let text = line.text.trim();
        if text == BOUNDARY {
            open = false;
        } else if let Some(count) = text.strip_prefix("Concurrency ") {
            users = parse_unitless(count, Unit::Count, line.number);
        } else if let Some(time) = text.strip_prefix("Time taken for tests ")
            && let Some(elapsed) = parse_duration(time, line.number)
        {
            let mut block = Block::new(Tool::Drill, "drill text", line.number);
            block.model = Model::Closed;
            block.users = users.take();
            block.elapsed = Some(elapsed);
            block
                .trends
                .push(Trend::new(Role::Request, "time per request", line.number));
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

fn read_row(block: &mut Block, text: &str, line: usize) -> bool {
    let figure = |label: &str| text.strip_prefix(label).map(str::trim);
    let time = |text: &str| parse_duration(text, line);
    let word = |text: &str| text.split_whitespace().next().unwrap_or("").to_owned();
    if let Some(count) = figure("Total requests") {
        block.requests = parse_unitless(count, Unit::Count, line);
    } else if let Some(count) = figure("Failed requests") {
        let failed = parse_unitless(count, Unit::Count, line).map_or(0.0, |count| count.value);
        block.set_failed(failed, line);
    } else if let Some(rate) = figure("Requests per second") {
        block.rate = parse_unitless(&word(rate), Unit::Rate, line);
    } else if let Some(trend) = block.trends.first_mut() {
        if let Some(figure) = figure("Median time per request").and_then(time) {
            trend.insert_quantile(0.5, figure);
        } else if let Some(figure) = figure("Average time per request").and_then(time) {
            trend.mean = Some(figure);
        } else if let Some((percent, rest)) = text.split_once("'th percentile") {
            if let (Ok(percent), Some(figure)) = (percent.parse::<f64>(), time(rest.trim()))
                && percent > 0.0
                && percent < 100.0
            {
                trend.insert_quantile(percent / 100.0, figure);
            }
        } else {
            return false;
        }
    }
    true
}
