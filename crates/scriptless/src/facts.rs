use std::time::Duration;

use plimsoll_engine::Iteration;
use plimsoll_http::{Exchange, Timeline};
use plimsoll_samples::{BaseTags, HttpFacts, Phases, Recorder, builtin, counted_at};
use plimsoll_units::Moment;

/// Records an exchange of an iteration. `wrong` is an error that the exchange itself does not contain.
pub(crate) fn record(
    recorder: &Recorder,
    tags: &BaseTags,
    exchange: &Exchange,
    wrong: Option<&str>,
    iteration: &Iteration,
) {
    let (error, error_code) = match (&exchange.error, wrong) {
        (Some(error), _) => (error.message.as_str(), error.code),
        (None, Some(wrong)) => (wrong, plimsoll_http::code::DEFAULT),
        (None, None) => ("", 0),
    };
    let started = exchange.timeline.started();
    let done = exchange.timeline.done();
    // A later exchange of the iteration has the same lag as the iteration's start.
    let scheduled = iteration
        .scheduled
        .map(|scheduled| scheduled + started.since(iteration.started));
    recorder.http(
        &HttpFacts {
            phases: phases(&exchange.timeline),
            scheduled,
            started,
            done,
            method: exchange.method.as_str(),
            url: exchange.url.as_str(),
            status: exchange.status,
            proto: exchange.proto.as_str(),
            tls_version: exchange.tls.map_or("", |tls| tls.version),
            tls_cipher_suite: exchange.tls.map_or("", |tls| tls.cipher_suite),
            opened: exchange.opened,
            resent: exchange.resent,
            error,
            error_code,
            exhausted: exchange
                .error
                .as_ref()
                .is_some_and(|error| error.is_exhausted),
            expected: Some(error_code == 0 && (200..400).contains(&exchange.status)),
            ..HttpFacts::default()
        },
        tags,
    );
    recorder.traffic(
        exchange.bytes.sent,
        exchange.bytes.received,
        tags,
        counted_at(scheduled, started),
        done,
    );
}

/// Records a connection that was opened before the first request.
pub(crate) fn record_opened_ahead(
    recorder: &Recorder,
    tags: &BaseTags,
    took: Duration,
    started: Moment,
) {
    recorder.connections_opened(1, started);
    record_opening(recorder, tags, took, started);
}

/// Records how long opening a connection took. It counts in the second of `started`.
pub(crate) fn record_opening(
    recorder: &Recorder,
    tags: &BaseTags,
    took: Duration,
    started: Moment,
) {
    let (metric, milliseconds) = (builtin::CONNECTION_TIME, took.as_secs_f64() * 1e3);
    // This cannot fail, because the metric is built in and the value is a number.
    let _ = recorder.add_started(
        metric,
        milliseconds,
        tags,
        &[],
        started,
        plimsoll_clock::now(),
    );
}

/// Converts the phases of an exchange.
pub(crate) fn phases(timeline: &Timeline) -> Phases {
    let phases = timeline.phases();
    Phases {
        queued: phases.queued,
        looking_up: phases.looking_up,
        connecting: phases.connecting,
        tls: phases.securing,
        sending: phases.sending,
        waiting: phases.waiting,
        receiving: phases.receiving,
    }
}
