//! The record of one run as JSON lines: a [`Header`], a [`Second`] for each second as it ends, an
//! [`End`]. The record of a killed run has no end, but loses nothing else.
//!
//! A second contains what *started* in it: an open model at 200/s has exactly 200 requests in each
//! second. A request that ends after its second was written is added on another line (`late`), so
//! that memory does not grow with slow requests; [`read`] adds the two. The end contains the whole
//! run, including setup and teardown.
//!
//! [`Writer`] writes a record during the run, [`read`] reads one from any source, and [`Follower`] reads one while it is
//! written.

mod follow;
mod read;
mod write;

pub use follow::Follower;
#[cfg(test)]
pub(crate) use read::tests::header as tests_header;
pub use read::{ReadError, is_record, read};
pub use write::Writer;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::distribution::Distribution;
use crate::environment::Environment;

/// The value of [`Header::schema`].
pub const SCHEMA: &str = "plimsoll/record/1";

/// A whole record.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The configuration.
    pub header: Header,
    /// One entry per second during the load.
    pub seconds: Vec<Second>,
    /// The seconds after the end of the load, in which iterations finished and none started. Rates
    /// exclude them.
    pub tail: Vec<Second>,
    /// The result. `None` for a run that was killed.
    pub end: Option<End>,
}

impl Record {
    /// The end without the first seconds: its sums are those of the remaining seconds of load,
    /// everything else is the whole run's. For fixed work, which ends only with its last iteration,
    /// nothing is excluded. `None` for a run that was killed.
    pub fn end_without(&self, first: u64) -> Option<End> {
        let mut end = self.end.clone()?;
        if first == 0 && (self.header.model == "work" || self.seconds.is_empty()) {
            return Some(end);
        }
        let seconds = || self.seconds.iter().filter(|second| second.second >= first);
        end.duration_seconds = seconds().map(|second| second.lasted.unwrap_or(1.0)).sum();
        for (name, count) in &mut end.counters {
            *count = seconds()
                .filter_map(|second| second.counters.get(name))
                .sum();
        }
        for (name, rate) in &mut end.rates {
            let parts = seconds().filter_map(|second| second.rates.get(name));
            *rate = parts.fold((0, 0), |sum, part| (sum.0 + part.0, sum.1 + part.1));
        }
        for (name, trend) in &mut end.trends {
            let parts = seconds().filter_map(|second| second.trends.get(name));
            let mut merged = plimsoll_stats::Histogram::new();
            for part in parts.filter_map(Distribution::histogram) {
                merged.merge(&part);
            }
            *trend = Distribution::of(&merged);
        }
        Some(end)
    }
}

/// The first line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// [`SCHEMA`].
    pub schema: String,
    /// Version of the program.
    pub plimsoll: String,
    /// The command: `run`, `http`, `attack`, `grpc`, …
    pub kind: String,
    /// The run in a few words; empty in records of earlier versions.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// The command line without secrets.
    pub command: Vec<String>,
    /// When it started, RFC 3339.
    pub started: String,
    /// `open` if a schedule decides when requests start, `closed` if responses do, `work` for fixed
    /// work.
    pub model: String,
    /// The load of each scenario in words; empty in records of earlier versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub load: Vec<String>,
    /// How much of the start the verdict excludes, in seconds.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub warm_up_seconds: f64,
    /// All effective options.
    pub configuration: serde_json::Value,
    /// A hash of the configuration and of the files it names: runs with equal hashes can be
    /// compared.
    pub configuration_hash: String,
    /// The environment.
    pub environment: Environment,
}

fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

/// The data of one second.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Second {
    /// The second of the run, from 0.
    pub second: u64,
    /// Recorded after the line of this second was written: add it to that line.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub late: bool,
    /// The load had ended: iterations finished, but none started. The second in which the load
    /// ended may have two lines, one for the time before that moment and one for the time after.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub after_load: bool,
    /// Its duration, if the load or the run ended within it or up to a tenth of a second after it.
    /// `None` for a whole second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lasted: Option<f64>,
    /// Users at its end.
    pub users: u32,
    /// Running iterations, on average.
    #[serde(default)]
    pub in_flight: f64,
    /// Sums of counters.
    pub counters: BTreeMap<String, f64>,
    /// Rates: how many values were not zero, and how many values.
    pub rates: BTreeMap<String, (u64, u64)>,
    /// Gauges: the latest, the smallest, the largest value.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub gauges: BTreeMap<String, (f64, f64, f64)>,
    /// Distributions of trends.
    pub trends: BTreeMap<String, Distribution>,
    /// Processor time that the generator used, in seconds.
    pub generator_cpu_seconds: f64,
}

impl Second {
    /// Adds data that were recorded later.
    pub fn add(&mut self, late: Second) {
        self.in_flight += late.in_flight;
        self.generator_cpu_seconds += late.generator_cpu_seconds;
        for (name, count) in late.counters {
            *self.counters.entry(name).or_default() += count;
        }
        for (name, (hits, all)) in late.rates {
            let rate = self.rates.entry(name).or_default();
            *rate = (rate.0 + hits, rate.1 + all);
        }
        for (name, gauge) in late.gauges {
            let whole = self.gauges.entry(name).or_insert(gauge);
            *whole = (gauge.0, whole.1.min(gauge.1), whole.2.max(gauge.2));
        }
        for (name, trend) in late.trends {
            self.trends.entry(name).or_default().add(&trend);
        }
    }
}

/// The last line.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct End {
    /// The duration of the run.
    pub duration_seconds: f64,
    /// Why it was aborted, if it was.
    pub aborted: Option<String>,
    /// Sums of counters over the run.
    pub counters: BTreeMap<String, f64>,
    /// Rates: how many values were not zero, and how many values.
    pub rates: BTreeMap<String, (u64, u64)>,
    /// Gauges: the latest, the smallest, the largest value.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub gauges: BTreeMap<String, (f64, f64, f64)>,
    /// Distributions of trends over the run; `http_req_duration` is service time,
    /// `http_req_response_time` counts from the scheduled start.
    pub trends: BTreeMap<String, Distribution>,
    /// Checks by name: passed, failed.
    pub checks: BTreeMap<String, (u64, u64)>,
    /// Thresholds as written with their metric, and whether they were met.
    pub thresholds: Vec<(String, String, bool)>,
    /// The value of the left side of each threshold, in the same order. `None` if it is not a finite
    /// number, and empty in records of earlier versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub thresholds_measured: Vec<Option<f64>>,
    /// Objectives that could not be judged, each with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub objectives_not_judged: Vec<String>,
    /// Responses by status.
    pub statuses: BTreeMap<String, u64>,
    /// Failures without a response by their message.
    pub errors: BTreeMap<String, u64>,
    /// Responses by protocol, such as `HTTP/1.1`.
    pub protocols: BTreeMap<String, u64>,
    /// Responses by TLS version, such as `tls1.3`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tls_versions: BTreeMap<String, u64>,
    /// Responses by cipher suite, such as `TLS_AES_128_GCM_SHA256`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tls_cipher_suites: BTreeMap<String, u64>,
    /// Connections that were opened.
    #[serde(default)]
    pub connections_opened: u64,
    /// Requests that were sent again, because the server closed a reused connection without a
    /// response or refused to process them. Each is one request in the counters.
    #[serde(default)]
    pub requests_resent: u64,
    /// HTTP requests by name, most frequent first. Requests with further names, if there were too
    /// many, come last without a name and a method.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<NamedRequests>,
    /// The results of scenarios with fixed work, by their names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fixed_work: BTreeMap<String, FixedWork>,
    /// Moments that plots of the run mark, the earliest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<Mark>,
    /// Measurements of the generator itself.
    pub generator: Generator,
}

/// A moment at which the load changed without being planned: an agent of a fleet was lost, or others took over its load.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Mark {
    /// Since the start of the run.
    pub at_seconds: f64,
    /// What happened, as the end of a sentence that begins with the time.
    pub text: String,
}

/// The HTTP requests with one name and one method.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NamedRequests {
    /// The name that a script gave, or the URL.
    pub name: String,
    /// The method.
    pub method: String,
    /// Requests, including failed ones.
    pub requests: u64,
    /// Those that failed.
    pub failed: u64,
    /// Service time of those that did not fail.
    pub service_time: Distribution,
}

/// Fixed work and its result.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FixedWork {
    /// Concurrent users.
    pub workers: u32,
    /// The configured iterations of all users together.
    pub iterations_wanted: u64,
    /// Completed iterations.
    pub iterations: u64,
    /// Completed calls, including failed ones.
    pub calls: u64,
    /// Of these, those that failed.
    pub failed_calls: u64,
    /// From the start of the first iteration to the end of the last.
    pub makespan_seconds: f64,
    /// Bodies and messages sent by calls that did not fail, without headers and framing.
    pub payload_bytes_sent: u64,
    /// Bodies and messages received by calls that did not fail, without headers and framing.
    pub payload_bytes_received: u64,
}

/// The generator's resource use, and whether the results can be trusted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Generator {
    /// Processor time of the whole process.
    pub cpu_seconds: f64,
    /// Its maximum memory.
    pub peak_rss_bytes: u64,
    /// `valid`, `suspect` or `invalid`.
    pub verdict: String,
    /// Cause (`client`, `server`, `network`, `clock`) and a sentence with numbers.
    pub reasons: Vec<(String, String)>,
    /// Whether other programs of the machine or its hypervisor disturbed the run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub disturbed: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trend(values: &[f64]) -> BTreeMap<String, Distribution> {
        let mut histogram = plimsoll_stats::Histogram::new();
        values.iter().for_each(|&value| histogram.record(value));
        BTreeMap::from([("wait".to_owned(), Distribution::of(&histogram))])
    }

    #[test]
    fn an_end_without_the_first_seconds_is_the_sum_of_the_others() {
        let second = |number, lasted, count, rate, waits: &[f64]| Second {
            second: number,
            lasted,
            counters: BTreeMap::from([("asked".to_owned(), count)]),
            rates: BTreeMap::from([("kept".to_owned(), rate)]),
            trends: trend(waits),
            ..Second::default()
        };
        let end = End {
            // Events between the last second and the end are not part of any second.
            duration_seconds: 2.75,
            counters: BTreeMap::from([("asked".to_owned(), 7.0)]),
            rates: BTreeMap::from([("kept".to_owned(), (3, 6))]),
            trends: trend(&[90.0, 2.0, 2.0, 4.0]),
            statuses: BTreeMap::from([("200".to_owned(), 7)]),
            ..End::default()
        };
        let mut record = Record {
            header: read::tests::header(),
            seconds: vec![
                second(0, None, 4.0, (0, 3), &[90.0]),
                second(1, None, 2.0, (2, 2), &[2.0, 2.0]),
                second(2, Some(0.5), 1.0, (1, 1), &[4.0]),
            ],
            tail: vec![second(2, Some(0.25), 5.0, (5, 5), &[7.0])],
            end: Some(end.clone()),
        };
        let whole = record.end_without(0).expect("an end");
        assert_eq!(
            (whole.duration_seconds, whole.trends["wait"].count),
            (2.5, 4)
        );
        record.header.model = "work".to_owned();
        assert_eq!(record.end_without(0), Some(end.clone()));
        let left = End {
            duration_seconds: 1.5,
            counters: BTreeMap::from([("asked".to_owned(), 3.0)]),
            rates: BTreeMap::from([("kept".to_owned(), (3, 3))]),
            trends: trend(&[2.0, 2.0, 4.0]),
            ..end
        };
        assert_eq!(record.end_without(1), Some(left));
        let nothing = record.end_without(3).expect("an end");
        assert_eq!(nothing.duration_seconds, 0.0);
        assert_eq!(nothing.trends["wait"].count, 0);
        record.end = None;
        assert_eq!(record.end_without(1), None);
    }
}
