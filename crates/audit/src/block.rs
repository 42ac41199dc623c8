//! One result as a tool printed it, in a form common to all tools.

use serde_json::Value;

use crate::quantity::{Quantity, Unit};

/// The program that printed a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    K6,
    Vegeta,
    Iperf3,
    Wrk,
    Wrk2,
    Oha,
    Hey,
    Ab,
    Ghz,
    H2load,
    Bombardier,
    Autocannon,
    Drill,
    Gcannon,
    Zrk,
    Jmeter,
    Locust,
    /// HttpArena's result files, which combine several load generators.
    HttpArena,
    /// CSV exports in the layout of ann-benchmarks.
    AnnBenchmarks,
}

impl Tool {
    pub fn name(self) -> &'static str {
        match self {
            Tool::K6 => "k6",
            Tool::Vegeta => "vegeta",
            Tool::Iperf3 => "iperf3",
            Tool::Wrk => "wrk",
            Tool::Wrk2 => "wrk2",
            Tool::Oha => "oha",
            Tool::Hey => "hey",
            Tool::Ab => "ab",
            Tool::Ghz => "ghz",
            Tool::H2load => "h2load",
            Tool::Bombardier => "bombardier",
            Tool::Autocannon => "autocannon",
            Tool::Drill => "drill",
            Tool::Gcannon => "gcannon",
            Tool::Zrk => "zrk",
            Tool::Jmeter => "jmeter",
            Tool::Locust => "locust",
            Tool::HttpArena => "HttpArena",
            Tool::AnnBenchmarks => "ann-benchmarks",
        }
    }
}

/// The load model of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Model {
    /// A user starts its next iteration when the previous one is complete.
    Closed,
    /// Requests start on a schedule.
    Open,
    #[default]
    Unknown,
}

/// The quantity that a distribution measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The whole request: the main latency.
    Request,
    /// The whole request, counting only expected responses.
    Expected,
    Blocked,
    Connecting,
    Tls,
    Sending,
    Waiting,
    Receiving,
    Iteration,
    /// A custom metric of the script.
    Own,
}

/// A latency distribution, or the part of it that the tool printed.
#[derive(Clone, Debug)]
pub struct Trend {
    pub role: Role,
    /// The tool's name for it.
    pub name: String,
    pub line: usize,
    pub mean: Option<Quantity>,
    pub min: Option<Quantity>,
    pub max: Option<Quantity>,
    /// Pairs of a quantile (such as 0.95) and its value, in ascending order. The median is 0.5.
    pub quantiles: Vec<(f64, Quantity)>,
}

impl Trend {
    pub fn new(role: Role, name: &str, line: usize) -> Trend {
        Trend {
            role,
            name: name.to_owned(),
            line,
            mean: None,
            min: None,
            max: None,
            quantiles: Vec::new(),
        }
    }

    /// The value at this quantile, if it was printed.
    pub fn at(&self, quantile: f64) -> Option<&Quantity> {
        self.quantiles
            .iter()
            .find(|(q, _)| (q - quantile).abs() < 1e-9)
            .map(|(_, figure)| figure)
    }

    pub fn median(&self) -> Option<&Quantity> {
        self.at(0.5)
    }

    /// The smallest and largest mean that the printed quantiles, minimum and maximum allow.
    /// `samples` is the number of samples, if known.
    pub fn mean_bounds(&self, samples: Option<f64>) -> Option<(f64, f64)> {
        let n = samples.filter(|n| *n >= 10.0);
        let low = |figure: &Quantity| (figure.value - figure.step).max(0.0);
        let high = |figure: &Quantity| figure.value + figure.step;
        let (mut min_mean, mut max_mean) = (0.0, 0.0);
        let (mut below, mut floor) = (0.0, self.min.as_ref().map_or(0.0, low));
        for (q, figure) in &self.quantiles {
            min_mean += (q - below) * floor;
            max_mean += (q - below) * high(figure);
            (below, floor) = (*q, low(figure));
        }
        min_mean += (1.0 - below) * floor;
        // At least one sample is the maximum.
        if let (Some(max), Some(n)) = (&self.max, n) {
            min_mean += (low(max) - floor).max(0.0) / n;
        }
        max_mean = match &self.max {
            Some(max) => max_mean + (1.0 - below) * high(max),
            None => f64::INFINITY,
        };
        // Tools may pick the neighboring sample for a quantile, or interpolate between samples.
        let sum: f64 = self.quantiles.iter().map(|(_, figure)| figure.value).sum();
        let top = self.max.as_ref().map_or(0.0, |max| max.value);
        let slack = n.map_or(0.0, |n| 2.0 * sum / n);
        let known = n.is_some() || !self.quantiles.is_empty();
        known.then(|| {
            (
                (min_mean * 0.97 - slack).max(0.0),
                (max_mean + n.map_or(0.0, |n| 2.0 * top / n)) * 1.03,
            )
        })
    }

    /// The highest quantile printed below the maximum.
    pub fn highest_quantile(&self) -> Option<&(f64, Quantity)> {
        self.quantiles.iter().rfind(|(q, _)| *q < 1.0)
    }

    /// Every printed value with the name of its column.
    pub fn figures(&self) -> Vec<(String, &Quantity)> {
        let mut all = Vec::new();
        all.extend(self.min.iter().map(|figure| ("min".to_owned(), figure)));
        all.extend(self.mean.iter().map(|figure| ("mean".to_owned(), figure)));
        for (q, figure) in &self.quantiles {
            all.push((quantile_name(*q), figure));
        }
        all.extend(self.max.iter().map(|figure| ("max".to_owned(), figure)));
        all
    }

    /// Inserts a quantile. Rounds it because 99.9 ÷ 100 is not exactly 0.999 but must print as p99.9.
    pub fn insert_quantile(&mut self, quantile: f64, figure: Quantity) {
        let quantile = (quantile * 1e9).round() / 1e9;
        let at = self
            .quantiles
            .partition_point(|(known, _)| *known <= quantile);
        self.quantiles.insert(at, (quantile, figure));
    }
}

/// Whether an address or a line refers to this machine.
pub fn is_loopback(text: &str) -> bool {
    [
        "localhost",
        "127.0.0.",
        "[::1]",
        "0.0.0.0",
        "host.docker.internal",
    ]
    .iter()
    .any(|place| text.contains(place))
}

/// `p95`, `p99.9`, or `median` for 0.5.
pub fn quantile_name(quantile: f64) -> String {
    if (quantile - 0.5).abs() < 1e-9 {
        return "median".to_owned();
    }
    format!("p{}", (quantile * 1e6).round() / 1e4)
}

/// Checks or other pass-or-fail counts.
#[derive(Clone, Debug)]
pub struct Tally {
    pub passed: f64,
    pub failed: f64,
    /// The printed percentage, of either passes or failures.
    pub share: Option<Quantity>,
    pub line: usize,
    /// Whether the tool's ✓ and ✗ marks have the opposite meaning.
    pub inverted: bool,
}

/// The passes and failures of one check.
#[derive(Clone, Debug)]
pub struct CheckCount {
    pub passed: f64,
    pub failed: f64,
    pub line: usize,
}

/// Socket errors as counted by wrk: connections and requests that failed below HTTP.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SocketErrors {
    pub connect: f64,
    pub read: f64,
    pub write: f64,
    pub timeout: f64,
    pub line: usize,
}

impl SocketErrors {
    /// Formats the counts like wrk does.
    pub fn to_wrk_text(&self) -> String {
        format!(
            "connect {}, read {}, write {}, timeout {}",
            self.connect, self.read, self.write, self.timeout
        )
    }
}

/// A row of a histogram: the number of samples above `lower` and at or below `upper`.
#[derive(Clone, Debug)]
pub struct Bucket {
    pub lower: f64,
    /// Infinite in the last row.
    pub upper: f64,
    pub count: f64,
    pub share: Option<Quantity>,
    pub line: usize,
}

/// Data sent or received.
#[derive(Clone, Debug, Default)]
pub struct Traffic {
    pub total: Option<Quantity>,
    pub rate: Option<Quantity>,
    /// The duration in seconds that the total covers, if each direction has its own.
    pub time: Option<f64>,
}

/// One row of a table that also has a total row: the requests of one kind.
#[derive(Clone, Debug)]
pub struct Part {
    pub requests: f64,
    pub mean: Option<Quantity>,
}

/// A threshold and the tool's verdict on it.
#[derive(Clone, Debug)]
pub struct Threshold {
    pub text: String,
    pub line: usize,
    pub passed: bool,
}

/// A tool's output for one run.
#[derive(Clone, Debug)]
pub struct Block {
    pub tool: Tool,
    pub layout: &'static str,
    pub first_line: usize,
    pub last_line: usize,
    /// The headings and list items above the block, outermost first.
    pub titles: Vec<String>,
    /// The command line that produced the block, if shown.
    pub command: Option<String>,
    pub model: Model,
    /// Users or connections.
    pub users: Option<Quantity>,
    /// wrk: the number of threads. Each opens connections ÷ threads, rounded down.
    pub threads: Option<f64>,
    /// k6: the number of allocated users, from the maximum of `vus_max`.
    pub max_users: Option<Quantity>,
    /// Whether the tool has no support for think time, so that users never pause.
    pub no_think_time: bool,
    /// The configured duration.
    pub declared: Option<Quantity>,
    /// The actual duration.
    pub elapsed: Option<Quantity>,
    /// vegeta: the time from the last request sent to the last response.
    pub last_wait: Option<Quantity>,
    /// The requested rate per second.
    pub requested_rate: Option<Quantity>,
    /// The requested rates at the start and the end of a ramp.
    pub ramp: Option<(f64, f64)>,
    /// The requested number of requests.
    pub requested_count: Option<Quantity>,
    pub requests: Option<Quantity>,
    /// Number of samples of the main latency, if it differs from the number of requests.
    pub sampled: Option<f64>,
    pub rate: Option<Quantity>,
    pub iterations: Option<Quantity>,
    pub iteration_rate: Option<Quantity>,
    pub interrupted: Option<f64>,
    pub dropped: Option<Quantity>,
    /// The number of users at the end, and its maximum.
    pub gauge: Option<(Quantity, Quantity)>,
    pub failures: Option<Tally>,
    /// k6: the failure percentage as printed, with or without counts.
    pub failed_share: Option<Quantity>,
    /// Responses that ab counts as failed only because their length differs.
    pub length_failures: Option<Quantity>,
    /// Keep-alive requests, as counted by ab.
    pub keep_alive: Option<Quantity>,
    /// 1 ÷ rate, printed as a time.
    pub inverse_rate: Option<Quantity>,
    pub streams: Option<Quantity>,
    pub checks: Option<Tally>,
    pub check_names: Vec<(String, usize)>,
    /// The number of checks that are marked as failed.
    pub failed_marks: usize,
    pub statuses: Vec<(String, Quantity)>,
    pub success: Option<Quantity>,
    pub errors: Vec<(String, usize)>,
    pub thresholds: Vec<Threshold>,
    pub histogram: Vec<Bucket>,
    /// Histogram rows whose heading is missing.
    pub orphan_rows: Vec<(String, usize)>,
    pub sent: Traffic,
    pub received: Traffic,
    pub response_bytes: Option<Quantity>,
    pub trends: Vec<Trend>,
    pub script: Option<String>,
    pub target: Option<String>,
    /// Whether the same users repeat iterations from the start of the run to its end.
    pub looping: bool,
    /// Rate metrics defined by a k6 script.
    pub rates: Vec<(String, Tally)>,
    pub check_counts: Vec<CheckCount>,
    pub sockets: Option<SocketErrors>,
    /// ab's first `Time per request`: computed as users ÷ rate, not measured.
    pub computed_mean: Option<Quantity>,
    /// The second mean that wrk2 prints, below the percentiles.
    pub repeated_mean: Option<Quantity>,
    /// The second maximum that ab prints, below the percentiles.
    pub longest: Option<Quantity>,
    /// The table rows whose totals are in this block.
    pub parts: Vec<Part>,
    /// The counts of a histogram whose bounds have no unit.
    pub bars: Vec<f64>,
    /// Whether the histogram is cut off with `...`.
    pub histogram_cut: bool,
    /// The number of requests without a status or a measured time, as printed.
    pub lost: Option<Quantity>,
    /// The parts of a complete block that this block lacks.
    pub missing: Vec<&'static str>,
    /// Whether the maximum, the minimum and the last sample of `vus` are equal.
    pub constant_users: bool,
}

impl Block {
    pub fn new(tool: Tool, layout: &'static str, line: usize) -> Block {
        Block {
            tool,
            layout,
            first_line: line,
            last_line: line,
            titles: Vec::new(),
            command: None,
            model: Model::Unknown,
            users: None,
            threads: None,
            max_users: None,
            no_think_time: false,
            declared: None,
            elapsed: None,
            last_wait: None,
            requested_rate: None,
            ramp: None,
            requested_count: None,
            requests: None,
            sampled: None,
            rate: None,
            iterations: None,
            iteration_rate: None,
            interrupted: None,
            dropped: None,
            gauge: None,
            failures: None,
            failed_share: None,
            length_failures: None,
            keep_alive: None,
            inverse_rate: None,
            streams: None,
            checks: None,
            check_names: Vec::new(),
            failed_marks: 0,
            statuses: Vec::new(),
            success: None,
            errors: Vec::new(),
            thresholds: Vec::new(),
            histogram: Vec::new(),
            orphan_rows: Vec::new(),
            sent: Traffic::default(),
            received: Traffic::default(),
            response_bytes: None,
            trends: Vec::new(),
            script: None,
            target: None,
            looping: false,
            rates: Vec::new(),
            check_counts: Vec::new(),
            sockets: None,
            computed_mean: None,
            repeated_mean: None,
            longest: None,
            parts: Vec::new(),
            bars: Vec::new(),
            histogram_cut: false,
            lost: None,
            missing: Vec::new(),
            constant_users: false,
        }
    }

    /// Records the number of failed requests. All other requests passed.
    pub fn set_failed(&mut self, failed: f64, line: usize) {
        let total = self.requests.as_ref().map_or(failed, |count| count.value);
        self.failures = Some(Tally {
            passed: (total - failed).max(0.0),
            failed,
            share: None,
            line,
            inverted: false,
        });
    }

    /// Adds the counts from a JSON object whose keys are status codes.
    pub fn add_statuses(&mut self, counts: Option<&Value>, line: usize) {
        let counts = counts.and_then(Value::as_object);
        for (status, count) in counts.into_iter().flatten() {
            if let Some(count) = count.as_f64().filter(|count| *count > 0.0) {
                let count = Quantity::exact(count, Unit::Count, line);
                self.statuses.push((status.clone(), count));
            }
        }
    }

    pub fn trend(&self, role: Role) -> Option<&Trend> {
        self.trends.iter().find(|trend| trend.role == role)
    }

    /// The main latency.
    pub fn latency(&self) -> Option<&Trend> {
        self.trend(Role::Request)
    }

    /// The duration of one turn of a user: an iteration, or a request if the tool has no iterations.
    pub fn turn_duration(&self) -> Option<&Trend> {
        self.trend(Role::Iteration)
            .or_else(|| self.latency().filter(|_| self.no_think_time))
    }

    /// Turns per second.
    pub fn turn_rate(&self) -> Option<&Quantity> {
        self.iteration_rate.as_ref().or(self.rate.as_ref())
    }

    /// Average number of requests in one turn.
    pub fn mean_requests_per_turn(&self) -> Option<f64> {
        match (&self.requests, &self.iterations) {
            (Some(requests), Some(iterations)) if iterations.value > 0.0 => {
                Some(requests.value / iterations.value)
            }
            _ => None,
        }
    }

    /// Number of samples of the main latency.
    pub fn samples(&self) -> Option<f64> {
        let requests = self.requests.as_ref().map(|count| count.value);
        // k6 prints a pass or a failure for each HTTP request, but not how many requests an
        // iteration makes.
        let http = self.tool == Tool::K6
            && self
                .latency()
                .is_some_and(|latency| latency.name == "http_req_duration");
        let judged = self
            .failures
            .as_ref()
            .map(|tally| tally.passed + tally.failed)
            .filter(|judged| http && *judged > 0.0);
        let turns = self.iterations.as_ref().filter(|_| !http);
        self.sampled
            .or(requests)
            .or(judged)
            .or(turns.map(|turns| turns.value))
    }

    /// The time in seconds that the tool used as the divisor: count ÷ rate.
    pub fn divisor_time(&self) -> Option<f64> {
        let (count, rate) = match (&self.requests, &self.rate) {
            (Some(count), Some(rate)) => (count, rate),
            _ => (self.iterations.as_ref()?, self.iteration_rate.as_ref()?),
        };
        (rate.value > 0.0).then(|| count.value / rate.value)
    }

    /// The declared number of users, or `vus` if it was constant.
    pub fn known_users(&self) -> Option<&Quantity> {
        let constant = self.constant_users && self.model == Model::Unknown;
        let gauge = self
            .gauge
            .as_ref()
            .filter(|(last, max)| constant && last.value == max.value);
        self.users.as_ref().or(gauge.map(|(_, max)| max))
    }

    /// Maximum number of requests in flight: users × pipelined requests.
    pub fn max_in_flight(&self) -> Option<f64> {
        let users = self.known_users()?.value;
        let open = match self.threads {
            Some(threads) if threads >= 1.0 && users >= threads => {
                threads * (users / threads).floor()
            }
            _ => users,
        };
        Some(
            open * self
                .streams
                .as_ref()
                .map_or(1.0, |streams| streams.value.max(1.0)),
        )
    }

    /// Whether the target was this machine; `None` if unknown.
    pub fn is_local(&self) -> Option<bool> {
        self.target.as_deref().map(is_loopback)
    }

    /// Number of failed requests.
    pub fn failed(&self) -> f64 {
        self.failures.as_ref().map_or(0.0, |tally| tally.failed)
    }

    /// Mean time of a turn spent outside of requests, if known.
    pub fn think_time(&self) -> Option<f64> {
        let turn = self.trend(Role::Iteration)?.mean.as_ref()?.value;
        let request = self.latency()?.mean.as_ref()?.value;
        let part = |role| {
            self.trend(role)
                .and_then(|trend| trend.mean.as_ref())
                .map_or(0.0, |mean| mean.value)
        };
        let per_turn = self.mean_requests_per_turn().unwrap_or(1.0);
        Some(turn - (request + part(Role::Blocked)) * per_turn)
    }

    /// The name to show: the innermost title, or the tool.
    pub fn name(&self) -> String {
        match self.titles.last() {
            Some(title) => title.clone(),
            None => format!("{} output", self.tool.name()),
        }
    }
}
