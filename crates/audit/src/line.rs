//! Numbered lines, and the line that marks a boundary between them.

/// A line of text with its number in the file, counted from 1.
#[derive(Clone, Copy, Debug)]
pub struct Line<'a> {
    pub number: usize,
    pub text: &'a str,
}

/// The text of a line that separates two regions of a section, such as the end of a code fence.
pub const BOUNDARY: &str = "\u{1}";
