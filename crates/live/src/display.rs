//! Limits and choices for what is shown of a run.

use plimsoll_samples::{MetricId, builtin};

/// Maximum number of rows of a table.
pub const MAX_ROWS: usize = 200;

/// The metrics that can be shown as the latency. The first one with values is shown.
pub const LATENCIES: [(MetricId, &str); 5] = [
    (builtin::HTTP_REQ_RESPONSE_TIME, "http_req_response_time"),
    (builtin::HTTP_REQ_DURATION, "http_req_duration"),
    (builtin::GRPC_REQ_DURATION, "grpc_req_duration"),
    (builtin::WS_SESSION_DURATION, "ws_session_duration"),
    (builtin::ITERATION_DURATION, "iteration_duration"),
];
