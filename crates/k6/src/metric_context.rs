//! The feature `async-metric-context`: callbacks run with the tags and metadata that were current when they were
//! registered. These are reactions of promises, continuations after `await`, timers and handlers of events.
//!
//! Without the feature, all functions here return the callback itself.

use plimsoll_quickjs::{Call, Class, Context, InImage, Returned, Slot, Thrown, Value};

use crate::tags::{Scope, Tags};
use crate::user::user;

/// Keeps the context of all promises, if the feature is on.
pub fn install(context: &Context) {
    if user(context).common.keeps_metric_context {
        context.wrap_reactions(|context, call| bind(context, &call.argument(0)));
    }
}

/// A function that calls `callback` with the current tags and metadata, if the feature is on. Changes of them during a
/// call end with it.
///
/// # Errors
/// If the engine is out of memory.
pub fn bind<'c>(context: &'c Context, callback: &Value<'c>) -> Returned<'c> {
    let user = user(context);
    // Init code records no samples.
    if !user.common.keeps_metric_context || user.work().is_none() {
        return Ok(callback.clone());
    }
    let registered = context.instance(Registered {
        scope: user.tags.scope(),
        callback: Slot::empty(),
    })?;
    if let Some(registered) = registered.instance::<Registered>() {
        registered.callback.set(callback.clone());
    }
    context.function_with(&registered, call)
}

/// A callback and its context.
struct Registered {
    scope: Scope,
    callback: Slot,
}

impl Class for Registered {
    const IN_IMAGE: InImage<Self> = InImage::Refused("a callback with a metric context");

    fn trace(&self, see: &mut dyn FnMut(&Slot)) {
        see(&self.callback);
    }
}

fn call<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let registered = call.argument(0);
    let Some(registered) = registered.instance::<Registered>() else {
        return Ok(context.undefined());
    };
    let Some(callback) = registered.callback.get(context) else {
        return Ok(context.undefined());
    };
    let arguments: Vec<Value<'c>> = call.arguments().skip(1).map(|one| (*one).clone()).collect();
    let arguments: Vec<&Value<'c>> = arguments.iter().collect();
    within(context, registered.scope.clone(), || {
        callback.call(&call.this(), &arguments)
    })
}

/// Runs `body` with the tags of `scope`, and returns to the current ones.
///
/// # Errors
/// The exception of `body`.
pub fn within<R>(
    context: &Context,
    scope: Scope,
    body: impl FnOnce() -> Result<R, Thrown>,
) -> Result<R, Thrown> {
    let tags = &user(context).tags;
    let _outer = Outer {
        tags,
        scope: Some(tags.exchange(scope)),
    };
    body()
}

/// The tags to return to, even if the callback is interrupted.
struct Outer<'a> {
    tags: &'a Tags,
    scope: Option<Scope>,
}

impl Drop for Outer<'_> {
    fn drop(&mut self) {
        if let Some(scope) = self.scope.take() {
            self.tags.exchange(scope);
        }
    }
}
