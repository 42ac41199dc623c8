//! Talk goes to standard error, data to standard output.
#![allow(clippy::print_stdout, clippy::print_stderr)] // The one place that prints.

use std::io::Write;

/// Something went wrong: what, where, and the way out.
pub fn complain(message: &str) {
    let _ = writeln!(std::io::stderr().lock(), "error: {message}");
}

/// Something the person at the terminal may like to know.
pub fn say(message: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{message}");
}

/// Data. A reader that has gone away (`| head`) is no error of ours.
pub fn put(data: &[u8]) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(data).and_then(|()| out.flush());
}
