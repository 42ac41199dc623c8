//! Reads `wrk`, `wrk2` and similar tools. Their kB are 1024 bytes.

use super::{BOUNDARY, Line, text_after_label, zrk};
use crate::block::{Block, Model, Role, SocketErrors, Tool, Trend};
use crate::pattern::{Pattern, pattern};
use crate::quantity::{Unit, parse_binary_data, parse_duration, parse_unitless};

static PART: Pattern = pattern!(
    r"\s(?:Running \d+[smh] test @ |\d+ threads and \d|Thread (?:calibration: |Stats )|Latency |Req/Sec |\d+(?:\.\d+)?%\s+\d[\d.]*(?:us|ms|s|m)\b|\d+ requests in |Socket errors: |Non-2xx |(?:Requests|Transfer)/sec:)"
);

/// Restores the rows of a run that lost its line breaks, as on a page without preformatted text.
fn split_rows<'a>(line: &Line<'a>) -> Vec<Line<'a>> {
    let folded = line.text.contains(" test @ ") && line.text.contains(" requests in ");
    if !folded {
        return vec![*line];
    }
    let mut starts = vec![0];
    starts.extend(
        PART.all(line.text)
            .filter_map(|part| Some(part.get(0)?.start())),
    );
    starts.push(line.text.len());
    let rows = starts
        .windows(2)
        .filter_map(|ends| line.text.get(ends[0]..ends[1]));
    rows.map(|text| Line { text, ..*line }).collect()
}

pub fn read(lines: &[Line]) -> Vec<Block> {
    let lines: Vec<Line> = lines.iter().flat_map(split_rows).collect();
    let mut blocks: Vec<Block> = Vec::new();
    // Whether the last block may still get more rows.
    let mut open = false;
    for (at, line) in lines.iter().enumerate() {
        let text = line.text.trim();
        if text == BOUNDARY {
            // A table may separate the parts of one block.
            open = open && blocks.last().is_some_and(|block| block.rate.is_none());
            continue;
        }
        if text.starts_with("Running ") && text.contains(" test @ ") {
            if zrk::has_header(&lines[at..]) {
                open = false;
                continue;
            }
            let mut block = new_block(line.number);
            if let Some((time, url)) = text["Running ".len()..].split_once(" test @ ") {
                block.declared = parse_duration(time, line.number);
                block.target = Some(url.to_owned());
            }
            blocks.push(block);
            open = true;
            continue;
        }
        let again = |block: &Block| {
            !open || block.rate.is_some() || (begins_latency(text) && !block.trends.is_empty())
        };
        // gcannon prints percentiles in this row.
        let stats = text.starts_with("Thread Stats") && !text.contains(" p50 ");
        let headed = is_connections(text) || stats;
        let done = blocks
            .last()
            .is_none_or(|block| !open || block.rate.is_some());
        if (headed && done) || (begins_latency(text) && blocks.last().is_none_or(again)) {
            blocks.push(new_block(line.number));
            open = true;
        }
        if let Some(block) = blocks.last_mut().filter(|_| open)
            && read_row(block, text, line.number)
        {
            block.last_line = line.number;
        }
    }
    blocks.retain(|block| {
        let whole = block.requests.is_some() && block.rate.is_some();
        whole
            || !block.trends.is_empty()
                && (block.users.is_some()
                    || block.requests.is_some()
                    || block.trends.iter().any(|trend| trend.max.is_some()))
    });
    for block in &mut blocks {
        if block.requests.is_none() {
            block.missing.push("requests in … read");
        }
        if block.rate.is_none() {
            block.missing.push("Requests/sec");
        }
        // Without any sample, wrk prints `0.00us  0.00us  0.00us  nan%`.
        block.trends.retain(|trend| {
            let nothing = |figure: &Option<crate::quantity::Quantity>| {
                figure.as_ref().is_none_or(|figure| figure.value == 0.0)
            };
            !(nothing(&trend.mean) && nothing(&trend.max) && trend.quantiles.is_empty())
        });
    }
    blocks
}

fn new_block(line: usize) -> Block {
    let mut block = Block::new(Tool::Wrk, "wrk text", line);
    block.model = Model::Closed;
    block.no_think_time = true;
    block
}

/// `2 threads and 10 connections`
fn is_connections(text: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().take(6).collect();
    matches!(words[..], [_, "threads", "and", _, "connections"])
}

/// `Latency   9.03ms   27.60ms 275.16ms   92.96%`
fn begins_latency(text: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().take(6).collect();
    matches!(words[..], ["Latency", mean, _, max, share] if share.ends_with('%')
        && parse_duration(mean, 0).is_some() && parse_duration(max, 0).is_some())
}

fn read_row(block: &mut Block, text: &str, line: usize) -> bool {
    let words: Vec<&str> = text.split_whitespace().take(16).collect();
    match words[..] {
        [threads, "threads", "and", connections, "connections"] => {
            block.users = parse_unitless(connections, Unit::Count, line);
            block.threads = threads.parse().ok();
        }
        ["Latency", mean, _, max, ..] if parse_duration(mean, line).is_some() => {
            let mut trend = Trend::new(Role::Request, "Latency", line);
            trend.mean = parse_duration(mean, line);
            trend.max = parse_duration(max, line);
            block.trends.push(trend);
        }
        ["Latency", "Distribution", ..] => {
            if text.contains("HdrHistogram") {
                mark_as_wrk2(block);
            }
        }
        ["Thread", "calibration:", ..] => mark_as_wrk2(block),
        [percent, figure] if percent.ends_with('%') => {
            let percent = percent.trim_end_matches('%').parse::<f64>().ok();
            let (Some(percent), Some(figure)) = (percent, parse_duration(figure, line)) else {
                return false;
            };
            let uncorrected = block.trends.len() > 1;
            if let Some(trend) = block.trends.first_mut().filter(|_| !uncorrected)
                && percent < 100.0
                && percent > 0.0
                && trend.at(percent / 100.0).is_none()
            {
                trend.insert_quantile(percent / 100.0, figure);
            }
        }
        [requests, "requests", "in", _, _, "read"] if block.requests.is_some() => {
            let known = block.requests.as_ref().map_or("", |known| &known.text);
            let twice = format!("two counts of requests in one output: {known} and {requests}");
            block.orphan_rows.push((twice, line));
        }
        [requests, "requests", "in", time, size, "read"] => {
            block.requests = parse_unitless(requests, Unit::Count, line);
            block.elapsed = parse_duration(time.trim_end_matches(','), line);
            block.received.total = parse_binary_data(size, line);
        }
        // The first line of this kind covers the same samples as the row `Latency`.
        ["#[Mean", "=", mean, ..] if block.repeated_mean.is_none() => {
            block.repeated_mean =
                parse_duration(&format!("{}ms", mean.trim_end_matches(',')), line);
        }
        // wrk2 discards its measurements during calibration: it prints `#[Max     =       11.312,
        // Total count    =        39500]` for 60,031 requests. The first such line describes the
        // corrected distribution.
        ["#[Max", "=", _, "Total", "count", "=", count] => {
            if let Some(count) = parse_unitless(count.trim_end_matches(']'), Unit::Count, line) {
                block.sampled.get_or_insert(count.value);
            }
        }
        ["Requests/sec:", rate] => block.rate = parse_unitless(rate, Unit::Rate, line),
        ["Transfer/sec:", rate] => {
            let size = parse_binary_data(rate, line);
            block.received.rate = size.map(|mut size| {
                size.unit = Unit::ByteRate;
                size
            });
        }
        ["Non-2xx", "or", "3xx", "responses:", count] => {
            if let Some(count) = parse_unitless(count, Unit::Count, line) {
                block.set_failed(count.value, line);
                block.statuses.push(("non-2xx".to_owned(), count));
            }
        }
        _ => match text_after_label(text, "Socket errors:") {
            Some(errors) => read_socket_errors(block, errors, line),
            None => return false,
        },
    }
    true
}

/// `connect 0, read 150, write 6, timeout 1915`
fn read_socket_errors(block: &mut Block, text: &str, line: usize) {
    let mut errors = SocketErrors {
        line,
        ..SocketErrors::default()
    };
    for part in text.split(',') {
        let Some((name, count)) = part.trim().split_once(' ') else {
            continue;
        };
        let Ok(count) = count.trim_matches([' ', '*']).parse::<f64>() else {
            continue;
        };
        match name {
            "connect" => errors.connect = count,
            "read" => errors.read = count,
            "write" => errors.write = count,
            "timeout" => errors.timeout = count,
            _ => {}
        }
    }
    block.sockets = Some(errors);
    block.errors.push((text.to_owned(), line));
}

fn mark_as_wrk2(block: &mut Block) {
    block.tool = Tool::Wrk2;
    block.layout = "wrk2 text";
    block.model = Model::Open;
}
