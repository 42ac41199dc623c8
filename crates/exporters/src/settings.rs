//! Reads settings of exporters from environment variables. Errors name the variable.

use std::fmt::Display;
use std::str::FromStr;
use std::time::Duration;

use plimsoll_units::duration;

/// Looks up environment variables.
#[derive(Clone, Copy)]
pub struct Variables<'a> {
    all: &'a [(String, String)],
}

impl<'a> Variables<'a> {
    /// Creates settings from these variables.
    pub fn new(all: &'a [(String, String)]) -> Variables<'a> {
        Variables { all }
    }

    /// The value of a variable. `None` if it is empty or not set.
    pub fn text(self, name: &str) -> Option<&'a str> {
        let mut all = self.all.iter();
        let (_, value) = all.find(|(known, _)| known == name)?;
        (!value.is_empty()).then_some(value)
    }

    /// All variables whose names start with `prefix`: the rest of the name, and the value.
    pub fn starting_with(self, prefix: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        let all = self.all.iter();
        all.filter_map(move |(name, value)| Some((name.strip_prefix(prefix)?, value.as_str())))
    }

    /// Parses a value. If the variable is not set, returns `default`.
    pub fn parsed<T: FromStr<Err: Display>>(self, name: &str, default: T) -> Result<T, String> {
        self.text(name).map_or(Ok(default), |text| {
            let parsed = text.parse();
            parsed.map_err(|error| format!("{name}={text}: {error}"))
        })
    }

    /// Parses a duration with a unit. If the variable is not set, returns `default`.
    pub fn duration(self, name: &str, default: Duration) -> Result<Duration, String> {
        let Some(text) = self.text(name) else {
            return Ok(default);
        };
        match duration::parse_with_unit(text) {
            Ok(duration) if duration.is_zero() => Err(format!(
                "{name}={text}: use a duration above 0, for example 5s"
            )),
            Ok(duration) => Ok(duration),
            Err(_) => Err(format!(
                "{name}={text}: use a duration with a unit, for example 5s"
            )),
        }
    }

    /// Parses a boolean as k6 does. If the variable is not set, returns `default`.
    pub fn boolean(self, name: &str, default: bool) -> Result<bool, String> {
        let Some(text) = self.text(name) else {
            return Ok(default);
        };
        plimsoll_units::boolean::parse(text)
            .ok_or_else(|| format!("{name}={text}: use true or false"))
    }
}
