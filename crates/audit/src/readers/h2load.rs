//! Reads `h2load`: clients, streams and the negotiated protocol, but no percentiles.

use super::{BOUNDARY, Line, text_after_label};
use crate::block::{Block, Model, Role, Tally, Tool, Trend};
use crate::quantity::{Quantity, Unit, parse_binary_data, parse_duration, parse_unitless};

pub fn read(lines: &[Line]) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let (mut open, mut clients) = (false, None);
    for line in lines {
        let text = line.text.trim();
        if text == BOUNDARY {
            open = false;
        }
        if text.starts_with("spawning thread #") {
            clients = text.split(": ").nth(1).and_then(|rest| {
                parse_unitless(rest.split_whitespace().next()?, Unit::Count, line.number)
            });
        }
        if let Some(rest) = text.strip_prefix("finished in ") {
            let mut block = Block::new(Tool::H2load, "h2load text", line.number);
            block.model = Model::Closed;
            block.no_think_time = true;
            block.users = clients.take();
            read_finished_line(&mut block, rest, line.number);
            blocks.push(block);
            open = true;
            continue;
        }
        if let Some(block) = blocks.last_mut().filter(|_| open)
            && read_row(block, text, line.number)
        {
            block.last_line = line.number;
        }
    }
    blocks.retain(|block| block.requests.is_some());
    blocks
}

/// `1.08s, 185.41 req/s, 16.96KB/s`
fn read_finished_line(block: &mut Block, text: &str, line: usize) {
    let mut parts = text.split(", ");
    block.elapsed = parts.next().and_then(|part| parse_duration(part, line));
    block.rate = parts
        .next()
        .and_then(|part| parse_unitless(part, Unit::Rate, line));
    block.received.rate = parts.next().and_then(|part| parse_binary_data(part, line));
}

fn read_row(block: &mut Block, text: &str, line: usize) -> bool {
    if let Some(value) = text_after_label(text, "requests:") {
        let part = |name: &str| {
            value.split(", ").find_map(|part| {
                let (count, label) = part.split_once(' ')?;
                label
                    .starts_with(name)
                    .then(|| parse_unitless(count, Unit::Count, line))?
            })
        };
        block.requests = part("done");
        let (failed, errored, timeout) = (part("failed"), part("errored"), part("timeout"));
        let count = |figure: &Option<Quantity>| figure.as_ref().map_or(0.0, |n| n.value);
        if let Some(good) = part("succeeded") {
            block.failures = Some(Tally {
                passed: good.value,
                failed: count(&failed),
                share: None,
                line,
                inverted: false,
            });
        }
        // Requests without a response, including timeouts.
        block.lost = errored.clone().filter(|errored| errored.value > 0.0);
        if count(&errored) + count(&timeout) > 0.0 {
            block.errors.push((value.to_owned(), line));
        }
    } else if let Some(value) = text_after_label(text, "status codes:") {
        for part in value.split(", ") {
            if let Some((count, class)) = part.split_once(' ')
                && let Some(count) =
                    parse_unitless(count, Unit::Count, line).filter(|count| count.value > 0.0)
            {
                block.statuses.push((class.to_owned(), count));
            }
        }
    } else if let Some(value) = text_after_label(text, "time for request:") {
        block.trends.insert(
            0,
            parse_min_max_mean(Role::Request, "time for request", value, line),
        );
    } else if let Some(value) = text_after_label(text, "time for connect:") {
        // h2load measures one connect per client, not one per request.
        block.trends.push(parse_min_max_mean(
            Role::Own,
            "time for connect",
            value,
            line,
        ));
    } else {
        return false;
    }
    true
}

fn parse_min_max_mean(role: Role, name: &str, value: &str, line: usize) -> Trend {
    let mut trend = Trend::new(role, name, line);
    let mut figures = value
        .split_whitespace()
        .map(|word| parse_duration(word, line));
    trend.min = figures.next().flatten();
    trend.max = figures.next().flatten();
    trend.mean = figures.next().flatten();
    trend
}
