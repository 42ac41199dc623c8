//! The samples that one recorder collected since its last window.
//!
//! Windows circulate. The recorder fills one window while the main thread adds the other to the totals, which empties
//! it and sends it back. So in steady state neither side allocates, and the pages of the histograms are created only
//! once.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::checks::CheckDelta;
use crate::metric_id::MetricId;
use crate::names::NameTally;
use crate::record::Records;
use crate::registry::Registry;
use crate::second::RunSecond;
use crate::series::SeriesSketch;
use crate::sinks::Sinks;
use crate::summary::{LeftOut, Values};
use crate::tally::HttpTally;
use crate::watch::Watch;

/// Maximum number of emptied parts that wait for a recorder.
const MAX_SPARE_PARTS: usize = 4;

/// One recorder's samples of a period, to be added to the [`Totals`](crate::Totals).
///
/// If seconds are separated, it has a part for each second. A part contains events that started in that second and
/// ended within the window.
#[derive(Debug)]
// Boxed, because parts are sent through channels and swapped, never copied.
#[allow(clippy::vec_box)]
pub struct Window {
    current: Option<Box<Contents>>,
    /// Parts of earlier seconds. If seconds are not separated, this is empty and nothing is allocated.
    earlier: Vec<Box<Contents>>,
    home: Home,
}

/// The part of a window for one second of the run.
#[derive(Clone, Copy, Debug)]
pub struct SecondPart<'a>(&'a Contents);

impl<'a> SecondPart<'a> {
    pub(crate) fn cells(self) -> impl Iterator<Item = &'a Sinks> {
        self.0.cells.iter().flatten().map(|cell| &**cell)
    }
}

#[derive(Debug, Default)]
pub(crate) struct Contents {
    /// The second in which all its events started, if seconds are separated.
    pub second: Option<RunSecond>,
    pub cells: Vec<Option<Box<Sinks>>>,
    pub checks: Vec<CheckDelta>,
    pub http: HttpTally,
    pub names: NameTally,
    /// Tag sets of HTTP exchanges. Each counts as one series per metric of an exchange.
    pub exchanges: SeriesSketch,
    /// Series of other samples.
    pub series: SeriesSketch,
    pub records: Records,
    pub left_out: LeftOut,
}

/// Returns emptied windows to a recorder. The lock is taken once per window.
#[derive(Clone, Debug, Default)]
// Boxed, because windows are sent through channels and swapped, never copied.
#[allow(clippy::vec_box)]
pub(crate) struct Home(Arc<Mutex<Vec<Box<Contents>>>>);

impl Home {
    /// An emptied window, if one was returned.
    pub fn take(&self) -> Option<Box<Contents>> {
        self.0.lock().ok()?.pop()
    }

    fn give(&self, contents: Box<Contents>) {
        if let Ok(mut spare) = self.0.lock()
            && spare.len() < MAX_SPARE_PARTS
        {
            spare.push(contents);
        }
    }
}

impl Window {
    #[allow(clippy::vec_box)]
    pub(crate) fn new(current: Box<Contents>, earlier: Vec<Box<Contents>>, home: Home) -> Window {
        Window {
            current: Some(current),
            earlier,
            home,
        }
    }

    /// A window without samples, to which other windows are added.
    pub fn empty() -> Window {
        Window {
            current: None,
            earlier: Vec::new(),
            home: Home::default(),
        }
    }

    /// Adds the samples of another window of the same run, except for individual samples.
    pub fn add(&mut self, other: &Window, registry: &Registry, watch: &Watch) {
        for part in other.parts() {
            let mut known = self.parts_mut();
            if let Some(known) = known.find(|known| known.second == part.second) {
                known.add(part, registry, watch);
                continue;
            }
            drop(known);
            let mut contents = Box::new(Contents {
                second: part.second,
                ..Contents::default()
            });
            contents.add(part, registry, watch);
            self.earlier.push(contents);
        }
    }

    /// The values of a metric in this window, which lasted `span`. `None` if it has no samples in it. For live views,
    /// which merge the histograms of several recorders' windows.
    pub fn values(&self, metric: MetricId, span: Duration) -> Option<Values> {
        let cells = self.parts().flat_map(|part| part.cells.iter().flatten());
        let sinks = cells.filter_map(|cell| cell.metrics.get(metric.index()));
        let mut sinks = sinks.filter(|sink| !sink.is_empty());
        let mut sum = sinks.next()?.clone();
        sinks.for_each(|sink| sum.merge(sink));
        Some(sum.values(span))
    }

    /// The number of requests with protocols other than HTTP, and how many of them failed.
    pub fn calls(&self) -> (u64, u64) {
        let calls = self.parts().map(|part| part.http.calls());
        calls.fold((0, 0), |sum, calls| (sum.0 + calls.0, sum.1 + calls.1))
    }

    /// The window's parts by second. Empty unless seconds are separated.
    pub fn seconds(&self) -> impl Iterator<Item = (RunSecond, SecondPart<'_>)> {
        self.parts()
            .filter_map(|part| Some((part.second?, SecondPart(part))))
    }

    pub(crate) fn parts(&self) -> impl Iterator<Item = &Contents> {
        let parts = self.current.iter().chain(&self.earlier);
        parts.map(|part| &**part)
    }

    pub(crate) fn parts_mut(&mut self) -> impl Iterator<Item = &mut Contents> {
        let parts = self.current.iter_mut().chain(&mut self.earlier);
        parts.map(|part| &mut **part)
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        for mut part in self
            .current
            .take()
            .into_iter()
            .chain(self.earlier.drain(..))
        {
            part.clear();
            self.home.give(part);
        }
    }
}

impl Contents {
    /// Adds everything except for individual samples.
    fn add(&mut self, other: &Contents, registry: &Registry, watch: &Watch) {
        if self.cells.len() < other.cells.len() {
            self.cells.resize_with(other.cells.len(), || None);
        }
        for (cell, more) in self.cells.iter_mut().zip(&other.cells) {
            if let Some(more) = more {
                cell.get_or_insert_with(|| Box::new(Sinks::new(registry, watch)))
                    .merge(more, registry);
            }
        }
        self.checks.extend_from_slice(&other.checks);
        self.http.merge(&other.http);
        self.names.merge(&other.names);
        self.exchanges.merge(&other.exchanges);
        self.series.merge(&other.series);
        self.left_out.check_results += other.left_out.check_results;
        self.left_out.breakdown_samples += other.left_out.breakdown_samples;
    }

    fn clear(&mut self) {
        self.second = None;
        self.cells
            .iter_mut()
            .flatten()
            .for_each(|cell| cell.clear());
        self.checks.clear();
        self.http.clear();
        self.names.clear();
        self.exchanges.clear();
        self.series.clear();
        self.records.clear();
        self.left_out = LeftOut::default();
    }

    pub fn heap_bytes(&self) -> usize {
        let cells = self.cells.iter().flatten();
        cells.map(|cell| cell.heap_bytes()).sum::<usize>()
            + self.names.heap_bytes()
            + self.records.heap_bytes()
    }
}
