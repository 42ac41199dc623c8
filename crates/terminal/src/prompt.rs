//! Prompts on the terminal.

use std::io::{BufRead, IsTerminal, Read};

use crate::messages::print_stderr;
use crate::streams::Stream;

/// Maximum length of a reply in bytes.
const MAX_REPLY_LENGTH: u64 = 8 << 10;

/// Prompts for one line of text. Returns `default` if the reply is empty. Does not prompt if stdin or stderr is not a
/// terminal.
pub fn ask(question: &str, default: &str) -> String {
    if !std::io::stdin().is_terminal() || !Stream::Stderr.is_terminal() {
        return default.to_owned();
    }
    print_stderr(&format!("{question} [{default}]: "));
    let mut line = Vec::new();
    let mut stdin = std::io::stdin().lock().take(MAX_REPLY_LENGTH);
    // A reply that cannot be read counts as empty.
    let _ = stdin.read_until(b'\n', &mut line);
    let reply = String::from_utf8_lossy(&line);
    match reply.trim() {
        "" => default.to_owned(),
        reply => reply.to_owned(),
    }
}
