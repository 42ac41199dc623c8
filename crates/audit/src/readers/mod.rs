//! One reader per tool: each converts the lines of a section to blocks. Readers do not fail: they
//! ignore lines that they do not recognize.

mod ab;
mod ann_csv;
mod autocannon;
mod bombardier;
mod cleanup;
pub mod command;
mod digit_groups;
mod drill;
mod gcannon;
mod ghz;
mod h2load;
mod hey;
mod httparena;
mod iperf3;
mod jmeter;
mod json;
mod k6_json;
mod k6_table;
mod k6_text;
mod locust;
mod oha;
mod public_json;
mod vegeta;
mod wrk;
mod zrk;

use crate::MAX_BLOCKS;
use crate::block::Block;
use crate::line::{BOUNDARY, Line};

pub use ab::join_parts;
pub use cleanup::{flatten_markup, split_into_sections};
pub use k6_table::read as read_tables;

/// Every block in a sequence of lines, in the order of the lines.
pub fn read(lines: &[Line]) -> Vec<Block> {
    let mut blocks = json::read(lines);
    // A page that consists of JSON contains nothing for the other readers.
    if !blocks.is_empty()
        && lines
            .iter()
            .find(|line| !line.text.trim().is_empty())
            .is_some_and(|line| line.text.trim_start().starts_with('{'))
    {
        return blocks;
    }
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
        bombardier::read,
        autocannon::read,
        drill::read,
        gcannon::read,
        zrk::read,
        jmeter::read,
        locust::read,
        ann_csv::read,
    ] {
        blocks.extend(reader(lines));
        if blocks.len() > MAX_BLOCKS {
            break;
        }
    }
    blocks.sort_by_key(|block| block.first_line);
    blocks
}

/// The text after the label in `Label:   value`, if the line begins with this label.
fn text_after_label<'a>(line: &'a str, label: &str) -> Option<&'a str> {
    line.trim_start()
        .strip_prefix(label)
        .map(|rest| rest.trim_start_matches([':', ' ', '\t']).trim_end())
}
