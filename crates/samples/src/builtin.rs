//! The metrics that exist without a script.
//!
//! Metrics with k6's names have k6's meaning. Metrics marked `extra` are Plimsoll's own: they show what k6's metrics
//! cannot, are not in k6's output, and are replaced if a script declares a metric with the same name.

use crate::kind::{Contains, Kind};
use crate::metric_id::MetricId;

pub(crate) struct Builtin {
    pub name: &'static str,
    pub kind: Kind,
    pub contains: Contains,
    pub extra: bool,
}

/// Declares the ids of the metrics, in order, and the table with which the registry starts.
macro_rules! builtins {
    ($($(#[$doc:meta])* $id:ident = $name:literal, $kind:ident, $contains:ident $(, $extra:ident)?;)*) => {
        #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
        #[repr(u32)]
        enum Order { $($id),* }

        $($(#[$doc])* pub const $id: MetricId = MetricId(Order::$id as u32);)*

        pub(crate) const TABLE: &[Builtin] = &[$(Builtin {
            name: $name,
            kind: Kind::$kind,
            contains: Contains::$contains,
            extra: builtins!(@extra $($extra)?),
        }),*];
    };
    (@extra extra) => { true };
    (@extra) => { false };
}

builtins! {
    /// Users that are running iterations.
    VUS = "vus", Gauge, Default;
    /// Initialized users, running or not.
    VUS_MAX = "vus_max", Gauge, Default;
    /// Completed iterations.
    ITERATIONS = "iterations", Counter, Default;
    /// Duration of completed iterations.
    ITERATION_DURATION = "iteration_duration", Trend, Time;
    /// Iterations that were due while no user was free.
    DROPPED_ITERATIONS = "dropped_iterations", Counter, Default;

    /// Share of checks that passed.
    CHECKS = "checks", Rate, Default;
    /// Duration of each `group()`.
    GROUP_DURATION = "group_duration", Trend, Time;

    /// Exchanges; each redirect and each authentication leg counts.
    HTTP_REQS = "http_reqs", Counter, Default;
    /// Share of exchanges without an expected response.
    HTTP_REQ_FAILED = "http_req_failed", Rate, Default;
    /// Sending, waiting and receiving.
    HTTP_REQ_DURATION = "http_req_duration", Trend, Time;
    /// Time until a connection was available: queue, name lookup, connect, TLS.
    HTTP_REQ_BLOCKED = "http_req_blocked", Trend, Time;
    /// Connecting; 0 on a reused connection.
    HTTP_REQ_CONNECTING = "http_req_connecting", Trend, Time;
    /// TLS handshake; 0 on a reused connection.
    HTTP_REQ_TLS_HANDSHAKING = "http_req_tls_handshaking", Trend, Time;
    /// Writing the request.
    HTTP_REQ_SENDING = "http_req_sending", Trend, Time;
    /// From the end of the request to the first byte of the response.
    HTTP_REQ_WAITING = "http_req_waiting", Trend, Time;
    /// From the first byte of the response to its last.
    HTTP_REQ_RECEIVING = "http_req_receiving", Trend, Time;

    /// WebSocket sessions opened.
    WS_SESSIONS = "ws_sessions", Counter, Default;
    /// WebSocket messages sent.
    WS_MSGS_SENT = "ws_msgs_sent", Counter, Default;
    /// WebSocket messages received.
    WS_MSGS_RECEIVED = "ws_msgs_received", Counter, Default;
    /// From a WebSocket ping to its pong.
    WS_PING = "ws_ping", Trend, Time;
    /// Duration of WebSocket sessions.
    WS_SESSION_DURATION = "ws_session_duration", Trend, Time;
    /// Opening WebSocket sessions.
    WS_CONNECTING = "ws_connecting", Trend, Time;

    /// gRPC calls, from start to status.
    GRPC_REQ_DURATION = "grpc_req_duration", Trend, Time;
    /// gRPC streams opened.
    GRPC_STREAMS = "grpc_streams", Counter, Default;
    /// Messages sent on gRPC streams.
    GRPC_STREAMS_MSGS_SENT = "grpc_streams_msgs_sent", Counter, Default;
    /// Messages received on gRPC streams.
    GRPC_STREAMS_MSGS_RECEIVED = "grpc_streams_msgs_received", Counter, Default;

    /// Bytes written to sockets.
    DATA_SENT = "data_sent", Counter, Data;
    /// Bytes read from sockets.
    DATA_RECEIVED = "data_received", Counter, Data;

    /// Name lookup; 0 if the address was known.
    HTTP_REQ_LOOKING_UP = "http_req_looking_up", Trend, Time, extra;
    /// From the start to the last byte of exchanges that did not fail, including connecting.
    HTTP_REQ_TOTAL = "http_req_total", Trend, Time, extra;
    /// A script's gRPC calls with status OK, from start to status. The first call on a connection includes the time to
    /// open the connection, until the server's HTTP/2 settings arrive.
    GRPC_REQ_TOTAL = "grpc_req_total", Trend, Time, extra;
    /// From the scheduled start to the last byte of exchanges that did not fail. Only in open models, because the other
    /// models have no schedule.
    HTTP_REQ_RESPONSE_TIME = "http_req_response_time", Trend, Time, extra;
    /// Total time of failed exchanges.
    HTTP_REQ_FAILED_DURATION = "http_req_failed_duration", Trend, Time, extra;
    /// Time to open a connection, from the lookup of its name to the end of its TLS handshake: one
    /// value per opened connection.
    CONNECTION_TIME = "connection_time", Trend, Time, extra;
    /// From an iteration's scheduled start to its actual one. Only in open models.
    ITERATION_SEND_LAG = "iteration_send_lag", Trend, Time, extra;
    /// Share of a script's gRPC calls with another status than OK.
    GRPC_REQ_FAILED = "grpc_req_failed", Rate, Default, extra;
}

/// Whether the program defines this metric, not a script.
pub(crate) fn is_builtin(metric: MetricId) -> bool {
    metric.index() < TABLE.len()
}

/// Whether HTTP exchanges produce this metric.
pub(crate) fn is_http(metric: MetricId) -> bool {
    (HTTP_REQS..=HTTP_REQ_RECEIVING).contains(&metric)
        || (HTTP_REQ_LOOKING_UP..=HTTP_REQ_FAILED_DURATION).contains(&metric)
}
