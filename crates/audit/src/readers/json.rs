//! Reads JSON results: a file that is one JSON document, or objects between other lines.

use serde_json::Value;

use super::{
    BOUNDARY, Line, gcannon, ghz, httparena, iperf3, k6_json, oha, public_json, vegeta, zrk,
};
use crate::MAX_BLOCKS;
use crate::block::Block;

/// Maximum number of objects to try in a sequence of lines.
const MAX_OBJECTS: usize = 2000;

/// Every JSON result among the lines.
pub fn read(lines: &[Line]) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut at = 0;
    let mut tried = 0;
    while at < lines.len() && tried < MAX_OBJECTS && blocks.len() <= MAX_BLOCKS {
        let start = lines[at].text.trim();
        if !(start == "{" || start.starts_with("{\"") || start.starts_with("{ \"")) {
            at += 1;
            continue;
        }
        tried += 1;
        let end = object_line_count(&lines[at..]) + at;
        for value in parse_values(&lines[at..end]) {
            blocks.extend(read_known_format(
                &value,
                lines[at].number,
                lines[end - 1].number,
            ));
        }
        at = end.max(at + 1);
    }
    blocks
}

/// The number of lines of the object that starts at the first line.
fn object_line_count(lines: &[Line]) -> usize {
    let mut depth = 0_i64;
    let (mut in_string, mut escaped) = (false, false);
    for (at, line) in lines.iter().enumerate() {
        if line.text == BOUNDARY {
            return at.max(1);
        }
        for letter in line.text.chars() {
            match letter {
                _ if escaped => escaped = false,
                '\\' if in_string => escaped = true,
                '"' => in_string = !in_string,
                '{' | '[' if !in_string => depth += 1,
                '}' | ']' if !in_string => depth -= 1,
                _ => {}
            }
        }
        in_string = false;
        if depth <= 0 {
            return at + 1;
        }
    }
    lines.len()
}

/// Parses the JSON values in these lines. Repairs trailing commas and a missing end.
fn parse_values(lines: &[Line]) -> Vec<Value> {
    let text: String = lines.iter().flat_map(|line| [line.text, "\n"]).collect();
    // A comma follows each element of an array.
    let text = text.trim_end().trim_end_matches(',');
    let whole: Result<Vec<Value>, _> = serde_json::Deserializer::from_str(text)
        .into_iter::<Value>()
        .take(MAX_BLOCKS + 1)
        .collect();
    match whole {
        Ok(values) => values,
        Err(_) if text.len() < 1 << 20 => serde_json::from_str(&repair_brackets(text))
            .into_iter()
            .collect(),
        Err(_) => Vec::new(),
    }
}

/// Removes commas in front of closing brackets, and closes the brackets that are still open at the end.
fn repair_brackets(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut open = Vec::new();
    let (mut in_string, mut escaped) = (false, false);
    for letter in text.chars() {
        if in_string {
            match letter {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '"' => in_string = false,
                _ => {}
            }
            out.push(letter);
            continue;
        }
        match letter {
            '"' => in_string = true,
            '{' => open.push('}'),
            '[' => open.push(']'),
            '}' | ']' => {
                let end = out.trim_end().trim_end_matches(',').len();
                out.truncate(end);
                open.pop();
            }
            _ => {}
        }
        out.push(letter);
        if open.len() > 128 {
            return String::new();
        }
    }
    if !open.is_empty() {
        let end = out.trim_end().trim_end_matches(',').len();
        out.truncate(end);
        out.extend(open.iter().rev());
    }
    out
}

fn read_known_format(value: &Value, first: usize, last: usize) -> Vec<Block> {
    let one = [
        k6_json::read,
        vegeta::read_json,
        iperf3::read_json,
        oha::read_json,
        ghz::read_json,
        public_json::read_autocannon,
        public_json::read_bombardier,
        gcannon::read_json,
        zrk::read_json,
    ]
    .into_iter()
    .find_map(|reader| reader(value, first));
    let mut blocks: Vec<Block> = one.into_iter().collect();
    if blocks.is_empty() {
        blocks = httparena::read_json(value, first);
    }
    if blocks.is_empty() {
        blocks = public_json::read_tables(value, first);
    }
    for block in &mut blocks {
        block.last_line = last;
    }
    blocks
}
