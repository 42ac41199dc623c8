//! Messages go to stderr, data to stdout.

use std::io::ErrorKind;
use std::sync::atomic::{AtomicBool, Ordering};

use plimsoll_results::secrets::for_display;

use crate::args::GlobalArgs;
use crate::terminal::{self, Stream};

/// Whether something that was asked for could not be written.
static LOST: AtomicBool = AtomicBool::new(false);

/// Something went wrong: what, where, and the way out.
pub fn complain(message: &str) {
    say(&format!("error: {message}"));
}

/// Something the person at the terminal may like to know.
pub fn say(message: &str) {
    talk(&format!("{}\n", for_display(message)));
}

/// Text for stderr, as it is.
pub fn talk(text: &str) {
    // Where stderr is gone there is nobody left to tell.
    let _ = terminal::write(Stream::Stderr, text.as_bytes());
}

/// Data for stdout. What cannot be written there goes to stderr instead, so that no figure is lost,
/// and the process ends with an error. A reader that went away (`| head`) is no error.
pub fn put(data: &[u8]) {
    if !write_stdout(data) {
        let _ = terminal::write(Stream::Stderr, data);
    }
}

/// Part of a run's screen: header and progress, which k6's users expect on stdout.
pub fn show(text: &str) {
    write_stdout(text.as_bytes());
}

/// Whether it was written, or nobody wants it any more.
fn write_stdout(data: &[u8]) -> bool {
    match terminal::write(Stream::Stdout, data) {
        Ok(()) => true,
        Err(error) if error.kind() == ErrorKind::BrokenPipe => true,
        Err(error) => {
            if !LOST.swap(true, Ordering::Relaxed) {
                complain(&format!(
                    "cannot write to stdout: {error}; results follow on stderr"
                ));
            }
            false
        }
    }
}

/// Tells of output that could not be written, and has the process end with an error.
pub fn lose(message: &str) {
    mark_lost();
    complain(message);
}

/// Has the process end with an error, as some output could not be written.
pub fn mark_lost() {
    LOST.store(true, Ordering::Relaxed);
}

/// Whether any output was lost.
pub fn is_output_lost() -> bool {
    LOST.load(Ordering::Relaxed)
}

/// Columns of the terminal that stdout is; none if it is no terminal.
pub fn screen_columns() -> Option<usize> {
    Stream::Stdout.size().map(|size| size.columns)
}

/// Columns of the terminal that stderr is; none if it is no terminal.
pub fn columns() -> Option<usize> {
    Stream::Stderr.size().map(|size| size.columns)
}

/// Whether colours are unwanted.
pub fn no_color(args: &GlobalArgs) -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    args.no_color || set("NO_COLOR") || set("K6_NO_COLOR")
}
