//! The end-of-test summary of a script's run, in all its forms.

use std::time::SystemTime;

use plimsoll_k6::user::Interrupted;
use plimsoll_output::summary_data::{self, SummaryContext};
use plimsoll_output::summary_machine::{self, RunIdentity};
use plimsoll_output::summary_text::{self, Detail};
use plimsoll_output::{Paint, Style, pretty_json, summary_export, summary_legacy};
use plimsoll_script::{HandledSummary, ScriptError};
use serde_json::Value;

use crate::{Outcome, PreparedScript};

/// The k6 version that scripts and summaries are compatible with.
const K6_VERSION: &str = "1.8.1";

/// How much detail the text shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SummaryMode {
    Compact,
    Full,
    Legacy,
    Disabled,
}

impl SummaryMode {
    /// Parses the name of a mode. An empty text is the default.
    ///
    /// # Errors
    /// The list of valid names.
    pub fn parse(text: &str) -> Result<SummaryMode, String> {
        match text {
            "" | "compact" => Ok(SummaryMode::Compact),
            "full" => Ok(SummaryMode::Full),
            "legacy" => Ok(SummaryMode::Legacy),
            "disabled" => Ok(SummaryMode::Disabled),
            _ => Err("use compact, full, legacy or disabled".to_owned()),
        }
    }
}

/// Parses the value of one of k6's boolean variables, as Go does. An empty value means false.
///
/// # Errors
/// If it is not one of Go's forms.
pub fn parse_bool(text: &str) -> Result<bool, String> {
    if text.is_empty() {
        return Ok(false);
    }
    plimsoll_units::boolean::parse(text)
        .ok_or_else(|| format!("\"{text}\" is neither true nor false"))
}

/// What the terminal can display.
#[derive(Clone, Copy, Debug)]
pub struct Screen {
    /// Whether to omit colors.
    pub is_plain: bool,
    pub stdout_is_terminal: bool,
    pub stderr_is_terminal: bool,
}

/// The summary of a run.
pub struct EndSummary<'a> {
    prepared: &'a PreparedScript,
    outcome: &'a Outcome,
    style: Style,
    context: SummaryContext,
    /// Use the newer JSON in `handleSummary` and files.
    is_newer: bool,
}

impl<'a> EndSummary<'a> {
    pub fn new(
        prepared: &'a PreparedScript,
        outcome: &'a Outcome,
        screen: Screen,
        is_newer: bool,
    ) -> EndSummary<'a> {
        let paint = Paint::new(!screen.is_plain && screen.stdout_is_terminal);
        let style = Style::new(&prepared.plan.options, paint);
        let context = SummaryContext {
            trend_stats: style.trend_stats.clone(),
            time_unit: style.time_unit,
            no_color: screen.is_plain,
            stdout_is_terminal: screen.stdout_is_terminal,
            stderr_is_terminal: screen.stderr_is_terminal,
            setup_data: prepared.program.setup_data(),
            verdict: Some(outcome.verdict.clone()),
        };
        EndSummary {
            prepared,
            outcome,
            style,
            context,
            is_newer,
        }
    }

    /// The text for the terminal.
    pub fn text(&self, mode: SummaryMode) -> String {
        let (summary, verdict) = (&self.outcome.summary, Some(&self.outcome.verdict));
        let detail = match mode {
            SummaryMode::Legacy => return summary_legacy::render(summary, verdict, &self.style),
            SummaryMode::Full => Detail::Full,
            SummaryMode::Compact | SummaryMode::Disabled => Detail::Compact,
        };
        summary_text::render(summary, verdict, detail, &self.style)
    }

    /// The result of the script's own `handleSummary`, if it exports one, and the summary as JSON.
    pub fn handled_by_script(
        &self,
        interrupted: Interrupted,
    ) -> (Result<HandledSummary, ScriptError>, String) {
        let data = if self.is_newer {
            self.machine_readable()
        } else {
            self.prepared.masked(summary_data::handle_summary_argument(
                &self.outcome.summary,
                &self.context,
            ))
        };
        let handled = self.prepared.program.handle_summary(&data, interrupted);
        (handled, pretty_json(&data))
    }

    /// The JSON for `--summary-export`. As in k6, the older format contains what `handleSummary` has `changed` in its
    /// argument.
    pub fn export(&self, changed: Option<Value>) -> String {
        let (summary, context) = (&self.outcome.summary, &self.context);
        pretty_json(&if self.is_newer {
            self.machine_readable()
        } else {
            self.prepared.masked(match changed {
                Some(data) => summary_export::exported(data),
                None => summary_export::summary_export(summary, context),
            })
        })
    }

    fn machine_readable(&self) -> Value {
        let run = RunIdentity {
            script: String::from_utf8_lossy(&self.prepared.source).into_owned(),
            generated_at: SystemTime::now(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            k6_version: K6_VERSION.to_owned(),
        };
        let data = summary_machine::machine_readable(&self.outcome.summary, &run, &self.context);
        self.prepared.masked(data)
    }
}
