use std::fmt;

use engine::AbortReason;

use crate::quickjs::Exception;

/// Why a script could not be loaded, or ended outside of iterations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScriptError {
    /// It could not be read or compiled, or threw; with the place.
    Exception(String),
    /// It asked for the end of the run.
    Aborted(AbortReason),
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ScriptError::Exception(text) => f.write_str(text),
            ScriptError::Aborted(AbortReason::ByScript(message)) => write!(f, "test aborted: {message}"),
            ScriptError::Aborted(reason) => write!(f, "the run was ended: {reason:?}"),
        }
    }
}

impl std::error::Error for ScriptError {}

/// An exception as the log shows it: its text, then where it was thrown,
/// innermost first.
pub(crate) fn describe(exception: &Exception<'_>) -> String {
    let mut text = exception.text();
    for frame in exception.frames() {
        text.push_str("\n\tat ");
        if frame.function.is_empty() {
            text.push_str(&frame.place);
        } else {
            text.push_str(&format!("{} ({})", frame.function, frame.place));
        }
    }
    if text.contains("\n\tat ") {
        text.push('\n');
    }
    text
}
