//! The summary at the end of `plimsoll run`: ours, the script's own, and the exports.

use std::fs::File;
use std::io::{IsTerminal, Write};
use std::time::SystemTime;

use plimsoll_engine::AbortReason;
use plimsoll_output::summary_data::Circumstances;
use plimsoll_output::summary_machine::RunIdentity;
use plimsoll_output::{Paint, Style, summary_text};
use plimsoll_run::{Outcome, Prepared, Refusal};
use plimsoll_script::ScriptError;

use crate::args::RunArgs;
use crate::log::Log;
use crate::talk::{mark_lost, put, say, show, talk};

/// Whose interface is kept.
const K6_VERSION: &str = "1.8.1";

/// How the summary at the end looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SummaryMode {
    Compact,
    Full,
    Legacy,
    Disabled,
}

/// What the summary of a run is made of.
pub struct RunSummary<'a> {
    pub args: &'a RunArgs,
    pub prepared: &'a Prepared,
    pub outcome: &'a Outcome,
    pub mode: SummaryMode,
    pub log: &'a Log,
}

impl RunSummary<'_> {
    /// Prints the summary, or what the script's own `handleSummary` returns, and writes the export.
    pub fn write(
        &self,
        plain: bool,
        export: Option<File>,
        interrupted: plimsoll_script::Interrupted,
    ) {
        let RunSummary {
            args,
            prepared,
            outcome,
            mode,
            log,
        } = *self;
        let options = &prepared.plan.options;
        let style = Style::new(
            options,
            Paint::new(!plain && std::io::stdout().is_terminal()),
        );
        let about = Circumstances {
            trend_stats: style.trend_stats.clone(),
            time_unit: style.time_unit,
            no_color: plain,
            stdout_is_terminal: std::io::stdout().is_terminal(),
            stderr_is_terminal: std::io::stderr().is_terminal(),
            setup_data: prepared.program.setup_data(),
            verdict: Some(outcome.verdict.clone()),
        };
        let machine_readable = || {
            let run = RunIdentity {
                script: String::from_utf8_lossy(&prepared.source).into_owned(),
                generated_at: SystemTime::now(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
                k6_version: K6_VERSION.to_owned(),
            };
            plimsoll_output::summary_machine::machine_readable(&outcome.summary, &run, &about)
        };
        let newer = args.runtime.new_machine_readable_summary;
        let data = if newer {
            machine_readable()
        } else {
            plimsoll_output::summary_data::handle_summary_argument(&outcome.summary, &about)
        };
        let own = prepared.program.handle_summary(&data, interrupted);
        let ours = || {
            if !args.json {
                put(text_summary(outcome, mode, &style).as_bytes());
            }
        };
        match own {
            Err(ScriptError::Unusable(reason)) => {
                not_handled(&reason, log);
                tell_verdict(outcome);
            }
            Err(ScriptError::Aborted(AbortReason::Signal)) => {
                not_handled("handleSummary() was interrupted by a signal", log);
                ours();
            }
            Err(error) => {
                log.refuse(&Refusal::from(error));
                ours();
            }
            Ok(Some(outputs)) => {
                // What the script could not leave behind is not lost.
                if !write_outputs(&outputs, args.json, log) {
                    talk(&text_summary(outcome, mode, &style));
                } else {
                    tell_verdict(outcome);
                }
            }
            Ok(None) => ours(),
        }
        if args.json {
            put(plimsoll_output::pretty_json(&data).as_bytes());
        }
        if let Some(file) = export {
            let data = if newer {
                machine_readable()
            } else {
                plimsoll_output::summary_export::summary_export(&outcome.summary, &about)
            };
            write_export(file, &plimsoll_output::pretty_json(&data), log);
        }
    }
}

/// The mode that flags and variables ask for.
///
/// # Errors
/// For an unknown mode.
pub fn summary_mode(args: &RunArgs) -> Result<SummaryMode, Refusal> {
    if args.runtime.no_summary {
        // k6's users find it where its header would be.
        show("Flag --no-summary has been deprecated, use --summary-mode=disabled instead\n");
    }
    let unwanted = |value: std::ffi::OsString| {
        !["", "0", "f", "false", "no", "off"]
            .iter()
            .any(|no| value.eq_ignore_ascii_case(no))
    };
    let no_summary =
        args.runtime.no_summary || std::env::var_os("K6_NO_SUMMARY").is_some_and(unwanted);
    let mode = match args.runtime.summary_mode.as_deref() {
        None | Some("" | "compact") => SummaryMode::Compact,
        Some("full") => SummaryMode::Full,
        Some("legacy") => SummaryMode::Legacy,
        Some("disabled") => SummaryMode::Disabled,
        Some(other) => {
            return Err(Refusal::other(format!(
                "--summary-mode {other}: use compact, full, legacy or disabled"
            )));
        }
    };
    Ok(if no_summary {
        SummaryMode::Disabled
    } else {
        mode
    })
}

/// Opens the file of `--summary-export`, so that it is known before the run whether it can be
/// written. What is in it stays until the run is over.
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

/// Writes the summary in the place of what the file had. Where that fails it goes to stderr, so
/// that it is not lost.
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

/// The summary of our own making.
fn text_summary(outcome: &Outcome, mode: SummaryMode, style: &Style) -> String {
    let (summary, verdict) = (&outcome.summary, Some(&outcome.verdict));
    let detail = match mode {
        SummaryMode::Legacy => {
            return plimsoll_output::summary_legacy::render(summary, verdict, style);
        }
        SummaryMode::Full => summary_text::Detail::Full,
        SummaryMode::Compact | SummaryMode::Disabled => summary_text::Detail::Compact,
    };
    summary_text::render(summary, verdict, detail, style)
}

/// Prints the verdict to stderr, where the script's own summary has taken the place of ours.
fn tell_verdict(outcome: &Outcome) {
    for line in plimsoll_output::verdict_lines(&outcome.verdict, Paint::OFF) {
        say(&line);
    }
}

/// Writes what `handleSummary` returned; what cannot be written is told at once. With `keep_stdout`, its text for
/// stdout goes to stderr. Whether all of it was written.
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
