//! Helpers for table cells.

use crate::document::Table;
use crate::quantity::{Quantity, Unit, parse_data, parse_duration, parse_unitless};

/// The figure of a cell that contains only a figure with a unit.
pub fn parse_figure(cell: &str, line: usize) -> Option<Quantity> {
    let cell = cell.trim().trim_matches('`');
    parse_duration(cell, line).or_else(|| parse_data(cell, line))
}

/// The number of a cell that contains only a bare number.
pub fn parse_number(cell: &str, line: usize) -> Option<Quantity> {
    parse_unitless(cell.trim().trim_matches('`'), Unit::Count, line)
}

/// The index of the first column whose header contains one of these words.
pub fn find_column(table: &Table, words: &[&str]) -> Option<usize> {
    table
        .header
        .iter()
        .position(|name| words.iter().any(|word| name.eq_ignore_ascii_case(word)))
}

/// A cell, or an empty string if the row is too short.
pub fn cell_at(row: &[String], at: usize) -> &str {
    row.get(at).map_or("", String::as_str)
}
