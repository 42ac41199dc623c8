//! One running copy of a program: an engine instance, its user, and its exports.

use std::any::Any;
use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::future::poll_fn;
use std::rc::Rc;
use std::sync::Arc;

use log::Level;
use plimsoll_engine::{AbortReason, Stop, UserMemory};
use plimsoll_k6::names;
use plimsoll_k6::user::{Phase, User, user};
use plimsoll_quickjs::{
    Context, Fiber, Persistent, PromiseState, Runtime, Settings, Thrown, Value,
};
use plimsoll_samples::Mask;

use crate::failure::{CallFailure, ScriptError, uncaught, with_stack};
use crate::globals;
use crate::program::UserLoader;

/// One running copy of a program.
pub struct Instance {
    pub user: Rc<User>,
    exports: Rc<Persistent>,
    functions: RefCell<HashMap<String, Rc<Persistent>>>,
    /// Dropped after the values above, which belong to it.
    runtime: Runtime,
    /// Keeps the image that it started from alive, if any.
    _origin: Option<Rc<dyn Any>>,
}

/// How a call into the script ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome<T> {
    /// It returned, and everything it started is done.
    Returned(T),
    /// It threw an exception; the text includes the stack.
    Threw(String),
    /// A promise was rejected and not handled, or the init code never finished. The text explains it.
    Rejected(String),
    /// It was interrupted.
    Interrupted,
    /// The script asked to end the run.
    Aborted(AbortReason),
}

impl<T> Outcome<T> {
    /// Masks the secrets that the script has read.
    fn masked(self, mask: Option<&Arc<Mask>>) -> Self {
        let Some(mask) = mask else { return self };
        match self {
            Outcome::Threw(text) => Outcome::Threw(mask.apply(&text).into_owned()),
            Outcome::Rejected(text) => Outcome::Rejected(mask.apply(&text).into_owned()),
            Outcome::Aborted(AbortReason::ByScript(text)) => {
                Outcome::Aborted(AbortReason::ByScript(mask.apply(&text).into_owned()))
            }
            other => other,
        }
    }
}

impl Outcome<Persistent> {
    /// The script's exports, if the init code returned.
    ///
    /// # Errors
    /// The exception of the init code, or its request to end the run.
    pub(crate) fn into_exports(self) -> Result<Persistent, ScriptError> {
        match self {
            Outcome::Returned(exports) => Ok(exports),
            Outcome::Threw(text) => Err(ScriptError::Exception(text)),
            Outcome::Rejected(text) => Err(ScriptError::Unusable(text)),
            Outcome::Interrupted => Err(ScriptError::Exception(
                "the init code was interrupted".to_owned(),
            )),
            Outcome::Aborted(reason) => Err(ScriptError::Aborted(reason)),
        }
    }
}

impl Instance {
    /// Starts a copy of the program: runs its init code, or stops it when `stop` fires.
    ///
    /// # Errors
    /// The exception of the init code, or its request to end the run.
    pub async fn start(user: User, stop: Option<&Stop>) -> Result<Self, ScriptError> {
        Self::start_limited(user, stop, None).await
    }

    /// Like [`Instance::start`], but the engine may use at most this many bytes of memory.
    ///
    /// # Errors
    /// The exception of the init code, or its request to end the run.
    pub async fn start_limited(
        user: User,
        stop: Option<&Stop>,
        memory_limit: Option<usize>,
    ) -> Result<Self, ScriptError> {
        let user = Rc::new(user);
        let runtime = Runtime::new(settings(&user, memory_limit), Rc::clone(&user))?;
        let exports = run_init(&runtime, &user, stop).await.into_exports()?;
        Ok(Self {
            user,
            exports: Rc::new(exports),
            functions: RefCell::default(),
            runtime,
            _origin: None,
        })
    }

    /// A copy of the program whose init code has run already, in the image that `origin` keeps.
    pub(crate) fn of_image(
        user: Rc<User>,
        exports: Rc<Persistent>,
        runtime: Runtime,
        origin: Rc<dyn Any>,
    ) -> Self {
        Self {
            user,
            exports,
            functions: RefCell::default(),
            runtime,
            _origin: Some(origin),
        }
    }

    /// Passes the exports to `body`, without running any of them.
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

    /// Calls an exported function with `argument`, waits until everything it started is done, and returns what `read`
    /// extracts from its result.
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

    pub fn memory(&self) -> UserMemory {
        let mut memory = UserMemory {
            users: 1,
            ..UserMemory::default()
        };
        match self.runtime.image_size() {
            Some(size) => {
                memory.users_with_image = 1;
                memory.changes = size.changed as u64;
                memory.objects = size.made as u64;
            }
            None => memory.heaps = self.runtime.allocated() as u64,
        }
        if let Some(client) = self.user.client() {
            let (connections, buffers) = client.idle_memory();
            memory.connections = connections as u64;
            memory.buffers = buffers as u64;
        }
        memory
    }

    /// Sets the global `__ITER`.
    pub fn set_iteration(&self, number: u64) {
        self.runtime.enter(|context| {
            let set = context.global().set(names::ITER, context.integer(number));
            if let Err(thrown) = set {
                // The script has made it read-only. Ignore that.
                drop(context.take_exception(thrown));
            }
        });
    }
}

impl Instance {
    /// Frees the objects of an interrupted call, if there are any, and lets the worker's other users run meanwhile.
    pub async fn free_left_over(&self) {
        // Without memory for a stack, the next call fails too.
        if self.runtime.has_left_over()
            && let Ok(freeing) = Fiber::new(&self.runtime, |_| ())
        {
            freeing.await;
        }
    }

    /// Frees the instance, and lets the worker's other users run meanwhile. Dropping it does not pause, and takes seconds
    /// with millions of objects.
    pub async fn free(self) {
        let runtime = self.runtime.clone();
        drop(self);
        if let Ok(freeing) = runtime.free() {
            freeing.await;
        }
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // Pending operations may hold the user, which would keep itself alive.
        self.user.event_loop.abandon();
        self.runtime.set_interrupt(None);
    }
}

/// The argument of an exported function.
pub enum Argument {
    /// JSON text, parsed for each call.
    Json(Arc<str>),
    /// JSON text, parsed once. The value is stored here, for the changes that the function makes to it.
    Kept(Arc<str>, Rc<OnceCell<Persistent>>),
    /// `undefined`.
    Undefined,
    /// The result of `setup`: parsed once per user, then shared by its iterations.
    Setup,
}

impl Argument {
    fn make<'c>(&self, context: &'c Context) -> Result<Value<'c>, Thrown> {
        match self {
            Argument::Undefined => Ok(context.undefined()),
            Argument::Json(text) => context.parse_json(text, "data"),
            Argument::Kept(text, kept) => {
                let value = context.parse_json(text, "data")?;
                // It is only set here.
                let _ = kept.set(Persistent::new(&value));
                Ok(value)
            }
            Argument::Setup => {
                let user = user(context);
                if let Some(kept) = user.setup_value.get() {
                    return Ok(kept.restore(context));
                }
                let value = match user.common.setup_data.text() {
                    Some(text) => context.parse_json(&text, "setup data")?,
                    None => context.undefined(),
                };
                // Nothing else sets it: a user runs one script at a time.
                let _ = user.setup_value.set(Persistent::new(&value));
                Ok(value)
            }
        }
    }
}

/// The settings of a user's runtime.
pub(crate) fn settings(user: &User, memory_limit: Option<usize>) -> Settings {
    Settings {
        names: names::TABLE,
        memory_limit,
        loader: Rc::new(UserLoader(Arc::clone(&user.common.files))),
    }
}

pub(crate) fn interrupt_when_overdue(runtime: &Runtime, user: &Rc<User>) {
    let user = Rc::clone(user);
    runtime.set_interrupt(Some(Rc::new(move |now| user.is_overdue(now))));
}

/// Runs the init code and returns the script's exports.
pub(crate) async fn run_init(
    runtime: &Runtime,
    user: &Rc<User>,
    stop: Option<&Stop>,
) -> Outcome<Persistent> {
    interrupt_when_overdue(runtime, user);
    let started = run(runtime, user, stop, |context| {
        let outcome = globals::define(context)
            .map_err(CallFailure::from)
            .and_then(|()| load_entry(context));
        settle(context, outcome, |value| Ok(Persistent::new(&value)))
    });
    started.await
}

/// Runs the first part of the init code: `count` of the script's imports.
pub(crate) async fn run_common_part(
    runtime: &Runtime,
    user: &Rc<User>,
    count: usize,
) -> Outcome<()> {
    interrupt_when_overdue(runtime, user);
    let started = run(runtime, user, None, move |context| {
        let outcome = globals::define(context)
            .and_then(|()| crate::program::run_common_part(context, count))
            .map(|()| context.undefined());
        settle(context, outcome, |_| Ok(()))
    });
    started.await
}

/// Runs the rest of the init code after [`run_common_part`], and returns the script's exports.
pub(crate) async fn run_rest(runtime: &Runtime, user: &Rc<User>) -> Outcome<Persistent> {
    let started = run(runtime, user, None, |context| {
        let outcome = globals::define_number(context)
            .map_err(CallFailure::from)
            .and_then(|()| load_entry(context));
        settle(context, outcome, |value| Ok(Persistent::new(&value)))
    });
    started.await
}

/// Runs `body` on its own stack, together with the user's event loop, until it returns or `stop` fires.
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

/// Runs the module or file that is the script itself, and returns its exports.
fn load_entry<'c>(context: &'c Context) -> Result<Value<'c>, CallFailure> {
    let exports = crate::program::run_entry(context)?;
    write_options_back(context, &exports)?;
    Ok(exports)
}

/// Writes the values that apply to the run into the script's own `options`.
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

/// The message for init code that never finishes.
const UNFINISHED: &str =
    "the script's top-level await waits for a promise that can never be settled";

/// Waits until everything the script started is done, and builds the outcome.
fn settle<'c, T>(
    context: &'c Context,
    outcome: Result<Value<'c>, impl Into<CallFailure>>,
    read: impl FnOnce(Value<'c>) -> Result<T, Thrown>,
) -> Outcome<T> {
    let user = user(context);
    let outcome = outcome.map_err(Into::into).and_then(|value| {
        user.event_loop.drain(context)?;
        context.check_not_ended()?;
        Ok(read(settled(context, value)?)?)
    });
    let outcome = outcome.map_err(|failure| match failure {
        CallFailure::Thrown(thrown) => of_exception(context, thrown),
        CallFailure::Unhandled(reason) => {
            let exception = plimsoll_quickjs::Exception(reason.restore(context));
            Outcome::Rejected(uncaught(&exception))
        }
        CallFailure::Unfinished => Outcome::Rejected(UNFINISHED.to_owned()),
    });
    for timer in user.event_loop.abandon() {
        let text =
            format!("the timer {timer} was still set when the script ended, and was dropped");
        user.log(Level::Warn, &text);
    }
    // Later handlers cannot handle these rejections: they belong to the call that has just ended.
    while context.take_unhandled_rejection().is_some() {}
    match outcome {
        Ok(value) => Outcome::Returned(value),
        Err(other) => other.masked(user.common.secrets.mask()),
    }
}

/// The value of a fulfilled promise; any other value unchanged.
fn settled<'c>(context: &'c Context, value: Value<'c>) -> Result<Value<'c>, Thrown> {
    match value.promise_state() {
        None => Ok(value),
        Some(PromiseState::Fulfilled(value)) => Ok(value),
        Some(PromiseState::Rejected(reason)) => {
            value.mark_handled();
            Err(context.throw(reason))
        }
        // Nothing is left that could settle this promise. k6 treats that as a normal end as well.
        Some(PromiseState::Pending) => Ok(context.undefined()),
    }
}

/// The outcome that an exception leads to.
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
