//! Encodes windows, so that another process can add them to its totals as if its own recorders had collected them. The
//! encoding contains names, because numbers of metrics, checks and cells differ between processes.
//!
//! Individual samples for outputs are encoded separately ([`encode_records`](crate::encode_records)).

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use plimsoll_units::Moment;

use crate::builtin;
use crate::checks::CheckDelta;
use crate::kind::{Contains, Kind};
use crate::metric_id::MetricId;
use crate::names::NameTally;
use crate::registry::{Metric, Registry};
use crate::roster::{COMMON_CELL, Names};
use crate::second::RunSecond;
use crate::series::SeriesSketch;
use crate::sink::Sink;
use crate::sink::wire::Budget;
use crate::sinks::Sinks;
use crate::summary::LeftOut;
use crate::tally::HttpTally;
use crate::totals::Totals;
use crate::watch::Watch;
use crate::window::{Contents, Home, Window};
use crate::wire::{Reader, WireError, Writer};

/// The first byte: the version of the encoding.
const VERSION: u8 = 1;
/// Maximum number of parts of a window; a recorder creates at most as many.
const PART_LIMIT: usize = 64;
/// Maximum number of cells of all parts together, because each needs memory for all metrics.
const CELL_LIMIT: usize = 4_096;
/// Maximum number of metrics of scripts.
const METRIC_LIMIT: usize = 4_096;

/// Encodes the windows of a run in this process, and computes their sum.
#[derive(Debug)]
pub struct WindowEncoder {
    totals: Totals,
    /// The number of groups sent so far, in the order of the roster.
    groups: usize,
}

/// Decodes windows of other processes that have the same plan.
#[derive(Clone, Debug)]
pub struct WindowDecoder {
    registry: Arc<Registry>,
    watch: Arc<Watch>,
}

impl WindowEncoder {
    /// Creates an encoder. `registry` and `watch` are those of the windows.
    pub fn new(registry: Arc<Registry>, watch: Arc<Watch>) -> WindowEncoder {
        WindowEncoder {
            totals: Totals::new(registry, watch),
            groups: 1,
        }
    }

    /// The sum of all encoded windows.
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// The metrics of the run.
    pub fn registry(&self) -> &Registry {
        &self.totals.registry
    }

    /// Adds a window to another window that will be encoded later.
    pub fn add_to(&self, later: &mut Window, window: &Window) {
        later.add(window, &self.totals.registry, &self.totals.watch);
    }

    /// Encodes a window, and adds it to the sum. Moments are relative to `origin`. Each window of the process must be
    /// encoded exactly once, and decoded in the same order.
    pub fn encode(&mut self, window: &Window, origin: Moment) -> Vec<u8> {
        let mut out = Writer::new();
        out.byte(VERSION);
        let watch = Arc::clone(&self.totals.watch);
        let names = watch.roster.names();
        let tables = Tables::of(window, &self.totals.registry);
        tables.encode(&names, &self.totals.registry, &mut out);
        let groups = names.groups.get(self.groups..).unwrap_or_default();
        out.number(groups.len() as u64);
        groups.iter().for_each(|group| out.text(&group.path));
        self.groups += groups.len();
        drop(names);
        out.number(window.parts().count() as u64);
        for part in window.parts() {
            self.part(part, &tables, origin, &mut out);
            self.totals.merge_part(part);
        }
        out.into_bytes()
    }

    fn part(&self, part: &Contents, tables: &Tables, origin: Moment, out: &mut Writer) {
        out.flag(part.second.is_some());
        if let Some(second) = part.second {
            out.number(second.number);
            out.flag(second.after_load);
        }
        let cells: Vec<_> = cells_in_use(part).collect();
        out.number(cells.len() as u64);
        for (cell, sinks) in cells {
            out.number(tables.cell(cell));
            let so_far = self.so_far(cell);
            encode_sinks(sinks, so_far, tables, origin, out);
        }
        out.number(part.checks.len() as u64);
        for delta in &part.checks {
            out.number(tables.cell(delta.cell));
            out.number(tables.check(delta.check));
            out.number(delta.passes);
            out.number(delta.fails);
        }
        part.http.encode(out);
        part.names.encode(&self.totals.names, out);
        // Counting series stops at a limit.
        let counts_series = !self.totals.watch.series_counted.load(Ordering::Relaxed);
        out.flag(counts_series);
        if counts_series {
            part.exchanges.encode(out);
            part.series.encode(out);
        }
        out.number(part.left_out.check_results);
        out.number(part.left_out.breakdown_samples);
    }

    /// The sum of a cell's samples so far. The receiver adds a cell to its own totals and to those of the run.
    fn so_far(&self, cell: usize) -> Option<&Sinks> {
        if self.totals.watch.breakdown && cell != COMMON_CELL {
            self.totals.cells.get(cell)?.as_deref()
        } else {
            Some(&self.totals.whole)
        }
    }
}

fn cells_in_use(part: &Contents) -> impl Iterator<Item = (usize, &Sinks)> {
    let cells = part.cells.iter().enumerate();
    cells.filter_map(|(cell, sinks)| {
        let sinks = sinks.as_deref()?;
        let mut all = sinks.metrics.iter().chain(&sinks.submetrics);
        all.any(|sink| !sink.is_empty()).then_some((cell, sinks))
    })
}

fn encode_sinks(
    sinks: &Sinks,
    so_far: Option<&Sinks>,
    tables: &Tables,
    origin: Moment,
    out: &mut Writer,
) {
    let in_use = |sinks: &[Sink]| -> Vec<usize> {
        let places = 0..sinks.len();
        places.filter(|at| !sinks[*at].is_empty()).collect()
    };
    let metrics = in_use(&sinks.metrics);
    out.number(metrics.len() as u64);
    for at in metrics {
        out.number(tables.metric(at));
        let before = so_far.and_then(|sums| sums.metrics.get(at));
        sinks.metrics[at].encode(before, origin, out);
    }
    // Both processes have the same thresholds, so the numbers of sub-metrics are equal.
    let submetrics = in_use(&sinks.submetrics);
    out.number(submetrics.len() as u64);
    for at in submetrics {
        out.number(at as u64);
        let before = so_far.and_then(|sums| sums.submetrics.get(at));
        sinks.submetrics[at].encode(before, origin, out);
    }
}

/// The names that a window uses, with their numbers in its encoding.
#[derive(Default)]
struct Tables {
    /// A script's own metrics, by their numbers in this process.
    metrics: BTreeMap<usize, u64>,
    /// Cells except the common one.
    cells: BTreeMap<usize, u64>,
    checks: BTreeMap<usize, u64>,
}

impl Tables {
    fn of(window: &Window, registry: &Registry) -> Tables {
        let mut tables = Tables::default();
        let known = registry.len();
        for part in window.parts() {
            for (cell, sinks) in cells_in_use(part) {
                tables.cells.insert(cell, 0);
                let metrics = sinks.metrics.iter().enumerate().take(known);
                let own = metrics.skip(builtin::TABLE.len());
                let in_use = own.filter(|(_, sink)| !sink.is_empty());
                tables.metrics.extend(in_use.map(|(at, _)| (at, 0)));
            }
            for delta in &part.checks {
                tables.cells.insert(delta.cell, 0);
                tables.checks.insert(delta.check, 0);
            }
        }
        tables.cells.remove(&COMMON_CELL);
        for table in [&mut tables.metrics, &mut tables.cells, &mut tables.checks] {
            (0..).zip(table.values_mut()).for_each(|(n, at)| *at = n);
        }
        tables
    }

    fn encode(&self, names: &Names, registry: &Registry, out: &mut Writer) {
        let metrics = registry.metrics();
        out.number(self.metrics.len() as u64);
        for metric in self.metrics.keys().filter_map(|at| metrics.get(*at)) {
            metric.encode(out);
        }
        out.number(self.cells.len() as u64);
        for cell in self.cells.keys() {
            let (scenario, group) = names.cells.get(*cell).map_or(("", ""), |(s, g)| (s, g));
            out.text(scenario);
            out.text(group);
        }
        out.number(self.checks.len() as u64);
        for check in self.checks.keys() {
            let check = names.checks.get(*check);
            let group = check.and_then(|check| names.groups.get(check.group));
            out.text(group.map_or("", |group| &group.path));
            out.text(check.map_or("", |check| &check.name));
        }
    }

    /// The built-in metrics have the same numbers in every process. A script's own metrics follow.
    fn metric(&self, at: usize) -> u64 {
        let own = self.metrics.get(&at);
        own.map_or(at as u64, |number| builtin::TABLE.len() as u64 + number)
    }

    /// 0 is the common cell.
    fn cell(&self, at: usize) -> u64 {
        self.cells.get(&at).map_or(0, |number| number + 1)
    }

    fn check(&self, at: usize) -> u64 {
        self.checks.get(&at).copied().unwrap_or(0)
    }
}

/// The meaning of the numbers of an encoded window in this process.
struct Places {
    metrics: Vec<(MetricId, Kind)>,
    cells: Vec<usize>,
    /// `None` above the maximum number of names.
    checks: Vec<Option<usize>>,
}

impl WindowDecoder {
    /// Creates a decoder for a run with this registry and watch.
    pub fn new(registry: Arc<Registry>, watch: Arc<Watch>) -> WindowDecoder {
        WindowDecoder { registry, watch }
    }

    /// Decodes the window in `bytes`. Moments are relative to `origin`.
    ///
    /// # Errors
    /// If the bytes are not a window, or need more memory than a window may use.
    pub fn decode(&self, bytes: &[u8], origin: Moment) -> Result<Window, WireError> {
        let mut input = Reader::new(bytes);
        if input.byte()? != VERSION {
            return Err(WireError::Invalid("version of samples"));
        }
        let places = self.places(&mut input)?;
        for _ in 0..input.count(1)? {
            self.watch.roster.group(input.text()?);
        }
        let mut budget = Budget::default();
        let mut cells = CELL_LIMIT;
        let mut parts = Vec::new();
        let count = input.count(8)?;
        if count > PART_LIMIT {
            return Err(WireError::TooMany("seconds in a window"));
        }
        for _ in 0..count {
            let part = self.part(&mut input, &places, origin, &mut budget, &mut cells)?;
            parts.push(Box::new(part));
        }
        input.end()?;
        let current = parts.pop().unwrap_or_default();
        Ok(Window::new(current, parts, Home::default()))
    }

    fn places(&self, input: &mut Reader<'_>) -> Result<Places, WireError> {
        let builtin = builtin::TABLE.iter().zip(0..);
        let mut metrics: Vec<_> = builtin
            .map(|(metric, id)| (MetricId(id), metric.kind))
            .collect();
        for _ in 0..input.count(3)? {
            metrics.push(self.metric(input)?);
        }
        let mut cells = vec![COMMON_CELL];
        for _ in 0..input.count(2)? {
            let (scenario, group) = (input.text()?, input.text()?);
            cells.push(self.watch.roster.cell(scenario, group));
        }
        let mut checks = Vec::new();
        for _ in 0..input.count(2)? {
            let (group, name) = (input.text()?, input.text()?);
            checks.push(self.watch.roster.check(group, name));
        }
        Ok(Places {
            metrics,
            cells,
            checks,
        })
    }

    /// A script's own metric, which is registered in this process if it is new.
    pub(crate) fn metric(&self, input: &mut Reader<'_>) -> Result<(MetricId, Kind), WireError> {
        let name = input.text()?;
        let kind = kind_of(input.byte()?)?;
        let contains = contains_of(input.byte()?)?;
        let is_full = self.registry.len() >= METRIC_LIMIT;
        if is_full && self.registry.find(name).is_none() {
            return Err(WireError::TooMany("metrics"));
        }
        let id = self.registry.register(name, kind, contains);
        let id = id.map_err(|_| WireError::Invalid("metric"))?;
        Ok((id, kind))
    }

    fn part(
        &self,
        input: &mut Reader<'_>,
        places: &Places,
        origin: Moment,
        budget: &mut Budget,
        cells: &mut usize,
    ) -> Result<Contents, WireError> {
        let mut part = Contents::default();
        if input.flag()? {
            part.second = Some(RunSecond {
                number: input.amount()?,
                after_load: input.flag()?,
            });
        }
        for _ in 0..input.count(3)? {
            *cells = cells
                .checked_sub(1)
                .ok_or(WireError::TooMany("groups in a window"))?;
            let cell = *places
                .cells
                .get(input.small()? as usize)
                .ok_or(WireError::Invalid("cell"))?;
            let sinks = self.sinks(input, places, origin, budget)?;
            if part.cells.len() <= cell {
                part.cells.resize_with(cell + 1, || None);
            }
            match &mut part.cells[cell] {
                Some(known) => known.merge(&sinks, &self.registry),
                empty => *empty = Some(Box::new(sinks)),
            }
        }
        for _ in 0..input.count(4)? {
            let cell = places.cells.get(input.small()? as usize);
            let check = places.checks.get(input.small()? as usize);
            let (Some(&cell), Some(&check)) = (cell, check) else {
                return Err(WireError::Invalid("check"));
            };
            let (passes, fails) = (input.amount()?, input.amount()?);
            match check {
                Some(check) => part.checks.push(CheckDelta {
                    check,
                    cell,
                    passes,
                    fails,
                }),
                None => part.left_out.check_results += passes + fails,
            }
        }
        part.http = HttpTally::decode(input)?;
        part.names = NameTally::decode(input, budget)?;
        if input.flag()? {
            part.exchanges = SeriesSketch::decode(input)?;
            part.series = SeriesSketch::decode(input)?;
        }
        let LeftOut {
            check_results,
            breakdown_samples,
        } = &mut part.left_out;
        *check_results += input.amount()?;
        *breakdown_samples += input.amount()?;
        Ok(part)
    }

    fn sinks(
        &self,
        input: &mut Reader<'_>,
        places: &Places,
        origin: Moment,
        budget: &mut Budget,
    ) -> Result<Sinks, WireError> {
        let mut sinks = Sinks::new(&self.registry, &self.watch);
        for _ in 0..input.count(2)? {
            let metric = places.metrics.get(input.small()? as usize);
            let &(id, kind) = metric.ok_or(WireError::Invalid("metric"))?;
            let sink = sinks.metrics.get_mut(id.index());
            let sink = sink.ok_or(WireError::Invalid("metric"))?;
            sink.merge(&Sink::decode(kind, origin, input, budget)?);
        }
        for _ in 0..input.count(2)? {
            let sink = sinks.submetrics.get_mut(input.small()? as usize);
            let sink = sink.ok_or(WireError::Invalid("sub-metric"))?;
            let kind = sink.kind();
            sink.merge(&Sink::decode(kind, origin, input, budget)?);
        }
        Ok(sinks)
    }
}

impl Metric {
    pub(crate) fn encode(&self, out: &mut Writer) {
        out.text(&self.name);
        out.byte(kind_code(self.kind));
        out.byte(contains_code(self.contains));
    }
}

fn kind_code(kind: Kind) -> u8 {
    match kind {
        Kind::Counter => 0,
        Kind::Gauge => 1,
        Kind::Rate => 2,
        Kind::Trend => 3,
    }
}

fn kind_of(code: u8) -> Result<Kind, WireError> {
    let kinds = [Kind::Counter, Kind::Gauge, Kind::Rate, Kind::Trend];
    let kind = kinds.get(usize::from(code)).copied();
    kind.ok_or(WireError::Invalid("kind of metric"))
}

fn contains_code(contains: Contains) -> u8 {
    match contains {
        Contains::Default => 0,
        Contains::Time => 1,
        Contains::Data => 2,
    }
}

fn contains_of(code: u8) -> Result<Contains, WireError> {
    let all = [Contains::Default, Contains::Time, Contains::Data];
    let contains = all.get(usize::from(code)).copied();
    contains.ok_or(WireError::Invalid("contents of metric"))
}
