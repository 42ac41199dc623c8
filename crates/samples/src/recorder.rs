//! Where a worker's samples go first.

use std::cell::RefCell;
use std::fmt;
use std::hash::{BuildHasher, Hash, Hasher};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet, FxHasher};
use units::Moment;

use crate::builtin;
use crate::checks::CheckTable;
use crate::exchange::HttpFacts;
use crate::exchange_log::ExchangeLog;
use crate::outgoing::{CheckTag, Outgoing, Sample};
use crate::registry::{MetricId, Registry};
use crate::roster::{COMMON_CELL, GROUP_LIMIT};
use crate::sinks::Sinks;
use crate::system_tags::SystemTag;
use crate::tags::{Base, BaseTags, TagMap};
use crate::watch::{NoOwnTags, OwnTags, Watch};
use crate::window::{Contents, Home, Window};

/// How many different standing tag sets are remembered. A script that puts the
/// iteration's number into its tags makes new ones all the time.
const BASE_LIMIT: usize = 1_024;

/// Why a value was not recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddError {
    /// It is no number.
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

/// Collects the samples of one worker thread's users: one to a worker, shared
/// among them as `Rc<Recorder>`, never sent.
///
/// Recording allocates nothing once every name, page and column is there, takes
/// no lock and keeps no sample. Memory goes by metrics, sub-metrics, checks and
/// (with the breakdown) groups, each of which is bounded; not by URLs or time.
pub struct Recorder {
    registry: Arc<Registry>,
    watch: Arc<Watch>,
    home: Home,
    inner: RefCell<Inner>,
}

struct Inner {
    contents: Box<Contents>,
    /// Exchanges not yet in the sinks, by cell.
    logs: Vec<Option<Box<ExchangeLog>>>,
    checks: CheckTable,
    /// Groups the roster was told of.
    groups: FxHashSet<Box<str>>,
    bases: FxHashMap<Arc<TagMap>, Rc<Base>>,
    outgoing: Outgoing,
}

impl Recorder {
    /// A recorder for the calling thread. Registry and watch are the run's.
    pub fn new(registry: Arc<Registry>, watch: Arc<Watch>) -> Recorder {
        Recorder {
            registry,
            watch,
            home: Home::default(),
            inner: RefCell::new(Inner {
                contents: Box::default(),
                logs: Vec::new(),
                checks: CheckTable::default(),
                groups: FxHashSet::default(),
                bases: FxHashMap::default(),
                outgoing: Outgoing::default(),
            }),
        }
    }

    /// Interns a user's standing tags. Worth calling when they change, not for
    /// each sample.
    pub fn base_tags(&self, tags: &TagMap) -> BaseTags {
        let inner = &mut *self.inner.borrow_mut();
        let bases = &mut inner.bases;
        let known = bases.get(tags).map(Rc::clone);
        let inner = known.unwrap_or_else(|| {
            if bases.len() >= BASE_LIMIT {
                // Users hold on to theirs; only the memory of them is lost.
                bases.clear();
            }
            let tags = Arc::new(tags.clone());
            let base = Rc::new(Base {
                hash: FxBuildHasher.hash_one(&tags),
                cell: self.cell(&tags, &[]),
                group: inner.checks.group(tags.get("group").unwrap_or_default()),
                may_hold: self.watch.may_hold(&tags),
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
        self.count_cell(inner, cell);
        let log = grown(&mut inner.logs, cell).get_or_insert_with(|| ExchangeLog::new(watch));
        if log.is_full() {
            log.flush(self.sinks(&mut inner.contents, cell), watch);
        }
        log.push(facts);
        for (bit, &index) in watch.http_conditions.iter().enumerate() {
            if self.holds(index, facts, facts.extra, base) {
                log.mark(bit);
            }
        }
        inner.contents.http.record(facts);
        if !watch.series_counted.load(Ordering::Relaxed) {
            inner.contents.exchanges.insert(exchange_hash(facts, base));
        }
        if watch.outputs {
            let records = &mut inner.contents.records;
            inner.outgoing.exchange(facts, base, watch, records);
        }
    }

    /// Records a value of any metric.
    ///
    /// # Errors
    /// A value that is not a number, or a metric of another registry, is not
    /// recorded.
    pub fn add(
        &self,
        metric: MetricId,
        value: f64,
        base: &BaseTags,
        extra: &[(&str, &str)],
        at: Moment,
    ) -> Result<(), AddError> {
        let sample = Sample {
            metric,
            value,
            base,
            extra,
            at,
        };
        let cell = self.cell_of(base, extra);
        self.sample(&sample, &NoOwnTags, cell, &mut self.inner.borrow_mut())
    }

    /// Records a check's result, and counts it by its name in its group.
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
            at,
        };
        let cell = self.cell_of(base, extra);
        let inner = &mut *self.inner.borrow_mut();
        // A built-in metric and a number: nothing to refuse.
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
            inner.contents.left_out.check_results += 1;
        }
    }

    /// Records that the group at `path` (`::outer::inner`) ran for `duration`.
    /// The standing tags are those within the group.
    pub fn group(&self, path: &str, duration: Duration, base: &BaseTags, at: Moment) {
        self.enter_roster(path);
        self.time(builtin::GROUP_DURATION, duration, base, at);
    }

    /// Records an iteration that ran to its end.
    pub fn iteration(&self, duration: Duration, base: &BaseTags, at: Moment) {
        self.time(builtin::ITERATION_DURATION, duration, base, at);
        let _ = self.add(builtin::ITERATIONS, 1.0, base, &[], at);
    }

    /// Records how late an iteration of an open model started.
    pub fn send_lag(&self, lag: Duration, base: &BaseTags, at: Moment) {
        self.time(builtin::ITERATION_SEND_LAG, lag, base, at);
    }

    /// Records iterations that were due and could not be started.
    pub fn dropped(&self, iterations: u64, base: &BaseTags, at: Moment) {
        let _ = self.add(
            builtin::DROPPED_ITERATIONS,
            iterations as f64,
            base,
            &[],
            at,
        );
    }

    /// Whether samples carry the server's address, so that it is worth writing
    /// it down.
    pub fn wants_addresses(&self) -> bool {
        self.sets(SystemTag::Ip)
    }

    /// Whether the program sets that tag on samples.
    pub fn sets(&self, tag: SystemTag) -> bool {
        self.watch.system_tags.has(tag)
    }

    /// Records bytes that went over sockets.
    pub fn traffic(&self, sent: u64, received: u64, base: &BaseTags, at: Moment) {
        let _ = self.add(builtin::DATA_SENT, sent as f64, base, &[], at);
        let _ = self.add(builtin::DATA_RECEIVED, received as f64, base, &[], at);
    }

    /// Hands over what was recorded since the last time.
    pub fn take_window(&self) -> Window {
        let inner = &mut *self.inner.borrow_mut();
        for (cell, log) in inner.logs.iter_mut().enumerate() {
            if let Some(log) = log {
                log.flush(self.sinks(&mut inner.contents, cell), &self.watch);
            }
        }
        inner.checks.drain_into(&mut inner.contents.checks);
        let spare = self.home.take().unwrap_or_default();
        let contents = std::mem::replace(&mut inner.contents, spare);
        Window::new(contents, self.home.clone())
    }

    /// Bytes the recorder holds for samples, about.
    pub fn heap_bytes(&self) -> usize {
        let inner = self.inner.borrow();
        inner.contents.heap_bytes()
            + inner.logs.iter().flatten().count() * size_of::<ExchangeLog>()
            + inner.bases.capacity() * (size_of::<Base>() + size_of::<TagMap>())
    }

    /// Tells the roster of a group, the first time.
    fn enter_roster(&self, path: &str) {
        let groups = &mut self.inner.borrow_mut().groups;
        if !groups.contains(path) {
            self.watch.roster.group(path);
            if groups.len() < GROUP_LIMIT {
                groups.insert(path.into());
            }
        }
    }

    fn time(&self, metric: MetricId, duration: Duration, base: &BaseTags, at: Moment) {
        let _ = self.add(metric, milliseconds(duration), base, &[], at);
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
            at,
        } = sample;
        if value.is_nan() {
            return Err(AddError::NotANumber);
        }
        let watch = &*self.watch;
        self.count_cell(inner, cell);
        let sinks = self.sinks(&mut inner.contents, cell);
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
            inner.contents.series.insert(hasher.finish());
        }
        if watch.outputs {
            let records = &mut inner.contents.records;
            inner.outgoing.sample(sample, own.name(), watch, records);
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

    /// The cell of a sample: its standing tags' unless its own say otherwise.
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

    /// Counts what the breakdown has no cell for.
    #[inline]
    fn count_cell(&self, inner: &mut Inner, cell: usize) {
        if self.watch.breakdown && cell == COMMON_CELL {
            inner.contents.left_out.breakdown_samples += 1;
        }
    }
}

/// An event's own tags, and the name among them that tells its series apart.
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

/// What tells the series of one exchange from those of another.
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

/// The element at `index`, the list made longer if it must be.
#[inline]
fn grown<T>(list: &mut Vec<Option<T>>, index: usize) -> &mut Option<T> {
    if index >= list.len() {
        list.resize_with(index + 1, || None);
    }
    &mut list[index]
}

fn milliseconds(duration: Duration) -> f64 {
    duration.as_nanos() as f64 / 1e6
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").finish_non_exhaustive()
    }
}
