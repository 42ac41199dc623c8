//! Reads nested objects and collects every error with its location.

use serde_json::{Map, Value};

use super::{OptionValue, kind_of};
use crate::error::{Errors, Warning, excerpt};

/// The errors and warnings so far.
#[derive(Default)]
pub(crate) struct Findings {
    pub(crate) errors: Errors,
    pub(crate) warnings: Vec<Warning>,
}

/// The current location in the options, and the findings so far.
pub(crate) struct Reader<'a> {
    place: String,
    findings: &'a mut Findings,
}

impl<'a> Reader<'a> {
    /// A reader at a path such as `scenarios.login`.
    pub(crate) fn at(place: impl Into<String>, findings: &'a mut Findings) -> Reader<'a> {
        Reader {
            place: place.into(),
            findings,
        }
    }

    /// Adds an error at the reader's location. Returns `None`, so that a reading function can return the result.
    pub(crate) fn fault<T>(&mut self, message: impl Into<String>) -> Option<T> {
        self.findings.errors.push(self.place.clone(), message);
        None
    }

    /// Adds a warning at the reader's location.
    pub(crate) fn warn(&mut self, message: impl AsRef<str>) {
        let warning = Warning::new(format!("{}: {}", self.place, message.as_ref()));
        self.findings.warnings.push(warning);
    }

    /// Adds an error: a value of another type was expected here.
    pub(crate) fn wrong_kind<T>(&mut self, expected: &str, found: &Value) -> Option<T> {
        self.fault(format!("must be {expected}, not {}", kind_of(found)))
    }

    /// Reads a value one level deeper.
    pub(crate) fn inside<T>(&mut self, step: &str, read: impl FnOnce(&mut Reader<'_>) -> T) -> T {
        let place = if step.starts_with('[') {
            format!("{}{step}", self.place)
        } else {
            format!("{}.{}", self.place, excerpt(step))
        };
        let mut reader = Reader {
            place,
            findings: self.findings,
        };
        read(&mut reader)
    }
}

/// The fields of an object, removed one by one. The remaining fields are unknown. As in k6, names are case-insensitive,
/// but an exact match takes precedence.
pub(crate) struct Fields<'v> {
    object: &'v Map<String, Value>,
    taken: Vec<&'static str>,
}

impl<'v> Fields<'v> {
    /// The fields of `value`. If it is not an object, adds an error.
    pub(crate) fn of(value: &'v Value, reader: &mut Reader<'_>) -> Option<Fields<'v>> {
        match value {
            Value::Object(object) => Some(Fields {
                object,
                taken: Vec::new(),
            }),
            other => reader.wrong_kind("an object", other),
        }
    }

    /// The raw value of a field. `null` counts as absent.
    pub(crate) fn raw(&mut self, name: &'static str) -> Option<&'v Value> {
        self.taken.push(name);
        self.object
            .get(name)
            .or_else(|| {
                let mut entries = self.object.iter();
                entries
                    .find(|(key, _)| key.eq_ignore_ascii_case(name))
                    .map(|(_, value)| value)
            })
            .filter(|value| !value.is_null())
    }

    /// A field as a value of the requested type.
    pub(crate) fn take<T: OptionValue>(
        &mut self,
        name: &'static str,
        reader: &mut Reader<'_>,
    ) -> Option<T> {
        let value = self.raw(name)?;
        reader.inside(name, |reader| T::from_json(value, reader))
    }

    /// Adds an error for every remaining field, with the most similar of the `known` names.
    pub(crate) fn refuse_rest(self, known: &[&str], reader: &mut Reader<'_>) {
        for message in self.rest(known) {
            let _: Option<()> = reader.fault(message);
        }
    }

    /// Adds warnings instead, where k6 ignores such fields silently.
    pub(crate) fn warn_rest(self, known: &[&str], reader: &mut Reader<'_>) {
        for message in self.rest(known) {
            reader.warn(message);
        }
    }

    fn rest(self, known: &[&str]) -> Vec<String> {
        let taken = |key: &str| self.taken.iter().any(|name| key.eq_ignore_ascii_case(name));
        let unknown = self.object.keys().filter(|key| !taken(key));
        let message = |key: &String| {
            let hint = match plimsoll_units::nearest(key, known.iter().copied()) {
                Some(meant) => format!("; did you mean \"{meant}\"?"),
                None => format!("; known here: {}", known.join(", ")),
            };
            format!("unknown field \"{}\"{hint}", excerpt(key))
        };
        unknown.map(message).collect()
    }
}
