//! `k6`: checks, groups, sleeping, failing.

use std::time::Duration;

use plimsoll_quickjs::{Call, Class, Context, Entry, InImage, Returned, Thrown, Value};
use plimsoll_samples::BaseTags;
use plimsoll_units::Moment;

use super::sample_tags::with_tags;
use super::{BuiltIn, Shape};
use crate::metric_context::within;
use crate::pure::gorand::GoRand;
use crate::user::user;

pub const MODULE: BuiltIn = BuiltIn {
    name: "k6",
    shape: Shape::Names,
    entries: &[
        Entry::function(c"check", 2, check),
        Entry::function(c"fail", 1, fail),
        Entry::function(c"group", 2, group),
        Entry::function(c"randomSeed", 1, random_seed),
        Entry::function(c"sleep", 1, sleep),
    ],
    made: &[],
    make: None,
};

/// `sleep(seconds)`.
fn sleep<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let seconds = call.argument(0).to_number()?;
    if seconds > 0.0 {
        let span = Duration::try_from_secs_f64(seconds).unwrap_or(FOREVER);
        let timer = plimsoll_engine::timer::sleep(span.min(FOREVER));
        let slept = match span < LONG {
            true => context.wait(timer),
            false => context.wait_long(timer),
        };
        slept.map_err(|cancelled| context.cancelled(cancelled))?;
    }
    Ok(context.undefined())
}

/// From here on, the memory of a sleeping user matters more than a system call before the sleep.
const LONG: Duration = Duration::from_secs(1);
/// A century. Longer sleeps are truncated to it, because they would overflow a moment.
const FOREVER: Duration = Duration::from_secs(3_200_000_000);

/// `fail(message)`.
fn fail<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let message = call.argument(0);
    let message = if message.is_nullish() {
        String::new()
    } else {
        message.to_text()?.into_string()
    };
    Err(context.throw_plain(message))
}

/// `group(name, body)`.
fn group<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let user = user(context);
    let work = user.working(context, "Using group()")?;
    let name = call.argument(0);
    let name = if name.is_nullish() {
        context.string("")?.to_text()?
    } else {
        name.to_text()?
    };
    let body = call.argument(1);
    if !body.is_function() {
        return Err(context.throw_plain("group() requires a callback as a second argument"));
    }
    let keeps_context = user.common.keeps_metric_context;
    if body.is_async_function() && !keeps_context {
        return Err(context.throw_plain(
            "group() does not support async functions, whose code would run after the group has ended; call it around \
             synchronous code, or enable them with --features async-metric-context",
        ));
    }
    refuse_separator(context, &name)?;
    if keeps_context {
        return group_with_context(context, &name, &body);
    }
    let outside = user.tags.enter_group(&name);
    let started = plimsoll_clock::now();
    let result = body.call(&context.undefined(), &[]);
    let ended = plimsoll_clock::now();
    let (path, tags) = user.tags.leave_group(outside);
    if !context.is_cancelled()
        && let Some(tags) = tags
    {
        work.recorder
            .group(&path, ended.since(started), &tags, ended);
    }
    result
}

/// A group whose tags follow its code across `await`. It ends when the promise that `body` returns is settled.
fn group_with_context<'c>(context: &'c Context, name: &str, body: &Value<'c>) -> Returned<'c> {
    let tags = &user(context).tags;
    let outside = tags.scope();
    let _ = tags.enter_group(name);
    let (inside, open) = (
        tags.scope(),
        OpenGroup {
            path: tags.group(),
            tags: tags.base(),
            started: plimsoll_clock::now(),
        },
    );
    tags.exchange(outside);
    let result = within(context, inside, || body.call(&context.undefined(), &[]));
    let then = match &result {
        Ok(result) if result.is_object() => result.get("then")?,
        _ => context.undefined(),
    };
    if !then.is_function() {
        open.end(context);
        return result;
    }
    let promise = context.global().get("Promise")?;
    let promise = promise.invoke("resolve", &[&result?])?;
    let open = context.instance(open)?;
    let fulfilled = context.function_with(&open, |context, call| {
        end_group(context, call);
        Ok(call.argument(1).clone())
    })?;
    let rejected = context.function_with(&open, |context, call| {
        end_group(context, call);
        Err(context.throw(call.argument(1).clone()))
    })?;
    promise.invoke("then", &[&fulfilled, &rejected])
}

/// A group that has not ended: its path, its tags at the start, and the start.
struct OpenGroup {
    path: String,
    tags: Option<BaseTags>,
    started: Moment,
}

impl Class for OpenGroup {
    const IN_IMAGE: InImage<Self> = InImage::Refused("a group");
}

impl OpenGroup {
    fn end(&self, context: &Context) {
        if let (Some(tags), Some(work)) = (&self.tags, user(context).work())
            && !context.is_cancelled()
        {
            let ended = plimsoll_clock::now();
            work.recorder
                .group(&self.path, ended.since(self.started), tags, ended);
        }
    }
}

fn end_group(context: &Context, call: &Call<'_>) {
    if let Some(open) = call.argument(0).instance::<OpenGroup>() {
        open.end(context);
    }
}

/// `check(value, sets, tags?)`: one sample for each entry of `sets`.
fn check<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let user = user(context);
    let work = user.working(context, "Using check()")?;
    if call.count() < 2 {
        return Err(context.throw_plain("check() needs the checks as its second argument"));
    }
    let (value, sets) = (call.argument(0), call.argument(1));
    if sets.is_nullish() {
        return Err(context.throw_type("check() needs an object of checks, not undefined or null"));
    }
    // The entries of a string are its characters.
    let boxed = match sets.is_string() {
        true => Some(
            context
                .global()
                .get("Object")?
                .call(&context.undefined(), &[&sets])?,
        ),
        false => None,
    };
    let sets = boxed.as_ref().unwrap_or(&sets);
    let at = plimsoll_clock::now();
    let mut all_passed = true;
    with_tags(&call.argument(2), |tags| {
        for key in sets.keys()? {
            // The name is converted to a string only once. It is needed again when the outcome is known.
            let (outcome, passed) = key.with_text(|name| {
                refuse_separator(context, name)?;
                let test = sets.get(&key)?;
                if test.is_async_function() {
                    return Err(context.throw_plain(
                        "check() does not support async functions, whose outcome is not known yet; await the value \
                         first, or use the check of the k6-utils library",
                    ));
                }
                let outcome = evaluate(context, &test, &value);
                let passed = matches!(outcome, Ok(true));
                if let Some(base) = user.base_tags()
                    && !context.is_cancelled()
                {
                    work.recorder.check(name, passed, &base, tags, at);
                }
                Ok((outcome, passed))
            })?;
            outcome?;
            all_passed &= passed;
        }
        Ok(())
    })?;
    Ok(context.bool(all_passed))
}

/// Whether one check passes: the result of its function, or its own value.
fn evaluate<'c>(context: &'c Context, test: &Value<'c>, value: &Value<'c>) -> Result<bool, Thrown> {
    if !test.is_function() {
        return Ok(test.is_truthy());
    }
    let result = test.call(&context.undefined(), &[value])?;
    Ok(result.is_truthy())
}

fn refuse_separator(context: &Context, name: &str) -> Result<(), Thrown> {
    // This is faster than a substring search. Names are short, and every check of every iteration has one.
    if name.as_bytes().windows(2).any(|pair| pair == b"::") {
        return Err(context.throw_plain(format!(
            "{name:?}: names of groups and checks may not contain '::', which separates the names of nested groups"
        )));
    }
    Ok(())
}

/// `randomSeed(integer)`: from now on, `Math.random` returns the sequence for that seed.
fn random_seed<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let seed = call.argument(0).to_integer()?;
    *user(context).random.borrow_mut() = Some(GoRand::new(seed));
    let random = context.function("random", 0, random)?;
    context.global().get("Math")?.set("random", random)?;
    Ok(context.undefined())
}

/// `Math.random()` after `randomSeed`.
fn random<'c>(context: &'c Context, _: &Call<'c>) -> Returned<'c> {
    let next = user(context)
        .random
        .borrow_mut()
        .as_mut()
        .map_or(0.0, GoRand::next_f64);
    Ok(context.number(next))
}
