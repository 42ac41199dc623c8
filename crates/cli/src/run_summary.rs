//! The summary at the end of `plimsoll run`: where its forms go.

use std::fs::File;
use std::io::Write;

use plimsoll_engine::AbortReason;
use plimsoll_k6::user::Interrupted;
use plimsoll_output::Paint;
use plimsoll_run::{EndSummary, Outcome, Refusal, SummaryMode};
use plimsoll_script::ScriptError;

use crate::args::RunArgs;
use crate::log::Log;
use crate::talk::{mark_lost, put, say, show, talk};

/// The summary of a run, and where it goes.
pub struct RunSummary<'a> {
    pub summary: EndSummary<'a>,
    pub outcome: &'a Outcome,
    pub mode: SummaryMode,
    /// Print JSON to stdout, and nothing else there.
    pub json: bool,
    pub log: &'a Log,
}

impl RunSummary<'_> {
    /// Prints the summary, or what the script's own `handleSummary` returns, and writes the export.
    pub fn write(&self, export: Option<File>, interrupted: Interrupted) {
        let log = self.log;
        let (handled, json) = self.summary.handled_by_script(interrupted);
        let print = || {
            if !self.json {
                put(self.summary.text(self.mode).as_bytes());
            }
        };
        match handled {
            Err(ScriptError::Unusable(reason)) => {
                not_handled(&reason, log);
                self.say_verdict();
            }
            Err(ScriptError::Aborted(AbortReason::Signal)) => {
                not_handled("handleSummary() was interrupted by a signal", log);
                print();
            }
            Err(error) => {
                log.refuse(&Refusal::from(error));
                print();
            }
            Ok(Some(outputs)) => {
                // No figure is lost when the script's outputs cannot be written.
                if write_outputs(&outputs, self.json, log) {
                    self.say_verdict();
                } else {
                    talk(&self.summary.text(self.mode));
                }
            }
            Ok(None) => print(),
        }
        if self.json {
            put(json.as_bytes());
        }
        if let Some(file) = export {
            write_export(file, &self.summary.export(), log);
        }
    }

    /// Prints the verdict to stderr, if the script's own summary replaces ours.
    fn say_verdict(&self) {
        for line in plimsoll_output::verdict_lines(&self.outcome.verdict, Paint::OFF) {
            say(&line);
        }
    }
}

/// The mode that flags and environment variables select.
///
/// # Errors
/// For an unknown mode.
pub fn summary_mode(args: &RunArgs) -> Result<SummaryMode, Refusal> {
    if args.runtime.no_summary {
        // k6 prints it where its header would be.
        show("Flag --no-summary has been deprecated, use --summary-mode=disabled instead\n");
    }
    let is_set = |value: std::ffi::OsString| {
        !["", "0", "f", "false", "no", "off"]
            .iter()
            .any(|no| value.eq_ignore_ascii_case(no))
    };
    let no_summary =
        args.runtime.no_summary || std::env::var_os("K6_NO_SUMMARY").is_some_and(is_set);
    let mode = SummaryMode::parse(args.runtime.summary_mode.as_deref()).map_err(Refusal::other)?;
    Ok(if no_summary {
        SummaryMode::Disabled
    } else {
        mode
    })
}

/// Opens the file of `--summary-export` before the run, to find out whether it can be written. Its
/// contents stay until the run is over.
pub fn open_export(args: &RunArgs, mode: SummaryMode) -> Result<Option<File>, Refusal> {
    let path = args.runtime.summary_export.as_ref();
    let Some(path) = path.filter(|_| mode != SummaryMode::Disabled) else {
        return Ok(None);
    };
    let mut options = File::options();
    let file = options.write(true).create(true).truncate(false).open(path);
    file.map(Some).map_err(|error| {
        Refusal::config(format!(
            "--summary-export {}: cannot write it: {error}; name a file in a folder that you may write to",
            path.display()
        ))
    })
}

/// Replaces the contents of the file. If that fails, the summary goes to stderr, so that it is not
/// lost.
fn write_export(mut file: File, text: &str, log: &Log) {
    // A device such as /dev/stdout has no length to set.
    let is_file = file.metadata().is_ok_and(|data| data.is_file());
    let cleared = if is_file { file.set_len(0) } else { Ok(()) };
    if let Err(error) = cleared.and_then(|()| file.write_all(text.as_bytes())) {
        not_handled(
            &format!("cannot write --summary-export: {error}; it follows"),
            log,
        );
        mark_lost();
        talk(&format!("{text}\n"));
    }
}

/// Writes what `handleSummary` returned, and logs what cannot be written. With `keep_stdout`, its text for
/// stdout goes to stderr. Returns whether all of it was written.
fn write_outputs(outputs: &[plimsoll_script::SummaryOutput], keep_stdout: bool, log: &Log) -> bool {
    let mut faults = Vec::new();
    for output in outputs {
        match output.place.as_str() {
            "stdout" if !keep_stdout => put(&output.bytes),
            "stdout" | "stderr" => talk(&String::from_utf8_lossy(&output.bytes)),
            path => {
                if let Err(error) = std::fs::write(path, &output.bytes) {
                    faults.push(format!("cannot write {path}: {error}"));
                }
            }
        }
    }
    if !faults.is_empty() {
        not_handled(&faults.join("; "), log);
        mark_lost();
    }
    faults.is_empty()
}

fn not_handled(reason: &str, log: &Log) {
    log.failure(
        "failed to handle the end-of-test summary",
        "error",
        Some(reason),
    );
}
