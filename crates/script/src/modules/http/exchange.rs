use std::rc::Rc;

use http::{Client, CookieJar, ErrorInfo, Exchange, Failure, Request, code};
use samples::{BaseTags, HttpFacts, Phases, Recorder};
use units::Moment;

use super::expected::Expected;
use super::planned::{Planned, Unsendable};
use super::response::{Answer, Response};
use crate::pure::logline::Level;
use crate::quickjs::{Context, Returned};
use crate::user::user;

/// Sends the request, and suspends the script until it is over.
pub(super) fn now<'c>(context: &'c Context, planned: Planned) -> Returned<'c> {
    let work = match Work::begin(context, planned) {
        Ok(work) => work,
        Err(done) => return done.give(context),
    };
    let done = context.wait(work.perform()).map_err(|cancelled| context.cancelled(cancelled))?;
    done.give(context)
}

/// Sends the request beside the script, and gives a promise of its answer.
pub(super) fn later<'c>(context: &'c Context, planned: Planned) -> Returned<'c> {
    let work = Work::begin(context, planned);
    user(context).event_loop.promise(
        context,
        async move {
            match work {
                Ok(work) => work.perform().await,
                Err(done) => done,
            }
        },
        |context, done| done.give(context),
    )
}

/// A request on its way, with all it needs; it borrows nothing from the script.
pub(super) struct Work {
    client: Rc<Client>,
    request: Request,
    jar: Rc<CookieJar>,
    record: Record,
    throw: bool,
    response_type: super::params::ResponseType,
}

/// A request that is over.
pub(super) struct Done {
    answer: Answer,
    throw: bool,
}

impl Work {
    /// Takes what the request needs from its user. A request that cannot be
    /// sent at all is over at once.
    pub fn begin(context: &Context, planned: Planned) -> Result<Work, Done> {
        let user = user(context);
        let request = match planned.request {
            Ok(request) => request,
            Err(unsendable) => return Err(Done::unsendable(unsendable, planned.throw)),
        };
        let (Some(work), Some(base)) = (user.work(), user.base_tags()) else {
            let unsendable = Unsendable {
                method: request.method.as_str().to_owned(),
                url: request.url.as_str().to_owned(),
                error: ErrorInfo {
                    code: code::DEFAULT,
                    message: "requests cannot be made here".to_owned(),
                    detail: None,
                    is_local: false,
                },
            };
            return Err(Done::unsendable(unsendable, planned.throw));
        };
        let lag = user.iteration.borrow().as_ref().and_then(|iteration| {
            Some(iteration.started.since(iteration.scheduled?))
        });
        Ok(Work {
            client: Rc::clone(&work.client),
            request,
            jar: planned.jar,
            record: Record {
                recorder: Rc::clone(&work.recorder),
                base,
                name: planned.name,
                tags: planned.tags,
                expected: planned.expected,
                lag,
            },
            throw: planned.throw,
            response_type: planned.response_type,
        })
    }

    /// The host that the request goes to first, for limits per host.
    pub fn host(&self) -> String {
        self.request.url.authority().to_owned()
    }

    /// Sends the request, follows where it leads, and records each leg.
    pub async fn perform(self) -> Done {
        let Work { client, request, jar, record, throw, response_type } = self;
        let sent = client.send(&request, Some(&jar), &mut |exchange| record.exchange(exchange)).await;
        let (response, error) = match sent {
            Ok(response) => (response, None),
            Err(Failure { error, response }) => (*response, Some(error)),
        };
        Done {
            answer: Answer { response: Some(response), error, response_type, unsent: None, cookies: request.cookies },
            throw,
        }
    }
}

impl Done {
    fn unsendable(unsendable: Unsendable, throw: bool) -> Done {
        Done { answer: Answer::unsent(unsendable), throw }
    }

    /// The answer as the script gets it; a failure is thrown or logged.
    pub fn give<'c>(self, context: &'c Context) -> Returned<'c> {
        if let Some(error) = &self.answer.error {
            let text = self.answer.describe(error);
            if self.throw {
                return Err(context.throw_plain(text));
            }
            user(context).log_with(Level::Warning, "Request Failed", &[("error", &text)]);
        }
        context.instance(Response::new(self.answer))
    }
}

/// What samples of a request's legs have in common.
struct Record {
    recorder: Rc<Recorder>,
    base: BaseTags,
    name: Option<String>,
    tags: Vec<(String, String)>,
    expected: Rc<Expected>,
    /// How late the iteration started, in an open model.
    lag: Option<std::time::Duration>,
}

impl Record {
    fn exchange(&self, exchange: &Exchange) {
        let phases = exchange.timeline.phases();
        let started = exchange.timeline.started();
        let (error, error_code) = match &exchange.error {
            Some(error) => (error.message.as_str(), error.code),
            None => ("", code::of_status(exchange.status)),
        };
        let extra: Vec<(&str, &str)>;
        let ip;
        self.recorder.http(
            &HttpFacts {
                phases: Phases {
                    queued: phases.queued,
                    looking_up: phases.looking_up,
                    connecting: phases.connecting,
                    tls: phases.securing,
                    sending: phases.sending,
                    waiting: phases.waiting,
                    receiving: phases.receiving,
                },
                scheduled: self.lag.map(|lag| earlier(started, lag)),
                started,
                done: exchange.timeline.done(),
                method: exchange.method.as_str(),
                url: exchange.url.as_str(),
                name: self.name.as_deref(),
                status: if exchange.error.is_some() { 0 } else { exchange.status },
                proto: exchange.proto.as_str(),
                tls_version: exchange.tls.map_or("", |tls| tls.version),
                error,
                error_code,
                expected: self.expected.judge(if exchange.error.is_some() { 0 } else { exchange.status }),
                ip: match exchange.remote {
                    Some(remote) if self.recorder.wants_addresses() => {
                        ip = remote.ip().to_string();
                        &ip
                    }
                    _ => "",
                },
                extra: if self.tags.is_empty() {
                    &[]
                } else {
                    extra = self.tags.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
                    &extra
                },
                ..HttpFacts::default()
            },
            &self.base,
        );
    }
}

fn earlier(moment: Moment, by: std::time::Duration) -> Moment {
    let by = u64::try_from(by.as_nanos()).unwrap_or(u64::MAX);
    Moment::from_nanos(moment.as_nanos().saturating_sub(by))
}
