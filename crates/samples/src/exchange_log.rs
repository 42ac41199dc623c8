//! Batches HTTP exchanges before they are added to the sinks.
//!
//! An exchange adds a dozen values to a dozen histograms. Recording exchanges one by one would load the memory pages of
//! all these histograms into the cache each time. So exchanges are logged in columns of whole nanoseconds, and a full
//! log is processed one metric at a time. Phases are added and converted in simple loops, a column of zeros costs one
//! addition, and the pages of one histogram stay cached for 256 values.

use std::time::Duration;

use plimsoll_stats::Histogram;
use plimsoll_units::Moment;

use crate::builtin::*;
use crate::exchange::HttpFacts;
use crate::metric_id::MetricId;
use crate::sink::Sink;
use crate::sinks::Sinks;
use crate::watch::Watch;

/// Maximum number of exchanges in a log.
const CAPACITY: usize = 256;

const QUEUED: usize = 0;
const LOOKING_UP: usize = 1;
const CONNECTING: usize = 2;
const TLS: usize = 3;
const SENDING: usize = 4;
const WAITING: usize = 5;
const RECEIVING: usize = 6;
/// The time from start to end.
const TOTAL: usize = 7;
/// The time from the scheduled start to the end.
const RESPONSE: usize = 8;
const COLUMNS: usize = 9;

/// The exchange had a scheduled start.
const SCHEDULED: u8 = 1;
/// The exchange failed.
const FAILED: u8 = 2;
/// A rule decided whether the response was expected.
const HAS_RULE: u8 = 4;
/// The exchange did not fail.
const SUCCEEDED: u8 = 8;

/// The flags that an exchange needs to count for a trend.
type RequiredFlags = u8;
const NONE: RequiredFlags = 0;

/// The trends, the columns that each one sums, and the flags that each one requires.
const TRENDS: &[(MetricId, &[usize], RequiredFlags)] = &[
    (HTTP_REQ_DURATION, &[SENDING, WAITING, RECEIVING], NONE),
    (
        HTTP_REQ_BLOCKED,
        &[QUEUED, LOOKING_UP, CONNECTING, TLS],
        NONE,
    ),
    (HTTP_REQ_CONNECTING, &[CONNECTING], NONE),
    (HTTP_REQ_TLS_HANDSHAKING, &[TLS], NONE),
    (HTTP_REQ_SENDING, &[SENDING], NONE),
    (HTTP_REQ_WAITING, &[WAITING], NONE),
    (HTTP_REQ_RECEIVING, &[RECEIVING], NONE),
    (HTTP_REQ_LOOKING_UP, &[LOOKING_UP], NONE),
    // A service that refuses requests quickly must not look fast.
    (HTTP_REQ_TOTAL, &[TOTAL], SUCCEEDED),
    (HTTP_REQ_RESPONSE_TIME, &[RESPONSE], SCHEDULED | SUCCEEDED),
    (HTTP_REQ_FAILED_DURATION, &[TOTAL], FAILED),
];

pub(crate) struct ExchangeLog {
    length: usize,
    columns: [[u64; CAPACITY]; COLUMNS],
    flags: [u8; CAPACITY],
    /// One bit per exchange and HTTP condition of the watch, set if the exchange meets the condition. A word has 64 bits.
    matched: Vec<u64>,
    words: usize,
}

/// The values of one metric, taken from the columns, before they enter its histograms.
struct Values<'a> {
    values: &'a [f64],
    all_zero: bool,
    required_flags: RequiredFlags,
    /// Whether every exchange in the log has the required flags.
    all_match: bool,
}

impl ExchangeLog {
    pub fn new(watch: &Watch) -> Box<ExchangeLog> {
        let words = watch.http_conditions.len().div_ceil(64);
        Box::new(ExchangeLog {
            length: 0,
            columns: [[0; CAPACITY]; COLUMNS],
            flags: [0; CAPACITY],
            matched: vec![0; words * CAPACITY],
            words,
        })
    }

    /// Whether the log must be flushed before another exchange.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.length >= CAPACITY
    }

    /// Adds an exchange. The log must not be full.
    #[inline]
    pub fn push(&mut self, facts: &HttpFacts) {
        let row = self.length;
        if row >= CAPACITY {
            return;
        }
        self.length += 1;
        let phases = &facts.phases;
        self.columns[QUEUED][row] = nanos(phases.queued);
        self.columns[LOOKING_UP][row] = nanos(phases.looking_up);
        self.columns[CONNECTING][row] = nanos(phases.connecting);
        self.columns[TLS][row] = nanos(phases.tls);
        self.columns[SENDING][row] = nanos(phases.sending);
        self.columns[WAITING][row] = nanos(phases.waiting);
        self.columns[RECEIVING][row] = nanos(phases.receiving);
        self.columns[TOTAL][row] = between(facts.started, facts.done);
        let scheduled = facts.scheduled.unwrap_or(facts.started);
        self.columns[RESPONSE][row] = between(scheduled, facts.done);
        self.flags[row] = (u8::from(facts.scheduled.is_some()) * SCHEDULED)
            | if facts.failed() { FAILED } else { SUCCEEDED }
            | (u8::from(facts.expected.is_some()) * HAS_RULE);
        let words = row * self.words..(row + 1) * self.words;
        if let Some(words) = self.matched.get_mut(words) {
            words.fill(0);
        }
    }

    /// Marks that the latest exchange meets one of the watch's HTTP conditions.
    #[inline]
    pub fn mark(&mut self, bit: usize) {
        let word = self.length.saturating_sub(1) * self.words + bit / 64;
        if let Some(word) = self.matched.get_mut(word) {
            *word |= 1 << (bit % 64);
        }
    }

    /// Adds the logged exchanges to the sinks of their cell.
    pub fn flush(&mut self, sinks: &mut Sinks, watch: &Watch) {
        let length = self.length.min(CAPACITY);
        if length == 0 {
            return;
        }
        self.count(HTTP_REQS, sinks, watch);
        self.judge(sinks, watch);
        let (mut any_flag, mut all_flags) = (0, !0);
        for flags in &self.flags[..length] {
            any_flag |= flags;
            all_flags &= flags;
        }
        // If connections are reused, the columns for opening a connection are empty.
        let used = self
            .columns
            .each_ref()
            .map(|column| column[..length].iter().fold(0, |any, nanos| any | nanos) != 0);
        let mut nanos = [0u64; CAPACITY];
        let mut values = [0f64; CAPACITY];
        for &(metric, columns, required_flags) in TRENDS {
            if any_flag & required_flags != required_flags {
                continue;
            }
            let mut parts = columns.iter().filter(|&&column| used[column]);
            let all_zero = match parts.next() {
                None => true,
                Some(&first) => {
                    nanos[..length].copy_from_slice(&self.columns[first][..length]);
                    for &part in parts {
                        for (sum, more) in nanos.iter_mut().zip(&self.columns[part]).take(length) {
                            *sum += more;
                        }
                    }
                    false
                }
            };
            for (value, nanos) in values.iter_mut().zip(&nanos).take(length) {
                *value = if all_zero { 0.0 } else { *nanos as f64 / 1e6 };
            }
            let values = Values {
                values: &values[..length],
                all_zero,
                required_flags,
                all_match: all_flags & required_flags == required_flags,
            };
            self.trend(metric, &values, sinks, watch);
        }
        self.length = 0;
    }

    fn trend(&self, metric: MetricId, values: &Values, sinks: &mut Sinks, watch: &Watch) {
        if let Some(histogram) = sinks.trend(metric) {
            self.record(histogram, values, |_| true, values.all_match);
        }
        for &index in watch.submetrics_of(metric) {
            let bit = watch.submetrics[index].http_bit.unwrap_or(usize::MAX);
            if let Some(Sink::Trend(histogram)) = sinks.submetrics.get_mut(index) {
                let all_match =
                    values.all_match && (0..self.length).all(|row| self.meets(row, bit));
                self.record(histogram, values, |row| self.meets(row, bit), all_match);
            }
        }
    }

    /// Records the values of the exchanges that have the required flags and for which `is_included` is true.
    /// `all_match` states that this applies to every exchange, so no check is necessary.
    fn record(
        &self,
        histogram: &mut Histogram,
        values: &Values,
        is_included: impl Fn(usize) -> bool,
        all_match: bool,
    ) {
        if all_match && values.all_zero {
            histogram.record_zeros(values.values.len() as u64);
        } else if all_match {
            histogram.record_all(values.values);
        } else {
            for (row, (value, flags)) in values.values.iter().zip(&self.flags).enumerate() {
                if flags & values.required_flags == values.required_flags && is_included(row) {
                    histogram.record(*value);
                }
            }
        }
    }

    /// Adds the number of exchanges to a counter.
    fn count(&self, metric: MetricId, sinks: &mut Sinks, watch: &Watch) {
        let at = Moment::ZERO; // A counter ignores the time.
        sinks.record(metric, self.length as f64, at);
        for &index in watch.submetrics_of(metric) {
            let bit = watch.submetrics[index].http_bit.unwrap_or(usize::MAX);
            let meeting = (0..self.length).filter(|&row| self.meets(row, bit)).count();
            if meeting > 0
                && let Some(sink) = sinks.submetrics.get_mut(index)
            {
                sink.record(meeting as f64, at);
            }
        }
    }

    /// Adds the share of failures among exchanges with a rule.
    fn judge(&self, sinks: &mut Sinks, watch: &Watch) {
        let add = |sink: &mut Sink, meets: &dyn Fn(usize) -> bool| {
            if let Sink::Rate { passes, total } = sink {
                for (row, flags) in self.flags[..self.length].iter().enumerate() {
                    if flags & HAS_RULE != 0 && meets(row) {
                        *passes += u64::from(flags & FAILED != 0);
                        *total += 1;
                    }
                }
            }
        };
        if let Some(sink) = sinks.metrics.get_mut(HTTP_REQ_FAILED.index()) {
            add(sink, &|_| true);
        }
        for &index in watch.submetrics_of(HTTP_REQ_FAILED) {
            let bit = watch.submetrics[index].http_bit.unwrap_or(usize::MAX);
            if let Some(sink) = sinks.submetrics.get_mut(index) {
                add(sink, &|row| self.meets(row, bit));
            }
        }
    }

    #[inline]
    fn meets(&self, row: usize, bit: usize) -> bool {
        bit / 64 < self.words && self.matched[row * self.words + bit / 64] & (1 << (bit % 64)) != 0
    }
}

#[inline]
fn nanos(span: Duration) -> u64 {
    // This overflows after 584 years.
    span.as_nanos() as u64
}

#[inline]
fn between(earlier: Moment, later: Moment) -> u64 {
    later.as_nanos().saturating_sub(earlier.as_nanos())
}
