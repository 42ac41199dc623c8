//! Messages go to stderr, data to stdout.

use std::io::ErrorKind;
use std::sync::atomic::{AtomicBool, Ordering};

use plimsoll_results::secrets::for_display;
use serde_json::{Value, json};

use crate::streams::{self, Stream};

/// Whether some output could not be written.
static LOST: AtomicBool = AtomicBool::new(false);

/// Prints an error: what is wrong, where, and how to fix it.
pub fn complain(message: &str) {
    say(&format!("error: {message}"));
}

/// Prints a message.
pub fn say(message: &str) {
    talk(&format!("{}\n", for_display(message)));
}

/// Text for stderr, as it is.
pub fn talk(text: &str) {
    // Without stderr there is nowhere to report an error.
    let _ = streams::write(Stream::Stderr, text.as_bytes());
}

/// Data for stdout. What cannot be written there goes to stderr instead, so that no figure is lost,
/// and the process ends with an error. A reader that went away (`| head`) is not an error.
pub fn put(data: &[u8]) {
    if !write_stdout(data) {
        let _ = streams::write(Stream::Stderr, data);
    }
}

/// Puts a result on stdout, as JSON or as text.
pub fn put_as(is_json: bool, json: impl FnOnce() -> Value, text: impl FnOnce() -> String) {
    let text = match is_json {
        true => format!("{:#}\n", json()),
        false => text(),
    };
    put(text.as_bytes());
}

/// Part of a run's screen: header and progress, which k6's users expect on stdout.
pub fn show(text: &str) {
    write_stdout(text.as_bytes());
}

/// Returns whether it was written, or its reader went away.
fn write_stdout(data: &[u8]) -> bool {
    match streams::write(Stream::Stdout, data) {
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

/// Reports output that could not be written; the process then ends with an error.
pub fn lose(message: &str) {
    mark_lost();
    complain(message);
}

/// Makes the process end with an error, because some output could not be written.
pub fn mark_lost() {
    LOST.store(true, Ordering::Relaxed);
}

/// Whether any output was lost.
pub fn is_output_lost() -> bool {
    LOST.load(Ordering::Relaxed)
}

/// Columns of the terminal, if stdout is one.
pub fn screen_columns() -> Option<usize> {
    Stream::Stdout.size().map(|size| size.columns)
}

/// Columns for a table on stdout, even if that is not a terminal.
pub fn table_columns() -> usize {
    screen_columns().unwrap_or(100)
}

/// Columns of the terminal, if stderr is one.
pub fn columns() -> Option<usize> {
    Stream::Stderr.size().map(|size| size.columns)
}

/// The version of the program, as text or as JSON.
pub fn version(json: bool) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
    if json {
        format!(
            "{}\n",
            json!({ "version": version, "os": os, "arch": arch })
        )
    } else {
        format!("plimsoll v{version} ({os}/{arch})\n")
    }
}

/// Whether colors are off, by a flag or by the environment (<https://no-color.org>).
pub fn no_color(flag: bool) -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    flag || set("NO_COLOR") || set("K6_NO_COLOR")
}
