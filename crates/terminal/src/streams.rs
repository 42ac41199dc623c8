//! Stdout and stderr, and the live view on one of them. All output goes through this module, so the view is always
//! cleared before anything else is written.

use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

use plimsoll_output::screen::{self, Size};

/// Stdout or stderr.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    Stdout,
    Stderr,
}

/// The stream with the live view. Locked during every write, so that lines and frames do not mix.
static VIEW: Mutex<Option<Stream>> = Mutex::new(None);

fn view() -> MutexGuard<'static, Option<Stream>> {
    VIEW.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Stream {
    pub fn is_terminal(self) -> bool {
        match self {
            Stream::Stdout => io::stdout().is_terminal(),
            Stream::Stderr => io::stderr().is_terminal(),
        }
    }

    /// The size of the terminal. `None` if the stream is not a terminal.
    pub fn size(self) -> Option<Size> {
        if !self.is_terminal() {
            return None;
        }
        let size = match self {
            Stream::Stdout => terminal_size::terminal_size_of(io::stdout()),
            Stream::Stderr => terminal_size::terminal_size_of(io::stderr()),
        };
        let Some((columns, rows)) = size.filter(|(columns, rows)| columns.0 > 0 && rows.0 > 0)
        else {
            return Some(Size::UNKNOWN);
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

/// Clears a live view from the terminal, then writes.
///
/// # Errors
/// If the bytes cannot be written.
pub fn write(stream: Stream, bytes: &[u8]) -> io::Result<()> {
    let mut view = view();
    if stream.is_terminal() {
        clear_view(&mut view);
    }
    stream.write_all(bytes)
}

/// Clears the live view.
pub fn clear() {
    clear_view(&mut view());
}

fn clear_view(view: &mut Option<Stream>) {
    if let Some(shown) = view.take() {
        // Without a terminal, there is no view to clear.
        let _ = shown.write_all(screen::CLEAR.as_bytes());
    }
}

/// Draws a live view over the previous one, if `stream` is a terminal.
pub fn draw(stream: Stream, lines: &[String]) {
    let Some(size) = stream.size() else { return };
    let mut view = view();
    if *view != Some(stream) {
        clear_view(&mut view);
        *view = Some(stream);
    }
    let _ = stream.write_all(screen::frame(lines, size).as_bytes());
}

/// The lines, broken to the width of the terminal if `stream` is one.
pub fn fitted(stream: Stream, lines: &[String]) -> Vec<String> {
    match stream.size() {
        Some(size) => screen::rows_of(lines, size),
        None => lines.to_vec(),
    }
}

/// Stdout without line buffering, for data in large batches.
///
/// # Errors
/// If the system refuses another descriptor.
#[cfg(unix)]
pub(crate) fn unbuffered_stdout() -> io::Result<Box<dyn Write + Send>> {
    use std::os::fd::AsFd;
    let output = io::stdout().as_fd().try_clone_to_owned()?;
    Ok(Box::new(std::fs::File::from(output)))
}

#[cfg(not(unix))]
pub(crate) fn unbuffered_stdout() -> io::Result<Box<dyn Write + Send>> {
    Ok(Box::new(io::stdout()))
}
