//! Counts of calls, their statuses and their connections, for the verdict and the record.

use std::borrow::Cow;
use std::time::Duration;

use plimsoll_grpc::{Channel, Reply, Status};
use plimsoll_net::TlsFacts;
use plimsoll_samples::{BaseTags, CallFacts, GRPC_STATUS, builtin};
use plimsoll_units::Moment;

use super::client::milliseconds;
use crate::user::Work;

/// Counts a unary call that has ended. It is listed as `name`.
pub fn count_reply(work: &Work, channel: &Channel, name: &str, reply: &Reply) {
    let started = reply.timeline.started();
    let end = CallEnd {
        name,
        took: reply.timeline.service_time(),
        status: &reply.status,
        has_response: reply.has_response(),
        tls: reply.tls,
        resent: reply.resent,
        is_canceled: false,
    };
    count_call(work, &end, started);
    count_opened(work, channel, started);
}

/// The outcome of a call.
pub struct CallEnd<'a> {
    /// The name under which the call is listed.
    pub name: &'a str,
    /// Its duration, as in `grpc_req_duration`.
    pub took: Duration,
    pub status: &'a Status,
    pub has_response: bool,
    pub tls: Option<TlsFacts>,
    pub resent: u32,
    /// Whether the script ended the call by closing the client. That is not a failure.
    pub is_canceled: bool,
}

/// Counts a call that started at `started` and has ended.
pub fn count_call(work: &Work, end: &CallEnd<'_>, started: Moment) {
    let is_ok = end.status.code.is_ok() || end.is_canceled;
    let error = if is_ok {
        Cow::Borrowed("")
    } else {
        Cow::Owned(format!("{}: {}", end.status.code, end.status.message))
    };
    let number = u16::try_from(end.status.code.0).unwrap_or(u16::MAX);
    work.recorder.call(&CallFacts {
        counted: started,
        name: end.name,
        method: "gRPC",
        took: end.took,
        status: GRPC_STATUS.saturating_add(number),
        proto: if end.has_response { "gRPC" } else { "" },
        tls_version: end.tls.map_or("", |tls| tls.version),
        tls_cipher_suite: end.tls.map_or("", |tls| tls.cipher_suite),
        resent: end.resent,
        error: &error,
        error_code: if is_ok { 0 } else { end.status.code.0 },
        exhausted: end.status.is_exhausted,
    });
}

/// Counts a failed `connect` as a request with neither a response nor a status.
pub fn count_failed_connect(work: &Work, status: &Status, started: Moment) {
    work.recorder.call(&CallFacts {
        counted: started,
        error: &status.message,
        error_code: status.code.0,
        exhausted: status.is_exhausted,
        ..CallFacts::default()
    });
}

/// Counts the connections that the channel has opened since the last call.
pub fn count_opened(work: &Work, channel: &Channel, at: Moment) {
    let opened = channel.take_opened();
    if opened > 0 {
        work.recorder.connections_opened(opened, at);
    }
}

/// Records the times of a call, and whether it failed. `opening` is the time that opening the connection took if this is
/// the first call on it, and 0 otherwise.
pub fn record_call(
    work: &Work,
    reply: &Reply,
    opening: Duration,
    base: &BaseTags,
    tags: &[(&str, &str)],
) {
    let line = &reply.timeline;
    let (started, done) = (line.started(), line.done());
    let has_failed = !reply.status.code.is_ok();
    // These cannot fail, because the metrics are built in and the values are numbers.
    let add = |metric, value| {
        work.recorder
            .add_started(metric, value, base, tags, started, done)
    };
    let service_time = milliseconds(line.service_time());
    let _ = add(builtin::GRPC_REQ_DURATION, service_time);
    let _ = add(builtin::GRPC_REQ_FAILED, f64::from(has_failed));
    if !has_failed {
        let _ = add(
            builtin::GRPC_REQ_TOTAL,
            milliseconds(opening + done.since(started)),
        );
    }
}
