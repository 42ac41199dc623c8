//! Reads `hey`. `oha` and `ghz` adopted its layout; [`Summary`] reads the common part.

use super::{BOUNDARY, Line};
use crate::block::{Block, Bucket, Model, Role, Tool, Trend};
use crate::quantity::{Quantity, Unit, parse_duration, parse_unitless};

pub fn read(lines: &[Line]) -> Vec<Block> {
    read_summaries(lines, Tool::Hey, |summary| {
        let timed = summary.contains("Fastest:");
        // An author may have kept only some parts of the output.
        let short = summary.contains("Requests/sec:") && summary.contains("distribution:")
            || summary.contains("Latency distribution:") && summary.contains(" secs");
        (timed || short) && !summary.contains("Success rate:") && !summary.contains("Count:")
    })
}

/// Returns the blocks whose first lines `is` recognizes as output of `tool`. A block starts at
/// `Summary:`, or at its first figure if that heading is missing.
pub fn read_summaries(lines: &[Line], tool: Tool, is: fn(&str) -> bool) -> Vec<Block> {
    let starts: Vec<usize> = (0..lines.len())
        .filter(|at| is_summary_start(lines, *at))
        .collect();
    let mut blocks = Vec::new();
    for (at, start) in starts.iter().enumerate() {
        let until = starts.get(at + 1).copied().unwrap_or(lines.len());
        let mut own = &lines[*start..until];
        if let Some(boundary) = own.iter().position(|line| line.text == BOUNDARY) {
            own = &own[..boundary];
        }
        let top: String = own
            .iter()
            .take(12)
            .flat_map(|line| [line.text, "\n"])
            .collect();
        if is(&top) {
            blocks.extend(read_summary(own, tool));
        }
    }
    blocks
}

/// Whether a summary starts at this line: at its heading, or at its first figure if an author
/// omitted the heading.
fn is_summary_start(lines: &[Line], at: usize) -> bool {
    let text = lines[at].text.trim();
    if text == "Summary:" {
        return true;
    }
    // The author kept only the percentiles and the status codes of the summary.
    if text == "Latency distribution:" {
        let above = lines[..at].iter().rev().take(60);
        let mut above = above
            .map(|line| line.text.trim())
            .take_while(|text| *text != BOUNDARY);
        return !above.any(|text| {
            ["Summary:", "Total:", "Requests/sec", "Fastest", "Average"]
                .iter()
                .any(|label| text.starts_with(label))
        });
    }
    if !["Total:", "Count:", "Success rate:"]
        .iter()
        .any(|label| text.starts_with(label))
    {
        return false;
    }
    let headed = lines[at.saturating_sub(4)..at].iter().any(|line| {
        let text = line.text.trim();
        ["Summary:", "Total:", "Count:", "Success rate:"]
            .iter()
            .any(|label| text.starts_with(label))
    });
    let slowest = lines[at + 1..]
        .iter()
        .take(3)
        .any(|line| line.text.trim().starts_with("Slowest:"));
    !headed && slowest
}

fn read_summary(lines: &[Line], tool: Tool) -> Option<Block> {
    let first = lines.first()?.number;
    let mut block = Block::new(tool, layout_name(tool), first);
    block.model = Model::Closed;
    block.no_think_time = true;
    let mut trend = Trend::new(Role::Request, "response time", first);
    let mut section = "Summary:";
    for line in lines {
        let text = line.text.trim();
        let number = line.number;
        if text.starts_with("Details") {
            section = "Details:";
            continue;
        }
        if text.ends_with(':') && !text.starts_with('[') {
            section = text;
            continue;
        }
        let known = match section {
            "Summary:" => read_figure(&mut block, &mut trend, text, number),
            "Details:" => read_detail(&mut block, text, number),
            "Latency distribution:" | "Response time distribution:" => {
                read_quantile(&mut trend, text, number)
            }
            "Response time histogram:" => read_bar(&mut block, text, number),
            "Status code distribution:" => read_status(&mut block, text, number),
            "Error distribution:" => {
                let some = text.starts_with('[');
                if some {
                    block.errors.push((text.to_owned(), number));
                }
                some
            }
            _ => false,
        };
        if known {
            block.last_line = number;
        }
    }
    trend.line = trend.mean.as_ref().map_or(first, |mean| mean.line);
    block.trends.insert(0, trend);
    derive_request_count(&mut block);
    let of_parts = tool == Tool::Hey
        && !block.statuses.is_empty()
        && block
            .latency()
            .is_some_and(|latency| !latency.quantiles.is_empty());
    (block.rate.is_some() || of_parts).then_some(block)
}

/// hey keeps the status and the time of at most a million responses, but its rate and its mean
/// cover all of them.
const MAX_SAMPLES: f64 = 1e6;

/// Derives the number of responses from the status codes or from other figures.
fn derive_request_count(block: &mut Block) {
    if block.requests.is_some() {
        return;
    }
    let line = block.first_line;
    let bars: f64 = block.histogram.iter().map(|bucket| bucket.count).sum();
    if !block.statuses.is_empty() {
        let responses: f64 = block.statuses.iter().map(|(_, count)| count.value).sum();
        if block.tool == Tool::Hey && responses == MAX_SAMPLES {
            block.sampled = Some(responses);
        } else {
            block.requests = Some(Quantity::exact(responses, Unit::Count, line));
            return;
        }
    } else {
        block.missing.push("Status code distribution");
    }
    if block.sampled.is_none() && bars > 0.0 && bars != MAX_SAMPLES && !block.histogram_cut {
        block.requests = Some(Quantity::exact(bars, Unit::Count, line));
    } else if let (Some(rate), Some(elapsed)) = (&block.rate, &block.elapsed) {
        block.requests = Some(Quantity {
            step: elapsed.step * rate.value + 1.0,
            ..Quantity::exact((rate.value * elapsed.value).round(), Unit::Count, line)
        });
    }
}

fn layout_name(tool: Tool) -> &'static str {
    match tool {
        Tool::Oha => "oha text",
        Tool::Ghz => "ghz text",
        _ => "hey text",
    }
}

/// `Slowest:  0.0106 secs`
fn read_figure(block: &mut Block, trend: &mut Trend, text: &str, line: usize) -> bool {
    let Some((label, value)) = text.split_once(':') else {
        return false;
    };
    // Boom, the predecessor of hey, printed a period after times. Authors may add emphasis to figures.
    let value = value.trim().trim_matches('*');
    let time = || parse_duration(value.trim_end_matches('.'), line);
    match label {
        "Total" => block.elapsed = time(),
        "Slowest" => trend.max = time(),
        "Fastest" => trend.min = time(),
        "Average" => trend.mean = time(),
        "Requests/sec" => block.rate = parse_unitless(value, Unit::Rate, line),
        "Count" => block.requests = parse_unitless(value, Unit::Count, line),
        "Success rate" => block.success = parse_unitless(value, Unit::Share, line),
        "Total data" | "Total Data Received" => {
            block.received.total = value
                .strip_suffix(" bytes")
                .and_then(|bytes| parse_unitless(bytes, Unit::Bytes, line))
                .or_else(|| crate::quantity::parse_data(value, line));
        }
        "Size/request" | "Response Size per Request" => {
            let value = value.replace('*', "");
            let value = value.trim_end_matches('.');
            block.response_bytes = value
                .strip_suffix(" bytes")
                .and_then(|bytes| parse_unitless(bytes, Unit::Bytes, line))
                .or_else(|| crate::quantity::parse_data(value, line));
        }
        _ => return false,
    }
    true
}

/// `DNS+dialup:  0.0000 secs, 0.0062 secs, 0.0106 secs`
fn read_detail(block: &mut Block, text: &str, line: usize) -> bool {
    let Some((label, values)) = text.split_once(':') else {
        return false;
    };
    let figures: Vec<Quantity> = values
        .split(',')
        .filter_map(|value| parse_duration(value, line))
        .collect();
    let [mean, min, max] = &figures[..] else {
        return false;
    };
    let mut trend = Trend::new(Role::Own, label, line);
    trend.mean = Some(mean.clone());
    trend.min = Some(min.clone());
    trend.max = Some(max.clone());
    block.trends.push(trend);
    true
}

/// `95% in 0.0065 secs`, `95 % in 1.51 ms`
fn read_quantile(trend: &mut Trend, text: &str, line: usize) -> bool {
    let Some((percent, figure)) = text.split_once(" in ").or_else(|| text.split_once("%  ")) else {
        return false;
    };
    // An author may have added a remark after the figure.
    let words: Vec<&str> = figure.split_whitespace().take(2).collect();
    let figure = words.join(" ");
    let figure = figure.trim_end_matches('.');
    let percent = percent.trim_end_matches('%').trim_end_matches(" %").trim();
    let (Ok(percent), Some(figure)) = (
        percent.trim_end_matches('%').trim().parse::<f64>(),
        parse_duration(figure, line),
    ) else {
        return false;
    };
    if percent > 0.0 && percent < 100.0 {
        trend.insert_quantile(percent / 100.0, figure);
    }
    true
}

/// A histogram row with the upper end and the count of a bucket: `0.007 [1193]  |■■■` in hey,
/// `7.781 ms [2089] |■■■` in oha. Without any response, oha prints `NaN ns`.
fn read_bar(block: &mut Block, text: &str, line: usize) -> bool {
    if text == "..." || text == "…" {
        block.histogram_cut = true;
        return true;
    }
    let (Some(open), Some(close)) = (text.find('['), text.find(']')) else {
        return false;
    };
    if close < open {
        return false;
    }
    let label = text[..open].trim();
    let upper = match label.parse::<f64>() {
        Ok(seconds) => Some(seconds),
        Err(_) => parse_duration(label, line).map(|upper| upper.value),
    };
    let (Some(upper), Some(count)) = (
        upper.filter(|upper| upper.is_finite()),
        parse_unitless(&text[open + 1..close], Unit::Count, line),
    ) else {
        return false;
    };
    let lower = block.histogram.last().map_or(0.0, |bucket| bucket.upper);
    block.histogram.push(Bucket {
        lower,
        upper,
        count: count.value,
        share: None,
        line,
    });
    true
}

/// `[200]  1243 responses`
fn read_status(block: &mut Block, text: &str, line: usize) -> bool {
    let Some((code, rest)) = text.strip_prefix('[').and_then(|rest| rest.split_once(']')) else {
        return false;
    };
    let Some(count) = rest
        .split_whitespace()
        .next()
        .and_then(|count| parse_unitless(count, Unit::Count, line))
    else {
        return false;
    };
    block.statuses.push((code.to_owned(), count));
    true
}
