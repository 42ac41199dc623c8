//! Promises and the engine's job queue.

use std::cell::RefCell;
use std::ffi::c_void;
use std::ptr::NonNull;

use crate::runtime::Inner;
use crate::{Context, Exception, Persistent, Thrown, Value, sys};

pub enum PromiseState<'c> {
    Pending,
    Fulfilled(Value<'c>),
    Rejected(Value<'c>),
}

/// Settles a promise. It can do so only once.
pub struct Resolver {
    resolve: Persistent,
    reject: Persistent,
}

impl Resolver {
    /// Settles the promise with the outcome of an operation.
    pub fn settle<'c>(
        self,
        context: &'c Context,
        outcome: Result<Value<'c>, Thrown>,
    ) -> Result<(), Thrown> {
        let (function, value) = match outcome {
            Ok(value) => (&self.resolve, value),
            Err(thrown) => {
                let exception = context.take_exception(thrown);
                if exception.is_uncatchable() {
                    return Err(exception.rethrow());
                }
                (&self.reject, exception.0)
            }
        };
        function
            .restore(context)
            .call(&context.undefined(), &[&value])
            .map(drop)
    }
}

impl Context {
    /// A pending promise and its resolver.
    pub fn promise(&self) -> Result<(Value<'_>, Resolver), Thrown> {
        let mut functions = [sys::JS_UNDEFINED; 2];
        // SAFETY: on success, the engine fills both variables with values that belong to the caller.
        unsafe {
            let raw = sys::JS_NewPromiseCapability(self.raw(), functions.as_mut_ptr());
            let promise = Value::checked(self, raw)?;
            let [resolve, reject] = functions.map(|raw| Value::from_raw(self, raw));
            Ok((
                promise,
                Resolver {
                    resolve: Persistent::new(&resolve),
                    reject: Persistent::new(&reject),
                },
            ))
        }
    }

    /// A promise that is already settled.
    pub fn settled<'c>(&'c self, outcome: Result<Value<'c>, Thrown>) -> Result<Value<'c>, Thrown> {
        let (rejected, value) = match outcome {
            Ok(value) => (false, value),
            Err(thrown) => (true, self.take_exception(thrown).0),
        };
        // SAFETY: the value is live. The engine takes its own reference.
        unsafe {
            Value::checked(
                self,
                sys::JS_NewSettledPromise(self.raw(), rejected, value.raw()),
            )
        }
    }

    /// Runs the jobs that promises have queued until none is left. Returns true if any ran.
    ///
    /// An exception in a job rejects the job's promise, so a returned error means that the script was interrupted.
    pub fn run_jobs(&self) -> Result<bool, Thrown> {
        let mut any = false;
        loop {
            let mut context = std::ptr::null_mut();
            let inner = self.inner();
            // SAFETY: the runtime is live.
            let ran = inner.with_engine_running(true, || unsafe {
                sys::JS_ExecutePendingJob(inner.raw.as_ptr(), &mut context)
            });
            match ran {
                0 => return Ok(any),
                1.. => any = true,
                _ => return Err(Thrown::pending()),
            }
        }
    }

    /// Whether jobs are left to run, or a rejection without a handler.
    pub fn has_jobs(&self) -> bool {
        // SAFETY: the runtime is live.
        let has_jobs = unsafe { sys::JS_IsJobPending(self.inner().raw.as_ptr()) };
        has_jobs || !self.inner().rejections.0.borrow().is_empty()
    }

    /// Takes the oldest rejection without a handler, if there is one.
    pub fn take_unhandled_rejection(&self) -> Option<Exception<'_>> {
        let mut rejections = self.inner().rejections.0.borrow_mut();
        if rejections.is_empty() {
            return None;
        }
        let (promise, reason) = rejections.remove(0);
        drop(rejections);
        // SAFETY: the list owned both references.
        unsafe {
            drop(Value::from_raw(self, promise));
            Some(Exception(Value::from_raw(self, reason)))
        }
    }
}

impl<'c> Value<'c> {
    /// The state of this promise. `None` if the value is not a promise.
    pub fn promise_state(&self) -> Option<PromiseState<'c>> {
        let context = self.context();
        // SAFETY: the value is live. The result is a new reference.
        unsafe {
            let result =
                || Value::from_raw(context, sys::JS_PromiseResult(context.raw(), self.raw()));
            match sys::JS_PromiseState(context.raw(), self.raw()) {
                sys::JSPromiseStateEnum_JS_PROMISE_PENDING => Some(PromiseState::Pending),
                sys::JSPromiseStateEnum_JS_PROMISE_FULFILLED => {
                    Some(PromiseState::Fulfilled(result()))
                }
                sys::JSPromiseStateEnum_JS_PROMISE_REJECTED => {
                    Some(PromiseState::Rejected(result()))
                }
                _ => None,
            }
        }
    }

    /// Tells the engine that this promise's rejection is handled.
    pub fn mark_handled(&self) {
        // SAFETY: the value is live.
        unsafe { sys::JS_PromiseMarkAsHandled(self.context().raw(), self.raw()) };
        self.context()
            .inner()
            .rejections
            .forget(self.context().raw(), self.raw());
    }
}

/// Promises that were rejected without a handler, each with its reason, oldest first.
#[derive(Default)]
pub(super) struct Rejections(RefCell<Vec<(sys::JSValue, sys::JSValue)>>);

impl Rejections {
    /// # Safety
    /// `context` must be the live context of the promises.
    pub(super) unsafe fn clear(&self, context: *mut sys::JSContext) {
        for (promise, reason) in self.0.take() {
            // SAFETY: the list owned both references.
            unsafe {
                sys::JS_FreeValue(context, promise);
                sys::JS_FreeValue(context, reason);
            }
        }
    }

    fn forget(&self, context: *mut sys::JSContext, promise: sys::JSValue) {
        let same = |other: sys::JSValue| {
            // SAFETY: both are live objects, whose identity is their address.
            unsafe { sys::JS_VALUE_GET_PTR(other) == sys::JS_VALUE_GET_PTR(promise) }
        };
        let mut list = self.0.borrow_mut();
        let Some(place) = list.iter().position(|(other, _)| same(*other)) else {
            return;
        };
        let (promise, reason) = list.remove(place);
        drop(list);
        // SAFETY: the list owned both references.
        unsafe {
            sys::JS_FreeValue(context, promise);
            sys::JS_FreeValue(context, reason);
        }
    }
}

/// # Safety
/// The runtime must be live, and its context's opaque pointer must always be the running `Inner`.
pub(super) unsafe fn track_rejections(runtime: NonNull<sys::JSRuntime>) {
    let none = std::ptr::null_mut();
    // SAFETY: per the contract above.
    unsafe { sys::JS_SetHostPromiseRejectionTracker(runtime.as_ptr(), Some(on_rejection), none) }
}

unsafe extern "C" fn on_rejection(
    context: *mut sys::JSContext,
    promise: sys::JSValue,
    reason: sys::JSValue,
    handled: bool,
    _: *mut c_void,
) {
    // SAFETY: the context's opaque pointer is the running `Inner`, and the values are live.
    unsafe {
        let rejections = &(*(sys::JS_GetContextOpaque(context) as *const Inner)).rejections;
        if handled {
            rejections.forget(context, promise);
        } else {
            let pair = (
                sys::JS_DupValue(context, promise),
                sys::JS_DupValue(context, reason),
            );
            rejections.0.borrow_mut().push(pair);
        }
    }
}
