//! Individual samples, for outputs that need each of them.

use std::borrow::Cow;
use std::sync::Arc;

use plimsoll_units::Moment;

use crate::metric_id::MetricId;
use crate::tags::{Metadata, TagMap};

/// One sample with all its facts.
#[derive(Clone, Debug)]
pub struct SampleRecord {
    pub metric: MetricId,
    /// Its value: milliseconds, bytes or a plain number.
    pub value: f64,
    /// When it was taken: for an exchange, when it ended.
    pub at: Moment,
    /// When its event started, if known.
    pub started: Option<Moment>,
    /// When its event should have started, in an open model.
    pub scheduled: Option<Moment>,
    /// All its tags. Samples with the same tags often share one set.
    pub tags: Arc<SampleTags>,
    /// Additional labels.
    pub metadata: Option<Metadata>,
}

/// Samples in order, stored in pieces. A single growing list would be copied repeatedly on the thread that sends
/// requests.
#[derive(Debug, Default)]
pub(crate) struct Records(Vec<Vec<SampleRecord>>);

/// The number of samples in a piece.
const PIECE_LENGTH: usize = 4096;

impl Records {
    pub fn push(&mut self, record: SampleRecord) {
        match self.0.last_mut() {
            Some(piece) if piece.len() < PIECE_LENGTH => piece.push(record),
            _ => self.0.push(vec![record]),
        }
    }

    /// Appends the samples of `other`.
    pub fn append(&mut self, other: &mut Records) {
        self.0.append(&mut other.0);
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Removes and returns all samples.
    pub fn take(&mut self) -> Vec<Vec<SampleRecord>> {
        std::mem::take(&mut self.0)
    }

    pub fn heap_bytes(&self) -> usize {
        let pieces = self.0.iter();
        pieces
            .map(|piece| piece.capacity() * size_of::<SampleRecord>())
            .sum()
    }
}

/// A sample's tags, sorted by key.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct SampleTags(Vec<(Cow<'static, str>, Box<str>)>);

impl SampleTags {
    pub(crate) fn from_base(base: &TagMap) -> SampleTags {
        let own = |(key, value): (&str, &str)| (Cow::Owned(key.to_owned()), value.into());
        SampleTags(base.iter().map(own).collect())
    }

    pub(crate) fn set(&mut self, key: Cow<'static, str>, value: &str) {
        match self
            .0
            .binary_search_by(|(known, _)| known.as_ref().cmp(&key))
        {
            Ok(place) => self.0[place].1 = value.into(),
            Err(place) => self.0.insert(place, (key, value.into())),
        }
    }

    /// The value of a tag.
    pub fn get(&self, key: &str) -> Option<&str> {
        let place = self
            .0
            .binary_search_by(|(known, _)| known.as_ref().cmp(key));
        place.ok().map(|place| &*self.0[place].1)
    }

    /// Keys and values, sorted by key.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(key, value)| (key.as_ref(), &**value))
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

impl<'a> FromIterator<(Cow<'a, str>, Cow<'a, str>)> for SampleTags {
    fn from_iter<I: IntoIterator<Item = (Cow<'a, str>, Cow<'a, str>)>>(tags: I) -> Self {
        let mut all = SampleTags::default();
        for (key, value) in tags {
            all.set(Cow::Owned(key.into_owned()), &value);
        }
        all
    }
}
