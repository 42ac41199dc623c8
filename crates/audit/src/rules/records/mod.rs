//! Rules on the records of a page: what holds for the figures of any tool, and sentences that compare
//! records. A claim that any pair of figures explains produces no finding.

mod claimed;
mod columns;
mod compared;
mod copies;
mod everywhere;
mod inside;
mod little;
mod mean;
mod misnamed;
mod objectives;
mod quoted;
mod ranges;
mod ranks;
mod relations;
mod subject;
mod titles;
mod totals;
mod whole;
mod winners;

use crate::finding::Level;
use crate::records::Grids;
use crate::report::{Findings, Report};
use crate::rules::claims::sentences;

pub fn check(report: &Report, grids: &Grids, findings: &mut Findings) {
    if !report.document.markdown {
        return;
    }
    for record in grids.tables.iter().flat_map(|grid| &grid.records) {
        inside::check(record, findings);
    }
    for record in &grids.lists {
        inside::check(record, findings);
    }
    for grid in &grids.rows {
        columns::check(grid, findings);
    }
    copies::check(report, grids, findings);
    little::check(report, grids, findings);
    titles::check(report, grids, findings);
    ranks::tables(report, grids, findings);
    ranks::numbered(report, grids, findings);
    winners::tables(report, findings);
    whole::share(report, grids, findings);
    objectives::check(report, grids, findings);
    for (prose, sentence) in sentences(report) {
        winners::sentence(report, sentence, prose.line, findings);
        whole::sentence(grids, sentence, prose.line, findings);
        misnamed::possessed(grids, sentence, prose.line, findings);
        misnamed::sentence(report, grids, sentence, prose.line, findings);
        everywhere::sentence(report, grids, sentence, prose.line, findings);
    }
    if grids.grids().all(|grid| grid.records.len() < 2) {
        return;
    }
    for (prose, sentence) in sentences(report) {
        compared::sentence(grids, sentence, prose.line, findings);
        ranges::sentence(grids, sentence, prose.line, findings);
        ranges::span(grids, sentence, prose.line, findings);
        ranks::sentence(grids, sentence, prose.line, findings);
        misnamed::rate(grids, sentence, prose.line, findings);
        claimed::sentence(report, grids, sentence, prose.line, findings);
        quoted::sentence(report, grids, sentence, prose.line, findings);
    }
}

/// Adds a warning about a line, unless a rule has reported the line.
fn warn(rule: &'static str, line: usize, words: [String; 3], findings: &mut Findings) {
    let known = findings
        .found
        .iter()
        .any(|found| found.line == line && found.level > Level::Note && found.rule == rule);
    if !known {
        findings.page(rule, Level::Warning, line, words);
    }
}
