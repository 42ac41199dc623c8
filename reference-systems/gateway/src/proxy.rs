//! The steps of one request: check, route, limit, send to a target, retry if allowed, and respond.

use std::convert::Infallible;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Instant, SystemTime};

use bytes::Bytes;
use hyper::body::{Body, Incoming};
use hyper::header::{CONTENT_TYPE, COOKIE, HOST, HeaderMap, HeaderValue, VIA};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response};
use plimsoll_serving::counters::count;
use plimsoll_serving::drain::Draining;

use crate::access_log::Line;
use crate::admission::{self, CheckedHead};
use crate::answer::{Answer, Ticket};
use crate::config::{HashBy, Key, Wire};
use crate::forwarding::{self, Client};
use crate::gateway::{Counts, Gateway};
use crate::hash::hash;
use crate::outgoing::{BodyTrouble, Outgoing, read_whole};
use crate::plan::{Plan, Route};
use crate::refusal::Refusal;
use crate::{attempt, path, tunnel};

/// A request that has passed through this gateway this often is in a loop.
const MOST_ROUNDS: usize = 10;

/// The state of one client's connection.
pub struct Door {
    pub gateway: Arc<Gateway>,
    pub counts: Arc<Counts>,
    pub worker: usize,
    pub entry: Arc<str>,
    pub address: IpAddr,
    pub client: Client,
    pub draining: Draining,
    pub traffic: Traffic,
}

/// Distinguishes an idle connection from a busy one.
#[derive(Default)]
pub struct Traffic {
    begun: AtomicU64,
    under_way: AtomicU64,
}

impl Traffic {
    /// Number of requests so far.
    pub fn begun(&self) -> u64 {
        self.begun.load(Relaxed)
    }

    /// Whether no request is in flight.
    pub fn is_idle(&self) -> bool {
        self.under_way.load(Relaxed) == 0
    }
}

/// Counts a request of a connection as in flight.
struct Busy(Arc<Door>);

impl Busy {
    fn begin(door: &Arc<Door>) -> Busy {
        door.traffic.begun.fetch_add(1, Relaxed);
        door.traffic.under_way.fetch_add(1, Relaxed);
        Busy(door.clone())
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.traffic.under_way.fetch_sub(1, Relaxed);
    }
}

/// Responds to a request.
pub async fn answer(
    door: Arc<Door>,
    request: Request<Incoming>,
) -> Result<Response<Answer>, Infallible> {
    let plan = door.gateway.plan();
    let (head, body) = request.into_parts();
    let kind = head.headers.get(CONTENT_TYPE).cloned();
    let mut record = Record::begin(&door, &head);
    let passed = pass(&door, &plan, head, body, &mut record).await;
    let response = passed.unwrap_or_else(|refusal| {
        match refusal {
            Refusal::RateLimited(_) => count(&door.counts.rate_limited),
            Refusal::Overloaded | Refusal::Waited => count(&door.counts.overloaded),
            _ => {}
        }
        if let Some(line) = &mut record.line {
            line.status = refusal.status().as_u16();
            line.trouble.get_or_insert_with(|| refusal.message());
        }
        refusal
            .response(kind.as_ref())
            .map(|body| Answer::own(body, record.take()))
    });
    door.counts.answered(response.status());
    Ok(response)
}

async fn pass(
    door: &Arc<Door>,
    plan: &Plan,
    mut head: Parts,
    body: Incoming,
    record: &mut Record,
) -> Result<Response<Answer>, Refusal> {
    let checked = admission::check(&head)?;
    record.host(checked.host.as_ref());
    if head.headers.contains_key(VIA) && forwarding::rounds(&head.headers) >= MOST_ROUNDS {
        return Err(Refusal::Loop);
    }
    let path = path::normalized(head.uri.path())?;
    let route = plan
        .route(&door.entry, checked.host.as_ref(), &head.method, &path)
        .ok_or(Refusal::NoRoute)?;
    record.route(route);
    if let Some(limiter) = &route.limiter {
        let key = limit_key(&limiter.settings.key, door, &head.headers);
        limiter.take(key).map_err(Refusal::RateLimited)?;
    }
    let service = &route.service;
    let key = match service.upstream.hashes() {
        Some(by) => hash_key(by, door, &head.headers),
        None => 0,
    };
    let upgrade = admission::wants_upgrade(head.version, &head.headers)
        .then(|| tunnel::Upgrade::of(&mut head));
    let body = take_body(plan, &checked, body).await?;
    let permit = service.gate.enter(&service.settings).await?;

    let wire = service.upstream.settings.wire;
    let host = checked.host.as_ref();
    forwarding::to_upstream(&mut head.headers, head.version, &door.client, host, wire);
    forwarding::apply(&route.settings.request_headers, &mut head.headers);
    head.extensions.clear();
    let passage = attempt::Passage {
        door,
        route,
        host: checked.host.filter(|_| service.settings.preserve_host),
        key,
        permit,
    };
    let request = Request::from_parts(head, body);
    match upgrade.flatten() {
        Some(upgrade) if wire == Wire::H1 => {
            Box::pin(tunnel::open(passage, request, upgrade, record)).await
        }
        _ => attempt::send(passage, request, record).await,
    }
}

/// Reads a small body completely; a larger one is streamed.
async fn take_body(
    plan: &Plan,
    checked: &CheckedHead,
    body: Incoming,
) -> Result<Outgoing, Refusal> {
    let limits = &plan.config.limits;
    if body.is_end_stream() {
        return Ok(Outgoing::whole(Bytes::new()));
    }
    match checked.length {
        Some(length) if length > limits.body => Err(Refusal::BodyTooLarge(limits.body)),
        Some(length) if length <= limits.buffer => {
            let length = usize::try_from(length).unwrap_or(usize::MAX);
            let whole = read_whole(body, length, limits.body_timeout).await;
            whole
                .map(Outgoing::whole)
                .map_err(|trouble| refuse_body(trouble, limits.body))
        }
        _ => Ok(Outgoing::passing(body, limits.body, limits.body_timeout)),
    }
}

/// The error for a body that was not received completely; `most` is the limit.
pub fn refuse_body(trouble: BodyTrouble, most: u64) -> Refusal {
    match trouble {
        BodyTrouble::TooLarge => Refusal::BodyTooLarge(most),
        BodyTrouble::TooSlow => Refusal::BodyTooSlow,
        BodyTrouble::Broken => Refusal::ClientGone,
    }
}

fn limit_key(key: &Key, door: &Door, headers: &HeaderMap) -> u64 {
    match key {
        Key::All => 0,
        Key::Address => address_key(door.address),
        Key::Header(name) => headers
            .get(name)
            .map_or_else(|| address_key(door.address), |value| hash(value.as_bytes())),
    }
}

fn hash_key(by: &HashBy, door: &Door, headers: &HeaderMap) -> u64 {
    let found = match by {
        HashBy::Address => None,
        HashBy::Header(name) => headers.get(name).map(HeaderValue::as_bytes),
        HashBy::Cookie(name) => cookie(headers, name),
    };
    found.map_or_else(|| address_key(door.address), hash)
}

fn address_key(address: IpAddr) -> u64 {
    match address.to_canonical() {
        IpAddr::V4(address) => hash(&address.octets()),
        IpAddr::V6(address) => hash(&address.octets()),
    }
}

/// The value of a cookie (RFC 6265, section 5.4).
fn cookie<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h [u8]> {
    headers
        .get_all(COOKIE)
        .iter()
        .flat_map(|value| value.as_bytes().split(|byte| *byte == b';'))
        .map(<[u8]>::trim_ascii)
        .find_map(|pair| pair.strip_prefix(name.as_bytes())?.strip_prefix(b"="))
}

/// Counts a request as in flight, and records more about it if logging is enabled.
pub struct Record {
    busy: Option<Busy>,
    pub line: Option<Box<Line>>,
}

impl Record {
    fn begin(door: &Arc<Door>, head: &Parts) -> Record {
        let wanted = door.gateway.journal.is_on();
        Record {
            busy: Some(Busy::begin(door)),
            line: wanted.then(|| {
                Box::new(Line {
                    at: SystemTime::now(),
                    begun: Instant::now(),
                    client: door.client.address.clone(),
                    entry: door.entry.clone(),
                    method: head.method.clone(),
                    version: head.version,
                    host: None,
                    uri: head.uri.clone(),
                    status: 0,
                    bytes: 0,
                    route: None,
                    target: None,
                    retries: 0,
                    trouble: None,
                })
            }),
        }
    }

    /// A record that counts and logs nothing.
    pub fn none() -> Record {
        Record {
            busy: None,
            line: None,
        }
    }

    fn host(&mut self, host: Option<&HeaderValue>) {
        if let Some(line) = &mut self.line {
            line.host = host.cloned();
        }
    }

    fn route(&mut self, route: &Route) {
        if let Some(line) = &mut self.line {
            line.route = Some(route.settings.name.clone());
        }
    }

    /// Moves the record to the response, which completes it.
    pub fn take(&mut self) -> Record {
        Record {
            busy: self.busy.take(),
            line: self.line.take(),
        }
    }

    pub fn trouble(&mut self, reason: &str) {
        if let Some(line) = &mut self.line {
            line.trouble = Some(reason.to_owned());
        }
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        if let (Some(line), Some(Busy(door))) = (self.line.take(), &self.busy) {
            door.gateway.journal.write(*line);
        }
    }
}

/// Methods that may be sent twice (RFC 9110, section 9.2.2).
pub fn is_idempotent(method: &Method) -> bool {
    matches!(
        *method,
        Method::GET | Method::HEAD | Method::PUT | Method::DELETE | Method::OPTIONS
    )
}

/// Sets the Host header of an HTTP/1.1 request: the client's, or the target's address.
pub fn set_host(headers: &mut HeaderMap, host: Option<&HeaderValue>, address: &str) {
    let own = || HeaderValue::from_str(address).ok();
    if let Some(host) = host.cloned().or_else(own) {
        headers.insert(HOST, host);
    }
}

/// The response of an upstream, prepared for the client.
pub fn prepare<B>(
    response: Response<B>,
    route: &Route,
    ticket: impl FnOnce(B) -> Answer,
) -> Response<Answer> {
    let mut response = response.map(ticket);
    forwarding::to_client(response.headers_mut());
    forwarding::apply(&route.settings.response_headers, response.headers_mut());
    response
}

/// Completes the records of a request to which an upstream responds.
pub fn ticket(
    record: &mut Record,
    status: u16,
    permit: tokio::sync::OwnedSemaphorePermit,
    using: crate::upstream::Using,
) -> Ticket {
    let mut record = record.take();
    if let Some(line) = &mut record.line {
        line.status = status;
        line.target = Some(using.target().address.clone());
    }
    Ticket::new(record, permit, using)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size<A, B, F>(_: impl Fn(A, B) -> F) -> usize {
        std::mem::size_of::<F>()
    }

    #[test]
    fn a_requests_future_is_small_enough_to_be_moved() {
        // It is moved for every request, so its size matters.
        assert!(size(answer) <= 4096, "{} bytes", size(answer));
    }

    #[test]
    fn cookies_are_found() {
        let mut headers = HeaderMap::new();
        headers.append(COOKIE, HeaderValue::from_static("a=1; sid=x=y"));
        headers.append(COOKIE, HeaderValue::from_static("b=2"));
        assert_eq!(cookie(&headers, "sid"), Some(&b"x=y"[..]));
        assert_eq!(cookie(&headers, "b"), Some(&b"2"[..]));
        assert_eq!(cookie(&headers, "id"), None);
    }
}
