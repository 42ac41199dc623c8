//! Writes the summary at the end of `plimsoll run`, in all its forms.

use plimsoll_engine::AbortReason;
use plimsoll_output::Paint;
use plimsoll_run::{
    EndSummary, ExportFile, HandledSummary, Interrupted, Outcome, Refusal, ScriptError,
    SummaryMode, SummaryOutput,
};

use crate::exit::Exit;
use crate::log::Log;
use crate::messages::{mark_lost, print_message, print_stderr, print_stdout};

/// The summary of a run, and its destinations.
pub struct ScriptSummary<'a> {
    pub summary: EndSummary<'a>,
    pub outcome: &'a Outcome,
    pub mode: SummaryMode,
    /// Whether to print only JSON to stdout.
    pub json: bool,
    pub log: &'a Log,
}

impl ScriptSummary<'_> {
    /// Prints the summary, or the result of the script's own `handleSummary`, and writes the export.
    pub fn write(&self, export: Option<ExportFile>, interrupted: Interrupted) {
        let log = self.log;
        let (handled, json) = self.summary.handled_by_script(interrupted);
        let print = || {
            if !self.json {
                print_stdout(self.summary.text(self.mode).as_bytes());
            }
        };
        let mut changed = None;
        match handled {
            Err(ScriptError::Unusable(reason)) => {
                not_handled(&reason, log);
                self.print_verdict();
            }
            Err(ScriptError::Aborted(AbortReason::Signal)) => {
                not_handled("handleSummary() was interrupted by a signal", log);
                print();
            }
            Err(error) => {
                Exit::of_refusal(&Refusal::from(error), log);
                print();
            }
            Ok(HandledSummary { outputs, data }) => {
                changed = data;
                match outputs {
                    None => print(),
                    // Print the result even if the script's files cannot be written.
                    Some(outputs) if self.write_outputs(&outputs) => self.print_verdict(),
                    Some(_) => print_stderr(&self.summary.text(self.mode)),
                }
            }
        }
        if self.json {
            print_stdout(json.as_bytes());
        }
        let Some(export) = export else { return };
        let text = self.summary.export(changed);
        if let Err(error) = export.write(&text) {
            not_handled(
                &format!("cannot write --summary-export: {error}; it follows"),
                log,
            );
            mark_lost();
            print_stderr(&format!("{text}\n"));
        }
    }

    /// Writes the result of `handleSummary`, and logs what cannot be written. With `--json`, its text for stdout goes
    /// to stderr. Returns whether everything was written.
    fn write_outputs(&self, outputs: &[SummaryOutput]) -> bool {
        let written = plimsoll_run::write_outputs(outputs, |is_stdout, bytes| {
            if is_stdout && !self.json {
                print_stdout(bytes);
            } else {
                print_stderr(&String::from_utf8_lossy(bytes));
            }
        });
        if let Err(faults) = &written {
            not_handled(faults, self.log);
            mark_lost();
        }
        written.is_ok()
    }

    /// Prints the verdict to stderr, if the script's own summary replaces ours.
    fn print_verdict(&self) {
        for line in plimsoll_output::verdict_lines(&self.outcome.verdict, Paint::OFF) {
            print_message(&line);
        }
    }
}

fn not_handled(reason: &str, log: &Log) {
    log.failure(
        "failed to handle the end-of-test summary",
        "error",
        Some(reason),
    );
}
