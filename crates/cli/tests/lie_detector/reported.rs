//! Reads figures from every output format.

use std::collections::BTreeMap;

use serde_json::Value;

/// The figures of one output of a run. `None` if the output does not contain a figure.
#[derive(Debug, Default)]
pub struct Reported {
    pub source: &'static str,
    pub requests: Option<u64>,
    pub failed: Option<u64>,
    /// By name, as in the output.
    pub statuses: Option<BTreeMap<String, u64>>,
    pub connections: Option<u64>,
    pub bytes_received: Option<u64>,
    pub bytes_sent: Option<u64>,
    /// The number of messages of streaming gRPC calls.
    pub messages_sent: Option<u64>,
    pub messages_received: Option<u64>,
    /// The number of requests that were sent again.
    pub resent: Option<u64>,
    /// The number of iterations of an open model that did not start.
    pub dropped: u64,
    /// The number of iterations in each second of the load.
    pub seconds: Option<Vec<f64>>,
    /// The maximum delay of a start after its scheduled time, in milliseconds.
    pub lag: Option<f64>,
    /// The duration in seconds.
    pub duration: Option<f64>,
    /// The time in which requests could start, in seconds.
    pub load: Option<f64>,
    /// The rate of requests per second.
    pub rate: Option<f64>,
    /// Times of requests with a good response, in milliseconds.
    pub times: Option<Times>,
    pub verdict: Option<String>,
    /// Whether the verdict also doubts the client, as on a busy machine.
    pub doubts_client: bool,
    /// Contradictions within the output.
    pub contradictions: Vec<String>,
}

/// Statistics of a distribution, in milliseconds.
#[derive(Debug, Clone, Copy, Default)]
pub struct Times {
    pub count: u64,
    pub min: f64,
    pub mean: f64,
    pub p50: Option<f64>,
    pub p90: Option<f64>,
    pub max: f64,
}

/// The metrics that count messages of streaming gRPC calls: sent and received.
const STREAMED: (&str, &str) = ("grpc_streams_msgs_sent", "grpc_streams_msgs_received");

fn parse(text: &str, what: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{what} is not JSON: {error}\n{text}"))
}

fn read(path: &str) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("cannot read {path}: {error}"))
}

fn counts(value: &Value) -> BTreeMap<String, u64> {
    let object = value.as_object().into_iter().flatten();
    object
        .filter_map(|(name, count)| Some((name.clone(), count.as_u64()?)))
        .collect()
}

/// Reads `--json` of http, attack and grpc.
pub fn of_json(text: &str) -> Reported {
    let all = parse(text, "--json");
    let times = &all["service_time"];
    let figure = |name: &str| times[name].as_f64();
    Reported {
        source: "--json",
        requests: all["requests"].as_u64(),
        failed: all["failed"].as_u64(),
        statuses: Some(counts(&all["status_codes"])),
        connections: all["connections_opened"].as_u64(),
        bytes_received: all["bytes_received"].as_u64(),
        bytes_sent: all["bytes_sent"].as_u64(),
        messages_sent: all["messages_sent"].as_u64(),
        messages_received: all["messages_received"].as_u64(),
        resent: all["requests_resent"].as_u64(),
        duration: all["duration_seconds"].as_f64(),
        load: all["load_seconds"].as_f64(),
        rate: all["requests_per_second"].as_f64(),
        times: times["count"].as_u64().map(|count| Times {
            count,
            min: figure("min").unwrap_or(f64::NAN),
            mean: figure("mean").unwrap_or(f64::NAN),
            p50: figure("p50"),
            p90: figure("p90"),
            max: figure("max").unwrap_or(f64::NAN),
        }),
        verdict: all["generator"]["verdict"].as_str().map(str::to_owned),
        ..Reported::default()
    }
}

/// Reads `vegeta report -type=json` of an attack's results. Its latencies start at the scheduled time.
pub fn of_vegeta(text: &str) -> Reported {
    let all = parse(text, "the vegeta report");
    Reported {
        source: "vegeta report",
        requests: all["requests"].as_u64(),
        statuses: Some(
            // 0 means that there was no response.
            counts(&all["status_codes"])
                .into_iter()
                .filter(|(code, _)| code != "0")
                .collect(),
        ),
        ..Reported::default()
    }
}

/// Reads the text output of http, attack and grpc: a word followed by figures. Further statuses are on the following
/// lines.
pub fn of_text(text: &str) -> Reported {
    let first = |name: &str| {
        let line = text
            .lines()
            .find_map(|line| line.trim_start().strip_prefix(name)?.strip_prefix(' '));
        line?.split_whitespace().next()
    };
    let count = |name: &str| first(name)?.parse().ok();
    let status_lines = text
        .lines()
        .skip_while(|line| !line.starts_with("  status "))
        .take_while(|line| !line.is_empty());
    let mut statuses = BTreeMap::new();
    for line in status_lines {
        let words: Vec<&str> = line
            .split_whitespace()
            .filter(|&word| word != "status")
            .collect();
        if let [code, count] = words[..]
            && code.parse::<u16>().is_ok()
            && let Ok(count) = count.parse()
        {
            statuses.insert(code.to_owned(), count);
        }
    }
    Reported {
        source: "text",
        requests: count("requests"),
        connections: count("connections"),
        statuses: Some(statuses),
        resent: Some(count("sent again").unwrap_or(0)),
        rate: first("rate").and_then(|rate| rate.parse().ok()),
        ..Reported::default()
    }
}

/// Reads `--record`. `requests` is the metric that counts requests. The sum of the seconds must equal the totals at the end.
pub fn of_record(path: &str, requests: &str) -> Reported {
    let text = read(path);
    let lines: Vec<Value> = text
        .lines()
        .map(|line| parse(line, "a line of the record"))
        .collect();
    let (Some(end), Some(seconds)) = (lines.last(), lines.get(1..lines.len().saturating_sub(1)))
    else {
        panic!("the record has {} lines:\n{text}", lines.len());
    };
    let mut contradictions = Vec::new();
    for (metric, total) in end["counters"].as_object().into_iter().flatten() {
        let sum: f64 = seconds
            .iter()
            .filter_map(|second| second["counters"][metric].as_f64())
            .sum();
        if total.as_f64() != Some(sum) {
            contradictions.push(format!(
                "{metric} is {total} at the end, and its seconds add up to {sum}"
            ));
        }
    }
    let counter = |name: &str| end["counters"][name].as_f64().map(|count| count as u64);
    let total = counter(requests).unwrap_or(0);
    if let Some(http) = counter("http_reqs").filter(|&http| http != total) {
        contradictions.push(format!("http_reqs is {http} and {requests} is {total}"));
    }
    let times = ["http_req_duration", "grpc_req_duration", "echo"]
        .iter()
        .map(|name| &end["trends"][name])
        .find(|trend| trend["count"].as_u64().is_some_and(|count| count > 0));
    Reported {
        source: "--record",
        requests: Some(total),
        failed: counter("requests_failed").or_else(|| end["rates"]["http_req_failed"][0].as_u64()),
        statuses: Some(counts(&end["statuses"])).filter(|statuses| !statuses.is_empty()),
        connections: end["connections_opened"].as_u64(),
        bytes_received: counter("data_received"),
        bytes_sent: counter("data_sent"),
        messages_sent: Some(counter(STREAMED.0).unwrap_or(0)),
        messages_received: Some(counter(STREAMED.1).unwrap_or(0)),
        resent: end["requests_resent"].as_u64(),
        dropped: counter("dropped_iterations").unwrap_or(0),
        seconds: Some(iterations_by_second(seconds)),
        lag: end["trends"]["iteration_send_lag"]["max"].as_f64(),
        duration: end["duration_seconds"].as_f64(),
        times: times.map(|trend| {
            let count = trend["count"].as_u64().unwrap_or(0);
            Times {
                count,
                min: trend["min"].as_f64().unwrap_or(f64::NAN),
                mean: trend["sum"].as_f64().unwrap_or(f64::NAN) / count as f64,
                max: trend["max"].as_f64().unwrap_or(f64::NAN),
                p50: None,
                p90: None,
            }
        }),
        verdict: end["generator"]["verdict"].as_str().map(str::to_owned),
        doubts_client: end["generator"]["reasons"]
            .as_array()
            .is_some_and(|reasons| reasons.iter().any(|reason| reason[0] == "client")),
        contradictions,
        ..Reported::default()
    }
}

/// Iterations in each second of the load. A second may have an additional line with late data.
fn iterations_by_second(lines: &[Value]) -> Vec<f64> {
    let mut seconds: Vec<f64> = Vec::new();
    for line in lines.iter().filter(|line| line["after_load"] != true) {
        let number = line["second"].as_u64().unwrap_or(0) as usize;
        let length = seconds.len().max(number + 1);
        seconds.resize(length, 0.0);
        seconds[number] += line["counters"]["iterations"].as_f64().unwrap_or(0.0);
    }
    seconds
}

/// Reads `--summary-export` of a script.
pub fn of_summary(path: &str) -> Reported {
    let all = parse(&read(path), "--summary-export");
    let metrics = &all["metrics"];
    let count = |name: &str| metrics[name]["count"].as_f64().map(|count| count as u64);
    let times = ["http_req_duration", "grpc_req_duration", "echo"]
        .iter()
        .map(|name| &metrics[name])
        .find(|metric| metric["avg"].is_number());
    Reported {
        source: "--summary-export",
        requests: count("requests_sent"),
        failed: count("requests_failed"),
        bytes_received: count("data_received"),
        bytes_sent: count("data_sent"),
        messages_sent: Some(count(STREAMED.0).unwrap_or(0)),
        messages_received: Some(count(STREAMED.1).unwrap_or(0)),
        times: times.map(|metric| {
            let figure = |name: &str| metric[name].as_f64();
            Times {
                count: count("requests_sent").unwrap_or(0),
                min: figure("min").unwrap_or(f64::NAN),
                mean: figure("avg").unwrap_or(f64::NAN),
                p50: figure("med"),
                p90: figure("p(90)"),
                max: figure("max").unwrap_or(f64::NAN),
            }
        }),
        ..Reported::default()
    }
}

/// Reads the summary at the end of a script.
pub fn of_summary_text(text: &str) -> Reported {
    let count = |name: &str| {
        let figures = text
            .lines()
            .find_map(|line| line.trim_start().strip_prefix(name)?.strip_prefix('.'))?;
        let figures = figures.trim_start_matches(['.', ':', ' ']);
        figures.split_whitespace().next()?.parse().ok()
    };
    Reported {
        source: "summary",
        requests: count("requests_sent"),
        failed: count("requests_failed"),
        ..Reported::default()
    }
}
