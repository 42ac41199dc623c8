//! Problems and their locations.

use std::fmt;
use std::path::{Path, PathBuf};

/// A line in a lab file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Location {
    pub file: PathBuf,
    /// The line, from 1.
    pub line: usize,
}

impl Location {
    /// Creates the location of a line in a file.
    pub fn new(file: &Path, line: usize) -> Location {
        Location {
            file: file.to_owned(),
            line,
        }
    }

    /// Creates a problem at this location.
    pub fn problem(&self, message: impl Into<String>) -> Problem {
        Problem {
            place: Some(self.clone()),
            message: message.into(),
        }
    }
}

/// A problem that prevents a lab from running: its location, a description, and the fix.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// The location, if the problem has a line.
    pub place: Option<Location>,
    /// The description and the fix.
    pub message: String,
}

impl Problem {
    /// Creates a problem without a line.
    pub fn nowhere(message: impl Into<String>) -> Problem {
        Problem {
            place: None,
            message: message.into(),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Some(place) => write!(
                formatter,
                "{}:{}: {}",
                place.file.display(),
                place.line,
                self.message
            ),
            None => formatter.write_str(&self.message),
        }
    }
}

/// `did you mean NAME?`, or the list of known names.
pub(crate) fn suggestion<'a>(
    written: &str,
    known: impl Iterator<Item = &'a str> + Clone,
) -> String {
    const MAX_NAMES: usize = 30;
    if let Some(near) = plimsoll_units::nearest(written, known.clone()) {
        return format!("did you mean \"{near}\"?");
    }
    let all: Vec<&str> = known.take(MAX_NAMES).collect();
    match all.as_slice() {
        [] => "none is defined".to_owned(),
        some => format!("use one of: {}", some.join(", ")),
    }
}
