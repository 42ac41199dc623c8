//! One run of a script's init code: a runtime with the script's exports.

use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::task::Poll;

use engine::{AbortReason, Stop};

use crate::event_loop::Drained;
use crate::failure::{ScriptError, describe};
use crate::names;
use crate::program::UserLoader;
use crate::quickjs::{
    Context, Fiber, Persistent, PromiseState, Runtime, Settings, Thrown, Value,
};
use crate::user::User;
use crate::{globals, quickjs};

/// A user's runtime after its init code.
pub(crate) struct Instance {
    // Dropped before the runtime that its values live in.
    namespace: Persistent,
    pub user: Rc<User>,
    pub runtime: Runtime,
}

/// How a call into a script ended.
#[derive(Debug)]
pub(crate) enum Outcome<T> {
    /// It returned.
    Returned(T),
    /// It threw; as the log shows it.
    Threw(String),
    /// It was ended by force.
    Interrupted,
    /// It asked for the end of the run.
    Aborted(AbortReason),
}

impl Instance {
    /// Runs the init code for `user`.
    ///
    /// # Errors
    /// What it threw.
    pub async fn start(user: Rc<User>) -> Result<Instance, ScriptError> {
        let settings =
            Settings { names: names::TABLE, memory_limit: None, loader: Rc::new(UserLoader) };
        let runtime = Runtime::new(settings, Rc::clone(&user))
            .map_err(|error| ScriptError::Exception(error.to_string()))?;
        let entry = user.library().entry().name();
        let stop = Stop::new();
        let outcome = run(&runtime, &user, &stop, move |context| {
            globals::define(context)?;
            let importing = context.import(&entry, &entry)?;
            settle(context, &importing)?;
            match importing.promise_state() {
                Some(PromiseState::Fulfilled(namespace)) => Ok(Persistent::new(&namespace)),
                Some(PromiseState::Rejected(reason)) => Err(context.throw(reason)),
                _ => Err(context.throw_plain("the init code waits for something that never comes")),
            }
        })
        .await;
        match outcome {
            Outcome::Returned(namespace) => Ok(Instance { runtime, user, namespace }),
            Outcome::Threw(text) => Err(ScriptError::Exception(text)),
            Outcome::Aborted(reason) => Err(ScriptError::Aborted(reason)),
            Outcome::Interrupted => Err(ScriptError::Exception("the init code was interrupted".to_owned())),
        }
    }

    /// An export of the script; undefined if there is none of that name.
    pub fn export<'c>(&self, context: &'c Context, name: &str) -> Result<Value<'c>, Thrown> {
        exported(&self.namespace.restore(context), name)
    }

    /// A handle on all exports, for code that runs later on the script's stack.
    pub fn namespace(&self) -> Persistent {
        self.runtime.enter(|context| Persistent::new(&self.namespace.restore(context)))
    }

    /// Runs `body` on the script's own stack, then what it left running.
    pub async fn run<T: 'static>(
        &self,
        stop: &Stop,
        body: impl FnOnce(&Context) -> Result<T, Thrown> + 'static,
    ) -> Outcome<T> {
        run(&self.runtime, &self.user, stop, body).await
    }
}

/// An export by name. A script in CommonJS has them on its default export too.
pub(crate) fn exported<'c>(namespace: &Value<'c>, name: &str) -> Result<Value<'c>, Thrown> {
    let value = namespace.get(name)?;
    if !value.is_undefined() || name == "default" {
        return Ok(value);
    }
    Ok(value)
}

/// Calls an exported function, waits for the promise that it may return, and
/// for all that it left running.
pub(crate) fn call_to_end<'c>(
    context: &'c Context,
    function: &Value<'c>,
    arguments: &[&Value<'c>],
) -> Result<Value<'c>, Thrown> {
    let result = function.call(&context.undefined(), arguments)?;
    settle(context, &result)?;
    match result.promise_state() {
        Some(PromiseState::Fulfilled(value)) => Ok(value),
        Some(PromiseState::Rejected(reason)) => Err(context.throw(reason)),
        // A promise that nothing can settle any more: the function never ended.
        Some(PromiseState::Pending) | None => Ok(result),
    }
}

/// Runs the event loop until nothing is left. If `result` is a promise, its
/// rejection is the caller's to tell.
fn settle(context: &Context, result: &Value<'_>) -> Result<(), Thrown> {
    let user = crate::user::user(context);
    match user.event_loop.drain(context) {
        Ok(()) => Ok(()),
        Err(Drained::Thrown(thrown)) => Err(thrown),
        Err(Drained::Unhandled(reason)) => {
            if let Some(PromiseState::Rejected(_)) = result.promise_state() {
                result.mark_handled();
            }
            Err(context.throw(reason.restore(context)))
        }
    }
}

/// Runs `body` in a fiber, polled together with the user's event loop, until
/// it is done or `stop` is given.
async fn run<T: 'static>(
    runtime: &Runtime,
    user: &Rc<User>,
    stop: &Stop,
    body: impl FnOnce(&Context) -> Result<T, Thrown> + 'static,
) -> Outcome<T> {
    let fiber = Fiber::new(runtime, move |context| match body(context) {
        Ok(value) => Outcome::Returned(value),
        Err(thrown) => {
            let exception = context.take_exception(thrown);
            if exception.is_uncatchable() { Outcome::Interrupted } else { Outcome::Threw(describe(&exception)) }
        }
    });
    let mut fiber = match fiber {
        Ok(fiber) => fiber,
        Err(error) => return Outcome::Aborted(AbortReason::Machine(error.to_string())),
    };
    let outcome = poll_fn(|task| {
        if stop.is_stopped() {
            let cancelled = fiber.cancel().unwrap_or(Outcome::Interrupted);
            return Poll::Ready(cancelled);
        }
        user.event_loop.poll_with(&mut fiber, task)
    })
    .await;
    drop(Pin::new(&mut fiber));
    if !user.event_loop.is_idle() {
        user.event_loop.abandon();
    }
    match user.abort.borrow_mut().take() {
        Some(reason) => Outcome::Aborted(reason),
        None => outcome,
    }
}

/// Interrupts a script that holds its worker's thread past its deadline, or
/// while the whole run is being aborted.
pub(crate) fn watch_over(runtime: &quickjs::Runtime, user: &Rc<User>) {
    let user = Rc::downgrade(user);
    runtime.set_interrupt(Some(Rc::new(move || {
        let Some(user) = user.upgrade() else { return true };
        if user.abort.borrow().is_some() {
            return true;
        }
        let aborted = user.run_is_aborted();
        let iteration = user.iteration.borrow();
        let overdue = iteration.as_ref().is_some_and(|it| it.stop.is_overdue(clock::now()));
        overdue || aborted
    })));
}
