//! Records the samples of a worker.

use std::cell::{OnceCell, RefCell};
use std::fmt;
use std::hash::{BuildHasher, Hash, Hasher};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use plimsoll_units::Moment;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet, FxHasher};

use crate::base_tags::{Base, BaseTags};
use crate::bins::Bins;
use crate::builtin;
use crate::call::CallFacts;
use crate::checks::CheckTable;
use crate::exchange::HttpFacts;
use crate::exchange_log::ExchangeLog;
use crate::mask::Masking;
use crate::metric_id::MetricId;
use crate::outgoing::{CheckTag, Outgoing, Sample};
use crate::record::Records;
use crate::registry::Registry;
use crate::roster::{COMMON_CELL, GROUP_LIMIT};
use crate::second::{RunClock, counted_at};
use crate::sinks::Sinks;
use crate::system_tags::SystemTag;
use crate::tags::TagMap;
use crate::tally::HttpTally;
use crate::watch::{NoOwnTags, OwnTags, Watch};
use crate::window::{Contents, Home, Window};

/// Maximum number of cached sets of base tags. A script that puts the iteration number into its tags creates new sets
/// all the time.
const BASE_LIMIT: usize = 1_024;

/// Why a value was not recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddError {
    /// The value is not a number.
    NotANumber,
    /// The metric is not in the registry.
    UnknownMetric,
}

impl fmt::Display for AddError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            AddError::NotANumber => "the value is not a number",
            AddError::UnknownMetric => "the metric was never registered",
        })
    }
}

impl std::error::Error for AddError {}

/// Collects the samples of one worker thread's users. There is one recorder per worker. The users share it as
/// `Rc<Recorder>`, and it is never sent to another thread.
///
/// Once every name, page and column exists, recording allocates nothing, takes no lock and stores no individual
/// samples. Memory depends on the number of metrics, sub-metrics, checks and (with the breakdown) groups. All
/// these numbers are bounded. Memory does not depend on URLs or time.
pub struct Recorder {
    registry: Arc<Registry>,
    watch: Arc<Watch>,
    home: Home,
    masking: Masking,
    inner: RefCell<Inner>,
}

struct Inner {
    bins: Bins,
    checks: CheckTable,
    /// The groups that were reported to the roster.
    groups: FxHashSet<Box<str>>,
    bases: FxHashMap<Arc<TagMap>, Rc<Base>>,
    outgoing: Outgoing,
    /// Samples for outputs, in order.
    records: Records,
}

impl Recorder {
    /// Creates a recorder for the calling thread. `registry` and `watch` belong to the run.
    pub fn new(registry: Arc<Registry>, watch: Arc<Watch>) -> Recorder {
        let home = Home::default();
        Recorder {
            registry,
            masking: Masking::new(watch.mask.clone()),
            watch,
            home: home.clone(),
            inner: RefCell::new(Inner {
                bins: Bins::new(home),
                checks: CheckTable::default(),
                groups: FxHashSet::default(),
                bases: FxHashMap::default(),
                outgoing: Outgoing::default(),
                records: Records::default(),
            }),
        }
    }

    /// Interns the base tags of a user. Call this when they change, not for each sample.
    pub fn base_tags(&self, tags: &TagMap) -> BaseTags {
        let inner = &mut *self.inner.borrow_mut();
        let bases = &mut inner.bases;
        let known = bases.get(tags).map(Rc::clone);
        let inner = known.unwrap_or_else(|| {
            if bases.len() >= BASE_LIMIT {
                // Users keep their own tags; only the cache is cleared.
                bases.clear();
            }
            let tags = Arc::new(tags.clone());
            let base = Rc::new(Base {
                hash: FxBuildHasher.hash_one(&tags),
                cell: self.cell(&tags, &[]),
                group: inner.checks.group(tags.get("group").unwrap_or_default()),
                may_hold: self.watch.may_hold(&tags),
                sample_tags: OnceCell::new(),
                mask: self.watch.mask.clone(),
                tags: Arc::clone(&tags),
            });
            bases.insert(tags, Rc::clone(&base));
            base
        });
        BaseTags {
            inner,
            metadata: None,
        }
    }

    /// Records an HTTP exchange.
    #[inline]
    pub fn http(&self, facts: &HttpFacts, base: &BaseTags) {
        let watch = &*self.watch;
        let inner = &mut *self.inner.borrow_mut();
        let cell = self.cell_of(base, facts.extra);
        inner
            .bins
            .select(counted_at(facts.scheduled, facts.started));
        let bin = &mut *inner.bins.current;
        self.count_cell(&mut bin.contents, cell);
        let log = grown(&mut bin.logs, cell).get_or_insert_with(|| ExchangeLog::new(watch));
        if log.is_full() {
            log.flush(self.sinks(&mut bin.contents, cell), watch);
        }
        log.push(facts);
        for (bit, &index) in watch.http_conditions.iter().enumerate() {
            if self.holds(index, facts, facts.extra, base) {
                log.mark(bit);
            }
        }
        bin.contents.http.record(facts, &self.masking);
        if watch.by_name {
            bin.contents.names.record(facts, &self.masking);
        }
        if !watch.series_counted.load(Ordering::Relaxed) {
            bin.contents.exchanges.insert(exchange_hash(facts, base));
        }
        if watch.outputs {
            let records = &mut inner.records;
            let masking = &self.masking;
            inner
                .outgoing
                .exchange(facts, base, watch, masking, records);
        }
    }

    /// Counts a request with a protocol other than HTTP.
    pub fn call(&self, facts: &CallFacts) {
        let inner = &mut *self.inner.borrow_mut();
        inner.bins.select(facts.counted);
        let contents = &mut inner.bins.current.contents;
        contents.http.record_call(facts, &self.masking);
        if self.watch.by_name && !facts.name.is_empty() {
            contents.names.record_call(facts, &self.masking);
        }
    }

    /// Counts connections that were not opened by an HTTP request.
    pub fn connections_opened(&self, connections: u64, at: Moment) {
        self.count_at(at, |tally| tally.add_opened(connections));
    }

    /// Counts WebSocket messages, without pings and close frames.
    #[inline]
    pub fn messages(&self, sent: u64, received: u64, at: Moment) {
        self.count_at(at, |tally| tally.add_messages(sent, received));
    }

    #[inline]
    fn count_at(&self, counted: Moment, count: impl FnOnce(&mut HttpTally)) {
        let inner = &mut *self.inner.borrow_mut();
        inner.bins.select(counted);
        count(&mut inner.bins.current.contents.http);
    }

    /// Records a value of any metric.
    ///
    /// # Errors
    /// If the value is not a number, or the metric belongs to another registry. Such a value is not recorded.
    pub fn add(
        &self,
        metric: MetricId,
        value: f64,
        base: &BaseTags,
        extra: &[(&str, &str)],
        at: Moment,
    ) -> Result<(), AddError> {
        self.add_started(metric, value, base, extra, at, at)
    }

    /// Records a value that was known at `at`, for an event that started at `started`. It belongs to the second of that
    /// start.
    ///
    /// # Errors
    /// See [`Recorder::add`].
    pub fn add_started(
        &self,
        metric: MetricId,
        value: f64,
        base: &BaseTags,
        extra: &[(&str, &str)],
        started: Moment,
        at: Moment,
    ) -> Result<(), AddError> {
        let sample = Sample {
            metric,
            value,
            base,
            extra,
            started,
            at,
        };
        let cell = self.cell_of(base, extra);
        self.sample(&sample, &NoOwnTags, cell, &mut self.inner.borrow_mut())
    }

    /// Records a check result, counted by name and group.
    pub fn check(
        &self,
        name: &str,
        passed: bool,
        base: &BaseTags,
        extra: &[(&str, &str)],
        at: Moment,
    ) {
        let sample = Sample {
            metric: builtin::CHECKS,
            value: if passed { 1.0 } else { 0.0 },
            base,
            extra,
            started: at,
            at,
        };
        let cell = self.cell_of(base, extra);
        let inner = &mut *self.inner.borrow_mut();
        // Cannot fail: the metric is built in and the value is a number.
        let _ = self.sample(&sample, &CheckTag(name), cell, inner);
        let own_group = extra.iter().rev().find(|(key, _)| *key == "group");
        let group = match own_group {
            Some((_, path)) => inner.checks.group(path),
            None => base.inner.group,
        };
        let roster = &self.watch.roster;
        let counted =
            group.is_some_and(|group| inner.checks.record(cell, group, name, passed, roster));
        if !counted {
            inner.bins.current.contents.left_out.check_results += 1;
        }
    }

    /// Records that the group at `path` (`::outer::inner`) ran for `duration`. The base tags are
    /// those inside the group.
    pub fn group(&self, path: &str, duration: Duration, base: &BaseTags, at: Moment) {
        self.enter_roster(path);
        let (value, started) = (milliseconds(duration), before(at, duration));
        let _ = self.add_started(builtin::GROUP_DURATION, value, base, &[], started, at);
    }

    /// Records an iteration that completed at `at`. In an open model it has a `scheduled` start.
    pub fn iteration(
        &self,
        duration: Duration,
        scheduled: Option<Moment>,
        base: &BaseTags,
        at: Moment,
    ) {
        let counted = counted_at(scheduled, before(at, duration));
        for (metric, value) in [
            (builtin::ITERATION_DURATION, milliseconds(duration)),
            (builtin::ITERATIONS, 1.0),
        ] {
            let _ = self.add_started(metric, value, base, &[], counted, at);
        }
    }

    /// Records how late an iteration of an open model started.
    pub fn send_lag(&self, lag: Duration, base: &BaseTags, at: Moment) {
        let _ = self.add(
            builtin::ITERATION_SEND_LAG,
            milliseconds(lag),
            base,
            &[],
            at,
        );
    }

    /// Records iterations that were due at `due` and could not be started.
    pub fn dropped(&self, iterations: u64, base: &BaseTags, due: Moment, at: Moment) {
        let count = iterations as f64;
        let _ = self.add_started(builtin::DROPPED_ITERATIONS, count, base, &[], due, at);
    }

    /// Whether samples need the server's address. If not, callers need not format it.
    pub fn wants_addresses(&self) -> bool {
        self.sets(SystemTag::Ip)
    }

    /// Whether the program sets this tag on samples.
    pub fn sets(&self, tag: SystemTag) -> bool {
        self.watch.system_tags.has(tag)
    }

    /// Records socket bytes of an event that started at `started`.
    pub fn traffic(&self, sent: u64, received: u64, base: &BaseTags, started: Moment, at: Moment) {
        for (metric, bytes) in [
            (builtin::DATA_SENT, sent),
            (builtin::DATA_RECEIVED, received),
        ] {
            let _ = self.add_started(metric, bytes as f64, base, &[], started, at);
        }
    }

    /// Starts separating the seconds of the run if the watch requires it. `None` stops it.
    pub fn set_clock(&self, clock: Option<RunClock>) {
        if self.watch.by_second {
            self.inner.borrow_mut().bins.set_clock(clock);
        }
    }

    /// Takes everything recorded since the previous call.
    pub fn take_window(&self) -> Window {
        let inner = &mut *self.inner.borrow_mut();
        for bin in inner.bins.all_mut() {
            for (cell, log) in bin.logs.iter_mut().enumerate() {
                if let Some(log) = log {
                    log.flush(self.sinks(&mut bin.contents, cell), &self.watch);
                }
            }
        }
        let current = &mut inner.bins.current.contents;
        inner.checks.drain_into(&mut current.checks);
        current.records.append(&mut inner.records);
        let (current, earlier) = inner.bins.take();
        Window::new(current, earlier, self.home.clone())
    }

    /// The approximate number of bytes that the recorder uses for samples.
    pub fn heap_bytes(&self) -> usize {
        let inner = self.inner.borrow();
        let bins = inner.bins.all().map(|bin| {
            bin.contents.heap_bytes() + bin.logs.iter().flatten().count() * size_of::<ExchangeLog>()
        });
        bins.sum::<usize>()
            + inner.records.heap_bytes()
            + inner.bases.capacity() * (size_of::<Base>() + size_of::<TagMap>())
    }

    /// Reports a group to the roster the first time it occurs.
    fn enter_roster(&self, path: &str) {
        let groups = &mut self.inner.borrow_mut().groups;
        if !groups.contains(path) {
            self.watch.roster.group(path);
            if groups.len() < GROUP_LIMIT {
                groups.insert(path.into());
            }
        }
    }

    #[inline]
    fn sample(
        &self,
        sample: &Sample,
        own: &impl OwnEvent,
        cell: usize,
        inner: &mut Inner,
    ) -> Result<(), AddError> {
        let &Sample {
            metric,
            value,
            base,
            extra,
            started,
            at,
        } = sample;
        if value.is_nan() {
            return Err(AddError::NotANumber);
        }
        let watch = &*self.watch;
        inner.bins.select(started);
        let contents = &mut *inner.bins.current.contents;
        self.count_cell(contents, cell);
        let sinks = self.sinks(contents, cell);
        if !sinks.record(metric, value, at) {
            sinks.grow(&self.registry);
            if !sinks.record(metric, value, at) {
                return Err(AddError::UnknownMetric);
            }
        }
        for &index in watch.submetrics_of(metric) {
            let conditions = watch.submetrics[index].conditions;
            if self.holds(conditions, own, extra, base)
                && let Some(sink) = sinks.submetrics.get_mut(index)
            {
                sink.record(value, at);
            }
        }
        if !watch.series_counted.load(Ordering::Relaxed) {
            let mut hasher = FxHasher::default();
            hasher.write_u64(base.inner.hash);
            hasher.write_u32(metric.0);
            own.name().unwrap_or_default().hash(&mut hasher);
            if !extra.is_empty() {
                extra.hash(&mut hasher);
            }
            contents.series.insert(hasher.finish());
        }
        if watch.outputs {
            let records = &mut inner.records;
            let masking = &self.masking;
            inner
                .outgoing
                .sample(sample, own.name(), watch, masking, records);
        }
        Ok(())
    }

    #[inline]
    fn holds(
        &self,
        index: usize,
        own: &impl OwnTags,
        extra: &[(&str, &str)],
        base: &BaseTags,
    ) -> bool {
        (!extra.is_empty() || base.inner.may_hold.has(index))
            && self
                .watch
                .conditions
                .get(index)
                .is_some_and(|conditions| conditions.hold(own, extra, &base.inner.tags))
    }

    fn sinks<'a>(&self, contents: &'a mut Contents, cell: usize) -> &'a mut Sinks {
        grown(&mut contents.cells, cell)
            .get_or_insert_with(|| Box::new(Sinks::new(&self.registry, &self.watch)))
    }

    /// The cell of a sample. It is that of the base tags, unless the sample's own tags differ.
    #[inline]
    fn cell_of(&self, base: &BaseTags, extra: &[(&str, &str)]) -> usize {
        let elsewhere = |(key, _): &(&str, &str)| matches!(*key, "group" | "scenario");
        if self.watch.breakdown && extra.iter().any(elsewhere) {
            self.cell(&base.inner.tags, extra)
        } else {
            base.inner.cell
        }
    }

    fn cell(&self, tags: &TagMap, extra: &[(&str, &str)]) -> usize {
        if !self.watch.breakdown {
            return COMMON_CELL;
        }
        let tag = |tag: SystemTag| {
            let own = extra.iter().rev().find(|(key, _)| *key == tag.key());
            own.map(|(_, value)| *value)
                .or_else(|| tags.get(tag.key()))
                .unwrap_or_default()
        };
        let (scenario, group) = (tag(SystemTag::Scenario), tag(SystemTag::Group));
        self.watch.roster.cell(scenario, group)
    }

    /// Counts samples that have no cell in the breakdown.
    #[inline]
    fn count_cell(&self, contents: &mut Contents, cell: usize) {
        if self.watch.breakdown && cell == COMMON_CELL {
            contents.left_out.breakdown_samples += 1;
        }
    }
}

/// An event's own tags, including the name that distinguishes its series.
trait OwnEvent: OwnTags {
    fn name(&self) -> Option<&str>;
}

impl OwnEvent for NoOwnTags {
    fn name(&self) -> Option<&str> {
        None
    }
}

impl OwnEvent for CheckTag<'_> {
    fn name(&self) -> Option<&str> {
        Some(self.0)
    }
}

/// A hash that distinguishes series of exchanges.
#[inline]
fn exchange_hash(facts: &HttpFacts, base: &BaseTags) -> u64 {
    let mut hasher = FxHasher::default();
    base.inner.hash.hash(&mut hasher);
    facts.name.unwrap_or(facts.url).hash(&mut hasher);
    facts.method.hash(&mut hasher);
    (facts.status, facts.error_code, facts.expected).hash(&mut hasher);
    if !facts.extra.is_empty() {
        facts.extra.hash(&mut hasher);
    }
    hasher.finish()
}

/// The element at `index`. Extends the list if necessary.
#[inline]
fn grown<T>(list: &mut Vec<Option<T>>, index: usize) -> &mut Option<T> {
    if index >= list.len() {
        list.resize_with(index + 1, || None);
    }
    &mut list[index]
}

/// The moment `span` before `at`.
fn before(at: Moment, span: Duration) -> Moment {
    let nanos = u64::try_from(span.as_nanos()).unwrap_or(u64::MAX);
    Moment::from_nanos(at.as_nanos().saturating_sub(nanos))
}

fn milliseconds(duration: Duration) -> f64 {
    duration.as_nanos() as f64 / 1e6
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").finish_non_exhaustive()
    }
}
