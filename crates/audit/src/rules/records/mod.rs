//! Rules on the records of a page: relations that hold for the figures of any tool, and sentences
//! that compare records. A claim that any pair of figures explains produces no finding.

mod claimed;
mod columns;
mod compared;
mod contest;
mod copies;
mod everywhere;
mod extreme;
mod idle;
mod inside;
mod legend;
mod little;
mod mean;
mod miscolumn;
mod misnamed;
mod objectives;
mod orders;
mod owner;
mod passed;
mod peak;
mod percentiles;
mod places;
mod quantified;
mod quoted;
mod ranges;
mod ranks;
mod relations;
mod shifted;
mod subject;
mod swapped;
mod tiers;
mod ties;
mod titles;
mod totals;
mod verdict;
mod whole;
mod wins;

pub use subject::{Metric, is_uncertain};

use crate::finding::Level;
use crate::records::{Field, Grids};
use crate::report::{Findings, Report};
use crate::rules::claims::sentences;
use crate::rules::prose::shortened;

pub fn check(report: &Report, grids: &Grids, findings: &mut Findings) {
    if !report.document.markdown {
        return;
    }
    let tables = grids.tables.iter().flat_map(|grid| &grid.records);
    for record in tables.chain(&grids.lists) {
        percentiles::check(record, findings);
        inside::check(record, findings);
    }
    for grid in &grids.rows {
        columns::check(grid, findings);
        ties::check(grid, findings);
    }
    shifted::tables(report, findings);
    copies::check(report, grids, findings);
    little::check(report, grids, findings);
    titles::check(report, grids, findings);
    places::tables(report, grids, findings);
    orders::numbered(report, grids, findings);
    contest::tables(report, findings);
    whole::share(report, grids, findings);
    whole::totals(grids, findings);
    objectives::check(report, grids, findings);
    tiers::check(report, grids, findings);
    legend::check(report, findings);
    peak::lines(report, grids, findings);
    for (prose, sentence) in sentences(report) {
        wins::sentence(report, sentence, prose.line, findings);
        passed::sentence(report, sentence, prose.line, findings);
        whole::sentence(grids, sentence, prose.line, findings);
        misnamed::sentence(report, grids, sentence, prose.line, findings);
        everywhere::sentence(report, grids, sentence, prose.line, findings);
        idle::sentence(report, grids, sentence, prose.line, findings);
        miscolumn::sentence(report, grids, sentence, prose.line, findings);
        quantified::sentence(report, grids, sentence, prose.line, findings);
    }
    if grids.grids().all(|grid| grid.records.len() < 2) {
        return;
    }
    for (prose, sentence) in sentences(report) {
        compared::sentence(grids, sentence, prose.line, findings);
        extreme::sentence(grids, sentence, prose.line, findings);
        ranges::sentence(grids, sentence, prose.line, findings);
        ranges::span(grids, sentence, prose.line, findings);
        ranks::sentence(grids, sentence, prose.line, findings);
        orders::sentence(grids, sentence, prose.line, findings);
        swapped::sentence(grids, sentence, prose.line, findings);
        owner::sentence(grids, sentence, prose.line, findings);
        claimed::sentence(report, grids, sentence, prose.line, findings);
        quoted::sentence(report, grids, sentence, prose.line, findings);
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
