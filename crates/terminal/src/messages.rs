//! Writes messages to stderr, and data to stdout.

use std::io::ErrorKind;
use std::sync::atomic::{AtomicBool, Ordering};

use plimsoll_results::secrets::for_display;
use serde_json::{Value, json};

use crate::streams::{self, Stream};

/// Whether any output could not be written.
static OUTPUT_LOST: AtomicBool = AtomicBool::new(false);

/// Prints an error message: what happened, where, and how to fix it.
pub fn print_error(message: &str) {
    print_message(&format!("error: {message}"));
}

pub fn print_message(message: &str) {
    print_stderr(&format!("{}\n", for_display(message)));
}

/// Prints text on stderr, unchanged.
pub fn print_stderr(text: &str) {
    // If stderr fails, an error cannot be reported anywhere.
    let _ = streams::write(Stream::Stderr, text.as_bytes());
}

/// Prints data on stdout. If that fails, prints the data on stderr, so that no figure is lost, and makes the process
/// exit with an error. It is not an error if the reader has closed the pipe (`| head`).
pub fn print_stdout(data: &[u8]) {
    if !write_stdout(data) {
        let _ = streams::write(Stream::Stderr, data);
    }
}

/// Prints a result on stdout, as JSON or as text.
pub fn print_result(is_json: bool, json: impl FnOnce() -> Value, text: impl FnOnce() -> String) {
    let text = match is_json {
        true => format!("{:#}\n", json()),
        false => text(),
    };
    print_stdout(text.as_bytes());
}

/// Prints a part of a run's screen: header and progress, which k6's users expect on stdout.
pub fn print_screen(text: &str) {
    write_stdout(text.as_bytes());
}

/// Returns whether the data was written, or the reader has closed the pipe.
fn write_stdout(data: &[u8]) -> bool {
    match streams::write(Stream::Stdout, data) {
        Ok(()) => true,
        Err(error) if error.kind() == ErrorKind::BrokenPipe => true,
        Err(error) => {
            if !OUTPUT_LOST.swap(true, Ordering::Relaxed) {
                print_error(&format!(
                    "cannot write to stdout: {error}; results follow on stderr"
                ));
            }
            false
        }
    }
}

/// Reports output that could not be written, and makes the process exit with an error.
pub fn report_lost(message: &str) {
    mark_lost();
    print_error(message);
}

/// Makes the process exit with an error, because output was lost.
pub fn mark_lost() {
    OUTPUT_LOST.store(true, Ordering::Relaxed);
}

/// Whether any output was lost.
pub fn is_output_lost() -> bool {
    OUTPUT_LOST.load(Ordering::Relaxed)
}

/// The number of columns of the terminal, if stdout is one.
pub fn screen_columns() -> Option<usize> {
    Stream::Stdout.size().map(|size| size.columns)
}

/// The number of columns for a table on stdout, even if that is not a terminal.
pub fn table_columns() -> usize {
    screen_columns().unwrap_or(100)
}

/// The number of columns of the terminal, if stderr is one.
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

/// Whether colors are disabled, by a flag or by the environment (<https://no-color.org>).
pub fn no_color(flag: bool) -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    flag || set("NO_COLOR") || set("K6_NO_COLOR")
}
