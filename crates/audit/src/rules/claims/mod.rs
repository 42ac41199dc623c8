//! Compares claims in sentences and cells with each other and with the blocks. A claim produces no
//! finding if its subject is uncertain.

mod adjacent_numbers;
mod advantage;
mod arithmetic;
mod before_after;
mod change_column;
mod changes;
mod criteria;
mod data;
mod duration;
mod errors;
mod expression;
mod fraction;
mod from_to;
mod list_length;
mod met_limits;
mod met_range;
mod mix;
mod named_outputs;
mod named_values;
mod objective;
mod per_item;
mod quantile;
mod repeated_output;
mod request_time;
mod rows;
mod slight;
mod started_users;
mod steps;
mod sum;
mod tool_rate;
mod total;
mod trailing_name;
mod two_figures;
mod words;

use crate::block::Block;
use crate::document::Prose;
use crate::finding::Level;
use crate::report::{Findings, Report};
use crate::rules::prose::shortened;

/// What to do about a share or a change that does not match its figures.
const BASE: &str = "Recalculate it from the two figures, and state the base of the percentage.";

/// Maximum number of sentences to check.
const MAX_SENTENCES: usize = 4000;

/// Shares and factors that contradict the figures next to them.
pub fn ratios(report: &Report, findings: &mut Findings) {
    for (prose, sentence) in sentences(report) {
        fraction::sentence(sentence, prose.line, findings);
        named_outputs::sentence(report, sentence, prose.line, findings);
        advantage::sentence(report, sentence, prose.line, findings);
        changes::sentence(sentence, prose.line, findings);
        two_figures::sentence(sentence, prose.line, findings);
    }
    before_after::lines(report, findings);
    for table in report.document.tables.iter().take(200) {
        change_column::table(table, findings);
    }
}

/// "No errors" next to a block with errors.
pub fn errors_denied(report: &Report, findings: &mut Findings) {
    for (prose, sentence) in sentences(report) {
        errors::sentence(report, prose, sentence, findings);
        errors::counted(report, prose, sentence, findings);
    }
}

/// Limits that a nearby figure exceeds.
pub fn objectives(report: &Report, findings: &mut Findings) {
    for (prose, sentence) in sentences(report) {
        objective::sentence(sentence, prose.line, findings);
        met_range::sentence(sentence, prose.line, findings);
    }
    for table in report.document.tables.iter().take(200) {
        objective::table(table, findings);
    }
}

/// Minimum rates and other limits that every output misses, and rates below an output with another rate.
pub fn rates(report: &Report, findings: &mut Findings) {
    objective::rates(report, findings);
    met_limits::check(report, findings);
    criteria::check(report, findings);
    adjacent_numbers::rates(report, findings);
}

/// Sentences whose own figures contradict each other.
pub fn arithmetic(report: &Report, findings: &mut Findings) {
    for (prose, sentence) in sentences(report) {
        arithmetic::sentence(sentence, prose.line, findings);
    }
    expression::lines(report, findings);
}

/// Name-value pairs that differ from the output of their section.
pub fn labelled(report: &Report, findings: &mut Findings) {
    named_values::check(report, findings);
    request_time::lines(report, findings);
    for (prose, sentence) in sentences(report) {
        tool_rate::sentence(report, prose, sentence, findings);
        from_to::sentence(report, sentence, prose.line, findings);
    }
}

/// Amounts of data in a different unit than the output's.
pub fn data(report: &Report, findings: &mut Findings) {
    for (prose, sentence) in sentences(report) {
        data::sentence(report, prose, sentence, findings);
    }
}

/// Cells that differ from the output that their row repeats.
pub fn rows(report: &Report, findings: &mut Findings) {
    rows::check(report, findings);
}

/// Percentiles quoted next to a block with another value.
pub fn quantiles(report: &Report, findings: &mut Findings) {
    for (prose, sentence) in sentences(report) {
        quantile::sentence(report, prose, sentence, findings);
        trailing_name::sentence(report, prose, sentence, findings);
    }
}

/// Claimed durations of a run.
pub fn durations(report: &Report, findings: &mut Findings) {
    duration::lines(report, findings);
    for (prose, sentence) in sentences(report) {
        duration::sentence(report, prose, sentence, findings);
    }
}

/// Claimed numbers of requests, alone or together with failures.
pub fn totals(report: &Report, findings: &mut Findings) {
    total::lines(report, findings);
    steps::stages(report, findings);
    list_length::lines(report, findings);
    mix::lists(report, findings);
    steps::requests(report, findings);
    steps::phases(report, findings);
    adjacent_numbers::requested(report, findings);
    for (prose, sentence) in sentences(report) {
        per_item::sentence(report, sentence, prose.line, findings);
        per_item::threads(report, sentence, prose.line, findings);
        started_users::sentence(report, prose, sentence, findings);
        sum::sentence(report, sentence, prose.line, findings);
        mix::sentence(sentence, prose.line, findings);
    }
    for table in report.document.tables.iter().take(200) {
        started_users::stages(report, table, findings);
    }
}

/// Every sentence outside of tool output, also in cells.
pub fn sentences<'r>(report: &'r Report) -> impl Iterator<Item = (&'r Prose, &'r str)> {
    report
        .prose()
        .chain(&report.document.remarks)
        .flat_map(|prose| {
            super::prose::sentences(&prose.text).map(move |sentence| (prose, sentence))
        })
        .filter(|(_, sentence)| sentence.len() < 1000)
        .take(MAX_SENTENCES)
}

/// Adds a finding about a sentence whose own figures contradict each other.
fn contradiction(
    rule: &'static str,
    sentence: &str,
    line: usize,
    [arithmetic, advice]: [String; 2],
    findings: &mut Findings,
) {
    let quoted = format!("\"{}\"", shortened(sentence));
    findings.page(rule, Level::Warning, line, [quoted, arithmetic, advice]);
}

/// The block to which a sentence refers: the last one above it under the same headings. `None` if
/// it is uncertain.
fn linked<'r>(report: &'r Report, prose: &Prose) -> Option<&'r Block> {
    if report.is_of_unprinted_run(prose.line) {
        return None;
    }
    let under = |block: &&Block| {
        let titles = &block.titles;
        titles.len() >= prose.titles.len() && titles[..prose.titles.len()] == *prose.titles
    };
    let mut own = report
        .blocks
        .iter()
        .filter(|block| block.first_line < prose.line)
        .filter(under);
    let block = own.next()?;
    let below = report
        .blocks
        .iter()
        .any(|block| block.first_line > prose.line && under(&block));
    (own.next().is_none() && !below).then_some(block)
}

/// The last output above a line, under the same headings and without another output in between.
fn nearest_above<'r>(report: &'r Report, line: usize) -> Option<&'r Block> {
    let at = report
        .blocks
        .partition_point(|block| block.first_line <= line);
    let block = report.blocks.get(at.checked_sub(1)?)?;
    let same = duration::headings(report, block.first_line) == duration::headings(report, line);
    (block.last_line < line && same).then_some(block)
}
