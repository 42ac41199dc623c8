//! Sends a prepared request and records each of its exchanges.

use std::borrow::Cow;
use std::rc::Rc;
use std::time::Duration;

use log::Level;
use plimsoll_http::{Auth, Exchange, Failure, MessageLog, Method};
use plimsoll_quickjs::{Call, Context, Returned, Thrown, Value};
use plimsoll_samples::{BaseTags, HttpFacts, Phases};

use super::arguments::{Prepared, Refused, ResponseType, prepare};
use super::debug::DebugLog;
use super::response::Response;
use crate::http_state::MAX_REDIRECTS;
use crate::user::{User, Work, user};
use plimsoll_units::Moment;

/// A synchronous request: the script waits for the response.
pub fn request<'c>(
    context: &'c Context,
    method: Method,
    url: &Value<'c>,
    body: &Value<'c>,
    params: &Value<'c>,
) -> Returned<'c> {
    let user = user(context);
    let work = user.working(context, NOT_IN_INIT)?;
    match prepare(context, method, url, body, params) {
        Ok(prepared) => {
            let responded = context.wait(exchange(user, work, &prepared, user.base_tags()));
            let outcome = responded.map_err(|cancelled| context.cancelled(cancelled))?;
            conclude(context, prepared, outcome)
        }
        Err(refused) => refuse(context, refused),
    }
}

pub const NOT_IN_INIT: &str = "Making http requests";

/// An asynchronous request, which returns a promise.
pub fn async_request<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let owner = context.shared_host::<User>();
    owner.working(context, NOT_IN_INIT)?;
    let method = match method_of(&call.argument(0)) {
        Ok(method) => method,
        Err(thrown) => return context.settled(Err(thrown)),
    };
    let prepared = prepare(
        context,
        method,
        &call.argument(1),
        &call.argument(2),
        &call.argument(3),
    );
    let prepared = match prepared {
        Ok(prepared) => prepared,
        Err(refused) => {
            let outcome = refuse(context, refused);
            return context.settled(outcome);
        }
    };
    let running = Rc::clone(&owner);
    // The request belongs to the group in which it was started.
    let base = owner.base_tags();
    let operation = async move {
        let outcome = match running.work() {
            Some(work) => Some(exchange(&running, work, &prepared, base).await),
            None => None,
        };
        (prepared, outcome)
    };
    owner.event_loop.promise(
        context,
        operation,
        |context, (prepared, outcome)| match outcome {
            Some(outcome) => conclude(context, prepared, outcome).map_err(|thrown| {
                // As in k6, the error has no name.
                let exception = context.take_exception(thrown);
                if !exception.is_uncatchable()
                    && let Err(second) = exception.0.define_hidden("name", context.undefined())
                {
                    return second;
                }
                exception.rethrow()
            }),
            None => Err(context.throw_plain("the request was started in the init context")),
        },
    )
}

/// The method that an argument names; GET if it is missing.
pub fn method_of(value: &Value<'_>) -> Result<Method, Thrown> {
    if value.is_nullish() {
        return Ok(Method::Get);
    }
    let name = value.to_text()?;
    if name.is_empty() {
        return Ok(Method::Get);
    }
    // An invalid method is reported as a failed request when it is sent.
    Ok(Method::parse(&name).unwrap_or_else(|| Method::Other((*name).into())))
}

/// The outcome of a request.
pub type Outcome = Result<plimsoll_http::Response, Failure>;

/// Sends `prepared`, and records each exchange with the tags of `base` when it ends.
pub async fn exchange(
    user: &User,
    work: &Work,
    prepared: &Prepared,
    base: Option<BaseTags>,
) -> Outcome {
    let late = user.lateness();
    let tags = prepared.tags.borrowed();
    let wants_ip = user.run.as_ref().is_some_and(|run| run.tag_ip);
    let mut trips = 0_u32;
    let mut each = |exchange: &Exchange| {
        trips += 1;
        // The 401 that a digest login (RFC 7616) expects is not a failure.
        let is_challenge =
            trips == 1 && prepared.request.auth == Auth::Digest && exchange.status == 401;
        let expected = prepared
            .callback
            .judge(exchange.status)
            .map(|expected| expected || is_challenge);
        let is_good = exchange.error.is_none() && expected != Some(false);
        user.count_call(is_good.then_some((exchange.body_sent, exchange.body_received)));
        if let Some(base) = &base {
            let traced = prepared
                .trace
                .map(|trace| base.with_more_metadata(trace.metadata(trips)));
            let base = traced.as_ref().unwrap_or(base);
            record(
                work, prepared, &tags, exchange, base, late, wants_ip, expected,
            );
        }
    };
    let debug = user.http_options().debug;
    let log = debug.map(|debug| Box::new(DebugLog::new(user, prepared, debug)));
    let log = log.as_deref().map(|log| log as &dyn MessageLog);
    let outcome = work
        .client
        .send_logged(&prepared.request, Some(&prepared.jar), &mut each, log)
        .await;
    if let Ok(response) = &outcome
        && trips > MAX_REDIRECTS
        && (300..400).contains(&response.status)
        && prepared.request.max_redirects.is_none()
        && user.http_options().max_redirects.is_none()
    {
        let text = format!(
            "stopped after {trips} redirects and returned the last; set maxRedirects, or redirects in the request's \
             parameters, to allow more or fewer"
        );
        user.log_with(
            Level::Warn,
            &text,
            &[("url", &prepared.request.url.masked())],
        );
    }
    outcome
}

/// Collects the properties of an exchange for its samples.
#[allow(clippy::too_many_arguments)]
fn record(
    work: &Work,
    prepared: &Prepared,
    tags: &[(&str, &str)],
    exchange: &Exchange,
    base: &BaseTags,
    late: Option<Duration>,
    wants_ip: bool,
    expected: Option<bool>,
) {
    let timeline = &exchange.timeline;
    let phases = timeline.phases();
    let ip = if wants_ip {
        exchange.remote.map(|remote| remote.ip().to_string())
    } else {
        None
    };
    let url = match prepared.request.auth {
        Auth::Digest => exchange.url.without_userinfo(),
        _ => Cow::Borrowed(exchange.url.as_str()),
    };
    let facts = HttpFacts {
        phases: Phases {
            queued: phases.queued,
            looking_up: phases.looking_up,
            connecting: phases.connecting,
            tls: phases.securing,
            sending: phases.sending,
            waiting: phases.waiting,
            receiving: phases.receiving,
        },
        scheduled: late.map(|late| earlier(timeline.started(), late)),
        started: timeline.started(),
        done: timeline.done(),
        method: exchange.method.as_str(),
        url: shown(&url),
        // The script's own `name` tag applies to every request that has no name.
        name: prepared.name.as_deref().or_else(|| base.get("name")),
        status: exchange.status,
        proto: exchange.proto.as_str(),
        subproto: "",
        tls_version: exchange.tls.map_or("", |tls| tls.version),
        tls_cipher_suite: exchange.tls.map_or("", |tls| tls.cipher_suite),
        opened: exchange.opened,
        resent: exchange.resent,
        ocsp_status: "",
        error: exchange.error.as_ref().map_or("", |error| &error.message),
        error_code: exchange.error_code(),
        exhausted: exchange
            .error
            .as_ref()
            .is_some_and(|error| error.is_exhausted),
        expected,
        ip: ip.as_deref().unwrap_or_default(),
        extra: tags,
    };
    work.recorder.http(&facts, base);
}

fn earlier(moment: Moment, by: Duration) -> Moment {
    let by = u64::try_from(by.as_nanos()).unwrap_or(u64::MAX);
    Moment::from_nanos(moment.as_nanos().saturating_sub(by))
}

/// The response to return, or the exception to throw for a failed request.
pub fn conclude(context: &Context, prepared: Prepared, outcome: Outcome) -> Returned<'_> {
    match outcome {
        Ok(response) => {
            let code = plimsoll_http::code::of_status(response.status);
            let response = Response::new(response, prepared.response_type, String::new(), code);
            context.instance(response)
        }
        Err(failure) => {
            failed(context, &prepared, &failure)?;
            let Failure { error, response } = failure;
            // Keep the part of the body that was received before the failure, unless it cannot be decompressed.
            let unpacked = error.code != plimsoll_http::code::DECOMPRESSION;
            let kept = if response.head.is_none() || error.of_redirect || !unpacked {
                ResponseType::None
            } else {
                prepared.response_type
            };
            context.instance(Response::new(*response, kept, error.message, error.code))
        }
    }
}

/// Logs a failed request, and returns the message.
///
/// # Errors
/// The exception to throw, if the parameters or the options request one.
pub fn failed(context: &Context, prepared: &Prepared, failure: &Failure) -> Result<String, Thrown> {
    let sentence = describe(failure);
    if prepared.throw {
        return Err(context.throw_plain(sentence));
    }
    user(context).log_with(Level::Warn, "Request Failed", &[("error", &sentence)]);
    Ok(sentence)
}

/// A failure as the log and exceptions show it: `Get "http://…": …`. Failures after the start of a response are shown
/// without method and URL.
fn describe(failure: &Failure) -> String {
    if failure.response.head.is_some() && !failure.error.of_redirect {
        return failure.error.detail().to_string();
    }
    let title = title(failure.response.sent.method.as_str());
    let url = failure.response.url.masked();
    format!("{title} {:?}: {}", shown(&url), failure.error.detail())
}

/// Turns `GET` into `Get`.
fn title(method: &str) -> String {
    let mut chars = method.chars();
    let first = chars.next();
    let others = chars.map(|letter| letter.to_ascii_lowercase());
    first.into_iter().chain(others).collect()
}

/// A URL as logs and tags show it. As in Go, a scheme without anything after it has no slashes.
fn shown(url: &str) -> &str {
    match url.strip_suffix("//") {
        Some(scheme) if scheme.find(':') == scheme.len().checked_sub(1) => scheme,
        _ => url,
    }
}

/// The response or exception for invalid arguments.
pub fn refuse(context: &Context, refused: Refused) -> Returned<'_> {
    refuse_as(context, refused, "Request Failed")
}

/// Like [`refuse`], with another message for the log.
pub fn refuse_as<'c>(context: &'c Context, refused: Refused, complaint: &str) -> Returned<'c> {
    match refused {
        Refused::Thrown(thrown) => Err(thrown),
        Refused::Invalid {
            message,
            throw: true,
            ..
        } => Err(context.throw_plain(message)),
        Refused::Invalid { code, message, .. } => {
            user(context).log_with(Level::Warn, complaint, &[("error", &message)]);
            context.instance(Response::refused(message, code))
        }
    }
}
