//! HTTP exchanges on their way into the sinks.
//!
//! An exchange gives a dozen values for as many distributions. Taken one by
//! one, each record would pull the pages of twelve histograms through the
//! cache. So exchanges are noted in columns of whole nanoseconds, and a full
//! log is worked off one metric at a time: phases are added and converted in
//! straight loops, a column of zeros costs one addition, and the pages of one
//! histogram stay hot for 256 values.

use std::time::Duration;

use units::Moment;

use crate::builtin::*;
use crate::exchange::HttpFacts;
use crate::registry::MetricId;
use crate::sink::Sink;
use crate::sinks::Sinks;
use crate::watch::Watch;

/// How many exchanges a log takes.
const LENGTH: usize = 256;

const QUEUED: usize = 0;
const LOOKING_UP: usize = 1;
const CONNECTING: usize = 2;
const TLS: usize = 3;
const SENDING: usize = 4;
const WAITING: usize = 5;
const RECEIVING: usize = 6;
/// From start to end.
const TOTAL: usize = 7;
/// From the scheduled start to the end.
const RESPONSE: usize = 8;
const COLUMNS: usize = 9;

/// There was a scheduled start.
const SCHEDULED: u8 = 1;
/// The exchange failed.
const FAILED: u8 = 2;
/// Somebody judged whether the answer was an expected one.
const JUDGED: u8 = 4;

/// Which exchanges a trend takes: those with all of these flags.
type Of = u8;
const ALL: Of = 0;

/// The trends, the columns each is the sum of, and whose they are.
const TRENDS: &[(MetricId, &[usize], Of)] = &[
    (HTTP_REQ_DURATION, &[SENDING, WAITING, RECEIVING], ALL),
    (
        HTTP_REQ_BLOCKED,
        &[QUEUED, LOOKING_UP, CONNECTING, TLS],
        ALL,
    ),
    (HTTP_REQ_CONNECTING, &[CONNECTING], ALL),
    (HTTP_REQ_TLS_HANDSHAKING, &[TLS], ALL),
    (HTTP_REQ_SENDING, &[SENDING], ALL),
    (HTTP_REQ_WAITING, &[WAITING], ALL),
    (HTTP_REQ_RECEIVING, &[RECEIVING], ALL),
    (HTTP_REQ_LOOKING_UP, &[LOOKING_UP], ALL),
    (HTTP_REQ_TOTAL, &[TOTAL], ALL),
    (HTTP_REQ_RESPONSE_TIME, &[RESPONSE], SCHEDULED),
    (HTTP_REQ_FAILED_DURATION, &[TOTAL], FAILED),
];

pub(crate) struct ExchangeLog {
    length: usize,
    columns: [[u64; LENGTH]; COLUMNS],
    flags: [u8; LENGTH],
    /// For each exchange, which of the watch's HTTP conditions hold: 64 a word.
    matched: Vec<u64>,
    words: usize,
    /// A metric's values, on their way.
    values: [f64; LENGTH],
}

impl ExchangeLog {
    pub fn new(watch: &Watch) -> Box<ExchangeLog> {
        let words = watch.http_conditions.len().div_ceil(64);
        Box::new(ExchangeLog {
            length: 0,
            columns: [[0; LENGTH]; COLUMNS],
            flags: [0; LENGTH],
            matched: vec![0; words * LENGTH],
            words,
            values: [0.0; LENGTH],
        })
    }

    /// Whether the next exchange needs a flush before.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.length >= LENGTH
    }

    /// Notes an exchange; `holds` tells for each of the watch's HTTP conditions
    /// whether the exchange meets it. The log must not be full.
    #[inline]
    pub fn push(&mut self, facts: &HttpFacts, holds: impl Fn(usize) -> bool, conditions: usize) {
        let row = self.length;
        if row >= LENGTH {
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
            | (u8::from(facts.failed()) * FAILED)
            | (u8::from(facts.expected.is_some()) * JUDGED);
        for word in 0..self.words {
            let from = word * 64;
            let to = (from + 64).min(conditions);
            let bits = (from..to).fold(0, |bits, bit| bits | u64::from(holds(bit)) << (bit - from));
            if let Some(place) = self.matched.get_mut(row * self.words + word) {
                *place = bits;
            }
        }
    }

    /// Works the noted exchanges off into the sinks of their cell.
    pub fn flush(&mut self, sinks: &mut Sinks, watch: &Watch) {
        if self.length == 0 {
            return;
        }
        self.count(HTTP_REQS, sinks, watch);
        self.judge(sinks, watch);
        for &(metric, columns, of) in TRENDS {
            self.trend(metric, columns, of, sinks, watch);
        }
        self.length = 0;
    }

    fn trend(
        &mut self,
        metric: MetricId,
        columns: &[usize],
        of: Of,
        sinks: &mut Sinks,
        watch: &Watch,
    ) {
        let length = self.length;
        let mut any = 0;
        for (row, value) in self.values[..length].iter_mut().enumerate() {
            let nanos: u64 = columns
                .iter()
                .map(|&column| self.columns[column][row])
                .sum();
            any |= nanos;
            *value = nanos as f64 / 1e6;
        }
        let everyone = of == ALL || self.flags[..length].iter().all(|flags| flags & of == of);
        let taken = |log: &ExchangeLog, row: usize| log.flags[row] & of == of;
        if let Some(histogram) = sinks.trend(metric) {
            if !everyone {
                let rows = (0..length).filter(|&row| taken(self, row));
                rows.for_each(|row| histogram.record(self.values[row]));
            } else if any == 0 {
                histogram.record_zeros(length as u64);
            } else {
                histogram.record_all(&self.values[..length]);
            }
        }
        for &index in watch.submetrics_of(metric) {
            let bit = watch.submetrics[index].http_bit.unwrap_or(usize::MAX);
            if let Some(Sink::Trend(histogram)) = sinks.submetrics.get_mut(index) {
                if everyone && (0..length).all(|row| self.meets(row, bit)) {
                    histogram.record_all(&self.values[..length]);
                    continue;
                }
                let rows = (0..length).filter(|&row| taken(self, row) && self.meets(row, bit));
                rows.for_each(|row| histogram.record(self.values[row]));
            }
        }
    }

    /// Counts the exchanges.
    fn count(&self, metric: MetricId, sinks: &mut Sinks, watch: &Watch) {
        let at = Moment::ZERO; // A counter does not look at it.
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

    /// The share that failed, of those that somebody judged.
    fn judge(&self, sinks: &mut Sinks, watch: &Watch) {
        let add = |sink: &mut Sink, meets: &dyn Fn(usize) -> bool| {
            if let Sink::Rate { passes, total } = sink {
                for (row, flags) in self.flags[..self.length].iter().enumerate() {
                    if flags & JUDGED != 0 && meets(row) {
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
    // Wraps after 584 years.
    span.as_nanos() as u64
}

#[inline]
fn between(earlier: Moment, later: Moment) -> u64 {
    later.as_nanos().saturating_sub(earlier.as_nanos())
}
