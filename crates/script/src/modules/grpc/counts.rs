//! Counts of calls, their statuses and their connections, for the verdict and the record.

use std::borrow::Cow;

use grpc::{Answer, Channel, Status};
use net::TlsFacts;
use samples::{CallFacts, GRPC_STATUS};
use units::Moment;

use crate::user::Work;

/// Counts the end of a unary call.
pub fn count_answer(work: &Work, channel: &Channel, answer: &Answer) {
    let started = answer.timeline.started();
    count_call(
        work,
        &answer.status,
        answer.has_response(),
        answer.tls,
        started,
    );
    count_opened(work, channel, started);
}

/// Counts the end of a call that started at `started`.
pub fn count_call(
    work: &Work,
    status: &Status,
    has_response: bool,
    tls: Option<TlsFacts>,
    started: Moment,
) {
    let is_ok = status.code.is_ok();
    let error = if is_ok {
        Cow::Borrowed("")
    } else {
        Cow::Owned(format!("{}: {}", status.code, status.message))
    };
    let number = u16::try_from(status.code.0).unwrap_or(u16::MAX);
    work.recorder.call(&CallFacts {
        counted: started,
        status: GRPC_STATUS.saturating_add(number),
        proto: if has_response { "gRPC" } else { "" },
        tls_version: tls.map_or("", |tls| tls.version),
        tls_cipher_suite: tls.map_or("", |tls| tls.cipher_suite),
        error: &error,
        error_code: status.code.0,
    });
}

/// Counts a `connect` that failed: a request without a response, and without a status.
pub fn count_failed_connect(work: &Work, status: &Status, started: Moment) {
    work.recorder.call(&CallFacts {
        counted: started,
        error: &status.message,
        error_code: status.code.0,
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
