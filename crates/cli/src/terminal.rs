//! Stdout and stderr, and the live view on one of them: the one place that writes to either, so that
//! the view is cleared before anything else is written to the terminal.

use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

use plimsoll_output::fit;

/// Where something is written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    Stdout,
    Stderr,
}

/// How large a terminal is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    pub columns: usize,
    pub rows: usize,
}

/// Where a live view is drawn now. Held while anything is written, so that neither a line nor a
/// frame tears the other.
static VIEW: Mutex<Option<Stream>> = Mutex::new(None);

fn view() -> MutexGuard<'static, Option<Stream>> {
    VIEW.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a terminal is taken for that does not tell its size.
const UNKNOWN: Size = Size {
    columns: 80,
    rows: usize::MAX,
};
/// How far continued rows are indented.
const INDENT: usize = 2;
/// Erases everything from the start of the view.
const CLEAR: &str = "\r\x1b[J";

impl Stream {
    pub fn is_terminal(self) -> bool {
        match self {
            Stream::Stdout => io::stdout().is_terminal(),
            Stream::Stderr => io::stderr().is_terminal(),
        }
    }

    /// The size of the terminal that this is; none if it is no terminal.
    pub fn size(self) -> Option<Size> {
        if !self.is_terminal() {
            return None;
        }
        let told = match self {
            Stream::Stdout => terminal_size::terminal_size_of(io::stdout()),
            Stream::Stderr => terminal_size::terminal_size_of(io::stderr()),
        };
        let Some((columns, rows)) = told.filter(|(columns, rows)| columns.0 > 0 && rows.0 > 0)
        else {
            return Some(UNKNOWN);
        };
        Some(Size {
            columns: columns.0.into(),
            rows: rows.0.into(),
        })
    }

    fn write_all(self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Stream::Stdout => {
                let mut out = io::stdout().lock();
                out.write_all(bytes)?;
                out.flush()
            }
            Stream::Stderr => io::stderr().lock().write_all(bytes),
        }
    }
}

/// Writes after clearing a live view from the terminal.
///
/// # Errors
/// When the bytes cannot be written.
pub fn write(stream: Stream, bytes: &[u8]) -> io::Result<()> {
    let mut view = view();
    if stream.is_terminal() {
        clear_view(&mut view);
    }
    stream.write_all(bytes)
}

/// Clears a live view.
pub fn clear() {
    clear_view(&mut view());
}

fn clear_view(view: &mut Option<Stream>) {
    if let Some(shown) = view.take() {
        // Where the terminal is gone there is nothing to clear.
        let _ = shown.write_all(CLEAR.as_bytes());
    }
}

/// Draws a live view over the one before. Nothing is drawn where `stream` is no terminal.
pub fn draw(stream: Stream, lines: &[String]) {
    let Some(size) = stream.size() else { return };
    let mut view = view();
    if *view != Some(stream) {
        clear_view(&mut view);
        *view = Some(stream);
    }
    let _ = stream.write_all(frame(lines, size).as_bytes());
}

/// Lines broken to the width of the terminal that `stream` is; as they are elsewhere.
pub fn fitted(stream: Stream, lines: &[String]) -> Vec<String> {
    match stream.size() {
        Some(size) => rows_of(lines, size),
        None => lines.to_vec(),
    }
}

/// The last column stays free: some terminals wrap when it is written.
fn rows_of(lines: &[String], size: Size) -> Vec<String> {
    let columns = size.columns.saturating_sub(1).max(1);
    lines
        .iter()
        .flat_map(|line| fit::fit(line, columns, INDENT))
        .collect()
}

/// A frame that leaves the cursor where it was, at its start: the next one, or anything else, is
/// written over it, also after the terminal was resized.
fn frame(lines: &[String], size: Size) -> String {
    let mut rows = rows_of(lines, size);
    // What is higher than the terminal scrolls out of reach.
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
        // Broken lines take more rows, and there are never more than the terminal has.
        assert!(frame(&lines, size(6, 24)).ends_with("\x1b[3A"));
        assert!(frame(&lines, size(6, 3)).ends_with("\x1b[2A"));
        assert_eq!(frame(&lines, size(6, 1)), "\r\x1b[J");
    }
}
