//! Failures of scripts, and how the log shows exceptions.

use std::fmt::{self, Write as _};

use plimsoll_engine::AbortReason;
use plimsoll_k6::event_loop::Drained;
use plimsoll_quickjs::{Context, Exception, Persistent, StartError, Thrown};

/// Why a script could not be loaded, or why it failed outside of iterations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScriptError {
    /// It could not be compiled. The text includes the location.
    Unreadable(String),
    /// It threw an exception. The text includes the location.
    Exception(String),
    /// Its exports cannot be run, its init code never finished, or a promise was rejected and not handled.
    Unusable(String),
    /// It aborted the run.
    Aborted(AbortReason),
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ScriptError::Unreadable(text)
            | ScriptError::Exception(text)
            | ScriptError::Unusable(text) => f.write_str(text),
            ScriptError::Aborted(AbortReason::ByScript(text) | AbortReason::Machine(text)) => {
                f.write_str(text)
            }
            ScriptError::Aborted(reason) => write!(f, "the run was ended: {reason:?}"),
        }
    }
}

impl std::error::Error for ScriptError {}

impl From<StartError> for ScriptError {
    fn from(error: StartError) -> Self {
        ScriptError::Aborted(AbortReason::Machine(error.to_string()))
    }
}

impl ScriptError {
    /// The pending exception.
    pub(crate) fn thrown(context: &Context, thrown: Thrown) -> Self {
        ScriptError::Exception(with_stack(&context.take_exception(thrown)))
    }
}

/// Why a call into a script did not succeed.
pub(crate) enum CallFailure {
    /// An exception is pending.
    Thrown(Thrown),
    /// A promise was rejected for this reason and not handled.
    Unhandled(Persistent),
    /// The init code waits for a promise that can never be settled.
    Unfinished,
}

impl From<Thrown> for CallFailure {
    fn from(thrown: Thrown) -> Self {
        CallFailure::Thrown(thrown)
    }
}

impl From<Drained> for CallFailure {
    fn from(drained: Drained) -> Self {
        match drained {
            Drained::Thrown(thrown) => CallFailure::Thrown(thrown),
            Drained::Unhandled(reason) => CallFailure::Unhandled(reason),
        }
    }
}

/// An exception as a string, followed by its stack with one frame per line.
pub(crate) fn with_stack(exception: &Exception<'_>) -> String {
    let mut text = exception.text();
    if text == "InternalError: out of memory" {
        text.push_str(
            ". Raise the memory limit (ulimit -v, or that of the container), or run with fewer users or less data",
        );
    }
    for frame in exception.frames() {
        // Writing to a String cannot fail.
        let _ = write!(text, "\n\tat {frame}");
    }
    text.push('\n');
    text
}

/// Formats an unhandled rejection for the log. Errors of k6's own functions are shown without a stack.
pub(crate) fn uncaught(exception: &Exception<'_>) -> String {
    const PREFIX: &str = "Uncaught (in promise) ";
    let value = &exception.0;
    if !value.is_error() {
        return format!("{PREFIX}{}", exception.text());
    }
    let text = exception.text();
    match text.strip_prefix("GoError: ") {
        Some(message) => format!("{PREFIX}{message}"),
        None => format!("{PREFIX}{}", with_stack(exception)),
    }
}
