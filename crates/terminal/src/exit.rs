//! The exit statuses of the program. Scripts and CI rely on them, and the guide lists them.

use std::process::ExitCode;

use plimsoll_run::{Ending, Refusal, RefusalKind};

use crate::log::Log;
use crate::messages::{print_error, print_stdout};

/// The exit status of a process. Those of `run` are the same as k6's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exit(u8);

impl Exit {
    pub const SUCCESS: Exit = Exit(0);
    /// Some requests of `plimsoll http` failed.
    pub const SOME_FAILED: Exit = Exit(1);
    /// `plimsoll throughput` did not produce a result.
    pub const NO_RESULT: Exit = Exit(1);
    /// `plimsoll audit` found a problem, or could not read a file.
    pub const FINDINGS: Exit = Exit(1);
    pub const UNREADABLE: Exit = Exit(2);
    /// `plimsoll find`: the service does not meet the objective at any rate.
    pub const OBJECTIVE_MISSED: Exit = Exit(1);
    /// `plimsoll find`: the trials ran out, or the generator was the limit.
    pub const UNCERTAIN: Exit = Exit(3);
    /// `plimsoll compare`: a condition of `--fail-on` is met.
    pub const FAILED_ON: Exit = Exit(1);
    /// `plimsoll compare` and `history`: there is nothing to compare or list.
    pub const NOT_COMPARED: Exit = Exit(2);
    /// `plimsoll compare`: --fail-on could not be judged.
    pub const NOT_JUDGED: Exit = Exit(3);
    pub const THRESHOLDS: Exit = Exit(99);
    pub const SETUP_TIMEOUT: Exit = Exit(100);
    pub const TEARDOWN_TIMEOUT: Exit = Exit(101);
    pub const STOPPED_BY_API: Exit = Exit(103);
    pub const INVALID_CONFIG: Exit = Exit(104);
    pub const SIGNAL: Exit = Exit(105);
    pub const CANNOT_SERVE_API: Exit = Exit(106);
    pub const SCRIPT_EXCEPTION: Exit = Exit(107);
    pub const ABORTED_BY_SCRIPT: Exit = Exit(108);
    pub const FAILED_BY_SCRIPT: Exit = Exit(110);
    /// The run succeeded, but a requested output could not be written.
    pub const LOST_OUTPUT: Exit = Exit(255);
    /// Any other failure.
    pub const GENERIC: Exit = Exit(255);

    /// The status with this number, or [`Exit::GENERIC`] if it is not from 0 to 255.
    pub fn from_code(code: i32) -> Exit {
        u8::try_from(code).map_or(Exit::GENERIC, Exit)
    }

    /// Returns this status if it is a failure, otherwise `other`.
    pub fn or(self, other: Exit) -> Exit {
        if self == Exit::SUCCESS { other } else { self }
    }

    /// The status as a number.
    pub fn code(self) -> u8 {
        self.0
    }

    /// Logs why a run cannot start. Returns the exit status.
    pub fn of_refusal(refusal: &Refusal, log: &Log) -> Exit {
        log.failure(&refusal.message, "hint", refusal.hint);
        refusal.kind.into()
    }

    /// Prints the result of a command to stdout, or the reason why it failed.
    pub fn of_text(result: Result<String, String>) -> Exit {
        match result {
            Ok(text) => {
                print_stdout(text.as_bytes());
                Exit::SUCCESS
            }
            Err(message) => {
                print_error(&message);
                Exit::GENERIC
            }
        }
    }

    /// Prints why a command cannot run. Returns the exit status.
    pub fn refuse(refusal: &Refusal) -> Exit {
        print_error(&refusal.message);
        refusal.kind.into()
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.0)
    }
}

impl From<RefusalKind> for Exit {
    fn from(kind: RefusalKind) -> Exit {
        match kind {
            RefusalKind::Config => Exit::INVALID_CONFIG,
            RefusalKind::Script => Exit::SCRIPT_EXCEPTION,
            RefusalKind::AbortedByScript => Exit::ABORTED_BY_SCRIPT,
            RefusalKind::Api => Exit::CANNOT_SERVE_API,
            RefusalKind::Other => Exit::GENERIC,
        }
    }
}

impl From<Ending> for Exit {
    fn from(ending: Ending) -> Exit {
        match ending {
            Ending::Stopped => Exit::SIGNAL,
            Ending::StoppedByApi => Exit::STOPPED_BY_API,
            Ending::AbortedByScript => Exit::ABORTED_BY_SCRIPT,
            Ending::ScriptException => Exit::SCRIPT_EXCEPTION,
            Ending::SetupTimeout => Exit::SETUP_TIMEOUT,
            Ending::TeardownTimeout => Exit::TEARDOWN_TIMEOUT,
            Ending::Failed => Exit::GENERIC,
            Ending::ThresholdsCrossed => Exit::THRESHOLDS,
            Ending::MarkedFailed => Exit::FAILED_BY_SCRIPT,
            Ending::Completed => Exit::SUCCESS,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Exit;

    #[test]
    fn the_guide_lists_every_exit_status() {
        let guide = include_str!("../../../docs/guide/exit-statuses.md");
        for exit in [
            Exit::SUCCESS,
            Exit::SOME_FAILED,
            Exit::UNREADABLE,
            Exit::NOT_JUDGED,
            Exit::THRESHOLDS,
            Exit::SETUP_TIMEOUT,
            Exit::TEARDOWN_TIMEOUT,
            Exit::STOPPED_BY_API,
            Exit::INVALID_CONFIG,
            Exit::SIGNAL,
            Exit::CANNOT_SERVE_API,
            Exit::SCRIPT_EXCEPTION,
            Exit::ABORTED_BY_SCRIPT,
            Exit::FAILED_BY_SCRIPT,
            Exit::GENERIC,
        ] {
            let row = format!("\n| {} | ", exit.code());
            assert!(guide.contains(&row), "{}", exit.code());
        }
    }
}
