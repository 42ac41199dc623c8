//! "120K requests per second with h2load" on a page whose outputs of that tool all have another rate.

use super::words::is_of_another_run;
use crate::block::{Block, Tool};
use crate::document::Prose;
use crate::finding::Level;
use crate::pattern::{Pattern, group, pattern};
use crate::quantity::{format_number, parse_number};
use crate::report::{Findings, Report};
use crate::rules::prose::{is_conditional, shorten};

static RATE: Pattern = pattern!(
    r"(?i)(?:^|[^\w.,])(about |around |~|≈|over |more than |nearly |almost )?(\d[\d,]*(?:\.\d+)?)\s?(k?)\s?(?:tps|rps|qps|req(?:uest)?s?\s?(?:/|per )\s?s(?:ec(?:ond)?)?)\b"
);

/// The sentence must name the tool, and the page must have exactly one output, from that tool.
pub fn check_sentence(report: &Report, prose: &Prose, sentence: &str, findings: &mut Findings) {
    let [first, ..] = &report.blocks[..] else {
        return;
    };
    let tool = first.tool;
    let lower = sentence.to_lowercase();
    let named = lower
        .split(|letter: char| !(letter.is_alphanumeric() || letter == '_'))
        .any(|word| word == tool.name());
    if !named || is_conditional(sentence) || is_of_another_run(sentence) || tool == Tool::K6 {
        return;
    }
    let rated = |block: &Block| block.tool == tool && block.rate.is_some();
    // With several outputs, the sentence may refer to a sum, or to the best of several runs.
    if report.blocks.len() != 1 || !report.blocks.iter().all(rated) {
        return;
    }
    let mut found = RATE.all(sentence);
    let (Some(found), None) = (found.next(), found.next()) else {
        return;
    };
    let group = |at: usize| group(&found, at);
    let Some((value, step)) = parse_number(group(2)) else {
        return;
    };
    let scale = if group(3).is_empty() { 1.0 } else { 1e3 };
    let (claimed, step) = (value * scale, step * scale);
    let Some(rate) = first.rate.as_ref().filter(|rate| rate.value > 0.0) else {
        return;
    };
    let share = if group(1).is_empty() { 0.05 } else { 0.15 };
    if (claimed - rate.value).abs() <= step + share * rate.value {
        return;
    }
    // Another number on the page may be the rate of a run that is printed differently.
    let elsewhere = report.document.tables.iter().any(|table| {
        let mut cells = table.rows.iter().flat_map(|(_, row)| row);
        cells.any(|cell| {
            parse_number(cell.trim().trim_matches(['*', '`']))
                .is_some_and(|(value, _)| (value - claimed).abs() <= 0.05 * claimed)
        })
    });
    if elsewhere {
        return;
    }
    findings.block(
        "stale-prose",
        Level::Warning,
        first,
        prose.line,
        [
            format!(
                "\"{}\"; the only output of {} has {} (line {})",
                shorten(sentence),
                tool.name(),
                rate.text,
                rate.line
            ),
            format!(
                "{} ÷ {} = {:.2}",
                format_number(claimed),
                rate.text,
                claimed / rate.value
            ),
            "Copy the rate from the output, or show the run that reached it.".to_owned(),
        ],
    );
}
