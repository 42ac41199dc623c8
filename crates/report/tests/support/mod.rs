//! Made-up results of labs from seeded numbers, and the code that compares them with pages.

// Each test program uses only a part of this.
#![allow(dead_code)]

pub mod cells;
pub mod elements;
pub mod fixture;
pub mod hostile;
pub mod junit;
pub mod numbers;
pub mod runs;
pub mod small;

/// All Markdown files of a report as one text.
pub fn markdown(result: &plimsoll_results::lab::LabResult) -> String {
    plimsoll_report::markdown(result)
        .into_iter()
        .map(|(_, text)| text)
        .collect()
}
