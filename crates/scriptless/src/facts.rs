//! Converts the facts about exchanges to samples.

use std::time::Duration;

use plimsoll_engine::Iteration;
use plimsoll_http::{Exchange, Timeline};
use plimsoll_net::Traffic;
use plimsoll_samples::{BaseTags, HttpFacts, Phases, Recorder, builtin, counted_at};
use plimsoll_units::Moment;

/// The redirects before the last exchange of a request: their times belong to the request.
#[derive(Default)]
pub(crate) struct Redirects {
    phases: Phases,
    started: Option<Moment>,
    resent: u32,
}

impl Redirects {
    pub fn add(&mut self, exchange: &Exchange) {
        add_phases(&mut self.phases, &phases(&exchange.timeline));
        self.started.get_or_insert(exchange.timeline.started());
        self.resent += exchange.resent;
    }
}

/// Records an exchange of an iteration, and the redirects that led to it. `wrong` is an error that the exchange itself
/// does not contain. `traffic` is the number of bytes on sockets since the previous exchange.
pub(crate) fn record(
    recorder: &Recorder,
    tags: &BaseTags,
    exchange: &Exchange,
    redirects: Option<&Redirects>,
    wrong: Option<&str>,
    iteration: &Iteration,
    traffic: Traffic,
) {
    let (error, error_code) = match (&exchange.error, wrong) {
        (Some(error), _) => (error.message.as_str(), error.code),
        (None, Some(wrong)) => (wrong, plimsoll_http::code::DEFAULT),
        (None, None) => ("", 0),
    };
    let mut started = exchange.timeline.started();
    let done = exchange.timeline.done();
    let mut phases = phases(&exchange.timeline);
    let mut resent = exchange.resent;
    if let Some(redirects) = redirects {
        started = redirects.started.unwrap_or(started);
        add_phases(&mut phases, &redirects.phases);
        resent += redirects.resent;
    }
    // A later exchange of the iteration has the same lag as the iteration's start.
    let scheduled = iteration
        .scheduled
        .map(|scheduled| scheduled + started.since(iteration.started));
    recorder.http(
        &HttpFacts {
            phases,
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
            resent,
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
        traffic.sent,
        traffic.received,
        tags,
        counted_at(scheduled, started),
        done,
    );
}

/// How long requests may take after the end of the load.
pub const GRACEFUL_STOP: Duration = Duration::from_secs(1);
/// By how much a timer may be early.
const TOLERANCE: Duration = Duration::from_millis(10);

/// Records a request without a response when the run ended. Otherwise no figure would include requests that hang, and a
/// service that responds to nine of ten requests would look perfect.
pub(crate) fn record_unanswered(
    recorder: &Recorder,
    tags: &BaseTags,
    request: &UnansweredRequest<'_>,
    iteration: &Iteration,
) {
    let (started, done) = (iteration.started, plimsoll_clock::now());
    let waited = done.since(started);
    // A request that is interrupted before it has waited for the graceful stop says nothing about the server.
    if waited + TOLERANCE < GRACEFUL_STOP {
        return;
    }
    recorder.http(
        &HttpFacts {
            phases: Phases {
                waiting: waited,
                ..Phases::default()
            },
            scheduled: iteration.scheduled,
            started,
            done,
            method: request.method,
            url: request.url,
            status: request.status,
            error: "no response when the run ended",
            error_code: plimsoll_http::code::REQUEST_TIMEOUT,
            expected: Some(false),
            ..HttpFacts::default()
        },
        tags,
    );
}

/// A request that is still waiting for its response.
pub(crate) struct UnansweredRequest<'a> {
    pub method: &'a str,
    pub url: &'a str,
    /// 0 for HTTP; for gRPC, that of a call without a status.
    pub status: u16,
}

fn add_phases(sum: &mut Phases, more: &Phases) {
    sum.queued += more.queued;
    sum.looking_up += more.looking_up;
    sum.connecting += more.connecting;
    sum.tls += more.tls;
    sum.sending += more.sending;
    sum.waiting += more.waiting;
    sum.receiving += more.receiving;
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
