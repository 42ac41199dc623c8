//! The results of a run, ready for display.

use std::sync::Arc;
use std::time::Duration;

use plimsoll_stats::Histogram;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::kind::{Contains, Kind};
use crate::work::ScenarioWork;

/// All results of a run, for end-of-test summaries and exports.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Summary {
    /// Duration of the run; the time for counter rates.
    pub elapsed: Duration,
    /// The time in which iterations could start, if time limits it. Filled in by the engine's caller.
    pub load: Option<Duration>,
    /// Metrics that have samples or thresholds, sorted by name, each followed
    /// by its sub-metrics.
    pub metrics: Vec<MetricSummary>,
    /// Groups and checks as a tree, in the order first seen.
    pub root_group: Group,
    /// Checks with the same name in all groups combined, in the order first seen.
    pub checks: Vec<CheckTotal>,
    /// The results of each top-level group, over all scenarios. Empty unless the breakdown is on.
    pub groups: Vec<GroupPart>,
    /// The results of each scenario. Empty unless the breakdown is on.
    pub scenarios: Vec<ScenarioPart>,
    /// HTTP responses and failures, by type.
    pub http: HttpOverview,
    /// HTTP exchanges by the request's name. Empty unless requested.
    pub names: NameParts,
    /// Samples that were counted but not kept.
    pub left_out: LeftOut,
    /// Iterations in which a script threw, and all completed ones. Filled in by the engine's
    /// caller.
    pub threw: u64,
    pub iterations: u64,
    /// Scenarios with a fixed amount of work. Filled in by the engine's caller, because recorders
    /// do not know about it.
    pub work: Vec<ScenarioWork>,
}

/// One metric, or one sub-metric of it.
#[derive(Clone, Debug, Serialize)]
pub struct MetricSummary {
    /// The name; for a sub-metric with its selector, as in thresholds.
    pub name: String,
    /// How its samples were aggregated.
    pub kind: Kind,
    /// The quantity that it measures.
    pub contains: Contains,
    /// Plimsoll's addition to k6's metrics.
    pub extra: bool,
    /// A sub-metric's selector; empty for the metric itself.
    pub tags: Vec<(String, String)>,
    /// The values.
    pub values: Values,
    /// Its thresholds, in the order written.
    pub thresholds: Vec<ThresholdOutcome>,
}

impl MetricSummary {
    /// Whether this is a sub-metric.
    pub fn is_submetric(&self) -> bool {
        !self.tags.is_empty()
    }
}

/// One threshold and its result.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ThresholdOutcome {
    /// As written, such as `p(95)<500`.
    pub source: String,
    /// Whether it is met.
    pub ok: bool,
    /// The value of its left side.
    pub measured: f64,
}

/// The values of one metric, by its kind.
#[derive(Clone, Debug)]
pub enum Values {
    /// The sum, and the sum per second of the run.
    Counter { count: f64, rate: f64 },
    /// The latest, smallest and largest value.
    Gauge { value: f64, min: f64, max: f64 },
    /// The numbers of values that were not zero, and that were zero.
    Rate { passes: u64, fails: u64 },
    /// The whole distribution.
    Trend(Arc<Histogram>),
}

impl Values {
    /// Counter: the sum. Trend: the number of values.
    pub fn count(&self) -> Option<f64> {
        match self {
            Values::Counter { count, .. } => Some(*count),
            Values::Trend(histogram) => Some(histogram.count() as f64),
            _ => None,
        }
    }

    /// Counter: per second. Rate: the share that passed, 0 when empty.
    pub fn rate(&self) -> Option<f64> {
        match self {
            Values::Counter { rate, .. } => Some(*rate),
            Values::Rate { passes, fails } => Some(share(*passes, passes + fails)),
            _ => None,
        }
    }

    /// Gauge: the latest value.
    pub fn value(&self) -> Option<f64> {
        match self {
            Values::Gauge { value, .. } => Some(*value),
            _ => None,
        }
    }

    /// Gauge and trend: the smallest value.
    pub fn min(&self) -> Option<f64> {
        match self {
            Values::Gauge { min, .. } => Some(*min),
            Values::Trend(histogram) => Some(histogram.min()),
            _ => None,
        }
    }

    /// Gauge and trend: the largest value.
    pub fn max(&self) -> Option<f64> {
        match self {
            Values::Gauge { max, .. } => Some(*max),
            Values::Trend(histogram) => Some(histogram.max()),
            _ => None,
        }
    }

    /// Trend: the mean.
    pub fn avg(&self) -> Option<f64> {
        match self {
            Values::Trend(histogram) => Some(histogram.mean()),
            _ => None,
        }
    }

    /// Trend: the median.
    pub fn med(&self) -> Option<f64> {
        self.quantile(0.5)
    }

    /// Rate: values that were not zero.
    pub fn passes(&self) -> Option<u64> {
        match self {
            Values::Rate { passes, .. } => Some(*passes),
            _ => None,
        }
    }

    /// Rate: values that were zero.
    pub fn fails(&self) -> Option<u64> {
        match self {
            Values::Rate { fails, .. } => Some(*fails),
            _ => None,
        }
    }

    /// Trend: the quantile `q`, from 0 to 1.
    pub fn quantile(&self, q: f64) -> Option<f64> {
        match self {
            Values::Trend(histogram) => Some(histogram.quantile(q)),
            _ => None,
        }
    }

    /// Trend: the distribution itself.
    pub fn histogram(&self) -> Option<&Histogram> {
        match self {
            Values::Trend(histogram) => Some(histogram),
            _ => None,
        }
    }
}

/// A counter's rate over the run; 0 before it has begun.
pub(crate) fn per_second(sum: f64, elapsed: Duration) -> f64 {
    if elapsed.is_zero() {
        0.0
    } else {
        sum / elapsed.as_secs_f64()
    }
}

/// Part of a whole; 0 of nothing.
pub(crate) fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        0.0
    } else {
        part as f64 / whole as f64
    }
}

impl Serialize for Values {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match self {
            Values::Counter { count, rate } => {
                map.serialize_entry("count", count)?;
                map.serialize_entry("rate", rate)?;
            }
            Values::Gauge { value, min, max } => {
                map.serialize_entry("value", value)?;
                map.serialize_entry("min", min)?;
                map.serialize_entry("max", max)?;
            }
            Values::Rate { passes, fails } => {
                map.serialize_entry("rate", &self.rate())?;
                map.serialize_entry("passes", passes)?;
                map.serialize_entry("fails", fails)?;
            }
            Values::Trend(histogram) => {
                map.serialize_entry("count", &histogram.count())?;
                map.serialize_entry("avg", &histogram.mean())?;
                map.serialize_entry("min", &histogram.min())?;
                map.serialize_entry("max", &histogram.max())?;
                let names = ["med", "p(90)", "p(95)", "p(99)", "p(99.9)"];
                let values = histogram.quantiles(&[0.5, 0.9, 0.95, 0.99, 0.999]);
                for (name, value) in names.iter().zip(values) {
                    map.serialize_entry(name, &value)?;
                }
            }
        }
        map.end()
    }
}

/// A group of a script and what is in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Group {
    /// Its name; empty for the root.
    pub name: String,
    /// The names from the root on, each after `::`.
    pub path: String,
    /// MD5 of the path, in hexadecimal.
    pub id: String,
    /// Groups inside this one.
    pub groups: Vec<Group>,
    /// Checks directly in this group.
    pub checks: Vec<Check>,
}

/// A check within its group.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Check {
    /// Its name.
    pub name: String,
    /// Its group's path, `::`, its name.
    pub path: String,
    /// MD5 of the path, in hexadecimal.
    pub id: String,
    /// How often it passed.
    pub passes: u64,
    /// How often it failed.
    pub fails: u64,
}

/// Checks with the same name, combined.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CheckTotal {
    /// Their name.
    pub name: String,
    /// How often they passed.
    pub passes: u64,
    /// How often they failed.
    pub fails: u64,
}

/// The results of one group itself, without the groups inside it.
#[derive(Clone, Debug, Serialize)]
pub struct GroupPart {
    /// The group's name.
    pub name: String,
    /// The group's path.
    pub path: String,
    /// Metrics that have samples, without sub-metrics.
    pub metrics: Vec<MetricSummary>,
    /// Its checks.
    pub checks: Vec<CheckTotal>,
    /// Groups inside this one.
    pub groups: Vec<GroupPart>,
}

/// The results of one scenario, including its groups.
#[derive(Clone, Debug, Serialize)]
pub struct ScenarioPart {
    /// The scenario's name; empty for samples outside any scenario, in setup and teardown.
    pub name: String,
    /// Metrics that have samples, without sub-metrics.
    pub metrics: Vec<MetricSummary>,
    /// Its checks, by name.
    pub checks: Vec<CheckTotal>,
    /// Its groups.
    pub groups: Vec<GroupPart>,
}

/// HTTP exchanges by name and method.
#[derive(Clone, Debug, Default, Serialize)]
pub struct NameParts {
    /// The most frequent first.
    pub listed: Vec<NamePart>,
    /// Requests with further names, if there were too many different ones.
    pub others: Option<NamePart>,
}

/// The HTTP exchanges with one name and one method.
#[derive(Clone, Debug, Serialize)]
pub struct NamePart {
    /// The name that the script gave, or the URL without its password.
    pub name: String,
    /// The method.
    pub method: String,
    /// Exchanges, including failed ones.
    pub requests: u64,
    /// Those that failed.
    pub failed: u64,
    /// Service time of those that did not fail: a trend in milliseconds.
    pub times: Values,
}

/// HTTP exchanges by outcome.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct HttpOverview {
    /// Exchanges by status; 0 without a response. Sorted.
    pub statuses: Vec<(u16, u64)>,
    /// Exchanges with a response by protocol, most frequent first.
    pub protocols: Vec<(String, u64)>,
    /// The same by TLS version, for exchanges over TLS.
    pub tls_versions: Vec<(String, u64)>,
    /// The same by cipher suite.
    pub tls_cipher_suites: Vec<(String, u64)>,
    /// Connections that were opened.
    pub connections_opened: u64,
    /// Requests that were sent again, because the server closed a reused connection without a
    /// response or refused to process them. It may have seen each of them more than once.
    pub resent: u64,
    /// Requests of scripts with a protocol other than HTTP: gRPC calls and WebSocket handshakes.
    pub calls: u64,
    /// Those of them that failed.
    pub failed_calls: u64,
    /// WebSocket messages sent, without pings and close frames.
    pub messages_sent: u64,
    /// WebSocket messages received.
    pub messages_received: u64,
    /// Failures by error text, most frequent first.
    pub errors: Vec<ErrorCount>,
    /// Failures with other texts, once the list was full.
    pub other_errors: u64,
    /// Failures because this machine had no local port or file descriptor left.
    pub exhausted: u64,
}

/// The name of WebSocket in [`HttpOverview::protocols`].
pub const WEBSOCKET: &str = "WebSocket";

impl HttpOverview {
    /// Exchanges that got a response, whatever its status.
    pub fn responses(&self) -> u64 {
        self.protocols.iter().map(|(_, count)| count).sum()
    }

    /// WebSocket handshakes with a response.
    pub fn websocket_handshakes(&self) -> u64 {
        let mut protocols = self.protocols.iter();
        let found = protocols.find(|(name, _)| name == WEBSOCKET);
        found.map_or(0, |(_, count)| *count)
    }
}

/// How often an error occurred.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ErrorCount {
    /// k6's error code; 0 if there is none.
    pub code: u32,
    /// The error text.
    pub text: String,
    /// How often.
    pub count: u64,
}

/// Samples that were counted only in total, because a list was full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// Results of checks above the maximum number of names.
    pub check_results: u64,
    /// Samples of groups and scenarios above the maximum of the breakdown.
    pub breakdown_samples: u64,
}
