//! One running copy of a program: an engine instance, its user, and its exports.

use std::cell::RefCell;
use std::collections::HashMap;
use std::future::poll_fn;
use std::rc::Rc;
use std::sync::Arc;

use plimsoll_engine::{AbortReason, Stop};

use crate::event_loop::Drained;
use crate::failure::{ScriptError, uncaught, with_stack};
use crate::globals;
use crate::names;
use crate::program::UserLoader;
use crate::pure::logline::Level;
use crate::quickjs::{Context, Fiber, Persistent, PromiseState, Runtime, Settings, Thrown, Value};
use crate::user::{Phase, User, user};

/// One running copy of a program.
pub struct Instance {
    pub user: Rc<User>,
    exports: Rc<Persistent>,
    functions: RefCell<HashMap<String, Rc<Persistent>>>,
    /// The last to go: what is kept above belongs to it.
    runtime: Runtime,
}

/// How a call into the script ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome<T> {
    /// It returned, and all that it had set going is done.
    Returned(T),
    /// An exception; the text has its stack.
    Threw(String),
    /// A promise was rejected and nobody handled it; the text says so.
    Rejected(String),
    /// It was ended by force.
    Interrupted,
    /// The script asked for the end of the run.
    Aborted(AbortReason),
}

impl Instance {
    /// Starts a copy of the program: runs its init code, until `stop` is given.
    ///
    /// # Errors
    /// What the init code threw, or that it asked for the end of the run.
    pub async fn start(user: User, stop: Option<&Stop>) -> Result<Self, ScriptError> {
        Self::start_limited(user, stop, None).await
    }

    /// Like [`Instance::start`], with at most this many bytes of memory for the engine.
    ///
    /// # Errors
    /// What the init code threw, or that it asked for the end of the run.
    pub async fn start_limited(
        user: User,
        stop: Option<&Stop>,
        memory_limit: Option<usize>,
    ) -> Result<Self, ScriptError> {
        let user = Rc::new(user);
        let settings = Settings {
            names: names::TABLE,
            memory_limit,
            loader: Rc::new(UserLoader),
        };
        let runtime = Runtime::new(settings, Rc::clone(&user))
            .map_err(|error| ScriptError::Aborted(AbortReason::Machine(error.to_string())))?;
        let asked = Rc::clone(&user);
        runtime.set_interrupt(Some(Rc::new(move |now| asked.is_overdue(now))));
        let started = run(&runtime, &user, stop, |context| {
            let outcome = globals::define(context).and_then(|()| load_entry(context));
            settle(context, outcome, |value| Ok(Persistent::new(&value)))
        });
        match started.await {
            Outcome::Returned(exports) => Ok(Self {
                user,
                exports: Rc::new(exports),
                functions: RefCell::default(),
                runtime,
            }),
            Outcome::Threw(text) => Err(ScriptError::Exception(text)),
            Outcome::Rejected(text) => Err(ScriptError::Unusable(text)),
            Outcome::Interrupted => Err(ScriptError::Exception(
                "the init code was interrupted".to_owned(),
            )),
            Outcome::Aborted(reason) => Err(ScriptError::Aborted(reason)),
        }
    }

    /// Looks at the exports, without running any of them.
    pub fn with_exports<R>(&self, body: impl for<'c> FnOnce(&Value<'c>) -> R) -> R {
        self.runtime
            .enter(|context| body(&self.exports.restore(context)))
    }

    /// The exported function `name`.
    pub fn function(&self, name: &str) -> Option<Rc<Persistent>> {
        if let Some(function) = self.functions.borrow().get(name) {
            return Some(Rc::clone(function));
        }
        let found = self.with_exports(|exports| match exports.get(name) {
            Ok(value) if value.is_function() => Some(Rc::new(Persistent::new(&value))),
            Ok(_) => None,
            Err(thrown) => {
                drop(exports.context().take_exception(thrown));
                None
            }
        })?;
        self.functions
            .borrow_mut()
            .insert(name.to_owned(), Rc::clone(&found));
        Some(found)
    }

    /// Calls an exported function with `argument` (JSON; none is undefined), waits until all that it has set going is
    /// done, and gives what `read` makes of its result.
    pub async fn call<T: 'static>(
        &self,
        phase: Phase,
        function: Rc<Persistent>,
        argument: Argument,
        stop: Option<&Stop>,
        read: impl for<'c> FnOnce(Value<'c>) -> Result<T, Thrown> + 'static,
    ) -> Outcome<T> {
        self.user.set_phase(phase);
        let called = run(&self.runtime, &self.user, stop, move |context| {
            let outcome = argument.make(context).and_then(|argument| {
                function
                    .restore(context)
                    .call(&context.undefined(), &[&argument])
            });
            settle(context, outcome, read)
        });
        called.await
    }

    /// Sets the global `__ITER`.
    pub fn set_iteration(&self, number: u64) {
        self.runtime.enter(|context| {
            let set = context.global().set(names::ITER, context.integer(number));
            if let Err(thrown) = set {
                // The script has made it read-only; so be it.
                drop(context.take_exception(thrown));
            }
        });
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // What was left running may hold the user, and so itself.
        self.user.event_loop.abandon();
        self.runtime.set_interrupt(None);
    }
}

/// What an exported function is called with.
pub enum Argument {
    /// JSON text, read anew.
    Json(Arc<str>),
    /// Nothing.
    Undefined,
    /// What set-up returned: read once for each user, then shared by its iterations.
    Setup,
}

impl Argument {
    fn make<'c>(&self, context: &'c Context) -> Result<Value<'c>, Thrown> {
        match self {
            Argument::Undefined => Ok(context.undefined()),
            Argument::Json(text) => context.parse_json(text, "data"),
            Argument::Setup => {
                let user = user(context);
                if let Some(kept) = user.setup_value.get() {
                    return Ok(kept.restore(context));
                }
                let value = match user.common.setup_data.get() {
                    Some(Some(text)) => context.parse_json(text, "setup data")?,
                    _ => context.undefined(),
                };
                // Nobody else sets it: a user runs one script at a time.
                let _ = user.setup_value.set(Persistent::new(&value));
                Ok(value)
            }
        }
    }
}

/// Runs `body` on a stack of its own, with the user's event loop beside it, until it returns or `stop` is given.
async fn run<T: 'static>(
    runtime: &Runtime,
    user: &Rc<User>,
    stop: Option<&Stop>,
    body: impl FnOnce(&Context) -> Outcome<T> + 'static,
) -> Outcome<T> {
    *user.stop.borrow_mut() = stop.cloned();
    let mut fiber = match Fiber::new(runtime, body) {
        Ok(fiber) => fiber,
        Err(error) => return Outcome::Aborted(AbortReason::Machine(error.to_string())),
    };
    poll_fn(|task| {
        if stop.is_some_and(Stop::is_stopped) {
            let ended = fiber.poll_cancel(task);
            return ended.map(|outcome| outcome.unwrap_or(Outcome::Interrupted));
        }
        user.event_loop.poll_with(&mut fiber, task)
    })
    .await
}

/// The module or file that is the script itself, run: its exports.
fn load_entry<'c>(context: &'c Context) -> Result<Value<'c>, Thrown> {
    let user = user(context);
    let name = user.library().entry().name();
    let exports = crate::program::run_entry(context, &name)?;
    write_options_back(context, &exports)?;
    Ok(exports)
}

/// Gives the script's own `options` the values that hold for the run.
fn write_options_back(context: &Context, exports: &Value<'_>) -> Result<(), Thrown> {
    let Some(changes) = user(context).common.option_changes.get() else {
        return Ok(());
    };
    let options = exports.get("options")?;
    if options.is_object() {
        for (key, json) in changes {
            options.set(key.as_str(), context.parse_json(json, "options")?)?;
        }
    }
    Ok(())
}

/// Waits until all that the script has set going is done, and makes an outcome of it.
fn settle<'c, T>(
    context: &'c Context,
    outcome: Result<Value<'c>, Thrown>,
    read: impl FnOnce(Value<'c>) -> Result<T, Thrown>,
) -> Outcome<T> {
    let user = user(context);
    let outcome = match outcome {
        Ok(value) => match user.event_loop.drain(context) {
            Ok(()) => context
                .check_not_ended()
                .and_then(|()| settled(context, value))
                .and_then(read)
                .map_err(|thrown| of_exception(context, thrown)),
            Err(Drained::Thrown(thrown)) => Err(of_exception(context, thrown)),
            Err(Drained::Unhandled(reason)) => {
                let exception = crate::quickjs::Exception(reason.restore(context));
                Err(Outcome::Rejected(uncaught(&exception)))
            }
        },
        Err(thrown) => Err(of_exception(context, thrown)),
    };
    for timer in user.event_loop.abandon() {
        let text = format!("the timer {timer} was still set when the script ended, and is dropped");
        user.log(Level::Warning, &text);
    }
    // Rejections that nobody can handle any more belong to what has just ended.
    while context.take_unhandled_rejection().is_some() {}
    match outcome {
        Ok(value) => Outcome::Returned(value),
        Err(other) => other,
    }
}

/// The value of a promise that is fulfilled by now; any other value as it is.
fn settled<'c>(context: &'c Context, value: Value<'c>) -> Result<Value<'c>, Thrown> {
    match value.promise_state() {
        None => Ok(value),
        Some(PromiseState::Fulfilled(value)) => Ok(value),
        Some(PromiseState::Rejected(reason)) => {
            value.mark_handled();
            Err(context.throw(reason))
        }
        // Nothing is left that could settle it, so it never will be. k6 takes that for an end as well.
        Some(PromiseState::Pending) => Ok(context.undefined()),
    }
}

/// What an exception means for the run.
fn of_exception<T>(context: &Context, thrown: Thrown) -> Outcome<T> {
    let user = user(context);
    let exception = context.take_exception(thrown);
    if !exception.is_uncatchable() {
        return Outcome::Threw(with_stack(&exception));
    }
    if let Some(reason) = user.abort.borrow_mut().take() {
        return Outcome::Aborted(reason);
    }
    if context.is_cancelled() || user.is_overdue(plimsoll_clock::now()) {
        return Outcome::Interrupted;
    }
    Outcome::Threw(with_stack(&exception))
}
