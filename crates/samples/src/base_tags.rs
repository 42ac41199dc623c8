//! The tags that many samples of a user have in common.

use std::cell::OnceCell;
use std::rc::Rc;
use std::sync::Arc;

use crate::condition_set::ConditionSet;
use crate::mask::{Mask, Masking};
use crate::record::SampleTags;
use crate::tags::{Metadata, TagMap};

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
    /// The cell of the breakdown for samples with these tags.
    pub cell: usize,
    /// The index of the group in the recorder's checks; `None` above the limit.
    pub group: Option<usize>,
    /// The conditions that samples without further tags may meet.
    pub may_hold: ConditionSet,
    /// The tags of samples without further tags, for outputs. Created when the first such sample occurs.
    pub sample_tags: OnceCell<Arc<SampleTags>>,
    /// Masks metadata, if the run has secrets.
    pub mask: Option<Arc<Mask>>,
}

impl Base {
    /// The tags of a sample without further tags.
    pub fn sample_tags(&self, masking: &Masking) -> Arc<SampleTags> {
        let tags = self
            .sample_tags
            .get_or_init(|| Arc::new(masking.tags(SampleTags::from_base(&self.tags))));
        Arc::clone(tags)
    }
}

impl BaseTags {
    /// The value of a tag.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.inner.tags.get(key)
    }

    pub fn tags(&self) -> &TagMap {
        &self.inner.tags
    }

    /// The same tags with this metadata on every sample. Needed only with outputs.
    pub fn with_metadata(&self, metadata: Option<Metadata>) -> BaseTags {
        BaseTags {
            inner: Rc::clone(&self.inner),
            metadata: match &self.inner.mask {
                Some(mask) => metadata.map(|metadata| masked(mask, &metadata)),
                None => metadata,
            },
        }
    }

    /// The same tags with this additional metadata, which contains no secrets, on every sample.
    pub fn with_more_metadata<'a>(
        &self,
        more: impl IntoIterator<Item = (&'a str, String)>,
    ) -> BaseTags {
        let mut all = self.metadata.as_deref().cloned().unwrap_or_default();
        all.extend(more.into_iter().map(|(key, value)| (key.to_owned(), value)));
        BaseTags {
            inner: Rc::clone(&self.inner),
            metadata: Some(Arc::new(all)),
        }
    }
}

/// Masks secrets in metadata.
fn masked(mask: &Mask, metadata: &Metadata) -> Metadata {
    let all = metadata.iter();
    let all =
        all.map(|(key, value)| (mask.apply(key).into_owned(), mask.apply(value).into_owned()));
    Arc::new(all.collect())
}
