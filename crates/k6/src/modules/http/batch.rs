//! `http.batch`: concurrent requests, within two limits.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};

use futures_util::stream::{FuturesUnordered, StreamExt};
use plimsoll_engine::time_slice;
use plimsoll_http::Method;
use plimsoll_quickjs::{
    Call, Context, Returned, Value, collect_in_pieces, give_way, reserve_in_pieces,
};

use super::arguments::{Prepared, Refused, prepare};
use super::send::{Outcome, conclude, exchange, method_of, refuse_as};
use super::url::TaggedUrl;
use crate::modules::go_value;
use crate::user::{User, Work, user};

/// The cost of reading one request, as the number of bytes that could be read in the same time.
const REQUEST: usize = 1024;
/// The cost of storing one outcome, in the same unit.
const OUTCOME: usize = 256;

/// `http.batch(requests)`: returns an array for an array, and an object with the same keys for an object.
pub fn batch<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let user = user(context);
    let work = user.working(context, "Using batch")?;
    let requests = call.argument(0);
    if call.count() != 1 {
        let count = call.count();
        return Err(context.throw_plain(format!(
            "http.batch() accepts one array or object of requests, but got {count} arguments"
        )));
    }
    let kind = go_value::kind(&requests);
    if !requests.is_array() && kind != go_value::OBJECT {
        return Err(context.throw_plain(format!("invalid http.batch() argument type {kind}")));
    }
    let mut items = Vec::new();
    for (key, value) in requests.entries()? {
        give_way(REQUEST);
        match read_item(context, &key, &value) {
            Ok(prepared) => {
                reserve_in_pieces(&mut items, 1);
                items.push((key, prepared));
            }
            Err(Refused::Thrown(thrown)) => return Err(thrown),
            // As in k6, nothing is sent when one of the requests is invalid.
            Err(refused) => {
                let response = refuse_as(context, refused, "A batch request failed")?;
                return only(context, &requests, &key, response);
            }
        }
    }
    let limits = user.http_options();
    let mut waiting = Waiting::new(limits.batch_per_host);
    for (place, (_, prepared)) in items.iter().enumerate() {
        give_way(REQUEST);
        waiting.add(place, prepared.request.url.host());
    }
    let at = |place: usize| items.get(place).map(|(_, prepared)| prepared);
    let mut outcomes = collect_in_pieces(items.iter().map(|_| {
        give_way(OUTCOME);
        None
    }));
    context
        .wait(run(user, work, limits.batch, waiting, &mut outcomes, at))
        .map_err(|cancelled| context.cancelled(cancelled))?;
    // Process every outcome first, then throw the first exception if there is one.
    let mut exception = None;
    let mut responses = Vec::new();
    for ((key, prepared), outcome) in items.into_iter().zip(outcomes) {
        give_way(REQUEST);
        // Each request was run exactly once, so each has an outcome.
        let Some(outcome) = outcome else { continue };
        match conclude(context, prepared, outcome) {
            Ok(response) => {
                reserve_in_pieces(&mut responses, 1);
                responses.push((key, response));
            }
            Err(thrown) => exception = exception.or(Some(thrown)),
        }
    }
    if let Some(thrown) = exception {
        return Err(thrown);
    }
    let responses = responses.into_iter().inspect(|_| give_way(OUTCOME));
    if requests.is_array() {
        return context.array(responses.map(|(_, response)| response));
    }
    let object = context.object()?;
    for (key, response) in responses {
        object.define(key.as_str(), response)?;
    }
    Ok(object)
}

/// The result of a batch whose request at `key` is invalid. The other requests have no responses.
fn only<'c>(
    context: &'c Context,
    requests: &Value<'c>,
    key: &str,
    response: Value<'c>,
) -> Returned<'c> {
    if requests.is_array() {
        let place = key.parse().unwrap_or(0);
        let nothing = || context.null();
        let responses = (0..requests.length()?).map(|at| {
            if at == place {
                response.clone()
            } else {
                nothing()
            }
        });
        return context.array(responses.collect::<Vec<_>>());
    }
    let object = context.object()?;
    object.define(key, response)?;
    Ok(object)
}

/// One request: a URL, `[method, url, body?, params?]` or `{ method?, url, body?, params? }`.
fn read_item<'c>(context: &'c Context, key: &str, item: &Value<'c>) -> Result<Prepared, Refused> {
    let none = context.undefined();
    if item.is_string() || item.instance::<TaggedUrl>().is_some() {
        return prepare(context, Method::Get, item, &none, &none);
    }
    if item.is_array() && item.length()? < 2 {
        let only = match item.at(0)? {
            value if value.is_undefined() => String::new(),
            value => format!("{:?}", &*value.to_text()?),
        };
        return Err(invalid(
            context,
            format!("invalid batch request '[]interface {{}}{{{only}}}'"),
        ));
    }
    if item.is_array() {
        let method = item.at(0)?;
        if !method.is_string() {
            let message = format!("invalid method type '{}'", go_value::text(&method)?);
            return Err(invalid(context, message));
        }
        let method = method_of(&method)?;
        return prepare(context, method, &item.at(1)?, &item.at(2)?, &item.at(3)?);
    }
    if item.is_object() && !item.is_function() {
        let url = item.get("url")?;
        if url.is_nullish() {
            return Err(invalid(
                context,
                format!("batch request {key} doesn't have a url key"),
            ));
        }
        let method = upper(method_of(&item.get("method")?)?);
        let body = match method {
            Method::Get | Method::Head => none,
            _ => item.get("body")?,
        };
        return prepare(context, method, &url, &body, &item.get("params")?);
    }
    // An invalid URL is reported as such.
    prepare(context, Method::Get, item, &none, &none)
}

/// In this form, and only in this form, k6 requires upper-case methods.
fn upper(method: Method) -> Method {
    match method {
        Method::Other(name) => {
            let name = name.to_ascii_uppercase();
            Method::parse(&name).unwrap_or_else(|| Method::Other(name.into()))
        }
        known => known,
    }
}

fn invalid(context: &Context, message: String) -> Refused {
    let throw = user(context).http_options().throw;
    Refused::Invalid {
        code: 0,
        message,
        throw,
    }
}

/// Sends the waiting requests, at most `limit` concurrently. `at` returns a request by its position. Stores each
/// outcome at the position of its request.
async fn run<'a>(
    user: &User,
    work: &Work,
    limit: usize,
    mut waiting: Waiting<'a>,
    outcomes: &mut [Option<Outcome>],
    at: impl Fn(usize) -> Option<&'a Prepared>,
) {
    let mut running = FuturesUnordered::new();
    loop {
        while running.len() < limit.max(1) {
            let Some((place, host)) = waiting.next() else {
                break;
            };
            let Some(prepared) = at(place) else {
                continue;
            };
            running.push(async move {
                let outcome = exchange(user, work, prepared, user.base_tags()).await;
                (place, host, outcome)
            });
        }
        let Some((place, host, outcome)) = running.next().await else {
            break;
        };
        waiting.finished(host);
        if let Some(slot) = outcomes.get_mut(place) {
            *slot = Some(outcome);
        }
        // Requests that fail immediately never wait.
        if time_slice::is_used_up(plimsoll_clock::now()) {
            time_slice::next().await;
        }
    }
}

/// The positions of a batch's unstarted requests. The next request is the first one whose host may receive another
/// request.
struct Waiting<'a> {
    /// Maximum number of concurrent requests to one host; 0 means no limit.
    limit: usize,
    numbers: HashMap<&'a str, usize>,
    hosts: Vec<Host>,
    /// The first waiting request of each host that may receive another one, with the host's number.
    ready: BinaryHeap<Reverse<(usize, usize)>>,
}

#[derive(Default)]
struct Host {
    waiting: VecDeque<usize>,
    running: usize,
}

impl<'a> Waiting<'a> {
    fn new(limit: usize) -> Waiting<'a> {
        Waiting {
            limit,
            numbers: HashMap::new(),
            hosts: Vec::new(),
            ready: BinaryHeap::new(),
        }
    }

    /// Adds a request. Call it in ascending order of positions.
    fn add(&mut self, place: usize, host: &'a str) {
        let number = *self.numbers.entry(host).or_insert_with(|| {
            self.hosts.push(Host::default());
            self.hosts.len() - 1
        });
        if let Some(host) = self.hosts.get_mut(number) {
            host.waiting.push_back(place);
            if host.waiting.len() == 1 {
                self.ready.push(Reverse((place, number)));
            }
        }
    }

    /// The next request to start, and its host's number.
    fn next(&mut self) -> Option<(usize, usize)> {
        let Reverse((place, number)) = self.ready.pop()?;
        let host = self.hosts.get_mut(number)?;
        host.waiting.pop_front();
        host.running += 1;
        if (self.limit == 0 || host.running < self.limit)
            && let Some(&next) = host.waiting.front()
        {
            self.ready.push(Reverse((next, number)));
        }
        Some((place, number))
    }

    /// Records that a request to the host with that number has ended.
    fn finished(&mut self, number: usize) {
        let Some(host) = self.hosts.get_mut(number) else {
            return;
        };
        let was_full = self.limit > 0 && host.running == self.limit;
        host.running = host.running.saturating_sub(1);
        if was_full && let Some(&next) = host.waiting.front() {
            self.ready.push(Reverse((next, number)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start_all(waiting: &mut Waiting<'_>) -> Vec<(usize, usize)> {
        std::iter::from_fn(|| waiting.next()).collect()
    }

    #[test]
    fn the_first_request_whose_host_is_free_is_next() {
        let hosts = ["a", "a", "a", "b", "a", "b"];
        let mut waiting = Waiting::new(2);
        for (place, host) in hosts.into_iter().enumerate() {
            waiting.add(place, host);
        }
        assert_eq!(start_all(&mut waiting), [(0, 0), (1, 0), (3, 1), (5, 1)]);
        waiting.finished(1);
        assert_eq!(start_all(&mut waiting), []);
        waiting.finished(0);
        waiting.finished(0);
        assert_eq!(start_all(&mut waiting), [(2, 0), (4, 0)]);
        waiting.finished(0);
        assert_eq!(start_all(&mut waiting), []);

        let mut unlimited = Waiting::new(0);
        for (place, host) in hosts.into_iter().enumerate() {
            unlimited.add(place, host);
        }
        let places: Vec<usize> = start_all(&mut unlimited)
            .iter()
            .map(|next| next.0)
            .collect();
        assert_eq!(places, [0, 1, 2, 3, 4, 5]);
    }
}
