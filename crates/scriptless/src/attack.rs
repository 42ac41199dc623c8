//! Users with a target list. Each iteration sends a request to the next target and passes the result to an outlet.

use std::borrow::Cow;
use std::cell::RefCell;
use std::pin::pin;
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use plimsoll_engine::{
    AbortReason, Ending, InitError, Iteration, RunState, ScenarioContext, UserFactory, UserId,
    VirtualUser, Worker,
};
use plimsoll_http::{
    BodyLimit, Client, Fields, Head, Method, Prepared, PreparedResponse, Request, Settings, Shared,
    Stamp, Url,
};
use plimsoll_samples::{BaseTags, Recorder, TagMap};
use plimsoll_vegeta::batch::NewHit;

use crate::aim::Aim;
use crate::facts::{Redirects, record};
use crate::outlet::{ResultSender, Sink};
use crate::target::Target;

/// The header with the number of the hit.
const SEQUENCE: &str = "X-Vegeta-Seq";
/// The header with the name of the attack, if it has one.
const ATTACK: &str = "X-Vegeta-Attack";
/// Maximum number of encoded targets per worker.
const MAX_ENCODED_TARGETS: usize = 10_000;

/// The settings of all hits of an attack.
#[derive(Clone, Debug)]
pub struct AttackSettings {
    /// Empty if the attack has no name.
    pub name: String,
    /// Maximum number of redirects to follow. More redirects are an error. With `None`, the redirect itself is the
    /// response.
    pub redirects: Option<u32>,
    /// How many bytes of each response body to write to the results.
    pub max_body: BodyLimit,
    /// The limit from a request's actual start to the last byte of its response.
    pub timeout: Duration,
    /// Send chunked bodies.
    pub chunked: bool,
    /// Returns a target's URL for the results, without secrets.
    pub shown_url: fn(&str) -> Cow<'_, str>,
}

/// Creates users that send requests to targets.
#[derive(Debug)]
pub struct AttackUsers {
    aim: Aim,
    attack: AttackSettings,
    settings: Arc<Settings>,
    results: Option<ResultSender>,
    /// Wall-clock time at the origin of moments, in nanoseconds since 1970.
    epoch: i64,
}

impl AttackUsers {
    /// Users that send requests to `aim`, and results to `results` if it is set.
    pub fn new(
        aim: Aim,
        attack: AttackSettings,
        settings: Arc<Settings>,
        results: Option<ResultSender>,
    ) -> Self {
        let since_origin = plimsoll_clock::now().as_nanos();
        let today = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        AttackUsers {
            aim,
            attack,
            settings,
            results,
            epoch: (today.as_nanos() as i64).wrapping_sub(since_origin as i64),
        }
    }

    fn here(&self, worker: &Worker) -> Rc<Here> {
        HERE.with_borrow_mut(|slot| {
            if let Some(here) = slot.upgrade() {
                return here;
            }
            let here = Rc::new(Here {
                client: Client::new(Shared::new(Arc::clone(&self.settings)), 1),
                settings: Arc::clone(&self.settings),
                attack: AttackSettings {
                    max_body: match self.results {
                        Some(_) => self.attack.max_body,
                        // Nobody reads the bodies.
                        None => BodyLimit::Cut(0),
                    },
                    ..self.attack.clone()
                },
                aim: self.aim.clone(),
                kept: RefCell::default(),
                sink: self.results.clone().map(Sink::new),
                recorder: Rc::clone(&worker.recorder),
                run: Arc::clone(&worker.run),
                epoch: self.epoch,
            });
            *slot = Rc::downgrade(&here);
            here
        })
    }
}

impl UserFactory for AttackUsers {
    type User = AttackUser;

    async fn create(&self, _: UserId, worker: &Worker) -> Result<AttackUser, InitError> {
        Ok(AttackUser {
            here: self.here(worker),
            tags: worker.recorder.base_tags(&TagMap::new()),
        })
    }
}

/// A user that sends a request to one target per iteration.
pub struct AttackUser {
    here: Rc<Here>,
    tags: BaseTags,
}

thread_local! {
    /// State shared by the users of this thread's worker.
    static HERE: RefCell<Weak<Here>> = const { RefCell::new(Weak::new()) };
}

/// One worker's part of an attack. Its users share one pool, so there are only as many connections as concurrent
/// requests.
struct Here {
    client: Client,
    settings: Arc<Settings>,
    attack: AttackSettings,
    aim: Aim,
    /// The encoded targets of a cycle, in order.
    kept: RefCell<Vec<Option<Rc<Aimed>>>>,
    sink: Option<Rc<Sink>>,
    recorder: Rc<Recorder>,
    run: Arc<RunState>,
    epoch: i64,
}

impl VirtualUser for AttackUser {
    fn activate(&mut self, scenario: &Rc<ScenarioContext>) {
        self.tags = scenario.tags.clone();
    }

    async fn iterate(&mut self, iteration: &Iteration) -> Ending {
        // Pinned here because it is large and would be copied if it were moved.
        let hitting = pin!(async {
            match &self.here.aim {
                Aim::Cycle(targets) => {
                    let place = iteration.in_test % (targets.len() as u64).max(1);
                    let target = self.here.aimed(targets, place as usize)?;
                    self.hit(&target, iteration).await;
                }
                Aim::Stream(stream) => {
                    if let Some((target, busy)) = stream.next(&self.here.run).await {
                        let target = self.here.prepare(&target)?;
                        self.hit(&target, iteration).await;
                        drop(busy);
                    }
                }
            }
            Ok(())
        });
        match iteration.stop.race(hitting).await {
            Ok(Ok(())) => Ending::Completed,
            Ok(Err(what)) => Ending::Abort(AbortReason::Failed(what)),
            Err(_) => Ending::Interrupted,
        }
    }
}

/// A target that is ready to be sent.
struct Aimed {
    /// The URL as the results show it.
    url: Box<str>,
    prepared: Prepared,
    request: Request,
    /// Whether the client added `Accept-Encoding: gzip`. It must decompress the response then.
    gunzips: bool,
}

impl Here {
    fn aimed(&self, targets: &[Target], place: usize) -> Result<Rc<Aimed>, String> {
        let mut kept = self.kept.borrow_mut();
        if let Some(Some(aimed)) = kept.get(place) {
            return Ok(Rc::clone(aimed));
        }
        let target = targets.get(place).ok_or("there are no targets")?;
        let aimed = Rc::new(self.prepare(target)?);
        if targets.len() <= MAX_ENCODED_TARGETS {
            if kept.len() <= place {
                kept.resize_with(targets.len(), || None);
            }
            if let Some(slot) = kept.get_mut(place) {
                *slot = Some(Rc::clone(&aimed));
            }
        }
        Ok(aimed)
    }

    fn prepare(&self, target: &Target) -> Result<Aimed, String> {
        let method = Method::parse(&target.method)
            .ok_or_else(|| format!("\"{}\" is not an HTTP method", target.method))?;
        let url = Url::parse(&target.url).map_err(|error| error.to_string())?;
        let mut headers = Fields::new();
        for (name, value) in &target.headers {
            headers.append(name, value)?;
        }
        if !self.attack.name.is_empty() {
            headers.append(ATTACK, &self.attack.name)?;
        }
        // As in Go's client, a request that sets its own `Accept-Encoding` or requests a range gets the body as the
        // server sends it.
        let gunzips = headers.get("accept-encoding").is_none()
            && headers.get("range").is_none()
            && method != Method::Head;
        if gunzips {
            headers.append("Accept-Encoding", "gzip")?;
        }
        let mut request = Request::new(method, Rc::new(url));
        request.headers = headers;
        request.body = target.body.clone();
        request.timeout = self.attack.timeout;
        Ok(Aimed {
            url: (self.attack.shown_url)(&target.url).into(),
            prepared: self.encode(&request)?,
            request,
            gunzips,
        })
    }

    fn encode(&self, request: &Request) -> Result<Prepared, String> {
        let prepared = Prepared::new(request, &self.settings).map_err(|error| error.message)?;
        Ok(if self.attack.chunked {
            prepared.chunked()
        } else {
            prepared
        })
    }
}

impl AttackUser {
    /// Sends a request to a target and records the outcome.
    async fn hit(&self, target: &Aimed, iteration: &Iteration) {
        let here = &*self.here;
        let stamp = Stamp {
            name: SEQUENCE,
            number: iteration.in_test,
        };
        let limit = here.attack.max_body;
        let mut response = here
            .client
            .send_stamped(&target.prepared, stamp, limit, iteration.started)
            .await;
        let mut error = None;
        let mut redirects = None;
        if here.attack.redirects.is_some() && is_redirect(&response) {
            let redirects = redirects.insert(Redirects::default());
            let following = self.follow(target, response, stamp, redirects);
            (response, error) = Box::pin(following).await;
        }
        record(
            &here.recorder,
            &self.tags,
            &response.exchange,
            redirects.as_ref(),
            error.as_deref(),
            iteration,
            here.client.traffic(),
        );
        if let Some(sink) = &here.sink {
            let is_gzip = target.gunzips && error.is_none() && {
                let deadline = response.exchange.timeline.started() + here.attack.timeout;
                response.gunzip(&here.settings, limit, deadline).await
            };
            self.deliver(sink, target, &response, error, is_gzip, iteration);
        }
        let done = response.exchange.timeline.done();
        here.recorder.iteration(
            done.since(iteration.started),
            iteration.scheduled,
            &self.tags,
            done,
        );
    }

    /// Follows redirects, and adds each to `redirects`: together with the last response, they are one request, as in
    /// vegeta. Returns the last response, and the error if there is one that the response itself does not contain.
    async fn follow(
        &self,
        target: &Aimed,
        first: PreparedResponse,
        stamp: Stamp,
        redirects: &mut Redirects,
    ) -> (PreparedResponse, Option<String>) {
        let here = &*self.here;
        let most = here.attack.redirects.unwrap_or_default();
        let mut response = first;
        let mut request = target.request.clone();
        let mut followed = 0;
        while is_redirect(&response) {
            let Some(head) = response.exchange.head.clone() else {
                break;
            };
            request = match request.redirected_by(&head) {
                Ok(Some(next)) => next,
                Ok(None) => break,
                Err(error) => return (response, Some(error.detail().to_owned())),
            };
            if followed == most {
                return (response, Some(format!("stopped after {most} redirects")));
            }
            followed += 1;
            let prepared = match here.encode(&request) {
                Ok(prepared) => prepared,
                Err(error) => return (response, Some(error)),
            };
            let exchange = &response.exchange;
            if exchange.opened {
                let started = exchange.timeline.started();
                here.recorder.connections_opened(1, started);
            }
            redirects.add(exchange);
            let limit = here.attack.max_body;
            response = here
                .client
                .send_stamped(&prepared, stamp, limit, plimsoll_clock::now())
                .await;
        }
        (response, None)
    }

    fn deliver(
        &self,
        sink: &Sink,
        target: &Aimed,
        response: &PreparedResponse,
        error: Option<String>,
        decoded: bool,
        iteration: &Iteration,
    ) {
        let exchange = &response.exchange;
        let error = error.or_else(|| Some(exchange.error.as_ref()?.detail().to_owned()));
        let done = exchange.timeline.done();
        let began = iteration.scheduled.unwrap_or(iteration.started);
        let status;
        let (code, error, head, body) = match &error {
            None => {
                let head = exchange.head.as_deref();
                status = match (exchange.status, head) {
                    (200..400, _) => String::new(),
                    (status, head) => status_line(status, head),
                };
                let head = head.map(Head::raw);
                (
                    exchange.status,
                    status.as_str(),
                    head,
                    Some(&response.body[..]),
                )
            }
            Some(why) => {
                status = failure(&target.prepared, &target.url, why);
                (0, status.as_str(), None, None)
            }
        };
        sink.push(&NewHit {
            attack: &self.here.attack.name,
            seq: iteration.in_test,
            code,
            date: self.here.epoch.wrapping_add(began.as_nanos() as i64),
            latency: done.since(began).as_nanos() as u64,
            service: Some(done.since(iteration.started).as_nanos() as u64),
            bytes_out: target.request.body.len() as u64,
            bytes_in: body.map_or(0, |body| body.len() as u64),
            error,
            method: target.prepared.method().as_str(),
            url: &target.url,
            head,
            decoded,
            body,
        });
    }
}

fn is_redirect(response: &PreparedResponse) -> bool {
    matches!(response.exchange.status, 301 | 302 | 303 | 307 | 308)
}

/// The status with its reason, such as `404 Not Found`.
fn status_line(status: u16, head: Option<&Head>) -> String {
    let reason = head.map(Head::reason).unwrap_or_default();
    format!("{status:03} {reason}").trim_end().to_owned()
}

/// A failure with the wording of Go's client: `Get "http://h/": dial tcp …`.
fn failure(prepared: &Prepared, url: &str, why: &str) -> String {
    let method = prepared.method().as_str();
    let (first, rest) = method.split_at_checked(1).unwrap_or((method, ""));
    format!("{first}{} {url:?}: {why}", rest.to_ascii_lowercase())
}
