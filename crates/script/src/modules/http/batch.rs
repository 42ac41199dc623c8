//! `http.batch`: several requests at once, within two limits.

use std::collections::{HashMap, VecDeque};

use futures_util::stream::{FuturesUnordered, StreamExt};
use http::Method;

use super::arguments::{Prepared, Refused, prepare};
use super::send::{NOT_IN_INIT, Outcome, conclude, exchange, method_of, refuse};
use super::url::TaggedUrl;
use crate::quickjs::{Call, Context, Returned, Thrown, Value};
use crate::user::{User, Work, user};

/// `http.batch(requests)`: an array gives an array, an object an object of the same keys.
pub fn batch<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let user = user(context);
    let work = user.working(context, NOT_IN_INIT)?;
    let requests = call.argument(0);
    if !requests.is_object() {
        return Err(context.throw_plain("batch() takes an array or an object of requests"));
    }
    let mut items = Vec::new();
    for (key, value) in requests.entries()? {
        match read_item(context, &value)? {
            Ok(prepared) => items.push((key, prepared)),
            // As in k6, nothing is sent when one of the requests is none.
            Err(refused @ Refused::Thrown(_)) => return refuse(context, refused),
            Err(Refused::Invalid { message, .. }) => {
                return Err(context.throw_plain(format!("batch request {key:?}: {message}")));
            }
        }
    }
    let answered = context.wait(run(user, work, items.iter().map(|(_, prepared)| prepared)));
    let outcomes = answered.map_err(|cancelled| context.cancelled(cancelled))?;
    let responses = items.into_iter().zip(outcomes).map(|((key, prepared), outcome)| {
        conclude(context, prepared, outcome).map(|response| (key, response))
    });
    // Every outcome is told of, and then the first exception, if there is one, is thrown.
    let responses: Vec<_> = responses.collect();
    if requests.is_array() {
        let responses: Result<Vec<_>, Thrown> =
            responses.into_iter().map(|entry| entry.map(|(_, response)| response)).collect();
        return context.array(responses?);
    }
    let object = context.object()?;
    for entry in responses {
        let (key, response) = entry?;
        object.define(key.as_str(), response)?;
    }
    Ok(object)
}

/// One request: a URL, `[method, url, body?, params?]` or `{ method?, url, body?, params? }`.
fn read_item<'c>(context: &'c Context, item: &Value<'c>) -> Result<Result<Prepared, Refused>, Thrown> {
    let none = context.undefined();
    if item.is_string() || item.instance::<TaggedUrl>().is_some() {
        return Ok(prepare(context, Method::Get, item, &none, &none));
    }
    if item.is_array() {
        let method = method_of(&item.at(0)?)?;
        return Ok(prepare(context, method, &item.at(1)?, &item.at(2)?, &item.at(3)?));
    }
    if item.is_object() {
        let method = method_of(&item.get("method")?)?;
        let body = match method {
            Method::Get | Method::Head => none,
            _ => item.get("body")?,
        };
        return Ok(prepare(context, method, &item.get("url")?, &body, &item.get("params")?));
    }
    Err(context.throw_plain(format!(
        "a request of a batch is a URL, an array [method, url, body, params] or an object, and not {item:?}"
    )))
}

/// Sends all requests, so many at once as the options allow; outcomes in the order of the requests.
async fn run<'a>(user: &User, work: &Work, requests: impl Iterator<Item = &'a Prepared>) -> Vec<Outcome> {
    let limits = user.http_options();
    let mut waiting: VecDeque<(usize, &Prepared)> = requests.enumerate().collect();
    let mut outcomes: Vec<Option<Outcome>> = waiting.iter().map(|_| None).collect();
    let mut busy: HashMap<&str, usize> = HashMap::new();
    let mut running = FuturesUnordered::new();
    loop {
        while running.len() < limits.batch.max(1) {
            let free = |(_, prepared): &(usize, &Prepared)| {
                let count = busy.get(prepared.request.url.host()).copied().unwrap_or(0);
                limits.batch_per_host == 0 || count < limits.batch_per_host
            };
            let Some((place, prepared)) = waiting.iter().position(free).and_then(|next| waiting.remove(next)) else {
                break;
            };
            *busy.entry(prepared.request.url.host()).or_default() += 1;
            running.push(async move { (place, prepared, exchange(user, work, prepared).await) });
        }
        let Some((place, prepared, outcome)) = running.next().await else {
            break;
        };
        if let Some(count) = busy.get_mut(prepared.request.url.host()) {
            *count = count.saturating_sub(1);
        }
        if let Some(slot) = outcomes.get_mut(place) {
            *slot = Some(outcome);
        }
    }
    // Each request was run exactly once, so each place is filled.
    outcomes.into_iter().flatten().collect()
}
