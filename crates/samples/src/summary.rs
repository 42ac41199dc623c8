//! The figures of a run, ready to be shown.

use std::sync::Arc;
use std::time::Duration;

use plimsoll_stats::Histogram;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::kind::{Contains, Kind};
use crate::work::ScenarioWork;

/// Everything a run has measured, for end summaries and exports.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// How long the run took; the time counters' rates are over.
    pub elapsed: Duration,
    /// How long iterations could start, where time decides that; for whoever ran them to fill in.
    pub load: Option<Duration>,
    /// Metrics that have samples or thresholds, sorted by name, each followed
    /// by its sub-metrics.
    pub metrics: Vec<MetricSummary>,
    /// Groups and checks as a tree, in the order first seen.
    pub root_group: Group,
    /// Checks of the same name in all groups taken together, in the order first
    /// seen.
    pub checks: Vec<CheckTotal>,
    /// What each top-level group recorded, over all scenarios. Empty unless the
    /// breakdown is on.
    pub groups: Vec<GroupPart>,
    /// What each scenario recorded. Empty unless the breakdown is on.
    pub scenarios: Vec<ScenarioPart>,
    /// Answers and failures of HTTP exchanges by what they were.
    pub http: HttpOverview,
    /// What was seen and not kept.
    pub left_out: LeftOut,
    /// Iterations in which a script threw, and all that came to their end, for whoever ran them to fill in.
    pub threw: u64,
    pub iterations: u64,
    /// Scenarios with a fixed amount of work, for whoever ran them to fill in: recorders do not
    /// know of it.
    pub work: Vec<ScenarioWork>,
}

/// One metric, or one sub-metric of it.
#[derive(Clone, Debug, Serialize)]
pub struct MetricSummary {
    /// The name: of a sub-metric with its selector, as thresholds write it.
    pub name: String,
    /// How its samples were put together.
    pub kind: Kind,
    /// What its values measure.
    pub contains: Contains,
    /// One of ours beside k6's.
    pub extra: bool,
    /// A sub-metric's selector; empty for the metric itself.
    pub tags: Vec<(String, String)>,
    /// The figures.
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

/// One threshold and what came of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ThresholdOutcome {
    /// As written, such as `p(95)<500`.
    pub source: String,
    /// Whether it holds.
    pub ok: bool,
    /// What the left side came to.
    pub measured: f64,
}

/// The figures of one metric, by its kind.
#[derive(Clone, Debug)]
pub enum Values {
    /// The sum, and the sum per second of the run.
    Counter { count: f64, rate: f64 },
    /// The latest, smallest and largest value.
    Gauge { value: f64, min: f64, max: f64 },
    /// How many values were not zero, and how many were.
    Rate { passes: u64, fails: u64 },
    /// The whole distribution.
    Trend(Arc<Histogram>),
}

impl Values {
    /// Counter: the sum. Trend: how many values.
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
    /// Its place: the names from the root on, each after `::`.
    pub path: String,
    /// MD5 of the path, in hexadecimal.
    pub id: String,
    /// Groups within.
    pub groups: Vec<Group>,
    /// Checks made directly in it.
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
    /// How often it held.
    pub passes: u64,
    /// How often it did not.
    pub fails: u64,
}

/// Checks of one name taken together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CheckTotal {
    /// Their name.
    pub name: String,
    /// How often they held.
    pub passes: u64,
    /// How often they did not.
    pub fails: u64,
}

/// What was recorded within one group itself, without the groups in it.
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
    /// Groups within.
    pub groups: Vec<GroupPart>,
}

/// What was recorded within one scenario, groups included.
#[derive(Clone, Debug, Serialize)]
pub struct ScenarioPart {
    /// The scenario's name; empty for what happened outside of any, in set-up
    /// and teardown.
    pub name: String,
    /// Metrics that have samples, without sub-metrics.
    pub metrics: Vec<MetricSummary>,
    /// Its checks, by name.
    pub checks: Vec<CheckTotal>,
    /// Its groups.
    pub groups: Vec<GroupPart>,
}

/// HTTP exchanges by what came of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct HttpOverview {
    /// Exchanges by status; 0 where no answer came. Sorted.
    pub statuses: Vec<(u16, u64)>,
    /// Exchanges by protocol, where an answer came. Most frequent first.
    pub protocols: Vec<(String, u64)>,
    /// The same by version of TLS, where there was TLS.
    pub tls_versions: Vec<(String, u64)>,
    /// The same by cipher suite.
    pub tls_cipher_suites: Vec<(String, u64)>,
    /// Connections that were opened, and were open.
    pub connections_opened: u64,
    /// Requests that were sent again, because the server closed a reused connection without a
    /// response. It may have seen each of them more than once.
    pub resent: u64,
    /// Requests of scripts that are not HTTP requests: gRPC calls and WebSocket handshakes.
    pub calls: u64,
    /// Those of them that failed.
    pub failed_calls: u64,
    /// WebSocket messages sent, without pings and close frames.
    pub messages_sent: u64,
    /// WebSocket messages received.
    pub messages_received: u64,
    /// Failures by what was said of them. Most frequent first.
    pub errors: Vec<ErrorCount>,
    /// Failures with other texts, once the list was full.
    pub other_errors: u64,
    /// Failures because this machine had no local port or file descriptor left.
    pub exhausted: u64,
}

/// How [`HttpOverview::protocols`] names WebSocket.
pub const WEBSOCKET: &str = "WebSocket";

impl HttpOverview {
    /// Exchanges that got a response, whatever it said.
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

/// How often one failure happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ErrorCount {
    /// k6's number for it; 0 for none.
    pub code: u32,
    /// What was said.
    pub text: String,
    /// How often.
    pub count: u64,
}

/// What was counted in sum and not by name, as a list was full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// Results of checks beyond the number of names that are kept.
    pub check_results: u64,
    /// Samples of groups and scenarios beyond the number the breakdown keeps.
    pub breakdown_samples: u64,
}
