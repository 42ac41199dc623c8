//! Finds the series of a sample by its metric and its tags.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use plimsoll_output::catalog::Catalog;
use plimsoll_samples::{Metric, MetricId, SampleRecord, SampleTags};
use rustc_hash::FxHashMap;

/// Maximum number of series in a table, so that tags with many different values do not fill the memory.
const MAX_SERIES: usize = 100_000;

/// Number of cached tag sets: an iteration uses its own and those of its exchanges.
const CACHED_TAG_SETS: usize = 8;

/// Stores one value per series. Lookup is fast because the samples of an exchange share their tags.
pub struct SeriesTable<T> {
    catalog: Catalog,
    metrics: Vec<Option<Arc<Metric>>>,
    tags: HashMap<Arc<SampleTags>, u32>,
    /// The most recently used tag sets, and their numbers.
    latest: VecDeque<(Arc<SampleTags>, u32)>,
    /// The keys are numbers assigned by this table, so an attacker cannot choose them to collide.
    places: FxHashMap<(MetricId, u32), usize>,
    values: Vec<T>,
}

impl<T> SeriesTable<T> {
    /// Creates an empty table for the metrics of `catalog`.
    pub fn new(catalog: Catalog) -> SeriesTable<T> {
        SeriesTable {
            catalog,
            metrics: Vec::new(),
            tags: HashMap::new(),
            latest: VecDeque::with_capacity(CACHED_TAG_SETS),
            places: FxHashMap::default(),
            values: Vec::new(),
        }
    }

    /// The value of a sample's series. If the series is new, `make` creates the value from metric and tags. `None` if
    /// the metric is unknown or the table is full.
    pub fn of(
        &mut self,
        sample: &SampleRecord,
        make: impl FnOnce(&Arc<Metric>, &SampleTags) -> T,
    ) -> Option<&mut T> {
        let tags = self.number_of(&sample.tags)?;
        let place = match self.places.get(&(sample.metric, tags)) {
            Some(place) => *place,
            None if self.is_full() => return None,
            None => {
                let metric = self.metric(sample.metric)?;
                let place = self.values.len();
                self.values.push(make(&metric, &sample.tags));
                self.places.insert((sample.metric, tags), place);
                place
            }
        };
        self.values.get_mut(place)
    }

    /// All values, in the order in which their series first occurred.
    pub fn values(&mut self) -> impl Iterator<Item = &mut T> {
        self.values.iter_mut()
    }

    /// Whether no more series can be added.
    pub fn is_full(&self) -> bool {
        self.values.len() >= MAX_SERIES
    }

    /// Forgets all series.
    pub fn clear(&mut self) {
        self.tags.clear();
        self.latest.clear();
        self.places.clear();
        self.values.clear();
    }

    fn number_of(&mut self, tags: &Arc<SampleTags>) -> Option<u32> {
        let mut latest = self.latest.iter();
        if let Some((_, number)) = latest.find(|(known, _)| Arc::ptr_eq(known, tags)) {
            return Some(*number);
        }
        let number = match self.tags.get(tags) {
            Some(number) => *number,
            None if self.is_full() => return None,
            None => {
                let next = u32::try_from(self.tags.len()).ok()?;
                self.tags.insert(Arc::clone(tags), next);
                next
            }
        };
        if self.latest.len() == CACHED_TAG_SETS {
            self.latest.pop_back();
        }
        self.latest.push_front((Arc::clone(tags), number));
        Some(number)
    }

    fn metric(&mut self, id: MetricId) -> Option<Arc<Metric>> {
        if self.metrics.len() <= id.index() {
            self.metrics.resize(id.index() + 1, None);
        }
        let known = self.metrics.get_mut(id.index())?;
        if known.is_none() {
            *known = self.catalog.find(id).map(|(metric, _)| Arc::new(metric));
        }
        known.clone()
    }
}
