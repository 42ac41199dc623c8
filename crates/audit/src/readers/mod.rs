//! Readers, one a tool: the lines of a region in, blocks out. None of them fails: a
//! line that is not understood is not a figure.

mod ab;
mod ghz;
mod h2load;
mod hey;
mod iperf3;
mod k6_json;
mod k6_text;
mod oha;
mod vegeta;
mod wrk;

use crate::MOST_BLOCKS;
use crate::block::Block;

/// A line of text with its number in the file, counted from 1.
#[derive(Clone, Copy, Debug)]
pub struct Line<'a> {
    pub number: usize,
    pub text: &'a str,
}

/// Every block in a run of lines, in the order of the lines.
pub fn read(lines: &[Line]) -> Vec<Block> {
    if let Some(blocks) = read_json(lines) {
        return blocks;
    }
    let mut blocks = Vec::new();
    for reader in [
        k6_text::read,
        vegeta::read,
        iperf3::read,
        wrk::read,
        oha::read,
        hey::read,
        ab::read,
        ghz::read,
        h2load::read,
    ] {
        blocks.extend(reader(lines));
    }
    blocks.sort_by_key(|block| block.first_line);
    blocks
}

/// A region that is one JSON value, of a tool that we know.
fn read_json(lines: &[Line]) -> Option<Vec<Block>> {
    let first = lines.iter().find(|line| !line.text.trim().is_empty())?;
    if !first.text.trim_start().starts_with('{') {
        return None;
    }
    let text: String = lines.iter().flat_map(|line| [line.text, "\n"]).collect();
    // One object, or one a line.
    let mut blocks = Vec::new();
    for value in serde_json::Deserializer::from_str(&text).into_iter::<serde_json::Value>() {
        let value = value.ok()?;
        let last = lines.last().map_or(first.number, |line| line.number);
        let known = [
            k6_json::read,
            vegeta::read_json,
            iperf3::read_json,
            oha::read_json,
            ghz::read_json,
        ]
        .into_iter()
        .find_map(|reader| reader(&value, first.number));
        if let Some(mut block) = known {
            block.last_line = last;
            blocks.push(block);
        }
        if blocks.len() > MOST_BLOCKS {
            break;
        }
    }
    (!blocks.is_empty()).then_some(blocks)
}

/// `Label:   value` after the label, if the line begins with it.
fn after<'a>(line: &'a str, label: &str) -> Option<&'a str> {
    line.trim_start()
        .strip_prefix(label)
        .map(|rest| rest.trim_start_matches([':', ' ', '\t']).trim_end())
}
