//! Rules on the records of a page: relations that hold for the figures of any tool, and sentences
//! that compare records. A claim that any pair of figures explains produces no finding.

mod above_all;
mod all_records;
mod breakdown;
mod claimed_change;
mod columns;
mod comparison;
mod contest;
mod copies;
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
mod share_within;
mod shifted;
mod subject;
mod swapped_figures;
mod throughout;
mod tiers;
mod ties;
mod titles;
mod totals;
mod verdict;
mod wins;

pub use subject::{Metric, is_uncertain};

use crate::finding::Level;
use crate::records::{Field, Grids};
use crate::report::{Findings, Report};
use crate::rules::claims::sentences;
use crate::rules::prose::shortened;

/// Maximum number of headings to check.
const MAX_HEADINGS: usize = 500;

pub fn check(report: &Report, grids: &Grids, findings: &mut Findings) {
    if !report.document.markdown {
        return;
    }
    let tables = grids.tables.iter().flat_map(|grid| &grid.records);
    for record in tables.chain(&grids.lists) {
        percentiles::check(record, findings);
        identities::check(record, findings);
    }
    for grid in &grids.rows {
        columns::check(grid, findings);
        ties::check(grid, findings);
    }
    shifted::tables(report, findings);
    copies::check(report, grids, findings);
    littles_law::check(report, grids, findings);
    titles::check(report, grids, findings);
    rank_column::tables(report, grids, findings);
    orders::numbered(report, grids, findings);
    contest::tables(report, findings);
    overall::share(report, grids, findings);
    overall::totals(grids, findings);
    breakdown::check(report, grids, findings);
    restated::check(grids, findings);
    objectives::check(report, grids, findings);
    tiers::check(report, grids, findings);
    legend::check(report, findings);
    peak::lines(report, grids, findings);
    for (prose, sentence) in sentences(report) {
        wins::sentence(report, sentence, prose.line, findings);
        pass_counts::sentence(report, sentence, prose.line, findings);
        overall::sentence(grids, sentence, prose.line, findings);
        misnamed_figure::sentence(report, grids, sentence, prose.line, findings);
        all_records::sentence(report, grids, sentence, prose.line, findings);
        idle::sentence(report, grids, sentence, prose.line, findings);
        miscolumn::sentence(report, grids, sentence, prose.line, findings);
        quantified::sentence(report, grids, sentence, prose.line, findings);
        throughout::sentence(report, grids, sentence, prose.line, findings);
        share_within::sentence(report, grids, sentence, prose.line, findings);
        above_all::sentence(report, grids, sentence, prose.line, findings);
        quoted_cell::changed(report, grids, sentence, prose.line, findings);
    }
    for (line, title) in report.document.headings.iter().take(MAX_HEADINGS) {
        quoted_cell::changed(report, grids, title, *line, findings);
    }
    if grids.grids().all(|grid| grid.records.len() < 2) {
        return;
    }
    for (prose, sentence) in sentences(report) {
        comparison::sentence(grids, sentence, prose.line, findings);
        extreme::sentence(grids, sentence, prose.line, findings);
        ranges::sentence(grids, sentence, prose.line, findings);
        ranges::span(grids, sentence, prose.line, findings);
        ranks::sentence(grids, sentence, prose.line, findings);
        orders::sentence(grids, sentence, prose.line, findings);
        swapped_figures::sentence(grids, sentence, prose.line, findings);
        owner::sentence(grids, sentence, prose.line, findings);
        claimed_change::sentence(report, grids, sentence, prose.line, findings);
        quoted_rate::sentence(report, grids, sentence, prose.line, findings);
        quoted_cell::sentence(report, grids, sentence, prose.line, findings);
        pair_change::sentence(grids, sentence, prose.line, findings);
    }
}

/// Formats the sentence and the figure that it is compared with.
fn beside(sentence: &str, field: &Field) -> String {
    let (name, figure) = (&field.name.text, &field.figure.text);
    format!("\"{}\"; {name}: {figure}", shortened(sentence))
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
