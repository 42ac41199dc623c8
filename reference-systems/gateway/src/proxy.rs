//! The steps of one request: check, route, limit, send to a target, retry if allowed, and respond.

use std::convert::Infallible;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use http_body_util::{Either, Full};
use hyper::body::Incoming;
use hyper::header::{CONNECTION, CONTENT_TYPE, HeaderValue, UPGRADE};
use hyper::http::request::Parts;
use hyper::upgrade::OnUpgrade;
use hyper::{Method, Request, Response, StatusCode, Version};
use plimsoll_serving::connection::Protocol;
use plimsoll_serving::counters::count;
use plimsoll_serving::drain::Draining;
use tokio::time::Instant;

use crate::body::{self, Outgoing, Reply, UpstreamBody};
use crate::config::Wire;
use crate::forwarding::{self, Client};
use crate::gateway::{Counts, Gateway};
use crate::plan::{Plan, Route, Service};
use crate::record::Record;
use crate::refusal::Refusal;
use crate::upstream::Using;
use crate::{admission, path, tunnel};

/// A request that has passed through this gateway this many times is in a loop.
const MAX_ROUNDS: usize = 10;

const UPGRADING: HeaderValue = HeaderValue::from_static("upgrade");

/// The state of one client's connection.
pub struct Door {
    pub gateway: Arc<Gateway>,
    pub counts: Arc<Counts>,
    pub worker: usize,
    pub entry: Arc<str>,
    pub protocol: Protocol,
    pub address: IpAddr,
    pub client: Client,
    /// Draining waits for every connection, and for every tunnel.
    pub _draining: Draining,
    /// The number of requests so far, and the number in flight: they distinguish an idle connection from a
    /// busy one.
    pub started: AtomicU64,
    pub in_flight: AtomicU64,
}

/// A request to switch to another protocol: its name, and the client's side.
type Upgrade = (HeaderValue, OnUpgrade);

/// Responds to a request.
pub async fn respond(
    door: Arc<Door>,
    request: Request<Incoming>,
) -> Result<Response<Reply>, Infallible> {
    let plan = door.gateway.plan.load_full();
    let (head, body) = request.into_parts();
    let kind = head.headers.get(CONTENT_TYPE).cloned();
    let mut record = Record::begin(&door, &head);
    let response = match pass(&door, &plan, head, body, &mut record).await {
        Ok((response, route, upgrade)) => reply(response, route, upgrade, record),
        Err(refusal) => {
            record.note("status", refusal.status.as_u16());
            record.trouble(&refusal.message);
            let response = refusal.response(kind.as_ref());
            record.bytes = response.body().len();
            response.map(|body| Either::Left(Full::new(body)))
        }
    };
    door.counts.responded(response.status());
    Ok(response)
}

async fn pass<'p>(
    door: &Door,
    plan: &'p Plan,
    mut head: Parts,
    body: Incoming,
    record: &mut Record,
) -> Result<(Response<Incoming>, &'p Route, Option<Upgrade>), Refusal> {
    let wrong = match door.protocol {
        Protocol::Auto => false,
        Protocol::H1 => head.version == Version::HTTP_2,
        Protocol::H2 => head.version != Version::HTTP_2,
    };
    if wrong {
        let status = StatusCode::HTTP_VERSION_NOT_SUPPORTED;
        return Err(Refusal::new(
            status,
            "this version of HTTP is not enabled here",
        ));
    }
    let checked = admission::check(&head)?;
    let host = checked.host.as_ref();
    record.note("host", host.and_then(|host| host.to_str().ok()));
    let route = find(plan, &door.entry, &head, host)?;
    record.note("route", &*route.name);
    if let Some(limiter) = &route.limiter {
        let key = limiter.settings.key.of(door.address, &head.headers);
        let taken = limiter.take(key).map_err(Refusal::rate_limited);
        taken.inspect_err(|_| count(&door.counts.rate_limited))?;
    }
    let service = &route.service;
    let by = service.upstream.settings.hash_by.as_ref();
    let key = by.map_or(0, |by| by.of(door.address, &head.headers));
    let upgrade = upgrade_of(&mut head, service);
    let body = body::receive(body, checked.length, &plan.config.limits).await?;
    let permit = service.gate.enter(&service.settings).await;
    record.permit = Some(permit.inspect_err(|_| count(&door.counts.overloaded))?);

    change(&mut head, route, &door.client, host)?;
    if let Some((protocol, _)) = &upgrade {
        head.headers.insert(CONNECTION, UPGRADING);
        head.headers.insert(UPGRADE, protocol.clone());
    }
    head.extensions.clear();
    let host = host.filter(|_| service.settings.preserve_host);
    let request = Request::from_parts(head, body);
    let response = send(door, service, request, host, key, record).await?;
    if response.status() == StatusCode::SWITCHING_PROTOCOLS && upgrade.is_none() {
        return Err(Refusal::BROKEN);
    }
    Ok((response, route, upgrade))
}

/// The route of a request.
pub fn find<'p>(
    plan: &'p Plan,
    entry: &str,
    head: &Parts,
    host: Option<&HeaderValue>,
) -> Result<&'p Route, Refusal> {
    if forwarding::rounds(&head.headers) >= MAX_ROUNDS {
        return Err(Refusal::LOOP);
    }
    let path = path::normalized(head.uri.path())?;
    let route = plan.route(entry, host, &head.method, &path);
    route.ok_or(Refusal::NO_ROUTE)
}

/// Only HTTP/1.1 can switch.
fn upgrade_of(head: &mut Parts, service: &Service) -> Option<Upgrade> {
    let can = service.upstream.settings.wire == Wire::H1;
    if !can || !admission::wants_upgrade(head.version, &head.headers) {
        return None;
    }
    let protocol = head.headers.get(UPGRADE)?.clone();
    Some((protocol, head.extensions.remove()?))
}

/// Changes a request's headers and target to those for the upstream.
pub fn change(
    head: &mut Parts,
    route: &Route,
    client: &Client,
    host: Option<&HeaderValue>,
) -> Result<(), Refusal> {
    let service = &route.service;
    let upstream = &service.upstream.settings;
    forwarding::to_upstream(&mut head.headers, head.version, client, host, upstream.wire);
    forwarding::apply(&route.settings.request_headers, &mut head.headers);
    let host = host.filter(|_| service.settings.preserve_host);
    let own = upstream
        .targets
        .first()
        .map_or("", |target| target.address.as_str());
    let authority = host.and_then(|host| host.to_str().ok()).unwrap_or(own);
    let (uri, encrypted) = (std::mem::take(&mut head.uri), upstream.tls.is_some());
    (head.uri, head.version) =
        path::to_upstream(uri, &route.settings, upstream.wire, encrypted, authority)?;
    Ok(())
}

/// Sends a request to targets until one responds.
async fn send(
    door: &Door,
    service: &Service,
    mut request: Request<Outgoing>,
    host: Option<&HeaderValue>,
    key: u64,
    record: &mut Record,
) -> Result<Response<Incoming>, Refusal> {
    let Service {
        settings,
        upstream,
        gate,
    } = service;
    gate.save_up(settings);
    let deadline = Instant::now() + settings.response_timeout;
    let idempotent = is_idempotent(request.method());
    let mut tried = Vec::new();
    let mut left = settings.retries.attempts;
    loop {
        let target = upstream.choose(key, &tried).ok_or(Refusal::NO_TARGET)?;
        record.note("target", &*target.address);
        record.using = Some(Using::new(target.clone()));
        // A request is copied before it is sent only if it may be sent twice.
        let spare = (left > 0 && idempotent).then(|| again(&request)).flatten();
        let connections = target.connections(door.worker).ok_or(Refusal::NO_TARGET)?;
        let next = match connections.exchange(request, host, deadline).await {
            Ok((response, lease)) => {
                let blamed = blames_target(response.status());
                target.health.report(!blamed);
                // Another target may succeed.
                let other = blamed && upstream.targets.len() > tried.len() + 1;
                match spare.filter(|_| other && gate.spend()) {
                    Some(spare) => spare,
                    None => {
                        record.lease = Some(lease);
                        return Ok(response);
                    }
                }
            }
            Err(trouble) if trouble.by_client => return Err(trouble.refusal),
            Err(trouble) => {
                target.health.report(false);
                count(&door.counts.failed);
                record.trouble(&trouble.reason);
                let next = trouble.unsent.map(|unsent| *unsent).or(spare);
                let may = left > 0 && Instant::now() < deadline;
                next.filter(|_| may && gate.spend())
                    .ok_or(trouble.refusal)?
            }
        };
        tried.push(target);
        (request, left) = (next, left - 1);
        count(&door.counts.retried);
        record.note("retries", tried.len());
    }
}

/// A copy of a request whose body is complete in memory.
fn again(request: &Request<Outgoing>) -> Option<Request<Outgoing>> {
    let mut copy = Request::new(body::again(request.body())?);
    *copy.method_mut() = request.method().clone();
    *copy.uri_mut() = request.uri().clone();
    *copy.version_mut() = request.version();
    *copy.headers_mut() = request.headers().clone();
    Some(copy)
}

/// Methods that may be sent twice (RFC 9110, section 9.2.2).
fn is_idempotent(method: &Method) -> bool {
    matches!(
        *method,
        Method::GET | Method::HEAD | Method::PUT | Method::DELETE | Method::OPTIONS
    )
}

/// Statuses that show that the target itself is unhealthy.
fn blames_target(status: StatusCode) -> bool {
    (502..=504).contains(&status.as_u16())
}

/// The response for the client. Its body, or a tunnel, keeps the record until its end.
fn reply(
    response: Response<Incoming>,
    route: &Route,
    upgrade: Option<Upgrade>,
    mut record: Record,
) -> Response<Reply> {
    let (mut head, body) = response.into_parts();
    record.note("status", head.status.as_u16());
    let protocol = head.headers.remove(UPGRADE);
    forwarding::to_client(&mut head.headers);
    forwarding::apply(&route.settings.response_headers, &mut head.headers);
    let idle = route.service.settings.idle_timeout;
    let switched = head.status == StatusCode::SWITCHING_PROTOCOLS;
    let body = match upgrade.filter(|_| switched) {
        None => Either::Right(UpstreamBody::new(body, idle, record)),
        Some((_, client)) => {
            head.headers.insert(CONNECTION, UPGRADING);
            if let Some(protocol) = protocol {
                head.headers.insert(UPGRADE, protocol);
            }
            tokio::spawn(tunnel::forward(client, record, idle));
            Either::Left(Full::default())
        }
    };
    Response::from_parts(head, body)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size<A, B, F>(_: impl Fn(A, B) -> F) -> usize {
        std::mem::size_of::<F>()
    }

    #[test]
    fn a_requests_future_is_small_enough_to_be_moved() {
        // This value is moved for every request, so its size matters.
        assert!(size(respond) <= 4096, "{} bytes", size(respond));
    }
}
