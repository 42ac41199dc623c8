//! The results of the whole run.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use plimsoll_units::Moment;

use crate::builtin;
use crate::metric_id::MetricId;
use crate::names::NameTally;
use crate::record::{Records, SampleRecord, SampleTags};
use crate::registry::Registry;
use crate::roster::COMMON_CELL;
use crate::series::SeriesSketch;
use crate::sink::Sink;
use crate::sinks::Sinks;
use crate::summary::{HttpOverview, LeftOut, NameParts, ThresholdOutcome, Values};
use crate::tally::HttpTally;
use crate::thresholds::{Judge, JudgedThreshold, Stage, ThresholdReport};
use crate::watch::Watch;
use crate::window::{Contents, Window};

/// The number of series above which a warning is issued.
const SERIES_WARNING: f64 = 100_000.0;
/// The number of k6's metrics per HTTP exchange, which equals the number of series per tag set.
const METRICS_PER_EXCHANGE: f64 = 9.0;

/// The sum of everything that the recorders of a run have recorded. It lives on the main thread.
#[derive(Debug)]
pub struct Totals {
    pub(crate) registry: Arc<Registry>,
    pub(crate) watch: Arc<Watch>,
    pub(crate) whole: Sinks,
    /// By cell; empty without the breakdown.
    pub(crate) cells: Vec<Option<Box<Sinks>>>,
    /// Passes and fails by cell and check.
    pub(crate) checks: BTreeMap<(usize, usize), (u64, u64)>,
    pub(crate) http: HttpTally,
    pub(crate) names: NameTally,
    pub(crate) left_out: LeftOut,
    exchanges: SeriesSketch,
    series: SeriesSketch,
    records: Records,
    warnings: Vec<String>,
    checks_warned: bool,
    breakdown_warned: bool,
}

impl Totals {
    /// Creates empty totals. `registry` and `watch` belong to the run.
    pub fn new(registry: Arc<Registry>, watch: Arc<Watch>) -> Totals {
        Totals {
            whole: Sinks::new(&registry, &watch),
            registry,
            watch,
            cells: Vec::new(),
            checks: BTreeMap::new(),
            http: HttpTally::default(),
            names: NameTally::default(),
            left_out: LeftOut::default(),
            exchanges: SeriesSketch::default(),
            series: SeriesSketch::default(),
            records: Records::default(),
            warnings: Vec::new(),
            checks_warned: false,
            breakdown_warned: false,
        }
    }

    /// Adds a recorder's window, and returns the emptied window to the recorder.
    pub fn merge(&mut self, mut window: Window) {
        for contents in window.parts_mut() {
            self.merge_part(contents);
            self.records.append(&mut contents.records);
        }
        self.warn_of_limits();
    }

    /// Adds a window without its individual samples, which are added elsewhere.
    pub fn add(&mut self, window: &Window) {
        window.parts().for_each(|part| self.merge_part(part));
        self.warn_of_limits();
    }

    /// Adds everything except the individual samples.
    pub(crate) fn merge_part(&mut self, contents: &Contents) {
        for (cell, sinks) in contents.cells.iter().enumerate() {
            let Some(sinks) = sinks else { continue };
            self.whole.merge(sinks, &self.registry);
            if self.watch.breakdown && cell != COMMON_CELL {
                if self.cells.len() <= cell {
                    self.cells.resize_with(cell + 1, || None);
                }
                self.cells[cell]
                    .get_or_insert_with(|| Box::new(Sinks::new(&self.registry, &self.watch)))
                    .merge(sinks, &self.registry);
            }
        }
        for delta in &contents.checks {
            let counts = self.checks.entry((delta.cell, delta.check)).or_default();
            counts.0 += delta.passes;
            counts.1 += delta.fails;
        }
        self.http.merge(&contents.http);
        self.names.merge(&contents.names);
        self.left_out.check_results += contents.left_out.check_results;
        self.left_out.breakdown_samples += contents.left_out.breakdown_samples;
        self.count_series(&contents.exchanges, &contents.series);
    }

    /// Records how many users run (`vus`) and are initialized (`vus_max`), over all workers. Call this once per
    /// second.
    pub fn users(&mut self, active: u32, ready: u32, at: Moment) {
        for (metric, users) in [(builtin::VUS, active), (builtin::VUS_MAX, ready)] {
            self.whole.record(metric, users.into(), at);
            if self.watch.outputs {
                self.records.push(SampleRecord {
                    metric,
                    value: users.into(),
                    at,
                    started: None,
                    scheduled: None,
                    tags: Arc::new(SampleTags::from_base(&self.watch.run_tags)),
                    metadata: None,
                });
            }
        }
    }

    /// The individual samples since the previous call, in pieces, for outputs.
    pub fn take_records(&mut self) -> Vec<Vec<SampleRecord>> {
        self.records.take()
    }

    /// Warnings for the user. Each is returned only once.
    pub fn take_warnings(&mut self) -> Vec<String> {
        std::mem::take(&mut self.warnings)
    }

    /// The current values of a metric. `None` if it has no samples.
    pub fn values(&self, metric: MetricId, elapsed: Duration) -> Option<Values> {
        let sink = self.whole.metrics.get(metric.index())?;
        (!sink.is_empty()).then(|| sink.values(elapsed))
    }

    /// The sub-metrics with samples so far. Thresholds define them.
    pub fn by_tag(&self, elapsed: Duration) -> Vec<(Cow<'_, str>, Values)> {
        let sinks = self.whole.submetrics.iter();
        let named = self.watch.submetrics.iter().zip(sinks);
        named
            .filter(|(_, sink)| !sink.is_empty())
            .map(|(submetric, sink)| (self.watch.shown_name(submetric), sink.values(elapsed)))
            .collect()
    }

    /// HTTP responses and failures so far.
    pub fn http(&self) -> HttpOverview {
        self.http.overview()
    }

    /// HTTP exchanges by name so far. Empty unless the watch requires them.
    pub fn names(&self) -> NameParts {
        self.names.parts()
    }

    /// The results of the thresholds after `elapsed` of the run. Call this every 2 s during the run, and once at its
    /// end.
    pub fn evaluate(&self, elapsed: Duration, stage: Stage) -> ThresholdReport {
        let mut report = ThresholdReport::default();
        for judge in &self.watch.judges {
            let Some(sink) = self.judged_sink(judge) else {
                continue;
            };
            if stage == Stage::Running && sink.is_empty() {
                continue;
            }
            let outcome = self.judge(judge, sink, elapsed);
            let submetric = judge.submetric.and_then(|at| self.watch.submetrics.get(at));
            let metric = match submetric {
                Some(submetric) => self.watch.shown_name(submetric),
                None => self
                    .watch
                    .shown_metric(judge.metric, &judge.threshold.metric.name),
            };
            report.judged.push(JudgedThreshold {
                metric: metric.into_owned(),
                abort: judge.aborts(&outcome, elapsed),
                limit: judge.threshold.expression.value,
                outcome,
            });
        }
        report
    }

    /// Whether the metric or one of its sub-metrics is shown even without samples.
    pub(crate) fn is_watched(&self, metric: MetricId) -> bool {
        let judged = self.watch.judges.iter().map(|judge| judge.metric);
        let watched = self.watch.watched.iter().map(|(watched, _)| *watched);
        judged.chain(watched).any(|watched| watched == metric)
    }

    /// The results of the thresholds on a metric or on one of its sub-metrics.
    pub(crate) fn outcomes(
        &self,
        metric: MetricId,
        submetric: Option<usize>,
        elapsed: Duration,
    ) -> Vec<ThresholdOutcome> {
        let on = |judge: &&Judge| judge.metric == metric && judge.submetric == submetric;
        let judges = self.watch.judges.iter().filter(on);
        judges
            .filter_map(|judge| Some(self.judge(judge, self.judged_sink(judge)?, elapsed)))
            .collect()
    }

    /// Evaluates a threshold. Its expression is shown without secrets.
    fn judge(&self, judge: &Judge, sink: &Sink, elapsed: Duration) -> ThresholdOutcome {
        let mut outcome = judge.judge(sink, elapsed);
        if let Cow::Owned(masked) = self.watch.shown(&outcome.source) {
            outcome.source = masked;
        }
        outcome
    }

    fn judged_sink(&self, judge: &Judge) -> Option<&Sink> {
        match judge.submetric {
            Some(submetric) => self.whole.submetrics.get(submetric),
            None => self.whole.metrics.get(judge.metric.index()),
        }
    }

    fn count_series(&mut self, exchanges: &SeriesSketch, series: &SeriesSketch) {
        if self.watch.series_counted.load(Ordering::Relaxed) {
            return;
        }
        self.exchanges.merge(exchanges);
        self.series.merge(series);
        let count = self.exchanges.estimate() * METRICS_PER_EXCHANGE + self.series.estimate();
        if count > SERIES_WARNING {
            self.watch.series_counted.store(true, Ordering::Relaxed);
            self.warnings.push(
                "The samples of this run differ in their tags so much that they make more than \
                 100,000 time series, which outputs and the databases behind them may \
                 not bear. Give requests whose URLs differ in an id one `name` tag, as \
                 http.url`…` does, and keep ids out of other tags. The summary is not affected."
                    .to_owned(),
            );
        }
    }

    fn warn_of_limits(&mut self) {
        if self.left_out.check_results > 0 && !self.checks_warned {
            self.checks_warned = true;
            self.warnings.push(format!(
                "There are more than {} different checks. Results of further ones count in the \
                 `checks` metric and are not listed by name: keep ids out of check names.",
                crate::roster::CHECK_LIMIT
            ));
        }
        if self.left_out.breakdown_samples > 0 && !self.breakdown_warned {
            self.breakdown_warned = true;
            self.warnings.push(format!(
                "There are more than {} different groups. Samples of further ones count in the \
                 totals and are not shown by group: keep ids out of group names.",
                crate::roster::CELL_LIMIT
            ));
        }
    }
}
