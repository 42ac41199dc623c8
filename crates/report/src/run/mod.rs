//! The report of one run, or of two side by side: a pure function of their records.

mod annotations;
mod charts;
mod conclusion;
mod conditions;
mod json;
mod junit;
mod page;
mod pair;
mod tables;
mod view;

use plimsoll_results::compare::Compared;
use plimsoll_results::differences::Difference;
use plimsoll_results::record::Record;
use serde_json::Value;

use crate::{Judged, Report, html, markdown};
use view::RunView;

/// One run, or two.
pub struct RunReport<'a> {
    runs: Vec<RunView<'a>>,
    comparison: Option<&'a RunComparison>,
}

/// How the second of two runs differs from the first.
#[derive(Clone, Debug, Default)]
pub struct RunComparison {
    /// The figures of both.
    pub compared: Vec<Compared>,
    /// How they were compared, or why they could not be.
    pub method: String,
    /// Differences of their configurations and environments.
    pub differences: Vec<Difference>,
    /// Reasons to doubt the comparison.
    pub doubts: Vec<String>,
}

impl<'a> RunReport<'a> {
    pub fn of(record: &'a Record) -> RunReport<'a> {
        RunReport {
            runs: vec![RunView::of("", record)],
            comparison: None,
        }
    }

    /// The report of two runs.
    pub fn pair(a: &'a Record, b: &'a Record, comparison: &'a RunComparison) -> RunReport<'a> {
        RunReport {
            runs: vec![RunView::of("A", a), RunView::of("B", b)],
            comparison: Some(comparison),
        }
    }
}

impl Report for RunReport<'_> {
    fn html(&self) -> String {
        html::render(&page::page(self))
    }

    fn markdown(&self) -> String {
        markdown::render_single_file(&page::text_document(self))
    }

    fn summary(&self) -> String {
        markdown::render_single_file(&page::summary(self))
    }

    /// `docs/schema/run-report-1.json`.
    fn json(&self) -> Value {
        json::document(self)
    }

    fn junit(&self, judged: &[Judged]) -> String {
        crate::junit::document(&junit::suites(self, judged))
    }

    fn annotations(&self, judged: &[Judged]) -> Vec<String> {
        let mut lines = annotations::lines(self);
        lines.extend(crate::annotations::condition_lines(judged));
        lines
    }
}
