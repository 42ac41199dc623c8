//! Selects the trend in a record that is the latency of a run.

use plimsoll_results::record::{Record, Second};

/// Trends that can be the latency of a run, and their labels, which are the same for HTTP and gRPC.
/// Service time covers only the network exchange, from the first byte sent to the last byte
/// received. Total time includes waiting for a connection and opening it.
const LATENCIES: [(&str, &str); 9] = [
    ("http_req_response_time", "response time"),
    // Without failed requests.
    ("http_req_duration{expected_response:true}", "service time"),
    ("http_req_duration", "service time"),
    ("grpc_req_response_time", "response time"),
    ("grpc_req_duration", "service time"),
    ("http_req_total", "total time"),
    ("grpc_req_total", "total time"),
    ("ws_session_duration", "session time"),
    ("iteration_duration", "iteration time"),
];

/// The number of requests of a second, including failed ones, which most of the trends do not contain.
pub fn requests(second: &Second, trend: &str) -> f64 {
    let is_part = trend.contains('{') && !trend.ends_with("{expected_response:true}");
    let counted = match trend.split_once("_req_") {
        _ if is_part => None,
        Some(("http", _)) => second.counters.get("http_reqs").copied(),
        Some(("grpc", _)) => {
            let failed = second.rates.get("grpc_req_failed");
            failed.map(|(_, all)| *all as f64)
        }
        _ => None,
    };
    counted.unwrap_or_else(|| {
        let trend = second.trends.get(trend);
        trend.map_or(0.0, |trend| trend.count as f64)
    })
}

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

#[cfg(test)]
mod tests {
    use plimsoll_results::distribution::Distribution;
    use plimsoll_stats::Histogram;

    use super::*;

    #[test]
    fn failed_requests_count_as_requests() {
        let mut times = Histogram::new();
        (0..7).for_each(|_| times.record(1.0));
        let mut second = Second::default();
        for trend in [
            "http_req_total",
            "grpc_req_total",
            "session",
            "http_req_total{name:a}",
        ] {
            second
                .trends
                .insert(trend.to_owned(), Distribution::of(&times));
            assert_eq!(requests(&second, trend), 7.0, "{trend}");
        }
        second.counters.insert("http_reqs".to_owned(), 10.0);
        second.rates.insert("grpc_req_failed".to_owned(), (2, 9));
        assert_eq!(requests(&second, "http_req_total"), 10.0);
        assert_eq!(
            requests(&second, "http_req_duration{expected_response:true}"),
            10.0
        );
        assert_eq!(requests(&second, "grpc_req_total"), 9.0);
        // Its failures are not known.
        assert_eq!(requests(&second, "http_req_total{name:a}"), 7.0);
        assert_eq!(requests(&second, "session"), 7.0);
    }
}
