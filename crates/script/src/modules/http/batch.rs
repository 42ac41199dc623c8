use std::collections::HashMap;
use std::rc::Rc;

use futures_util::future::join_all;
use tokio::sync::Semaphore;

use super::exchange::{Done, Work};
use super::planned::Planned;
use crate::quickjs::{Call, Context, Returned, Thrown, Value};
use crate::user::user;

/// `http.batch()`: several requests side by side, so many at once in all and
/// to one host.
pub(super) fn batch<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let requests = call.argument(0);
    user(context).working(context, "using batch")?;
    if !requests.is_object() {
        return Err(context.throw_type("invalid http.batch() argument: it must be an array or an object"));
    }
    let as_list = requests.is_array();
    let items: Vec<(String, Value<'c>)> = if as_list {
        let count = u32::try_from(requests.length()?).unwrap_or(u32::MAX);
        (0..count).map(|place| Ok((place.to_string(), requests.at(place)?))).collect::<Result<_, Thrown>>()?
    } else {
        requests.entries()?
    };
    // The first that is malformed stops everything before anything is sent.
    let mut works = Vec::with_capacity(items.len());
    for (key, item) in &items {
        works.push(Work::begin(context, plan(context, key, item)?));
    }
    let options = user(context).http.options.get();
    let done = context
        .wait(perform(works, options.batch.max(1), options.batch_per_host))
        .map_err(|cancelled| context.cancelled(cancelled))?;
    let mut answers = done.into_iter().map(|done| done.give(context));
    if as_list {
        let mut list = Vec::with_capacity(items.len());
        for answer in answers {
            list.push(answer?);
        }
        return context.array(list);
    }
    let object = context.object()?;
    for (key, _) in &items {
        if let Some(answer) = answers.next() {
            object.define(key.as_str(), answer?)?;
        }
    }
    Ok(object)
}

async fn perform(works: Vec<Result<Work, Done>>, at_once: usize, per_host: usize) -> Vec<Done> {
    let all = Semaphore::new(at_once);
    let mut hosts: HashMap<String, Rc<Semaphore>> = HashMap::new();
    let limited = works.into_iter().map(|work| {
        let host = match (&work, per_host) {
            (Ok(work), 1..) => Some(Rc::clone(
                hosts.entry(work.host()).or_insert_with(|| Rc::new(Semaphore::new(per_host))),
            )),
            _ => None,
        };
        let all = &all;
        async move {
            let work = match work {
                Ok(work) => work,
                Err(done) => return done,
            };
            // Neither is ever closed, so that a permit always comes.
            let _host = match &host {
                Some(host) => host.acquire().await.ok(),
                None => None,
            };
            let _all = all.acquire().await.ok();
            work.perform().await
        }
    });
    let limited: Vec<_> = limited.collect();
    join_all(limited).await
}

/// Reads one item: a URL, `[method, url, body, params]`, or an object of these.
fn plan<'c>(context: &'c Context, key: &str, item: &Value<'c>) -> Result<Planned, Thrown> {
    let nothing = context.undefined();
    if item.is_array() {
        let method = method_of(&item.at(0)?)?;
        if item.length()? < 2 {
            return Err(context.throw_plain(format!("invalid http.batch() item {key}: it has no URL")));
        }
        return Planned::new(context, &method, &item.at(1)?, Some(&item.at(2)?), &item.at(3)?);
    }
    if item.is_string() || item.instance::<super::named_url::NamedUrl>().is_some() {
        return Planned::new(context, "GET", item, None, &nothing);
    }
    if !item.is_object() {
        return Err(context.throw_plain(format!(
            "invalid http.batch() item {key}: it must be a URL, an array or an object"
        )));
    }
    let url = item.get("url")?;
    if url.is_nullish() {
        return Err(context.throw_plain(format!("batch request {key} doesn't have a url key")));
    }
    let method = method_of(&item.get("method")?)?;
    let body = item.get("body")?;
    let body = (!matches!(method.as_str(), "GET" | "HEAD")).then_some(&body);
    Planned::new(context, &method, &url, body, &item.get("params")?)
}

fn method_of(value: &Value<'_>) -> Result<String, Thrown> {
    if value.is_nullish() {
        return Ok("GET".to_owned());
    }
    Ok(value.to_text()?.to_uppercase())
}
