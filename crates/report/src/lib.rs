//! A lab's result as a document: Markdown with plots beside it, and one HTML file.
//!
//! A page is a pure function of the result: it measures nothing, asks no clock, and
//! two renderings are equal byte for byte. Its sentences are made from figures and
//! their intervals; a number in prose is a number of the result.

mod answer;
mod browser;
mod cells;
mod comparisons;
mod document;
mod html;
mod leads;
mod markdown;
mod matrix;
mod method;
mod naming;
mod objectives;
mod pooled;
mod published;
mod series;
mod tails;
mod write;

use plimsoll_results::lab::LabResult;

/// The report as Markdown. The plots that it shows are [`assets`].
pub fn markdown(result: &LabResult) -> String {
    markdown::render(&write::document(result))
}

/// The pictures that the Markdown shows: path relative to it, and text.
pub fn assets(result: &LabResult) -> Vec<(String, String)> {
    let document = write::document(result);
    let mut files = Vec::new();
    document.visit(&mut |block| {
        if let document::Block::Plot(plot) = block {
            files.push((markdown::path_of(plot), plot.narrow.file()));
        }
    });
    files
}

/// The report as one HTML file that asks the network for nothing.
pub fn html(result: &LabResult) -> String {
    html::render(&write::document(result))
}

/// Only the conclusion, one or two sentences each, for a terminal.
pub fn answer(result: &LabResult) -> Vec<String> {
    answer::sentences(result)
        .iter()
        .map(document::Words::to_text)
        .collect()
}

/// Every sentence of the report with the numbers it prints, for tests that hold them
/// against the result.
pub fn prose(result: &LabResult) -> Vec<String> {
    use document::{Block, Words};
    let document = write::document(result);
    let mut lines: Vec<String> = Vec::new();
    lines.extend(
        document
            .sections
            .iter()
            .map(|section| section.title.to_text()),
    );
    document.visit(&mut |block| match block {
        Block::Prose(words) => lines.push(words.to_text()),
        Block::Points(points) => lines.extend(points.iter().map(Words::to_text)),
        Block::Table(table) => {
            lines.push(table.caption.clone());
            lines.extend(table.rows.iter().flatten().map(Words::to_text));
        }
        Block::Plot(plot) => lines.push(plot.caption.clone()),
        Block::Folded { summary, .. } => lines.push(summary.clone()),
        Block::Raw { label, .. } => lines.push(label.clone()),
    });
    lines
}
