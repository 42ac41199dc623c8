//! Helpers for table cells.

use crate::document::Table;
use crate::quantity::{Quantity, Unit, bare, data, duration};

/// The figure of a cell that contains only a figure with a unit.
pub fn figure(cell: &str, line: usize) -> Option<Quantity> {
    let cell = cell.trim().trim_matches('`');
    duration(cell, line).or_else(|| data(cell, line))
}

/// The number of a cell that contains only a bare number.
pub fn number(cell: &str, line: usize) -> Option<Quantity> {
    bare(cell.trim().trim_matches('`'), Unit::Count, line)
}

/// The index of the first column whose header contains one of these words.
pub fn column(table: &Table, words: &[&str]) -> Option<usize> {
    table
        .header
        .iter()
        .position(|name| words.iter().any(|word| name.eq_ignore_ascii_case(word)))
}

/// A cell, or an empty string if the row is too short.
pub fn cell(row: &[String], at: usize) -> &str {
    row.get(at).map_or("", String::as_str)
}
