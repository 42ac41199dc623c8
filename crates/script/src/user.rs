//! The state of one virtual user, as host functions find it.

use std::cell::Cell;
use std::rc::Rc;

use crate::quickjs::{Context, Thrown};

/// What a script of this user is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// The code outside of functions; it may open files and declare metrics, and may not make requests.
    Init,
    Setup,
    Iteration,
    Teardown,
    Summary,
}

/// How grave a logged line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Debug,
    Info,
    Warning,
    Error,
}

/// A line for the log.
#[derive(Debug, Clone, Copy)]
pub struct LogLine<'a> {
    pub level: Level,
    pub text: &'a str,
    /// Where it comes from, as k6 names it: `console`, `stacktrace`, or nothing.
    pub source: Option<&'a str>,
}

/// The state of one virtual user, as host functions find it: `user(context)`.
pub struct User {
    phase: Cell<Phase>,
    log: Rc<dyn Fn(&LogLine<'_>)>,
}

/// The virtual user whose script is running.
#[inline]
pub fn user(context: &Context) -> &User {
    context.host()
}

impl User {
    pub fn new(log: Rc<dyn Fn(&LogLine<'_>)>) -> Self {
        Self {
            phase: Cell::new(Phase::Init),
            log,
        }
    }

    #[inline]
    pub fn phase(&self) -> Phase {
        self.phase.get()
    }

    pub fn set_phase(&self, phase: Phase) {
        self.phase.set(phase);
    }

    /// Logs a line that is Plimsoll's own, such as a warning about a parameter.
    pub fn log(&self, level: Level, text: &str) {
        (self.log)(&LogLine {
            level,
            text,
            source: None,
        });
    }

    /// Logs what the script wrote to its console.
    pub fn log_console(&self, level: Level, text: &str) {
        (self.log)(&LogLine {
            level,
            text,
            source: Some("console"),
        });
    }

    /// Refuses `what` outside of the init code.
    pub fn require_init(&self, context: &Context, what: &str) -> Result<(), Thrown> {
        match self.phase() {
            Phase::Init => Ok(()),
            _ => Err(context.throw_plain(format!("{what} only in the init context"))),
        }
    }

    /// Refuses `what` in the init code.
    pub fn require_running(&self, context: &Context, what: &str) -> Result<(), Thrown> {
        match self.phase() {
            Phase::Init => {
                Err(context.throw_plain(format!("{what} in the init context is not supported")))
            }
            _ => Ok(()),
        }
    }
}
