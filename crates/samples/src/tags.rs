//! Tags: labels of samples.
//!
//! The base tags of a user rarely change, and thousands of samples share them. So they are interned once as
//! [`BaseTags`](crate::BaseTags). Tags that differ between samples stay borrowed, and are read only if something needs
//! them.

use std::collections::BTreeMap;
use std::sync::Arc;

/// The base tags of a user, sorted by key: those of the run and the scenario, `scenario`, `group`, and tags that a
/// script sets for its user.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct TagMap(BTreeMap<String, String>);

impl TagMap {
    /// No tags.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets a tag and replaces its previous value.
    pub fn set(&mut self, key: impl Into<String>, value: impl Into<String>) {
        self.0.insert(key.into(), value.into());
    }

    /// Removes a tag. Returns whether it existed.
    pub fn remove(&mut self, key: &str) -> bool {
        self.0.remove(key).is_some()
    }

    /// The value of a tag.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }

    /// Keys and values, sorted by key.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0
            .iter()
            .map(|(key, value)| (key.as_str(), value.as_str()))
    }

    /// The number of tags.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no tags.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<K: Into<String>, V: Into<String>> FromIterator<(K, V)> for TagMap {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(tags: I) -> Self {
        TagMap(
            tags.into_iter()
                .map(|(k, v)| (k.into(), v.into()))
                .collect(),
        )
    }
}

/// Labels that selectors do not use: `vu` and `iter` if enabled, and the metadata that a script sets for its user.
/// Outputs receive them with the samples.
pub type Metadata = Arc<BTreeMap<String, String>>;
