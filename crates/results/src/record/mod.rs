//! The record of one run as JSON lines: a [`Header`], a [`Second`] as soon as each second is over,
//! and an [`End`]. If a run is killed, its record lacks the end but is otherwise complete.
//!
//! A second contains what *started* in it: an open model at 200/s has exactly 200 requests in each
//! second. If a request ends after its second was written, it goes to an additional line (`late`),
//! and [`read`] adds the two lines. This way, slow requests do not increase memory use. The end
//! covers the whole run, including setup and teardown.
//!
//! [`Writer`] writes a record during the run, [`read`] reads a record from any source, and
//! [`Follower`] reads a record while it is being written.

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

/// The schema version, for [`Header::schema`].
pub const SCHEMA: &str = "plimsoll/record/1";

/// A complete record.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The configuration.
    pub header: Header,
    /// One entry per second during the load.
    pub seconds: Vec<Second>,
    /// The seconds after the load ended, in which iterations finished but none started. Rates
    /// exclude these seconds.
    pub tail: Vec<Second>,
    /// The result, or `None` if the run was killed.
    pub end: Option<End>,
}

impl Record {
    /// The end without the first seconds of the run. Sums cover only the remaining seconds of load,
    /// and all other values cover the whole run. Fixed work excludes nothing, because it ends only
    /// with its last iteration. `None` if the run was killed.
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
    /// The schema: [`SCHEMA`].
    pub schema: String,
    /// The version of the program.
    pub plimsoll: String,
    /// The command: `run`, `http`, `attack`, `grpc`, …
    pub kind: String,
    /// A short description of the run. Empty in records of earlier versions.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// The command line without secrets.
    pub command: Vec<String>,
    /// When the run started, in RFC 3339.
    pub started: String,
    /// `open` if a schedule decides when requests start, `closed` if responses do, `work` for fixed
    /// work.
    pub model: String,
    /// A description of each scenario's load. Empty in records of earlier versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub load: Vec<String>,
    /// The number of seconds at the start that the verdict excludes.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub warm_up_seconds: f64,
    /// All effective options.
    pub configuration: serde_json::Value,
    /// A hash of the configuration and the files that it refers to. Runs with equal hashes are
    /// comparable.
    pub configuration_hash: String,
    pub environment: Environment,
}

fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

/// The data of one second.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Second {
    /// The number of the second, counted from 0.
    pub second: u64,
    /// Whether this line contains data recorded after the line of its second was written. Add the
    /// two lines.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub late: bool,
    /// Whether the load had ended: iterations finished, but none started. The second in which the
    /// load ended may have two lines, one for the time before that moment and one for the time
    /// after it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub after_load: bool,
    /// The duration of this second if it is not a whole one, because the load or the run ended
    /// during it or up to a tenth of a second after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lasted: Option<f64>,
    /// Number of users at the end of the second.
    pub users: u32,
    /// Average number of running iterations.
    #[serde(default)]
    pub in_flight: f64,
    /// The increments of counters.
    pub counters: BTreeMap<String, f64>,
    /// Rates: the number of nonzero values, and the number of all values.
    pub rates: BTreeMap<String, (u64, u64)>,
    /// Gauges: the last, the smallest and the largest value.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub gauges: BTreeMap<String, (f64, f64, f64)>,
    pub trends: BTreeMap<String, Distribution>,
    /// Processor time of the generator in seconds.
    pub generator_cpu_seconds: f64,
}

/// The numbers of failed and of all HTTP requests, or those of the gRPC calls of a script. `None` without either.
pub fn failed_requests(rates: &BTreeMap<String, (u64, u64)>) -> Option<(u64, u64)> {
    let names = ["http_req_failed", "grpc_req_failed"];
    names.iter().find_map(|name| rates.get(*name)).copied()
}

impl Second {
    /// The number of failed requests.
    pub fn failed(&self) -> u64 {
        failed_requests(&self.rates).map_or(0, |(failed, _)| failed)
    }

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
    /// The reason for aborting the run, if it was aborted.
    pub aborted: Option<String>,
    /// The totals of counters over the run.
    pub counters: BTreeMap<String, f64>,
    /// Rates: the number of nonzero values, and the number of all values.
    pub rates: BTreeMap<String, (u64, u64)>,
    /// Gauges: the last, the smallest and the largest value.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub gauges: BTreeMap<String, (f64, f64, f64)>,
    /// The distributions of trends over the run. `http_req_duration` is service time.
    /// `http_req_response_time` is measured from the scheduled start.
    pub trends: BTreeMap<String, Distribution>,
    /// Checks by name: passed, failed.
    pub checks: BTreeMap<String, (u64, u64)>,
    /// Thresholds as written, with their metric, and whether they were met.
    pub thresholds: Vec<(String, String, bool)>,
    /// The value of the left side of each threshold, in the same order. `None` if it is not finite.
    /// Empty in records of earlier versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub thresholds_measured: Vec<Option<f64>>,
    /// Objectives that could not be judged, with the reason for each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub objectives_not_judged: Vec<String>,
    /// Responses by status.
    pub statuses: BTreeMap<String, u64>,
    /// Failures without a response, by message.
    pub errors: BTreeMap<String, u64>,
    /// Responses by protocol, such as `HTTP/1.1`.
    pub protocols: BTreeMap<String, u64>,
    /// Responses by TLS version, such as `tls1.3`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tls_versions: BTreeMap<String, u64>,
    /// Responses by cipher suite, such as `TLS_AES_128_GCM_SHA256`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tls_cipher_suites: BTreeMap<String, u64>,
    /// Number of opened connections.
    #[serde(default)]
    pub connections_opened: u64,
    /// Number of requests that were sent again because the server closed a reused connection
    /// without a response or refused to process them. Counters include each of them once.
    #[serde(default)]
    pub requests_resent: u64,
    /// Number of iterations in which the script threw an exception.
    #[serde(default)]
    pub iterations_threw: u64,
    /// HTTP requests by name, most frequent first. If there were too many names, the last entry has
    /// no name and no method and covers the requests with the remaining names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<NamedRequests>,
    /// The results of scenarios with fixed work, by scenario name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fixed_work: BTreeMap<String, FixedWork>,
    /// Moments to mark in plots of the run, the earliest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<Mark>,
    /// The generator's measurements of itself.
    pub generator: Generator,
}

/// A moment at which the load changed unexpectedly: a fleet lost an agent, or other agents took
/// over its load.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Mark {
    /// The time since the start of the run.
    pub at_seconds: f64,
    /// What happened, in words that can follow the time in a sentence.
    pub text: String,
}

/// The HTTP requests with one name and one method.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NamedRequests {
    /// The name given by a script, or the URL.
    pub name: String,
    pub method: String,
    /// Number of requests, including failed ones.
    pub requests: u64,
    /// Number of failed requests.
    pub failed: u64,
    /// Service time of the requests that did not fail.
    pub service_time: Distribution,
}

/// Fixed work and its result.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FixedWork {
    /// Number of concurrent users.
    pub workers: u32,
    /// The configured iterations of all users together.
    pub iterations_wanted: u64,
    /// Number of completed iterations.
    pub iterations: u64,
    /// Number of completed calls, including failed ones.
    pub calls: u64,
    /// Number of failed calls.
    pub failed_calls: u64,
    /// The time from the start of the first iteration to the end of the last one.
    pub makespan_seconds: f64,
    /// Bodies and messages sent by calls that did not fail, without headers and framing.
    pub payload_bytes_sent: u64,
    /// Bodies and messages received by calls that did not fail, without headers and framing.
    pub payload_bytes_received: u64,
}

/// What the verdict says of a run whose evidence about the generator is too short.
pub const TOO_SHORT: &str = "the run was too short to check the generator";

/// The generator's resource use, and whether the results can be trusted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Generator {
    /// Processor time of the generator process.
    pub cpu_seconds: f64,
    /// Peak memory of the generator process.
    pub peak_rss_bytes: u64,
    /// `valid`, `suspect` or `invalid`.
    pub verdict: String,
    /// The reasons for the verdict: a cause (`client`, `server`, `network`, `clock`) and a sentence
    /// with numbers.
    pub reasons: Vec<(String, String)>,
    /// Whether other programs on the machine, or its hypervisor, disturbed the run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub disturbed: bool,
    /// The memory of the users of a script at the end of the run, by kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_memory: Option<UserMemory>,
}

/// The memory of a script's users by kind. The rest of a user's state, TLS sessions and the program itself are not in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserMemory {
    /// The number of users.
    pub users: u64,
    /// How many of them started from an image of the script's heap.
    pub users_with_image: u64,
    /// These images, one for each worker thread.
    pub image_bytes: u64,
    /// What users have changed in their image.
    pub change_bytes: u64,
    /// What users have made since the image.
    pub object_bytes: u64,
    /// The heaps of the users without an image.
    pub heap_bytes: u64,
    /// The resident part of the stacks that scripts ran on.
    pub stack_bytes: u64,
    /// The number of idle connections.
    pub connections: u64,
    /// The buffers of these connections.
    pub buffer_bytes: u64,
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
            // No second contains the events between the last second and the end of the run.
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
