//! The outcome of a run, or the reason why it did not start.

use std::time::Duration;

use plimsoll_engine::AbortReason;
use plimsoll_results::record::Record;
#[cfg(feature = "scripts")]
use plimsoll_samples::Mask;
use plimsoll_samples::Summary;
#[cfg(feature = "scripts")]
use plimsoll_script::ScriptError;
use plimsoll_verdict::Verdict;

/// The outcome of a run.
pub struct Outcome {
    pub summary: Summary,
    pub verdict: Verdict,
    pub aborted: Option<AbortReason>,
    /// The script called `exec.test.fail`.
    pub marked_failed: bool,
    /// The number of completed iterations.
    pub iterations: u64,
    /// Metrics with a crossed threshold.
    pub crossed: Vec<String>,
    /// Requested outputs that could not be written, one sentence each.
    pub output_errors: Vec<String>,
    /// Information for the user, one sentence each.
    pub messages: Vec<String>,
    /// The record of the run, if the request asks to read it.
    pub record: Option<Box<Record>>,
    /// The processor time of workers in other processes.
    pub remote_cpu: Duration,
    /// The error in the list of targets that ended the run, if any.
    pub input_error: Option<String>,
}

/// Why a run ended. The strongest reason comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// A signal.
    Stopped,
    /// A request to the run's API.
    StoppedByApi,
    AbortedByScript,
    ScriptException,
    SetupTimeout,
    TeardownTimeout,
    /// A failure that makes it impossible to continue.
    Failed,
    ThresholdsCrossed,
    /// It was completed, but the script marked it as failed.
    MarkedFailed,
    /// It was completed, and no threshold was crossed.
    Completed,
}

impl Outcome {
    /// Why the run ended.
    pub fn ending(&self) -> Ending {
        match &self.aborted {
            Some(AbortReason::Signal) => Ending::Stopped,
            Some(AbortReason::ByApi) => Ending::StoppedByApi,
            Some(AbortReason::ByScript(_)) => Ending::AbortedByScript,
            Some(AbortReason::ScriptException(_) | AbortReason::UserException(..)) => {
                Ending::ScriptException
            }
            Some(AbortReason::SetupTimeout(_)) => Ending::SetupTimeout,
            Some(AbortReason::TeardownTimeout(_)) => Ending::TeardownTimeout,
            Some(AbortReason::Failed(_) | AbortReason::Machine(_)) => Ending::Failed,
            Some(AbortReason::Threshold) => Ending::ThresholdsCrossed,
            Some(AbortReason::Precise) | None if self.marked_failed => Ending::MarkedFailed,
            Some(AbortReason::Precise) | None if !self.crossed.is_empty() => {
                Ending::ThresholdsCrossed
            }
            Some(AbortReason::Precise) | None => Ending::Completed,
        }
    }

    /// Why the run ended early, or what failed. `signal` is the name of the signal that ended it. `None` if nothing
    /// went wrong.
    pub fn explanation(&self, signal: &str) -> Option<Explanation> {
        let of = |text: &str, hint: Option<String>| {
            Some(Explanation {
                text: text.to_owned(),
                hint,
            })
        };
        let more_time = |option: &str| {
            Some(format!(
                "You can increase the time limit via the {option} option"
            ))
        };
        let crossed = self.crossed.join(", ");
        match &self.aborted {
            Some(AbortReason::ScriptException(text)) => of(text, Some(SCRIPT_EXCEPTION.to_owned())),
            Some(AbortReason::UserException(user, text)) => {
                let hint = format!(
                    "error while initializing VU #{} ({SCRIPT_EXCEPTION})",
                    user.0
                );
                of(text, Some(hint))
            }
            Some(AbortReason::SetupTimeout(text)) => of(text, more_time("setupTimeout")),
            Some(AbortReason::TeardownTimeout(text)) => of(text, more_time("teardownTimeout")),
            Some(
                AbortReason::Failed(text)
                | AbortReason::Machine(text)
                | AbortReason::ByScript(text),
            ) => of(text, None),
            Some(AbortReason::ByApi) => of("a request to the API stopped the run", None),
            Some(AbortReason::Signal) => of(
                &format!("test run was aborted because plimsoll received the signal '{signal}'"),
                None,
            ),
            Some(AbortReason::Threshold) => of(
                &format!(
                    "thresholds on metrics '{crossed}' were crossed; at least one has abortOnFail enabled, stopping test prematurely"
                ),
                None,
            ),
            Some(AbortReason::Precise) | None if self.marked_failed => {
                of("test run was marked as failed", None)
            }
            Some(AbortReason::Precise) | None if !self.crossed.is_empty() => of(
                &format!("thresholds on metrics '{crossed}' have been crossed"),
                None,
            ),
            Some(AbortReason::Precise) | None => None,
        }
    }
}

/// A failure of a run.
pub struct Explanation {
    pub text: String,
    /// The kind of the failure, or advice on how to avoid it.
    pub hint: Option<String>,
}

/// Why a run cannot start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What happened, where, and how to fix it.
    pub message: String,
    /// The kind of failure, which the log shows as a separate field.
    pub hint: Option<&'static str>,
    pub kind: RefusalKind,
}

/// Why a run cannot start, by kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalKind {
    /// An option, flag or variable.
    Config,
    /// The script cannot be read, or threw in its init code.
    Script,
    /// The script called `exec.test.abort` in its init code.
    AbortedByScript,
    /// The API cannot be served.
    Api,
    /// Any other reason.
    Other,
}

/// The hint for exceptions that the script threw outside of iterations.
pub const SCRIPT_EXCEPTION: &str = "script exception";

impl Refusal {
    /// A refusal because of an option, a flag or a variable.
    pub fn config(message: impl ToString) -> Refusal {
        Refusal {
            message: message.to_string(),
            hint: None,
            kind: RefusalKind::Config,
        }
    }

    /// A refusal because the control API cannot be served.
    pub fn api(message: impl ToString) -> Refusal {
        Refusal {
            kind: RefusalKind::Api,
            ..Refusal::other(message)
        }
    }

    /// The same without secrets in its message.
    #[cfg(feature = "scripts")]
    #[must_use]
    pub(crate) fn masked(mut self, mask: Option<&Mask>) -> Refusal {
        if let Some(mask) = mask {
            self.message = mask.apply(&self.message).into_owned();
        }
        self
    }

    /// A refusal without a kind.
    pub fn other(message: impl ToString) -> Refusal {
        Refusal {
            message: message.to_string(),
            hint: None,
            kind: RefusalKind::Other,
        }
    }
}

#[cfg(feature = "scripts")]
impl From<ScriptError> for Refusal {
    fn from(error: ScriptError) -> Refusal {
        let (hint, kind) = match &error {
            ScriptError::Unreadable(_) => (None, RefusalKind::Script),
            ScriptError::Exception(_) => (Some(SCRIPT_EXCEPTION), RefusalKind::Script),
            ScriptError::Unusable(_) => (None, RefusalKind::Other),
            ScriptError::Aborted(AbortReason::Machine(_)) => (None, RefusalKind::Other),
            ScriptError::Aborted(_) => (None, RefusalKind::AbortedByScript),
        };
        Refusal {
            message: error.to_string(),
            hint,
            kind,
        }
    }
}
