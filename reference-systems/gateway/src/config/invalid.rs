//! Errors in a configuration, each with a fix.

use std::fmt;
use std::path::PathBuf;

use serde_saphyr::Error;

/// An error, with its line if that is known.
#[derive(Debug)]
pub struct Problem {
    pub line: u64,
    /// The path of keys, such as `routes.orders.prefix`.
    pub path: String,
    pub what: String,
}

/// Why a configuration is invalid.
#[derive(Debug)]
pub struct Invalid {
    pub file: PathBuf,
    pub problems: Vec<Problem>,
}

impl fmt::Display for Invalid {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().enumerate() {
            if index > 0 {
                writeln!(out)?;
            }
            write!(out, "{}", self.file.display())?;
            if problem.line > 0 {
                write!(out, ":{}", problem.line)?;
            }
            if !problem.path.is_empty() {
                write!(out, ": {}", problem.path)?;
            }
            write!(out, ": {}", problem.what)?;
        }
        Ok(())
    }
}

/// An error whose line is not known.
pub fn problem(path: impl Into<String>, what: impl Into<String>) -> Problem {
    Problem {
        line: 0,
        path: path.into(),
        what: what.into(),
    }
}

/// The parser's error, with the closest valid name.
pub fn explain(error: &Error, path: String) -> Problem {
    let error = error.without_snippet();
    let what = match error {
        Error::Message { msg, .. } => msg.clone(),
        Error::SerdeUnknownField {
            field, expected, ..
        } => {
            format!("there is no such key{}", hint(field, expected))
        }
        Error::SerdeUnknownVariant {
            variant, expected, ..
        } => {
            let hint = hint(variant, expected);
            let way = hint.strip_prefix("; there are").map_or(&*hint, |_| "");
            format!("'{variant}' is none of {}{way}", expected.join(", "))
        }
        Error::SerdeMissingField { field, .. } => format!("'{field}' is missing"),
        other => other.to_string(),
    };
    Problem {
        line: error.location().map_or(0, |location| location.line()),
        path: if path == "." { String::new() } else { path },
        what,
    }
}

/// `; did you mean 'x'?`, or the valid names. At most a third of the letters may differ.
pub fn hint(written: &str, names: &[&str]) -> String {
    let length = |name: &str| name.chars().count();
    let distance = |name: &&&str| strsim::osa_distance(written, name);
    let nearest = names.iter().min_by_key(distance);
    match nearest.filter(|name| distance(name) * 3 <= length(name).max(length(written))) {
        Some(name) => format!("; did you mean '{name}'?"),
        None if names.is_empty() => String::new(),
        None => format!("; there are: {}", names.join(", ")),
    }
}
