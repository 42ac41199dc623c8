//! What one recorder collected since the last hand-over.
//!
//! Windows go round: the recorder fills one while the main thread adds the
//! other to the totals, which empties it and sends it back. So in steady state
//! neither side allocates, and the pages of the histograms are made once.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::checks::CheckDelta;
use crate::record::SampleRecord;
use crate::registry::MetricId;
use crate::series::SeriesSketch;
use crate::sinks::Sinks;
use crate::summary::{LeftOut, Values};
use crate::summing::values_of;
use crate::tally::HttpTally;

/// How many emptied windows wait for a recorder at most.
const SPARE: usize = 2;

/// One recorder's figures of one window of time, on their way to the
/// [`Totals`](crate::Totals).
#[derive(Debug)]
pub struct Window {
    contents: Option<Box<Contents>>,
    home: Home,
}

#[derive(Debug, Default)]
pub(crate) struct Contents {
    pub cells: Vec<Option<Box<Sinks>>>,
    pub checks: Vec<CheckDelta>,
    pub http: HttpTally,
    /// Tag sets of HTTP exchanges; each stands for as many series as an
    /// exchange has metrics.
    pub exchanges: SeriesSketch,
    /// Series of other samples.
    pub series: SeriesSketch,
    pub records: Vec<SampleRecord>,
    pub left_out: LeftOut,
}

/// Where a recorder finds its emptied windows. The lock is taken once a window.
#[derive(Clone, Debug, Default)]
// Boxed, as windows travel through channels and are swapped, never copied.
#[allow(clippy::vec_box)]
pub(crate) struct Home(Arc<Mutex<Vec<Box<Contents>>>>);

impl Home {
    /// An emptied window, if one has come back.
    pub fn take(&self) -> Option<Box<Contents>> {
        self.0.lock().ok()?.pop()
    }

    fn give(&self, contents: Box<Contents>) {
        if let Ok(mut spare) = self.0.lock()
            && spare.len() < SPARE
        {
            spare.push(contents);
        }
    }
}

impl Window {
    pub(crate) fn new(contents: Box<Contents>, home: Home) -> Window {
        Window {
            contents: Some(contents),
            home,
        }
    }

    /// A metric's figures in this window, which took `span`; `None` if it has no
    /// samples in it. For views of what happens now: histograms of several
    /// recorders' windows can be merged.
    pub fn values(&self, metric: MetricId, span: Duration) -> Option<Values> {
        let cells = self.contents.as_ref()?.cells.iter().flatten();
        let sinks = cells.filter_map(|cell| cell.metrics.get(metric.index()));
        let mut sinks = sinks.filter(|sink| !sink.is_empty());
        let mut sum = sinks.next()?.clone();
        sinks.for_each(|sink| sum.merge(sink));
        Some(values_of(&sum, span))
    }

    pub(crate) fn cells(&self) -> &[Option<Box<Sinks>>] {
        self.contents
            .as_ref()
            .map_or(&[], |contents| &contents.cells)
    }

    pub(crate) fn contents(&mut self) -> Option<&mut Contents> {
        self.contents.as_deref_mut()
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        if let Some(mut contents) = self.contents.take() {
            contents.clear();
            self.home.give(contents);
        }
    }
}

impl Contents {
    fn clear(&mut self) {
        self.cells
            .iter_mut()
            .flatten()
            .for_each(|cell| cell.clear());
        self.checks.clear();
        self.http.clear();
        self.exchanges.clear();
        self.series.clear();
        self.records.clear();
        self.left_out = LeftOut::default();
    }

    pub fn heap_bytes(&self) -> usize {
        let cells = self.cells.iter().flatten();
        cells.map(|cell| cell.heap_bytes()).sum::<usize>()
            + self.records.capacity() * size_of::<SampleRecord>()
    }
}
