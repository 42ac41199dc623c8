//! What is wrong with a plan, and what is merely odd.

use std::fmt;

/// One error: where, what, and how to fix it, in one sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Where it stands: an option's path such as `scenarios.login.vus`, a
    /// variable such as `K6_VUS`, a flag; empty when the text says it all.
    pub place: String,
    /// What is wrong and what to do instead.
    pub message: String,
}

impl Fault {
    /// A fault at a place.
    pub fn at(place: impl Into<String>, message: impl Into<String>) -> Fault {
        Fault {
            place: place.into(),
            message: message.into(),
        }
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

/// Everything that is wrong, never empty when returned as an error. A run
/// with any of it ends with exit status 104.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Errors(pub Vec<Fault>);

impl Errors {
    /// Notes one more fault.
    pub fn push(&mut self, place: impl Into<String>, message: impl Into<String>) {
        self.0.push(Fault::at(place, message));
    }

    /// `Ok(value)` when nothing was found.
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
    /// One fault prints as a sentence, several as a list, one a line.
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

/// What is odd but does not keep the run from starting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The sentence for the log.
    pub message: String,
    /// What the log shows beside the sentence, by name: the same as k6 has.
    pub fields: Vec<(String, String)>,
}

impl Warning {
    /// A warning that is one sentence.
    pub fn new(message: impl Into<String>) -> Warning {
        Warning {
            message: message.into(),
            fields: Vec::new(),
        }
    }

    /// The warning with a field beside its sentence.
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

/// What a message repeats of a text from outside: enough to find it again.
pub(crate) fn excerpt(text: &str) -> String {
    const SHOWN: usize = 60;
    if text.chars().nth(SHOWN).is_none() {
        return text.to_owned();
    }
    let mut cut: String = text.chars().take(SHOWN).collect();
    cut.push('…');
    cut
}
