//! The figures of an attack, as in `vegeta report`.

use std::collections::BTreeMap;
use std::time::Duration;

use indexmap::IndexSet;

use crate::buckets::Buckets;
use crate::date::Date;
use crate::digest::Digest;
use crate::hit::Hit;

/// Maximum number of different errors to list.
const MAX_ERRORS: usize = 10_000;

/// The metrics of all hits, calculated as in vegeta. Memory use does not grow with the number of hits.
#[derive(Clone, Debug, Default)]
pub struct Metrics {
    pub(crate) requests: u64,
    pub(crate) successes: u64,
    /// The sum over all hits, in nanoseconds.
    pub(crate) total: u128,
    pub(crate) min: Duration,
    pub(crate) max: Duration,
    latencies: Digest,
    pub(crate) buckets: Option<(Buckets, Vec<u64>)>,
    pub(crate) bytes_in: u64,
    pub(crate) bytes_out: u64,
    pub(crate) earliest: Date,
    pub(crate) latest: Date,
    pub(crate) end: Date,
    pub(crate) codes: BTreeMap<u16, u64>,
    pub(crate) errors: IndexSet<String>,
    unlisted: u64,
}

impl Metrics {
    /// Creates metrics with a histogram of these buckets.
    pub fn with_buckets(buckets: Option<Buckets>) -> Metrics {
        Metrics {
            buckets: buckets.map(|buckets| {
                let counts = vec![0; buckets.len()];
                (buckets, counts)
            }),
            ..Metrics::default()
        }
    }

    pub fn add(&mut self, hit: &Hit) {
        let end = hit.date.plus(hit.latency);
        if self.requests == 0 {
            self.min = hit.latency;
            self.earliest = hit.date;
            self.latest = hit.date;
            self.end = end;
        }
        self.requests += 1;
        self.successes += u64::from(hit.succeeded());
        *self.codes.entry(hit.code).or_default() += 1;
        self.bytes_in = self.bytes_in.saturating_add(hit.bytes_in);
        self.bytes_out = self.bytes_out.saturating_add(hit.bytes_out);
        self.total += hit.latency.as_nanos();
        self.min = self.min.min(hit.latency);
        self.max = self.max.max(hit.latency);
        self.latencies.add(hit.latency.as_nanos() as f64);
        if let Some((buckets, counts)) = &mut self.buckets
            && let Some(count) = counts.get_mut(buckets.of(hit.latency))
        {
            *count += 1;
        }
        self.earliest = self.earliest.min(hit.date);
        self.latest = self.latest.max(hit.date);
        self.end = self.end.max(end);
        if !hit.error.is_empty() && !self.errors.contains(&hit.error) {
            if self.errors.len() < MAX_ERRORS {
                self.errors.insert(hit.error.clone());
            } else {
                self.unlisted += 1;
            }
        }
    }

    /// Number of hits.
    pub fn requests(&self) -> u64 {
        self.requests
    }

    /// The number of hits whose error is not listed because there were too many different errors.
    pub fn unlisted_errors(&self) -> u64 {
        self.unlisted
    }

    /// The time from the first hit's start to the last hit's start.
    pub(crate) fn duration(&self) -> Duration {
        self.latest.since(self.earliest)
    }

    /// The time from the last hit's start to the end of the hit that ended last.
    pub(crate) fn wait(&self) -> Duration {
        self.end.since(self.latest)
    }

    /// Hits per second of the attack. If it took no time, the number of hits.
    pub(crate) fn rate(&self) -> f64 {
        match self.duration().as_secs_f64() {
            0.0 => self.requests as f64,
            seconds => self.requests as f64 / seconds,
        }
    }

    /// Successes per second until the last response arrived.
    pub(crate) fn throughput(&self) -> f64 {
        match self.duration() {
            Duration::ZERO => self.successes as f64,
            duration => self.successes as f64 / (duration + self.wait()).as_secs_f64(),
        }
    }

    pub(crate) fn success(&self) -> f64 {
        self.share(self.successes as f64)
    }

    pub(crate) fn mean(&self) -> Duration {
        Duration::from_nanos(self.share(self.total as f64) as u64)
    }

    /// A value divided by the number of hits. 0 if there are none.
    pub(crate) fn share(&self, figure: f64) -> f64 {
        if self.requests == 0 {
            0.0
        } else {
            figure / self.requests as f64
        }
    }

    /// In nanoseconds.
    pub(crate) fn quantile(&mut self, q: f64) -> f64 {
        self.latencies.quantile(q)
    }
}
