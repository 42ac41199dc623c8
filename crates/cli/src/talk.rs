//! Talk goes to standard error, data to standard output.

use std::io::{IsTerminal, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::args::GlobalArgs;

/// Held while a line or a frame is written, so that neither tears the other.
static WRITING: Mutex<()> = Mutex::new(());

fn writing() -> MutexGuard<'static, ()> {
    WRITING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Something went wrong: what, where, and the way out.
pub fn complain(message: &str) {
    say(&format!("error: {message}"));
}

/// Something the person at the terminal may like to know.
pub fn say(message: &str) {
    talk(&format!("{message}\n"));
}

/// Text for standard error, as it is. On a terminal it is written over what
/// progress may stand below the cursor.
pub fn talk(text: &str) {
    let _held = writing();
    let mut err = std::io::stderr().lock();
    let clear: &[u8] = if err.is_terminal() { b"\x1b[J" } else { b"" };
    // Where standard error is gone there is nobody left to tell.
    let _ = err
        .write_all(clear)
        .and_then(|()| err.write_all(text.as_bytes()));
}

/// Data for standard output. A reader that has gone away (`| head`) is no
/// error of ours.
pub fn put(data: &[u8]) {
    let _held = writing();
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(data).and_then(|()| out.flush());
}

/// Part of a run's screen: header and progress, which k6's users know to find
/// on standard output. On a terminal it is written over what progress may
/// stand below the cursor.
pub fn show(text: &str) {
    let clear = if std::io::stdout().is_terminal() {
        "\x1b[J"
    } else {
        ""
    };
    put(format!("{clear}{text}").as_bytes());
}

/// Columns of the terminal that standard output is; none if it is no terminal.
pub fn screen_columns() -> Option<usize> {
    if !std::io::stdout().is_terminal() {
        return None;
    }
    Some(width_of(terminal_size::terminal_size_of(std::io::stdout())))
}

/// Columns of the terminal that standard error is; none if it is no terminal.
pub fn columns() -> Option<usize> {
    if !std::io::stderr().is_terminal() {
        return None;
    }
    Some(width_of(terminal_size::terminal_size_of(std::io::stderr())))
}

/// Some terminals do not know their size, or say that they have none.
fn width_of(size: Option<(terminal_size::Width, terminal_size::Height)>) -> usize {
    size.map_or(0, |(width, _)| usize::from(width.0))
        .max(FEWEST_COLUMNS)
}

/// What a terminal has that does not say.
const FEWEST_COLUMNS: usize = 80;

/// Whether colours are unwanted.
pub fn no_color(args: &GlobalArgs) -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    args.no_color || set("NO_COLOR") || set("K6_NO_COLOR")
}
