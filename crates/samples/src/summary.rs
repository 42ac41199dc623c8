//! The results of a run, prepared for display.

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
    /// Duration of the run, which is the time base for counter rates.
    pub elapsed: Duration,
    /// The time in which iterations could start, if a time limits it. The caller of the engine fills it in.
    pub load: Option<Duration>,
    /// Metrics that have samples or thresholds, sorted by name. The sub-metrics of each metric follow it.
    pub metrics: Vec<MetricSummary>,
    /// Groups and checks as a tree, in the order in which they first occurred.
    pub root_group: Group,
    /// Checks with the same name in all groups combined, in the order in which they first occurred.
    pub checks: Vec<CheckTotal>,
    /// The results of each top-level group, over all scenarios. Empty without the breakdown.
    pub groups: Vec<GroupPart>,
    /// The results of each scenario. Empty without the breakdown.
    pub scenarios: Vec<ScenarioPart>,
    /// HTTP responses and failures, by type.
    pub http: HttpOverview,
    /// HTTP exchanges by the request's name. Empty if they were not requested.
    pub names: NameParts,
    /// Samples that were only counted, because a list was full.
    pub left_out: LeftOut,
    /// Iterations in which a script threw, and all completed iterations. The caller of the engine fills them in.
    pub threw: u64,
    pub iterations: u64,
    /// Scenarios with a fixed amount of work. The caller of the engine fills them in, because recorders do not know
    /// about them.
    pub work: Vec<ScenarioWork>,
}

/// One metric, or one sub-metric of it.
#[derive(Clone, Debug, Serialize)]
pub struct MetricSummary {
    /// The name. For a sub-metric, it includes the selector, as in thresholds.
    pub name: String,
    /// How its samples were aggregated.
    pub kind: Kind,
    /// The quantity that it measures.
    pub contains: Contains,
    /// Whether it is Plimsoll's addition to k6's metrics.
    pub extra: bool,
    /// A sub-metric's selector; empty for the metric itself.
    pub tags: Vec<(String, String)>,
    pub values: Values,
    /// Its thresholds, in their original order.
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
    /// The expression, such as `p(95)<500`.
    pub source: String,
    /// Whether it was met.
    pub ok: bool,
    /// The value of its left side.
    pub measured: f64,
}

/// The values of one metric, depending on its kind.
#[derive(Clone, Debug)]
pub enum Values {
    /// The sum, and the sum per second of the run.
    Counter { count: f64, rate: f64 },
    /// The latest, smallest and largest value.
    Gauge { value: f64, min: f64, max: f64 },
    /// The number of values that were not zero, and of values that were zero.
    Rate { passes: u64, fails: u64 },
    /// The whole distribution.
    Trend(Arc<Histogram>),
}

impl Values {
    /// For a counter, the sum. For a trend, the number of values.
    pub fn count(&self) -> Option<f64> {
        match self {
            Values::Counter { count, .. } => Some(*count),
            Values::Trend(histogram) => Some(histogram.count() as f64),
            _ => None,
        }
    }

    /// For a counter, the sum per second. For a rate, the share that passed, or 0 if it is empty.
    pub fn rate(&self) -> Option<f64> {
        match self {
            Values::Counter { rate, .. } => Some(*rate),
            Values::Rate { passes, fails } => Some(share(*passes, passes + fails)),
            _ => None,
        }
    }

    /// For a gauge, the latest value.
    pub fn value(&self) -> Option<f64> {
        match self {
            Values::Gauge { value, .. } => Some(*value),
            _ => None,
        }
    }

    /// For a gauge or a trend, the smallest value.
    pub fn min(&self) -> Option<f64> {
        match self {
            Values::Gauge { min, .. } => Some(*min),
            Values::Trend(histogram) => Some(histogram.min()),
            _ => None,
        }
    }

    /// For a gauge or a trend, the largest value.
    pub fn max(&self) -> Option<f64> {
        match self {
            Values::Gauge { max, .. } => Some(*max),
            Values::Trend(histogram) => Some(histogram.max()),
            _ => None,
        }
    }

    /// For a trend, the mean.
    pub fn avg(&self) -> Option<f64> {
        match self {
            Values::Trend(histogram) => Some(histogram.mean()),
            _ => None,
        }
    }

    /// For a trend, the median.
    pub fn med(&self) -> Option<f64> {
        self.quantile(0.5)
    }

    /// For a rate, the number of values that were not zero.
    pub fn passes(&self) -> Option<u64> {
        match self {
            Values::Rate { passes, .. } => Some(*passes),
            _ => None,
        }
    }

    /// For a rate, the number of values that were zero.
    pub fn fails(&self) -> Option<u64> {
        match self {
            Values::Rate { fails, .. } => Some(*fails),
            _ => None,
        }
    }

    /// For a trend, the quantile `q`, from 0 to 1.
    pub fn quantile(&self, q: f64) -> Option<f64> {
        match self {
            Values::Trend(histogram) => Some(histogram.quantile(q)),
            _ => None,
        }
    }

    /// For a trend, the whole distribution.
    pub fn histogram(&self) -> Option<&Histogram> {
        match self {
            Values::Trend(histogram) => Some(histogram),
            _ => None,
        }
    }
}

/// The rate of a counter over the run; 0 before the run has begun.
pub(crate) fn per_second(sum: f64, elapsed: Duration) -> f64 {
    if elapsed.is_zero() {
        0.0
    } else {
        sum / elapsed.as_secs_f64()
    }
}

/// `part` as a share of `whole`; 0 if `whole` is 0.
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

/// A group of a script, with its subgroups and checks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Group {
    /// Its name; empty for the root.
    pub name: String,
    /// The names from the root to this group, each preceded by `::`.
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
    pub name: String,
    /// The path of its group, `::`, and its name.
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
    pub name: String,
    /// How often the checks passed.
    pub passes: u64,
    /// How often the checks failed.
    pub fails: u64,
}

/// The results of one group, without those of its subgroups.
#[derive(Clone, Debug, Serialize)]
pub struct GroupPart {
    /// The group's name.
    pub name: String,
    /// The group's path.
    pub path: String,
    /// Metrics that have samples, without sub-metrics.
    pub metrics: Vec<MetricSummary>,
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
    pub groups: Vec<GroupPart>,
}

/// HTTP exchanges by name and method.
#[derive(Clone, Debug, Default, Serialize)]
pub struct NameParts {
    /// The most frequent first.
    pub listed: Vec<NamePart>,
    /// Requests with further names, if there were too many.
    pub others: Option<NamePart>,
}

/// The HTTP exchanges with one name and one method.
#[derive(Clone, Debug, Serialize)]
pub struct NamePart {
    /// The name that the script gave, or the URL without its password.
    pub name: String,
    pub method: String,
    /// The number of exchanges, including failed ones.
    pub requests: u64,
    /// The number of failed exchanges.
    pub failed: u64,
    /// Service time of successful exchanges, as a trend in milliseconds.
    pub times: Values,
}

/// HTTP exchanges by outcome.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct HttpOverview {
    /// Exchanges by status; 0 without a response. Sorted.
    pub statuses: Vec<(u16, u64)>,
    /// Exchanges with a response by protocol, most frequent first.
    pub protocols: Vec<(String, u64)>,
    /// Exchanges with a response by TLS version. Excludes responses without TLS.
    pub tls_versions: Vec<(String, u64)>,
    /// Exchanges with a response by cipher suite. Excludes responses without TLS.
    pub tls_cipher_suites: Vec<(String, u64)>,
    /// Connections that were opened.
    pub connections_opened: u64,
    /// Requests that were sent again, because the server closed a reused connection without a response or refused to
    /// process them. The server may have received each of them more than once.
    pub resent: u64,
    /// The number of requests with protocols other than HTTP: gRPC calls and WebSocket handshakes.
    pub calls: u64,
    /// How many of these requests failed.
    pub failed_calls: u64,
    /// WebSocket messages sent, without pings and close frames.
    pub messages_sent: u64,
    /// WebSocket messages received.
    pub messages_received: u64,
    /// Failures by error text, most frequent first.
    pub errors: Vec<ErrorCount>,
    /// Failures with other error texts, counted together because the list was full.
    pub other_errors: u64,
    /// Failures because this machine had no local port or file descriptor left.
    pub exhausted: u64,
}

/// The name of WebSocket in [`HttpOverview::protocols`].
pub const WEBSOCKET: &str = "WebSocket";

impl HttpOverview {
    /// The number of exchanges that got a response, whatever its status.
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
    pub text: String,
    /// The number of occurrences.
    pub count: u64,
}

/// Samples that were only counted in total, because a list was full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// Results of checks above the maximum number of names.
    pub check_results: u64,
    /// Samples of groups and scenarios above the maximum of the breakdown.
    pub breakdown_samples: u64,
}
