//! How a run ended, or why it did not start.

use plimsoll_engine::AbortReason;
use plimsoll_samples::Summary;
use plimsoll_script::ScriptError;
use plimsoll_verdict::Verdict;

/// How a run ended.
pub struct Outcome {
    pub summary: Summary,
    pub verdict: Verdict,
    pub aborted: Option<AbortReason>,
    /// The script called `exec.test.fail`.
    pub marked_failed: bool,
    /// Iterations that were completed.
    pub iterations: u64,
    /// Metrics with a threshold that was crossed.
    pub crossed: Vec<String>,
    /// What was asked for and could not be written, each a sentence.
    pub output_errors: Vec<String>,
    /// What the person who watches may want to know, each a sentence.
    pub messages: Vec<String>,
    /// What is wrong with the list of targets, if it ended the run.
    pub input_error: Option<String>,
}

/// Why a run ended, the strongest reason first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// A signal, or another request to stop from outside.
    Stopped,
    AbortedByScript,
    ScriptException,
    SetupTimeout,
    TeardownTimeout,
    /// Something that a run cannot go on with.
    Failed,
    ThresholdsCrossed,
    /// It was completed, and the script marked it as failed.
    MarkedFailed,
    /// It was completed, and all thresholds hold.
    Completed,
}

impl Outcome {
    /// Why the run ended.
    pub fn ending(&self) -> Ending {
        match &self.aborted {
            Some(AbortReason::Signal) => Ending::Stopped,
            Some(AbortReason::ByScript(_)) => Ending::AbortedByScript,
            Some(AbortReason::ScriptException(_) | AbortReason::UserException(..)) => {
                Ending::ScriptException
            }
            Some(AbortReason::SetupTimeout(_)) => Ending::SetupTimeout,
            Some(AbortReason::TeardownTimeout(_)) => Ending::TeardownTimeout,
            Some(AbortReason::Failed(_) | AbortReason::Machine(_)) => Ending::Failed,
            Some(AbortReason::Threshold) => Ending::ThresholdsCrossed,
            None if self.marked_failed => Ending::MarkedFailed,
            None if !self.crossed.is_empty() => Ending::ThresholdsCrossed,
            None => Ending::Completed,
        }
    }
}

/// Why a run cannot start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What is wrong, where, and how to fix it.
    pub message: String,
    /// What kind of failure it is, for a field of its own in the log.
    pub hint: Option<&'static str>,
    pub kind: RefusalKind,
}

/// What keeps a run from starting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalKind {
    /// An option, flag or variable.
    Config,
    /// The script cannot be read, or threw in its init code.
    Script,
    /// The script called `exec.test.abort` in its init code.
    AbortedByScript,
    /// Anything else.
    Other,
}

/// The hint on what the script threw outside of iterations.
pub const THROWN: &str = "script exception";

impl Refusal {
    /// An option, flag or variable is wrong.
    pub fn config(message: impl ToString) -> Refusal {
        Refusal {
            message: message.to_string(),
            hint: None,
            kind: RefusalKind::Config,
        }
    }

    /// Anything without a kind of its own.
    pub fn other(message: impl ToString) -> Refusal {
        Refusal {
            message: message.to_string(),
            hint: None,
            kind: RefusalKind::Other,
        }
    }
}

impl From<ScriptError> for Refusal {
    fn from(error: ScriptError) -> Refusal {
        let (hint, kind) = match &error {
            ScriptError::Unreadable(_) => (None, RefusalKind::Script),
            ScriptError::Exception(_) => (Some(THROWN), RefusalKind::Script),
            ScriptError::Unusable(_) => (None, RefusalKind::Other),
            ScriptError::Aborted(_) => (None, RefusalKind::AbortedByScript),
        };
        Refusal {
            message: error.to_string(),
            hint,
            kind,
        }
    }
}
