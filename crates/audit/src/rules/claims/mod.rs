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
mod impossible_share;
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
use crate::rules::prose::shorten;

/// What to do about a share or a change that does not match its figures.
const BASE: &str = "Recalculate it from the two figures, and state the base of the percentage.";

/// Maximum number of sentences to check.
const MAX_SENTENCES: usize = 4000;

/// Shares and factors that contradict the figures next to them.
pub fn check_ratios(report: &Report, findings: &mut Findings) {
    for (prose, sentence) in sentences(report) {
        fraction::check_sentence(sentence, prose.line, findings);
        impossible_share::check_sentence(sentence, prose.line, findings);
        named_outputs::check_sentence(report, sentence, prose.line, findings);
        advantage::check_sentence(report, sentence, prose.line, findings);
        changes::check_sentence(sentence, prose.line, findings);
        two_figures::check_sentence(sentence, prose.line, findings);
    }
    before_after::check_lines(report, findings);
    for table in report.document.tables.iter().take(200) {
        change_column::check_table(table, findings);
    }
}

/// "No errors" next to a block with errors.
pub fn check_denied_errors(report: &Report, findings: &mut Findings) {
    for (prose, sentence) in sentences(report) {
        errors::check_sentence(report, prose, sentence, findings);
        errors::check_counted_errors(report, prose, sentence, findings);
    }
}

/// Limits that a nearby figure exceeds.
pub fn check_objectives(report: &Report, findings: &mut Findings) {
    for (prose, sentence) in sentences(report) {
        objective::check_sentence(sentence, prose.line, findings);
        met_range::check_sentence(sentence, prose.line, findings);
    }
    for table in report.document.tables.iter().take(200) {
        objective::check_table(table, findings);
    }
}

/// Minimum rates and other limits that every output misses, and rates below an output with another rate.
pub fn check_rates(report: &Report, findings: &mut Findings) {
    objective::check_min_rates(report, findings);
    met_limits::check(report, findings);
    criteria::check(report, findings);
    adjacent_numbers::check_rates(report, findings);
}

/// Sentences whose own figures contradict each other.
pub fn check_arithmetic(report: &Report, findings: &mut Findings) {
    for (prose, sentence) in sentences(report) {
        arithmetic::check_sentence(sentence, prose.line, findings);
    }
    expression::check_lines(report, findings);
}

/// Name-value pairs that differ from the output of their section.
pub fn check_labelled_figures(report: &Report, findings: &mut Findings) {
    named_values::check(report, findings);
    request_time::check_lines(report, findings);
    for (prose, sentence) in sentences(report) {
        tool_rate::check_sentence(report, prose, sentence, findings);
        from_to::check_sentence(report, sentence, prose.line, findings);
    }
}

/// Amounts of data in a different unit than the output's.
pub fn check_data(report: &Report, findings: &mut Findings) {
    for (prose, sentence) in sentences(report) {
        data::check_sentence(report, prose, sentence, findings);
    }
}

/// Cells that differ from the output that their row repeats.
pub fn check_rows(report: &Report, findings: &mut Findings) {
    rows::check(report, findings);
}

/// Percentiles quoted next to a block with another value.
pub fn check_quantiles(report: &Report, findings: &mut Findings) {
    for (prose, sentence) in sentences(report) {
        quantile::check_sentence(report, prose, sentence, findings);
        trailing_name::check_sentence(report, prose, sentence, findings);
    }
}

/// Claimed durations of a run.
pub fn check_durations(report: &Report, findings: &mut Findings) {
    duration::check_lines(report, findings);
    for (prose, sentence) in sentences(report) {
        duration::check_sentence(report, prose, sentence, findings);
    }
}

/// Claimed numbers of requests, alone or together with failures.
pub fn check_totals(report: &Report, findings: &mut Findings) {
    total::check_lines(report, findings);
    steps::check_stages(report, findings);
    list_length::check_lines(report, findings);
    mix::check_lists(report, findings);
    steps::check_requests(report, findings);
    steps::check_phases(report, findings);
    adjacent_numbers::check_requested_number(report, findings);
    for (prose, sentence) in sentences(report) {
        per_item::check_sentence(report, sentence, prose.line, findings);
        per_item::check_connections_per_thread(report, sentence, prose.line, findings);
        started_users::check_sentence(report, prose, sentence, findings);
        sum::check_sentence(report, sentence, prose.line, findings);
        mix::check_sentence(sentence, prose.line, findings);
    }
    for table in report.document.tables.iter().take(200) {
        started_users::check_stages(report, table, findings);
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
fn report_contradiction(
    rule: &'static str,
    sentence: &str,
    line: usize,
    [arithmetic, advice]: [String; 2],
    findings: &mut Findings,
) {
    let quoted = format!("\"{}\"", shorten(sentence));
    findings.page(rule, Level::Warning, line, [quoted, arithmetic, advice]);
}

/// The block to which a sentence refers: the last one above it under the same headings. `None` if
/// it is uncertain.
fn find_linked_block<'r>(report: &'r Report, prose: &Prose) -> Option<&'r Block> {
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
fn find_nearest_block_above<'r>(report: &'r Report, line: usize) -> Option<&'r Block> {
    let at = report
        .blocks
        .partition_point(|block| block.first_line <= line);
    let block = report.blocks.get(at.checked_sub(1)?)?;
    let same = duration::headings_above(report, block.first_line)
        == duration::headings_above(report, line);
    (block.last_line < line && same).then_some(block)
}
