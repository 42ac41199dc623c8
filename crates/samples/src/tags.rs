//! Tags: labels of samples.
//!
//! A user's base tags change rarely and are shared by thousands of samples, so they are interned
//! once as [`BaseTags`]. Tags that differ from sample to sample stay borrowed and are read only if
//! something needs them.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use crate::condition_set::ConditionSet;

/// A user's base tags, sorted by key: those of the run and the scenario, `scenario`, `group`, and
/// those that a script sets for its user.
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

    /// Removes a tag; returns whether it existed.
    pub fn remove(&mut self, key: &str) -> bool {
        self.0.remove(key).is_some()
    }

    /// A tag's value.
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

    /// Whether there are none.
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

/// Labels that selectors do not use: `vu` and `iter` if enabled, and what a script wrote to its
/// user's metadata. They accompany samples to outputs.
pub type Metadata = Arc<BTreeMap<String, String>>;

/// Interned base tags of one [`Recorder`](crate::Recorder). Cheap to clone; created by
/// [`Recorder::base_tags`](crate::Recorder::base_tags) and valid only for that recorder.
#[derive(Clone, Debug)]
pub struct BaseTags {
    pub(crate) inner: Rc<Base>,
    pub(crate) metadata: Option<Metadata>,
}

#[derive(Debug)]
pub(crate) struct Base {
    pub tags: Arc<TagMap>,
    /// Hash of the tags, to distinguish series.
    pub hash: u64,
    /// The cell in the breakdown for samples with these tags.
    pub cell: usize,
    /// The index of the group in the recorder's checks; `None` above the limit.
    pub group: Option<usize>,
    /// Conditions that samples without further tags may meet.
    pub may_hold: ConditionSet,
}

impl BaseTags {
    /// A tag's value.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.inner.tags.get(key)
    }

    /// The tags as a whole.
    pub fn tags(&self) -> &TagMap {
        &self.inner.tags
    }

    /// The same tags with this metadata on every sample. Needed only with outputs.
    pub fn with_metadata(&self, metadata: Option<Metadata>) -> BaseTags {
        BaseTags {
            inner: Rc::clone(&self.inner),
            metadata,
        }
    }
}
