//! Frames of a live view on a terminal.

use crate::fit;

/// The size of a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    pub columns: usize,
    pub rows: usize,
}

impl Size {
    /// The assumed size of a terminal that does not report one.
    pub const UNKNOWN: Size = Size {
        columns: 80,
        rows: usize::MAX,
    };
}

/// Indentation of continued rows.
const INDENT: usize = 2;
/// Erases everything from the start of the view.
pub const CLEAR: &str = "\r\x1b[J";

/// Breaks lines to the terminal's width. The last column stays empty, because some terminals wrap when it is written.
pub fn rows_of(lines: &[String], size: Size) -> Vec<String> {
    let columns = size.columns.saturating_sub(1).max(1);
    lines
        .iter()
        .flat_map(|line| fit::fit(line, columns, INDENT))
        .collect()
}

/// A frame that leaves the cursor at its start. The next frame, or any other output, overwrites it, even if the
/// terminal was resized.
pub fn frame(lines: &[String], size: Size) -> String {
    let mut rows = rows_of(lines, size);
    // Rows beyond the height of the terminal would scroll out of reach.
    rows.truncate(size.rows.saturating_sub(1));
    let mut text = "\r".to_owned();
    for row in &rows {
        text.push_str(row);
        text.push_str("\x1b[K\n");
    }
    text.push_str("\x1b[J");
    if !rows.is_empty() {
        text.push_str(&format!("\x1b[{}A", rows.len()));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_ends_where_it_started() {
        let size = |columns, rows| Size { columns, rows };
        let lines = ["one two".to_owned(), String::new()];
        assert_eq!(
            frame(&lines, size(80, 24)),
            "\rone two\x1b[K\n\x1b[K\n\x1b[J\x1b[2A"
        );
        // Broken lines need more rows, but a frame never has more rows than the terminal.
        assert!(frame(&lines, size(6, 24)).ends_with("\x1b[3A"));
        assert!(frame(&lines, size(6, 3)).ends_with("\x1b[2A"));
        assert_eq!(frame(&lines, size(6, 1)), "\r\x1b[J");
    }
}
