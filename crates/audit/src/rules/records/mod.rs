//! Rules on the records of a page: relations that hold for the figures of any tool, and sentences
//! that compare records. A claim that any pair of figures explains produces no finding.

mod above_all;
mod all_records;
mod breakdown;
mod changed_order;
mod claimed_change;
mod columns;
mod comparison;
mod contest;
mod copies;
mod entities;
mod extreme;
mod identities;
mod idle;
mod legend;
mod littles_law;
mod mean;
mod mentions;
mod miscolumn;
mod misnamed_figure;
mod objectives;
mod orders;
mod overall;
mod owner;
mod pair_change;
mod pass_counts;
mod peak;
mod percentiles;
mod quantified;
mod quoted_cell;
mod quoted_rate;
mod ranges;
mod rank_column;
mod ranks;
mod relations;
mod restated;
mod same_in_flight;
mod share_within;
mod shares;
mod shifted;
mod stated_change;
mod stated_figure;
mod stated_limit;
mod subject;
mod swapped_figures;
mod throughout;
mod tiers;
mod ties;
mod titles;
mod totals;
mod trend;
mod verdict;
mod wins;

pub use changed_order::are_stated;
pub use subject::{Metric, is_uncertain};

use crate::finding::Level;
use crate::records::{Field, Grids};
use crate::report::{Findings, Report};
use crate::rules::claims::sentences;
use crate::rules::prose::shorten;

/// Maximum number of headings to check.
const MAX_HEADINGS: usize = 500;

pub fn check(report: &Report, grids: &Grids, findings: &mut Findings) {
    // In JSON, equal names may belong to different objects.
    if report.text.trim_start().starts_with(['{', '[']) && !report.document.markdown {
        return;
    }
    let tables = grids.tables.iter().flat_map(|grid| &grid.records);
    for record in tables.chain(&grids.lists) {
        percentiles::check(record, findings);
        identities::check(record, findings);
    }
    // The other rules need headings, tables or sentences.
    if !report.document.markdown {
        return;
    }
    for grid in &grids.rows {
        columns::check(grid, findings);
        ties::check(grid, findings);
    }
    shifted::check_tables(report, findings);
    copies::check(report, grids, findings);
    littles_law::check(report, grids, findings);
    same_in_flight::check(grids, findings);
    changed_order::check(report, findings);
    titles::check(report, grids, findings);
    rank_column::check_tables(report, grids, findings);
    orders::check_numbered_lists(report, grids, findings);
    contest::check_tables(report, findings);
    overall::check_share(report, grids, findings);
    overall::check_totals(grids, findings);
    breakdown::check(report, grids, findings);
    restated::check(grids, findings);
    objectives::check(report, grids, findings);
    tiers::check(report, grids, findings);
    legend::check(report, findings);
    peak::check_lines(report, grids, findings);
    let is_searchable = entities::is_searchable(grids);
    for (prose, sentence) in sentences(report) {
        wins::check_sentence(report, sentence, prose.line, findings);
        pass_counts::check_sentence(report, sentence, prose.line, findings);
        overall::check_sentence(grids, sentence, prose.line, findings);
        misnamed_figure::check_sentence(report, grids, sentence, prose.line, findings);
        all_records::check_sentence(report, grids, sentence, prose.line, findings);
        idle::check_sentence(report, grids, sentence, prose.line, findings);
        miscolumn::check_sentence(report, grids, sentence, prose.line, findings);
        quantified::check_sentence(report, grids, sentence, prose.line, findings);
        throughout::check_sentence(report, grids, sentence, prose.line, findings);
        share_within::check_sentence(report, grids, sentence, prose.line, findings);
        above_all::check_sentence(report, grids, sentence, prose.line, findings);
        if is_searchable {
            stated_limit::check_sentence(report, grids, sentence, prose.line, findings);
        }
        quoted_cell::check_changed(report, grids, sentence, prose.line, findings);
    }
    for (line, title) in report.document.headings.iter().take(MAX_HEADINGS) {
        quoted_cell::check_changed(report, grids, title, *line, findings);
        if is_searchable {
            stated_limit::check_sentence(report, grids, title, *line, findings);
        }
    }
    if grids.grids().all(|grid| grid.records.len() < 2) {
        return;
    }
    for (prose, sentence) in sentences(report) {
        comparison::check_sentence(grids, sentence, prose.line, findings);
        extreme::check_sentence(grids, sentence, prose.line, findings);
        ranges::check_sentence(grids, sentence, prose.line, findings);
        ranges::check_span(grids, sentence, prose.line, findings);
        ranks::check_sentence(grids, sentence, prose.line, findings);
        orders::check_sentence(grids, sentence, prose.line, findings);
        swapped_figures::check_sentence(grids, sentence, prose.line, findings);
        owner::check_sentence(grids, sentence, prose.line, findings);
        claimed_change::check_sentence(report, grids, sentence, prose.line, findings);
        quoted_rate::check_sentence(report, grids, sentence, prose.line, findings);
        quoted_cell::check_sentence(report, grids, sentence, prose.line, findings);
        pair_change::check_sentence(grids, sentence, prose.line, findings);
        if is_searchable {
            stated_change::check_sentence(report, grids, sentence, prose.line, findings);
            stated_figure::check_sentence(report, grids, sentence, prose.line, findings);
            trend::check_sentence(grids, sentence, prose.line, findings);
        }
    }
}

/// Formats the sentence and the figure that it is compared with.
fn quote_with_field(sentence: &str, field: &Field) -> String {
    let (name, figure) = (&field.name.text, &field.figure.text);
    format!("\"{}\"; {name}: {figure}", shorten(sentence))
}

/// Adds a warning about a line, unless another rule has already reported that line.
pub fn warn(rule: &'static str, line: usize, words: [String; 3], findings: &mut Findings) {
    let known = findings
        .found
        .iter()
        .any(|found| found.line == line && found.level > Level::Note && found.rule == rule);
    if !known {
        findings.page(rule, Level::Warning, line, words);
    }
}
