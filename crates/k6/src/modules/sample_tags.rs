//! The tags that a script sets on individual samples.

use plimsoll_quickjs::{Thrown, Value};

/// The tags of one call, in the order in which the script wrote them.
#[derive(Clone, Debug, Default)]
pub struct SampleTags(Vec<(String, String)>);

impl SampleTags {
    /// Reads an object of tags. Other values have no tags.
    ///
    /// # Errors
    /// If a tag's value is not a string, number or boolean.
    pub fn read(value: &Value<'_>) -> Result<Result<Self, String>, Thrown> {
        let mut tags = Vec::new();
        for key in value.keys()? {
            let tag = value.get(&key)?;
            let name = key.text();
            if !(tag.is_string() || tag.is_number() || tag.is_bool()) {
                return Ok(Err(format!(
                    "invalid value for metric tag '{name}': only String, Boolean and Number types are accepted as a \
                     metric tag values"
                )));
            }
            tags.push((name, tag.to_text()?.into_string()));
        }
        Ok(Ok(Self(tags)))
    }

    /// The value of `key`.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.0
            .iter()
            .find(|(name, _)| name == key)
            .map(|(_, value)| value.as_str())
    }

    /// The tags in the form that recorders accept.
    pub fn borrowed(&self) -> Vec<(&str, &str)> {
        self.0
            .iter()
            .map(|(key, value)| (key.as_str(), value.as_str()))
            .collect()
    }
}

/// Calls `body` with the tags in `value`.
///
/// # Errors
/// If the tags are invalid, or if `body` throws an exception.
pub fn with_tags<R>(
    value: &Value<'_>,
    body: impl FnOnce(&[(&str, &str)]) -> Result<R, Thrown>,
) -> Result<R, Thrown> {
    if !value.is_object() {
        return body(&[]);
    }
    let tags = SampleTags::read(value)?.map_err(|error| value.context().throw_plain(error))?;
    body(&tags.borrowed())
}
