//! The result of a load on one URL, as one JSON object.
//!
//! `docs/schema/http-result-1.json` describes it. Within a version of the schema, keys are only added, never removed or
//! redefined.

use std::collections::BTreeMap;
use std::time::Duration;

use plimsoll_samples::{Summary, Values};
use plimsoll_units::Bytes;
use plimsoll_verdict::{Level, Reason, Verdict};
use serde::Serialize;

use crate::fixed_work::FixedWork;
use crate::grpc_status;

pub const SCHEMA: &str = "plimsoll/http-result/1";

/// The schema of a result of gRPC calls.
pub const GRPC_SCHEMA: &str = "plimsoll/grpc-result/1";

/// The result of a run with one target. Times are in milliseconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HttpResult {
    /// [`SCHEMA`], or [`GRPC_SCHEMA`].
    pub schema: String,
    /// Requests per second of `load_seconds`, or of `duration_seconds` if there is no `load_seconds`. `None` if no
    /// request got a response, because fast failures are not throughput.
    pub requests_per_second: Option<f64>,
    /// Exchanges, including failed ones.
    pub requests: u64,
    /// Exchanges without a response, or with an error as the response.
    pub failed: u64,
    /// Duration of the run, until the last response.
    pub duration_seconds: f64,
    /// The time in which requests could start; `None` if an amount of work ends the run.
    pub load_seconds: Option<f64>,
    /// Requests that were sent again, because the server closed a reused connection without a
    /// response or refused to process them. Each counts once in `requests`.
    pub requests_resent: u64,
    /// Requests of an open model that were not sent, because no user was free when they were due.
    pub dropped_iterations: u64,
    /// Bytes written to sockets.
    pub bytes_sent: u64,
    /// Bytes read from sockets.
    pub bytes_received: u64,
    /// From the send to the last byte of the response, for exchanges that did not fail. `None` if
    /// there were none.
    pub service_time: Option<Latency>,
    /// From the scheduled start to the last byte of the response. `None` in a closed model, which
    /// has no schedule.
    pub response_time: Option<Latency>,
    /// Time to open connections: name lookup, TCP and TLS handshakes, one value per connection.
    /// `None` if none was opened.
    pub connect_time: Option<Latency>,
    /// From the start of a request to the last byte of its response, including connection setup.
    pub total_time: Option<Latency>,
    /// Delay from the scheduled to the actual start. `None` in a closed model.
    pub send_lag: Option<Latency>,
    /// Duration of failed exchanges. `None` if none failed.
    pub failed_time: Option<Latency>,
    /// Responses by status: HTTP's by number, gRPC's by name.
    pub status_codes: BTreeMap<String, u64>,
    /// Failures without a response by their message, most frequent first.
    pub errors: Vec<ErrorEntry>,
    /// Failures that are not in `errors`, because there were too many different ones.
    pub other_errors: u64,
    /// The protocol of most responses, such as `HTTP/1.1`.
    pub protocol: Option<String>,
    /// Responses by protocol.
    pub protocols: BTreeMap<String, u64>,
    /// Responses by TLS version, such as `tls1.3`. Excludes responses without TLS.
    pub tls_versions: BTreeMap<String, u64>,
    /// Responses by cipher suite, such as `TLS_AES_128_GCM_SHA256`.
    pub tls_cipher_suites: BTreeMap<String, u64>,
    /// Connections that were opened. `None` for gRPC, where `grpc` contains it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connections_opened: Option<u64>,
    /// Further results of gRPC calls.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub grpc: Option<GrpcEntry>,
    /// The result of a fixed amount of work, if the run had one.
    #[serde(flatten)]
    pub fixed_work: Option<FixedWork>,
    /// The generator's resource use and verdict.
    pub generator: GeneratorEntry,
}

/// Further results of a run of gRPC calls. Times are in milliseconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GrpcEntry {
    /// Connections that were opened.
    pub connections_opened: u64,
    /// Messages sent in streaming calls. `None` for unary calls.
    pub messages_sent: Option<u64>,
    /// Messages received in streaming calls.
    pub messages_received: Option<u64>,
}

/// A distribution of times, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Latency {
    /// Number of values. A quantile q of fewer than 10 / (1 - q) values is not reliable.
    pub count: u64,
    /// The shortest.
    pub min: f64,
    pub mean: f64,
    /// The longest.
    pub max: f64,
    /// The median.
    pub p50: f64,
    /// The 90th percentile.
    pub p90: f64,
    /// The 95th percentile.
    pub p95: f64,
    /// The 99th percentile.
    pub p99: f64,
    /// The 99.9th percentile.
    pub p999: f64,
}

/// One kind of error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ErrorEntry {
    /// k6's error code; 0 if there is none.
    pub code: u32,
    /// The error message.
    pub text: String,
    /// The number of occurrences.
    pub count: u64,
}

/// The generator's resource use, and whether it affected the results.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GeneratorEntry {
    /// Processor time of the whole process.
    pub cpu_seconds: f64,
    /// Its maximum memory.
    pub peak_rss_bytes: u64,
    /// Whether the results can be trusted.
    pub verdict: Level,
    /// The evidence.
    pub reasons: Vec<Reason>,
}

/// The generator's resource use, as measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generator {
    /// Processor time of the whole process.
    pub cpu: Duration,
    /// Its maximum memory.
    pub peak_rss: Bytes,
    /// Whether the results can be trusted.
    pub verdict: Verdict,
}

impl HttpResult {
    /// Reads the result of a run from its summary.
    pub fn new(summary: &Summary, generator: &Generator) -> HttpResult {
        let find = |name: &str| {
            summary
                .metrics
                .iter()
                .find(|metric| metric.name == name)
                .map(|metric| &metric.values)
        };
        let count = |name| find(name).and_then(Values::count).unwrap_or(0.0).max(0.0);
        let latency = |name| find(name).and_then(Latency::of);
        let requests = count("http_reqs");
        let seconds = summary.elapsed.as_secs_f64();
        // Requests count when they start, so the rate excludes the time from the last start to the last response.
        let started_within = summary.load.map_or(seconds, |load| load.as_secs_f64());
        HttpResult {
            schema: SCHEMA.to_owned(),
            requests_per_second: (started_within > 0.0 && summary.http.responses() > 0)
                .then_some(requests / started_within),
            requests: requests as u64,
            failed: find("http_req_failed")
                .and_then(Values::passes)
                .unwrap_or(0),
            duration_seconds: seconds,
            load_seconds: summary.load.map(|load| load.as_secs_f64()),
            requests_resent: summary.http.resent,
            dropped_iterations: count("dropped_iterations") as u64,
            bytes_sent: count("data_sent") as u64,
            bytes_received: count("data_received") as u64,
            service_time: latency("http_req_duration{expected_response:true}"),
            response_time: latency("http_req_response_time"),
            connect_time: latency("connection_time"),
            total_time: latency("http_req_total"),
            send_lag: latency("iteration_send_lag"),
            failed_time: latency("http_req_failed_duration"),
            status_codes: summary
                .http
                .statuses
                .iter()
                .copied()
                .filter(|(status, count)| *status != 0 && *count > 0)
                .map(|(status, count)| (grpc_status::name(status), count))
                .collect(),
            errors: summary
                .http
                .errors
                .iter()
                .map(|error| ErrorEntry {
                    code: error.code,
                    text: error.text.clone(),
                    count: error.count,
                })
                .collect(),
            other_errors: summary.http.other_errors,
            protocol: summary.http.protocols.first().map(|(name, _)| name.clone()),
            protocols: summary.http.protocols.iter().cloned().collect(),
            tls_versions: summary.http.tls_versions.iter().cloned().collect(),
            tls_cipher_suites: summary.http.tls_cipher_suites.iter().cloned().collect(),
            connections_opened: Some(summary.http.connections_opened),
            grpc: None,
            fixed_work: None,
            generator: GeneratorEntry {
                cpu_seconds: generator.cpu.as_secs_f64(),
                peak_rss_bytes: generator.peak_rss.get(),
                verdict: generator.verdict.level,
                reasons: generator.verdict.reasons.clone(),
            },
        }
    }
}

impl HttpResult {
    /// Reads the result of a run of gRPC calls from its summary.
    pub fn of_grpc(summary: &Summary, generator: &Generator) -> HttpResult {
        let find = |name: &str| {
            let mut metrics = summary.metrics.iter();
            let found = metrics.find(|metric| metric.name == name);
            found.map(|metric| &metric.values)
        };
        let messages = |name| find(name).and_then(Values::count).map(|count| count as u64);
        let result = HttpResult::new(summary, generator);
        let streams = messages("grpc_streams").is_some();
        HttpResult {
            schema: GRPC_SCHEMA.to_owned(),
            connections_opened: None,
            grpc: Some(GrpcEntry {
                connections_opened: summary.http.connections_opened,
                messages_sent: messages("grpc_streams_msgs_sent").filter(|_| streams),
                messages_received: messages("grpc_streams_msgs_received").filter(|_| streams),
            }),
            ..result
        }
    }
}

impl Latency {
    /// The statistics of a trend in milliseconds. `None` if it is empty.
    pub fn of(values: &Values) -> Option<Latency> {
        let histogram = values
            .histogram()
            .filter(|histogram| !histogram.is_empty())?;
        let quantiles = histogram.quantiles(&[0.5, 0.9, 0.95, 0.99, 0.999]);
        let &[p50, p90, p95, p99, p999] = quantiles.as_slice() else {
            return None;
        };
        Some(Latency {
            count: histogram.count(),
            min: histogram.min(),
            mean: histogram.mean(),
            max: histogram.max(),
            p50,
            p90,
            p95,
            p99,
            p999,
        })
    }
}
