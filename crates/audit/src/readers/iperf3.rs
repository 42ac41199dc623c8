//! Reads an `iperf3` client, as text and JSON (`-J`). Bytes have binary prefixes, bits have decimal ones.

use serde_json::Value;

use super::{BOUNDARY, Line};
use crate::block::{Block, Tool};
use crate::quantity::{Quantity, Unit, parse_binary_data, parse_data, parse_number};

pub fn read(lines: &[Line]) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut open = false;
    for line in lines {
        let text = line.text.trim();
        if text == BOUNDARY {
            open = false;
        }
        // The output may consist of only the final rows, for example after `tail`.
        let closing =
            text.starts_with('[') && (text.ends_with("sender") || text.ends_with("receiver"));
        if closing && !open {
            blocks.push(Block::new(Tool::Iperf3, "iperf3 text", line.number));
            open = true;
        }
        if let Some(target) = text.strip_prefix("Connecting to host ") {
            let mut block = Block::new(Tool::Iperf3, "iperf3 text", line.number);
            block.target = Some(target.to_owned());
            blocks.push(block);
            open = true;
            continue;
        }
        let Some(block) = blocks.last_mut().filter(|_| open) else {
            continue;
        };
        if text.starts_with("iperf Done") || text.starts_with("[ ID]") {
            block.last_line = line.number;
        }
        if text.starts_with("iperf Done") {
            open = false;
            continue;
        }
        read_row(block, text, line.number);
    }
    blocks.retain(|block| block.sent.rate.is_some() || block.received.rate.is_some());
    blocks
}

/// `[  5]   0.00-10.00  sec  1.09 GBytes   933 Mbits/sec    0   sender`. The final rows are the
/// result. The rule `unit-mismatch` checks every row.
fn read_row(block: &mut Block, text: &str, line: usize) {
    let Some(rest) = text.strip_prefix('[') else {
        return;
    };
    let Some((id, rest)) = rest.split_once(']') else {
        return;
    };
    let words: Vec<&str> = rest.split_whitespace().collect();
    let [interval, "sec", total, unit, rate, rate_unit, ..] = words[..] else {
        return;
    };
    let Some((from, to)) = interval.split_once('-') else {
        return;
    };
    let (Some((from, _)), Some((to, step))) = (parse_number(from), parse_number(to)) else {
        return;
    };
    let total = parse_binary_data(&format!("{total} {unit}"), line);
    let rate = parse_data(&format!("{rate} {rate_unit}"), line);
    if total.is_none() || rate.is_none() {
        return;
    }
    block.last_line = line;
    let ending = words.last().copied().unwrap_or_default();
    let summed = id.trim() == "SUM";
    let side = match ending {
        "sender" => &mut block.sent,
        "receiver" => &mut block.received,
        // Truncated output has no final rows, so use the sum over the longest interval.
        _ if summed && block.sent.time.is_none_or(|time| time < to - from) => &mut block.sent,
        _ => return,
    };
    // With several streams, the sum comes last and replaces them.
    if side.total.is_none() || summed {
        side.total = total;
        side.rate = rate;
        side.time = Some(to - from);
        block.elapsed = Some(Quantity {
            value: to - from,
            unit: Unit::Time,
            step,
            text: format!("{interval} sec"),
            line,
        });
    }
}

/// Reads the JSON that `-J` prints.
pub fn read_json(value: &Value, line: usize) -> Option<Block> {
    value.get("start")?;
    let end = value.get("end")?;
    let mut block = Block::new(Tool::Iperf3, "iperf3 JSON", line);
    let host = value.pointer("/start/connecting_to/host");
    block.target = host.and_then(Value::as_str).map(str::to_owned);
    let number = |path: &str| end.pointer(path).and_then(Value::as_f64);
    let exact = |value: f64, unit| Quantity::exact(value, unit, line);
    let sums = [
        ["/sum_sent/bytes", "/sum_sent/bits_per_second"],
        ["/sum_received/bytes", "/sum_received/bits_per_second"],
    ];
    for (side, [bytes, rate]) in [&mut block.sent, &mut block.received].into_iter().zip(sums) {
        side.total = number(bytes).map(|n| exact(n, Unit::Bytes));
        side.rate = number(rate).map(|n| exact(n, Unit::BitRate));
    }
    block.elapsed = number("/sum_sent/seconds").map(|n| exact(n, Unit::Time));
    block.declared = value
        .pointer("/start/test_start/duration")
        .and_then(Value::as_f64)
        .filter(|seconds| *seconds > 0.0)
        .map(|n| exact(n, Unit::Time));
    (block.sent.rate.is_some() || block.received.rate.is_some()).then_some(block)
}
