//! Tables of the report, as declared in a lab file.

use plimsoll_results::lab::TableLayout;
use serde::Serialize;

use super::conclusions::{FIGURES, each};
use crate::file::shape::time;
use crate::file::{Document, unknown};
use crate::matrix::{Axis, When};
use crate::problem::Problem;
use crate::resolve::Cell;

/// A figure of tables that is not in [`FIGURES`]: the share of requests within an objective.
const SHARE_WITHIN_OBJECTIVE: &str = "share_within_objective";

#[derive(Clone, Debug, Serialize)]
pub struct DeclaredTable {
    pub title: String,
    /// Axes of the rows.
    pub rows: Vec<String>,
    /// Axes of the columns.
    pub columns: Vec<String>,
    /// Names of figures.
    pub figures: Vec<String>,
    /// The unit to show them in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// Upper edges of buckets, in milliseconds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub buckets: Vec<f64>,
    /// A note for readers of the table.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The cells in the table.
    #[serde(skip)]
    pub when: When,
}

impl DeclaredTable {
    /// The table with the names of its cells instead of their indexes.
    pub fn layout(&self, cells: &[Cell]) -> TableLayout {
        TableLayout {
            title: self.title.clone(),
            rows: self.rows.clone(),
            columns: self.columns.clone(),
            figures: self.figures.clone(),
            unit: self.unit.clone(),
            buckets: self.buckets.clone(),
            cells: cells
                .iter()
                .filter(|cell| self.when.holds(&cell.coordinates))
                .map(|cell| cell.name.clone())
                .collect(),
            note: self.note.clone(),
        }
    }
}

/// `[[table]]`
pub fn tables(
    document: &Document,
    axes: &[Axis],
    problems: &mut Vec<Problem>,
) -> Vec<DeclaredTable> {
    each(document, "table", problems, |fields, when| {
        let title = fields.required("title");
        let mut named: [Vec<String>; 2] = Default::default();
        for (key, names) in ["rows", "columns"].into_iter().zip(&mut named) {
            *names = fields.strings(key);
            for name in names {
                if !axes.iter().any(|axis| axis.name == *name) {
                    let place = fields.place_of(key);
                    let known = axes.iter().map(|axis| axis.name.as_str());
                    let problem = unknown(&place, "axis", name, known);
                    fields.problem_in(&place, problem.message);
                }
            }
        }
        let [rows, columns] = named;
        let figures = fields.strings("figures");
        let mut buckets = Vec::new();
        for edge in fields.strings("buckets") {
            match time(&edge) {
                Ok(edge) => buckets.push(edge.as_secs_f64() * 1000.0),
                Err(why) => fields.problem_at("buckets", why),
            }
        }
        if buckets.is_sorted_by(|one, next| one < next) {
            if figures.is_empty() == buckets.is_empty() {
                fields.problem("a table needs one of the keys \"figures\" and \"buckets\"");
            }
        } else {
            fields.problem_at("buckets", "the edges of buckets must increase");
        }
        check_names(&figures).unwrap_or_else(|why| fields.problem_at("figures", why));
        Some(DeclaredTable {
            title,
            rows,
            columns,
            figures,
            unit: fields.text("unit"),
            buckets,
            note: fields.text("note"),
            when,
        })
    })
}

/// A script's own counters can have any name, but a name that looks like a latency must be one.
pub(super) fn check_names(figures: &[String]) -> Result<(), String> {
    for name in figures {
        let is_known = FIGURES.iter().any(|(known, _)| known == name)
            || name == SHARE_WITHIN_OBJECTIVE
            || !name.starts_with("latency_");
        if !is_known {
            return Err(format!(
                "unknown figure {name}: latencies are latency_p50, latency_p90, latency_p95, latency_p99, latency_p999, latency_mean and latency_max"
            ));
        }
    }
    Ok(())
}
