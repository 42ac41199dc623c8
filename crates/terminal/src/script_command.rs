//! Runs a command about a script with a log, and converts its result to an exit status.

use std::sync::Arc;

use plimsoll_run::Refusal;

use crate::exit::Exit;
use crate::log::{Log, Settings};

/// Runs the command with a log. If `console` is a file, the script's console writes to it instead of the log.
pub fn run(
    log: Settings<'_>,
    console: Option<&str>,
    command: impl FnOnce(&Arc<Log>) -> Result<Exit, Refusal>,
) -> Exit {
    let mut log = match Log::new(log) {
        Ok(log) => log,
        Err(message) => return Exit::of_text(Err(message)),
    };
    if let Some(path) = console
        && let Err(message) = log.console_to(path)
    {
        log.error(&message);
        return Exit::GENERIC;
    }
    let log = Arc::new(log);
    let exit = command(&log).unwrap_or_else(|refusal| Exit::of_refusal(&refusal, &log));
    log.report_repeated();
    exit
}
