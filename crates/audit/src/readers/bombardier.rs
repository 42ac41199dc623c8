//! Reads `bombardier`: mean, standard deviation and maximum of `Reqs/sec` and `Latency`, and the
//! counts of status classes.

use super::{BOUNDARY, Line};
use crate::block::{Block, Model, Role, Tool, Trend};
use crate::quantity::{Quantity, Unit, parse_data, parse_duration, parse_unitless};

pub fn read(lines: &[Line]) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut open = false;
    let mut header = None;
    for (at, line) in lines.iter().enumerate() {
        let words: Vec<&str> = line.text.split_whitespace().take(20).collect();
        if line.text == BOUNDARY {
            open = false;
        }
        if let Some(at) = line.text.find("Bombarding ") {
            header = Some(Line {
                number: line.number,
                text: &line.text[at..],
            });
        }
        if let ["Reqs/sec", mean, _, _] = words[..]
            && latency_follows(&lines[at + 1..])
        {
            let mut block = Block::new(Tool::Bombardier, "bombardier text", line.number);
            block.model = Model::Closed;
            block.no_think_time = true;
            block.rate = parse_unitless(mean, Unit::Rate, line.number);
            if let Some(header) = header.take() {
                read_settings(&mut block, header);
            }
            blocks.push(block);
            open = true;
            continue;
        }
        if let Some(block) = blocks.last_mut().filter(|_| open)
            && read_row(block, &words, line.number)
        {
            block.last_line = line.number;
        }
    }
    for block in &mut blocks {
        derive_counts(block);
    }
    blocks
}

/// `Bombarding http://a:8080/ for 10s using 200 connection(s)`, or `with 5000 request(s) using …`.
fn read_settings(block: &mut Block, header: Line) {
    let words: Vec<&str> = header.text.split_whitespace().take(12).collect();
    let after = |name: &str| {
        let at = words.iter().position(|word| *word == name)?;
        words.get(at + 1).copied()
    };
    let count = |name: &str| parse_unitless(after(name)?, Unit::Count, header.number);
    block.target = after("Bombarding").map(str::to_owned);
    block.users = count("using");
    block.requested_count = count("with");
    block.declared = after("for")
        .filter(|_| block.requested_count.is_none())
        .and_then(|time| parse_duration(time, header.number));
}

fn latency_follows(lines: &[Line]) -> bool {
    let next = lines.iter().find(|line| !line.text.trim().is_empty());
    next.is_some_and(|line| line.text.trim_start().starts_with("Latency "))
}

fn read_row(block: &mut Block, words: &[&str], line: usize) -> bool {
    match words {
        ["Latency", mean, _, max] if block.trends.is_empty() => {
            let mut trend = Trend::new(Role::Request, "Latency", line);
            trend.mean = parse_duration(mean, line);
            trend.max = parse_duration(max, line);
            block.trends.push(trend);
        }
        [percent, figure] if percent.ends_with('%') => {
            let percent = percent.trim_end_matches('%').parse::<f64>().ok();
            if let (Some(percent), Some(figure), Some(trend)) = (
                percent,
                parse_duration(figure, line),
                block.trends.first_mut(),
            ) && percent > 0.0
                && percent < 100.0
                && trend.at(percent / 100.0).is_none()
            {
                trend.insert_quantile(percent / 100.0, figure);
            }
        }
        ["1xx", "-", ..] => {
            for class in words.chunks(3) {
                if let [name, "-", count] = class
                    && let Some(count) =
                        parse_unitless(count.trim_end_matches(','), Unit::Count, line)
                    && count.value > 0.0
                {
                    block.statuses.push(((*name).to_owned(), count));
                }
            }
            // A run without any response also prints this row.
            block.sampled = Some(block.statuses.iter().map(|(_, count)| count.value).sum());
        }
        ["others", "-", count] => {
            if let Some(count) =
                parse_unitless(count, Unit::Count, line).filter(|count| count.value > 0.0)
            {
                block.statuses.push(("others".to_owned(), count));
            }
        }
        [.., "Throughput:", rate] => {
            block.received.rate = parse_data(rate, line);
        }
        _ => return false,
    }
    true
}

/// Derives the number of requests, which is the sum of the classes. Requests without a status failed.
fn derive_counts(block: &mut Block) {
    if block.sampled.is_none() {
        block.missing.push("HTTP codes");
        return;
    }
    let total: f64 = block.statuses.iter().map(|(_, count)| count.value).sum();
    let line = block
        .statuses
        .first()
        .map_or(block.first_line, |(_, count)| count.line);
    block.requests = Some(Quantity::exact(total, Unit::Count, line));
    let others = block.statuses.iter().find(|(name, _)| name == "others");
    if let Some((failed, line)) = others.map(|(_, count)| (count.value, count.line)) {
        block.set_failed(failed, line);
    }
}
