//! The result of a lab, of a run or of two runs as a document: Markdown, and one HTML file.
//!
//! A page is a pure function of the result: nothing is measured, no clock is read, and rendering
//! again gives the same bytes. Its sentences are built from figures and their intervals, and each
//! number in them is a number of the result.

mod annotations;
mod answer;
mod browser;
mod cells;
mod claims;
mod comparisons;
mod declared_load;
mod document;
mod durability;
mod emulated_line;
mod files;
mod first_screen;
mod footnotes;
mod groups;
mod html;
mod idle_cost;
mod iperf_intervals;
mod junit;
mod layout;
mod leads;
mod markdown;
mod marks;
mod matrix;
mod method;
mod naming;
mod objectives;
mod overload;
mod pivot;
mod places;
mod pooled;
mod published;
mod questions;
mod rate_limits;
mod rates;
mod ratio;
pub mod run;
pub mod search;
mod series;
mod table_answers;
mod tails;
mod terms;
mod units;
mod write;

pub use files::{ReportFile, ReportFormat};
pub use junit::Judged;
use plimsoll_results::lab::LabResult;
use serde_json::Value;

/// The report of a command: pure functions of its result.
pub trait Report {
    /// One HTML file that works without the network.
    fn html(&self) -> String;

    /// One Markdown file without pictures.
    fn markdown(&self) -> String;

    /// The most important parts as Markdown, for the summary of a job in CI.
    fn summary(&self) -> String;

    /// The figures.
    fn json(&self) -> Value;

    /// The verdict, objectives and the conditions of `--fail-on` as JUnit XML.
    fn junit(&self, judged: &[Judged]) -> String;

    /// The same as annotations of GitHub Actions, one a line.
    fn annotations(&self, judged: &[Judged]) -> Vec<String>;
}

/// The report as Markdown files: `report.md`, and the evidence in `cells/`. Their plots are
/// [`assets`].
pub fn markdown(result: &LabResult) -> Vec<(String, String)> {
    markdown::render(&write::document(result))
}

/// The pictures in the Markdown report: relative path and content.
pub fn assets(result: &LabResult) -> Vec<(String, String)> {
    let document = write::document(result);
    let mut files = Vec::new();
    document.visit(&mut |block| {
        if let document::Block::Plot(plot) = block {
            files.push((markdown::plot_path(plot), plot.narrow.file()));
        }
    });
    files
}

/// The report as one HTML file that works without the network.
pub fn html(result: &LabResult) -> String {
    html::render(&write::document(result))
}

/// All files of a report: their names and contents.
pub fn pages(result: &LabResult) -> Vec<(String, String)> {
    let mut pages = assets(result);
    pages.extend(markdown(result));
    pages.push(("report.html".to_owned(), html(result)));
    pages
}

/// Only the conclusion, in sentences, for a terminal.
pub fn answer(result: &LabResult) -> Vec<String> {
    answer::sentences(result)
        .iter()
        .map(document::Words::to_text)
        .collect()
}

/// Every sentence of the report that has numbers, for tests that compare them with the result.
pub fn prose(result: &LabResult) -> Vec<String> {
    use document::{Block, Words};
    let document = write::document(result);
    let mut lines: Vec<String> = Vec::new();
    lines.extend(
        document
            .sections
            .iter()
            .chain(&document.evidence)
            .map(|section| section.title.to_text()),
    );
    document.visit(&mut |block| match block {
        Block::Prose(words) => lines.push(words.to_text()),
        Block::Points(points) => lines.extend(points.iter().map(Words::to_text)),
        Block::Facts(facts) => lines.extend(facts.iter().map(|(_, value)| value.clone())),
        Block::Table(table) | Block::Index(table) => {
            lines.push(table.caption.clone());
            lines.extend(table.rows.iter().flatten().map(Words::to_text));
        }
        Block::Plot(plot) => lines.push(plot.caption.clone()),
        Block::Folded { summary, .. } => lines.push(summary.clone()),
        Block::Raw { label, .. } => lines.push(label.clone()),
        Block::Detail(..) => {}
    });
    lines
}
