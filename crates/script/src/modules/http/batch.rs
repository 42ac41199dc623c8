//! `http.batch`: several requests at once, within two limits.

use std::collections::{HashMap, VecDeque};

use futures_util::stream::{FuturesUnordered, StreamExt};
use plimsoll_http::Method;

use super::arguments::{Prepared, Refused, prepare};
use super::send::{Outcome, conclude, exchange, method_of, refuse_as};
use super::url::TaggedUrl;
use crate::quickjs::{Call, Context, Returned, Thrown, Value, give_way};
use crate::user::{User, Work, user};

/// Bytes that are read in the time that it takes to read one request.
const REQUEST: usize = 1024;

/// `http.batch(requests)`: an array gives an array, an object an object of the same keys.
pub fn batch<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let user = user(context);
    let work = user.working(context, "Using batch")?;
    let requests = call.argument(0);
    if !requests.is_object() {
        let kind = match &requests {
            value if value.is_nullish() => "<nil>",
            value if value.is_string() => "string",
            value if value.is_bool() => "bool",
            _ => "number",
        };
        return Err(context.throw_plain(format!("invalid http.batch() argument type {kind}")));
    }
    let mut items = Vec::new();
    for (key, value) in requests.entries()? {
        give_way(REQUEST);
        match read_item(context, &key, &value) {
            Ok(prepared) => items.push((key, prepared)),
            Err(Refused::Thrown(thrown)) => return Err(thrown),
            // As in k6, nothing is sent when one of the requests is none.
            Err(refused) => {
                let response = refuse_as(context, refused, "A batch request failed")?;
                return only(context, &requests, &key, response);
            }
        }
    }
    let answered = context.wait(run(user, work, items.iter().map(|(_, prepared)| prepared)));
    let outcomes = answered.map_err(|cancelled| context.cancelled(cancelled))?;
    let responses = items
        .into_iter()
        .zip(outcomes)
        .map(|((key, prepared), outcome)| {
            give_way(REQUEST);
            conclude(context, prepared, outcome).map(|response| (key, response))
        });
    // Every outcome is told of, and then the first exception, if there is one, is thrown.
    let responses: Vec<_> = responses.collect();
    if requests.is_array() {
        let responses: Result<Vec<_>, Thrown> = responses
            .into_iter()
            .map(|entry| entry.map(|(_, response)| response))
            .collect();
        return context.array(responses?);
    }
    let object = context.object()?;
    for entry in responses {
        let (key, response) = entry?;
        object.define(key.as_str(), response)?;
    }
    Ok(object)
}

/// The result of a batch of which the request at `key` is none: the others have no answers.
fn only<'c>(
    context: &'c Context,
    requests: &Value<'c>,
    key: &str,
    response: Value<'c>,
) -> Returned<'c> {
    if requests.is_array() {
        let place = key.parse().unwrap_or(0);
        let nothing = || context.null();
        let answers = (0..requests.length()?).map(|at| {
            if at == place {
                response.clone()
            } else {
                nothing()
            }
        });
        return context.array(answers.collect::<Vec<_>>());
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
        let method = method_of(&item.at(0)?)?;
        return prepare(context, method, &item.at(1)?, &item.at(2)?, &item.at(3)?);
    }
    if item.is_object() {
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
    // What is no URL either is told so.
    prepare(context, Method::Get, item, &none, &none)
}

/// In this form, unlike elsewhere, k6 writes methods in capitals.
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

/// Sends all requests, so many at once as the options allow; outcomes in the order of the requests.
async fn run<'a>(
    user: &User,
    work: &Work,
    requests: impl Iterator<Item = &'a Prepared>,
) -> Vec<Outcome> {
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
            let Some((place, prepared)) = waiting
                .iter()
                .position(free)
                .and_then(|next| waiting.remove(next))
            else {
                break;
            };
            *busy.entry(prepared.request.url.host()).or_default() += 1;
            running.push(async move {
                (
                    place,
                    prepared,
                    exchange(user, work, prepared, user.base_tags()).await,
                )
            });
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
