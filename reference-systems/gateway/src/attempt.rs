//! Sends a request to targets until one responds.

use std::sync::Arc;

use hyper::body::Incoming;
use hyper::header::HeaderValue;
use hyper::{Request, Response, StatusCode};
use plimsoll_serving::counters::count;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, timeout_at};

use crate::answer::{Answer, Lease};
use crate::config::Wire;
use crate::outgoing::Outgoing;
use crate::plan::Route;
use crate::proxy::{Door, Record, is_idempotent, prepare, refuse_body, set_host, ticket};
use crate::refusal::Refusal;
use crate::rewriting;
use crate::upstream::{Target, Trouble, TroubleKind, Using, exchange};

/// The context for sending a request.
pub struct Passage<'a> {
    pub door: &'a Arc<Door>,
    pub route: &'a Route,
    /// The host for the upstream; `None` for the target's own.
    pub host: Option<HeaderValue>,
    /// The key that selects a target with `hash`.
    pub key: u64,
    pub permit: OwnedSemaphorePermit,
}

/// Sends `request`, whose URL is still the client's.
pub async fn send(
    passage: Passage<'_>,
    mut request: Request<Outgoing>,
    record: &mut Record,
) -> Result<Response<Answer>, Refusal> {
    let service = &passage.route.service;
    let (settings, upstream) = (&service.settings, &service.upstream);
    service.gate.save_up(settings);
    passage.address(&mut request)?;
    let deadline = Instant::now() + settings.response_timeout;
    let idempotent = is_idempotent(request.method());
    let mut tried = Vec::new();
    let mut left = settings.retries.attempts;
    loop {
        let target = passage.choose(&tried)?;
        if let Some(line) = &mut record.line {
            line.target = Some(target.address.clone());
        }
        // A request is copied before it is sent only if it may be sent twice.
        let spare = (left > 0 && idempotent).then(|| again(&request)).flatten();
        let using = Using::new(target.clone());
        let outcome = passage.attempt(&target, request, deadline).await;
        let next = match outcome {
            Ok((response, lease)) => {
                let status = response.status();
                if !blames_target(status) {
                    target.health.succeeded();
                } else {
                    target.health.failed();
                    // Another target may succeed.
                    let other = upstream.targets().len() > tried.len() + 1;
                    if let Some(spare) = spare.filter(|_| other && service.gate.spend()) {
                        tried.push(target);
                        (request, left) = (spare, left - 1);
                        passage.count_retry(record);
                        continue;
                    }
                }
                let ticket = ticket(record, status.as_u16(), passage.permit, using);
                let idle = settings.idle_timeout;
                return Ok(prepare(response, passage.route, |body| {
                    Answer::upstream(body, lease, idle, ticket)
                }));
            }
            Err(trouble) => {
                if let TroubleKind::Client(trouble) = trouble.kind {
                    let most = passage.door.gateway.plan().config.limits.body;
                    return Err(refuse_body(trouble, most));
                }
                target.health.failed();
                count(&passage.door.counts.failed);
                record.trouble(&trouble.reason);
                let refusal = match trouble.kind {
                    // No time is left for another attempt.
                    TroubleKind::Late => return Err(Refusal::TooLate),
                    TroubleKind::Unreachable => Refusal::Unreachable,
                    _ => Refusal::Broken,
                };
                let unsent = trouble.request.map(|request| *request);
                let next = unsent
                    .or(spare)
                    .filter(|_| left > 0 && service.gate.spend());
                next.ok_or(refusal)?
            }
        };
        tried.push(target);
        (request, left) = (next, left - 1);
        passage.count_retry(record);
    }
}

impl Passage<'_> {
    /// Sets the request's target to the upstream's.
    pub fn address(&self, request: &mut Request<Outgoing>) -> Result<(), Refusal> {
        let settings = &self.route.service.upstream.settings;
        let first = settings
            .targets
            .first()
            .map_or("", |target| target.address.as_str());
        let authority = match &self.host {
            Some(host) => host.to_str().unwrap_or(first),
            None => first,
        };
        let uri = std::mem::take(request.uri_mut());
        let encrypted = settings.tls.is_some();
        let (uri, version) = rewriting::target(
            uri,
            &self.route.settings,
            settings.wire,
            encrypted,
            authority,
        )?;
        *request.uri_mut() = uri;
        *request.version_mut() = version;
        Ok(())
    }

    /// The next target; one that was tried before only if there is no other.
    pub fn choose(&self, tried: &[Arc<Target>]) -> Result<Arc<Target>, Refusal> {
        let upstream = &self.route.service.upstream;
        upstream
            .choose(self.key, tried)
            .or_else(|| upstream.choose(self.key, &[]).filter(|_| !tried.is_empty()))
            .ok_or(Refusal::NoTarget)
    }

    async fn attempt(
        &self,
        target: &Arc<Target>,
        mut request: Request<Outgoing>,
        deadline: Instant,
    ) -> Result<(Response<Incoming>, Lease), Trouble> {
        let settings = &self.route.service.upstream.settings;
        let worker = self.door.worker;
        if settings.wire == Wire::H2 {
            let responded = Box::pin(async {
                match target.multiplexed(settings, worker).await {
                    Ok(sender) => sender.exchange(request).await,
                    Err(trouble) => Err(trouble.with(request)),
                }
            });
            let responded = timeout_at(deadline, responded).await;
            return responded
                .unwrap_or_else(|_| Err(Trouble::late()))
                .map(|response| (response, Lease::none()));
        }
        set_host(request.headers_mut(), self.host.as_ref(), &target.address);
        loop {
            let idle = target.idle_connection(worker);
            let reused = idle.is_some();
            let mut connection = match idle {
                Some(connection) => connection,
                // Boxed, because it is rare and would make every request's future larger.
                None => match timeout_at(deadline, Box::pin(target.connect(settings))).await {
                    Ok(Ok(connection)) => connection,
                    Ok(Err(trouble)) => return Err(trouble.with(request)),
                    Err(_) => return Err(Trouble::late()),
                },
            };
            match exchange(&mut connection, request, deadline).await {
                Ok(response) => {
                    return Ok((response, Lease::of(connection, target.clone(), worker)));
                }
                // The target had closed the connection in the meantime and received nothing:
                // retrying is safe, and the target is not at fault.
                Err(trouble) if reused && trouble.kind == TroubleKind::Unsent => {
                    match trouble.request {
                        Some(unsent) => request = *unsent,
                        None => return Err(trouble),
                    }
                }
                Err(trouble) => return Err(trouble),
            }
        }
    }

    fn count_retry(&self, record: &mut Record) {
        count(&self.door.counts.retried);
        if let Some(line) = &mut record.line {
            line.retries += 1;
        }
    }
}

fn again(request: &Request<Outgoing>) -> Option<Request<Outgoing>> {
    let body = request.body().again()?;
    let mut copy = Request::new(body);
    *copy.method_mut() = request.method().clone();
    *copy.uri_mut() = request.uri().clone();
    *copy.version_mut() = request.version();
    *copy.headers_mut() = request.headers().clone();
    Some(copy)
}

/// Statuses that show that the target itself is unhealthy.
fn blames_target(status: StatusCode) -> bool {
    matches!(
        status,
        StatusCode::BAD_GATEWAY | StatusCode::SERVICE_UNAVAILABLE | StatusCode::GATEWAY_TIMEOUT
    )
}
