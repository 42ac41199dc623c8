//! Errors in a plan, and warnings.

use std::fmt;

use plimsoll_address::ParseError;
use plimsoll_units::UnknownName;
pub(crate) use plimsoll_units::excerpt;

/// An error: the location, the problem, and how to fix it, in one sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The location: an option's path such as `scenarios.login.vus`, an environment variable such as `K6_VUS`, or a
    /// flag. Empty if the message contains it.
    pub place: String,
    /// The error and its fix.
    pub message: String,
}

impl Fault {
    /// An error at a location.
    pub fn at(place: impl Into<String>, message: impl Into<String>) -> Fault {
        Fault {
            place: place.into(),
            message: message.into(),
        }
    }
}

impl From<ParseError> for Fault {
    fn from(error: ParseError) -> Fault {
        Fault::at("", error.to_string())
    }
}

impl From<UnknownName> for Fault {
    fn from(unknown: UnknownName) -> Fault {
        Fault::at("", unknown.to_string())
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.place.is_empty() {
            f.write_str(&self.message)
        } else {
            write!(f, "{}: {}", self.place, self.message)
        }
    }
}

/// All errors. Never empty when returned as an error. Any error ends a run with exit status 104.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Errors(pub Vec<Fault>);

impl Errors {
    /// Adds an error.
    pub fn push(&mut self, place: impl Into<String>, message: impl Into<String>) {
        self.0.push(Fault::at(place, message));
    }

    /// `Ok(value)` if there is no error.
    pub fn or<T>(self, value: T) -> Result<T, Errors> {
        if self.0.is_empty() {
            Ok(value)
        } else {
            Err(self)
        }
    }
}

impl From<Fault> for Errors {
    fn from(fault: Fault) -> Errors {
        Errors(vec![fault])
    }
}

impl fmt::Display for Errors {
    /// Prints one error as a sentence, and several as a list with one error per line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_slice() {
            [] => f.write_str("no problems"),
            [only] => write!(f, "{only}"),
            several => {
                write!(f, "{} problems with the configuration:", several.len())?;
                for fault in several {
                    write!(f, "\n\t- {fault}")?;
                }
                Ok(())
            }
        }
    }
}

impl std::error::Error for Errors {}

/// Something unusual that does not prevent the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The sentence in the log.
    pub message: String,
    /// Additional fields of the log message, by name. They are the same as in k6.
    pub fields: Vec<(String, String)>,
}

impl Warning {
    /// A warning that consists of one sentence.
    pub fn new(message: impl Into<String>) -> Warning {
        Warning {
            message: message.into(),
            fields: Vec::new(),
        }
    }

    /// The warning with an additional field.
    #[must_use]
    pub(crate) fn with(mut self, name: &str, value: impl Into<String>) -> Warning {
        self.fields.push((name.to_owned(), value.into()));
        self
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        for (name, value) in &self.fields {
            write!(f, " ({name}: {value})")?;
        }
        Ok(())
    }
}
