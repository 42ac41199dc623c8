//! Selects the trend in a record that is the latency of a run.

use plimsoll_results::record::Record;

/// Trends that can be the latency of a run, and their labels, which are the same for HTTP and gRPC.
/// Service time covers only the network exchange, from the first byte sent to the last byte
/// received. Total time includes waiting for a connection and opening it.
const LATENCIES: [(&str, &str); 8] = [
    ("http_req_response_time", "response time"),
    ("http_req_duration", "service time"),
    ("grpc_req_response_time", "response time"),
    ("grpc_req_duration", "service time"),
    ("http_req_total", "total time"),
    ("grpc_req_total", "total time"),
    ("ws_session_duration", "session time"),
    ("iteration_duration", "iteration time"),
];

/// The label of a trend that is used as the latency.
pub fn latency_kind(trend: &str) -> &str {
    let known = LATENCIES.iter().find(|(name, _)| *name == trend);
    known.map_or(trend, |(_, kind)| kind)
}

/// The trend that is the latency of a run, and its label.
pub fn latency_of(record: &Record) -> Option<(&'static str, &'static str)> {
    let exists = |name: &str| {
        record
            .seconds
            .iter()
            .any(|second| second.trends.get(name).is_some_and(|trend| trend.count > 0))
    };
    LATENCIES.into_iter().find(|(name, _)| exists(name))
}
