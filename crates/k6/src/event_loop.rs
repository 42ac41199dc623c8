//! The timers and promise-based operations that a script has started and not finished.
//!
//! After the script's function has returned, the loop runs on the script's own stack until nothing is left. The user's
//! task polls the operations, also while the script itself waits for something else.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context as TaskContext, Poll};
use std::time::Duration;

use futures_util::stream::{FuturesUnordered, StreamExt};
use plimsoll_engine::timer::sleep_until;
use plimsoll_quickjs::{Context, Fiber, Persistent, Returned, Thrown, Value};
use plimsoll_units::Moment;

/// The work to do in the script after an operation has finished.
type Finish = Box<dyn FnOnce(&Context) -> Result<(), Thrown>>;

/// The timers and operations that a script has started and not finished.
#[derive(Default)]
pub struct EventLoop {
    operations: RefCell<FuturesUnordered<Pin<Box<dyn Future<Output = Finish>>>>>,
    /// Operations started since the last poll.
    started: RefCell<Vec<Pin<Box<dyn Future<Output = Finish>>>>>,
    /// Finished operations whose `Finish` has not run in the script yet.
    finished: RefCell<VecDeque<Finish>>,
    timers: RefCell<BTreeMap<(Moment, u32), Timer>>,
    last_timer: Cell<u32>,
    /// The value passed to [`EventLoop::keep`].
    kept: RefCell<Option<Rc<dyn Any>>>,
}

struct Timer {
    callback: Persistent,
    arguments: Vec<Persistent>,
    every: Option<Duration>,
}

/// A timer's id in the script. Ids start at 1.
pub type TimerId = u32;

impl EventLoop {
    /// Runs `operation` alongside the script. Returns a promise, which `settle` settles with the outcome.
    pub fn promise<'c, T: 'static>(
        &self,
        context: &'c Context,
        operation: impl Future<Output = T> + 'static,
        settle: impl for<'a> FnOnce(&'a Context, T) -> Returned<'a> + 'static,
    ) -> Returned<'c> {
        let (promise, resolver) = context.promise()?;
        self.started.borrow_mut().push(Box::pin(async move {
            let outcome = operation.await;
            let finish: Finish = Box::new(move |context| {
                let settled = settle(context, outcome);
                resolver.settle(context, settled)
            });
            finish
        }));
        Ok(promise)
    }

    /// Runs `operation` alongside the script without reporting when it finishes. It may call [`EventLoop::tell`].
    pub fn run(&self, operation: impl Future<Output = ()> + 'static) {
        self.started.borrow_mut().push(Box::pin(async move {
            operation.await;
            let finish: Finish = Box::new(|_| Ok(()));
            finish
        }));
    }

    /// Queues `finish` to run in the script. Call this only from an operation, because the queue is checked only after
    /// operations have been polled.
    pub fn tell(&self, finish: impl FnOnce(&Context) -> Result<(), Thrown> + 'static) {
        self.finished.borrow_mut().push_back(Box::new(finish));
    }

    /// Keeps `value` until the current call into the script ends for any reason.
    pub fn keep(&self, value: Rc<dyn Any>) {
        let before = self.kept.replace(Some(value));
        drop(before);
    }

    /// The value passed to [`EventLoop::keep`], if it is a `T`.
    pub fn kept<T: Any>(&self) -> Option<Rc<T>> {
        Rc::clone(self.kept.borrow().as_ref()?).downcast().ok()
    }

    /// Calls `callback` after `delay`, and then every `every` if that is set.
    pub fn add_timer(
        &self,
        callback: &Value<'_>,
        arguments: Vec<Persistent>,
        delay: Duration,
        every: Option<Duration>,
    ) -> TimerId {
        let id = self.last_timer.get() + 1;
        self.last_timer.set(id);
        let timer = Timer {
            callback: Persistent::new(callback),
            arguments,
            every,
        };
        self.timers
            .borrow_mut()
            .insert((plimsoll_clock::now() + delay, id), timer);
        id
    }

    /// Continues the timer ids of `other`, as if its timers had been created here.
    pub fn continue_after(&self, other: &EventLoop) {
        self.last_timer.set(other.last_timer.get());
    }

    /// Removes a timer. An unknown id has no effect.
    pub fn remove_timer(&self, id: TimerId) {
        self.timers
            .borrow_mut()
            .retain(|(_, known), _| *known != id);
    }

    /// Runs promise jobs, timers and the callbacks of finished operations until there is nothing left to wait for.
    ///
    /// # Errors
    /// The first exception that a timer's callback throws, or an unhandled rejection, raised as `Uncaught (in
    /// promise)`. The remaining timers and operations are kept.
    #[inline]
    pub fn drain(&self, context: &Context) -> Result<(), Drained> {
        loop {
            context.run_jobs().map_err(Drained::Thrown)?;
            if let Some(rejection) = context.take_unhandled_rejection() {
                return Err(Drained::Unhandled(Persistent::new(&rejection.0)));
            }
            if !self.turn(context).map_err(Drained::Thrown)? {
                return Ok(());
            }
        }
    }

    /// One turn of the loop: promise jobs, then one timer or one finished operation. Waits for it if necessary. Returns
    /// false when there is nothing left to wait for.
    #[inline]
    pub fn turn(&self, context: &Context) -> Result<bool, Thrown> {
        if context.run_jobs()? {
            return Ok(true);
        }
        let finished = self.finished.borrow_mut().pop_front();
        if let Some(finish) = finished {
            finish(context)?;
        } else if let Some((key, timer)) = self.take_due() {
            self.fire(context, key, timer)?;
        } else if self.is_idle() {
            return Ok(false);
        } else {
            context
                .wait(self.next())
                .map_err(|cancelled| context.cancelled(cancelled))?;
        }
        Ok(true)
    }

    /// Whether nothing runs and nothing is queued.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.finished.borrow().is_empty()
            && self.timers.borrow().is_empty()
            && self.started.borrow().is_empty()
            && self.operations.borrow().is_empty()
    }

    /// Drops all timers, operations and the kept value, and returns the ids of the timers.
    #[inline]
    pub fn abandon(&self) -> Vec<TimerId> {
        // Dropping a future may run code that uses this event loop, so nothing may stay borrowed meanwhile.
        drop(self.operations.take());
        drop(self.started.take());
        drop(self.finished.take());
        drop(self.kept.take());
        self.timers.take().into_keys().map(|(_, id)| id).collect()
    }

    #[inline]
    fn take_due(&self) -> Option<((Moment, TimerId), Timer)> {
        let mut timers = self.timers.borrow_mut();
        let first = timers.first_entry()?;
        (first.key().0 <= plimsoll_clock::now()).then(|| first.remove_entry())
    }

    fn fire(
        &self,
        context: &Context,
        (due, id): (Moment, TimerId),
        timer: Timer,
    ) -> Result<(), Thrown> {
        let callback = timer.callback.restore(context);
        let arguments: Vec<_> = timer
            .arguments
            .iter()
            .map(|kept| kept.restore(context))
            .collect();
        if let Some(every) = timer.every {
            // Put the timer back before the call, because the callback may remove it. Missed intervals are skipped.
            let next = (due + every).max(plimsoll_clock::now());
            self.timers.borrow_mut().insert((next, id), timer);
        }
        let arguments: Vec<_> = arguments.iter().collect();
        callback.call(&context.global(), &arguments).map(drop)
    }

    /// Resolves when an operation has finished or a timer is due.
    async fn next(&self) {
        let deadline = self
            .timers
            .borrow()
            .first_key_value()
            .map(|((due, _), _)| *due);
        let mut alarm = pin!(async {
            match deadline {
                Some(due) => sleep_until(due).await,
                None => std::future::pending().await,
            }
        });
        poll_fn(|task| {
            if !self.finished.borrow().is_empty() {
                return Poll::Ready(());
            }
            alarm.as_mut().poll(task)
        })
        .await;
    }

    /// Polls the operations. Returns true if any has finished.
    fn poll_operations(&self, task: &mut TaskContext<'_>) -> bool {
        let started = std::mem::take(&mut *self.started.borrow_mut());
        let mut operations = self.operations.borrow_mut();
        operations.extend(started);
        let before = self.finished.borrow().len();
        while let Poll::Ready(Some(finish)) = operations.poll_next_unpin(task) {
            self.finished.borrow_mut().push_back(finish);
        }
        self.finished.borrow().len() > before
    }

    #[inline]
    fn has_operations(&self) -> bool {
        !self.started.borrow().is_empty() || !self.operations.borrow().is_empty()
    }

    /// Polls a script together with the operations that it has started.
    #[inline]
    pub fn poll_with<R: 'static>(
        &self,
        fiber: &mut Fiber<R>,
        task: &mut TaskContext<'_>,
    ) -> Poll<R> {
        loop {
            if let Poll::Ready(result) = Pin::new(&mut *fiber).poll(task) {
                return Poll::Ready(result);
            }
            // Callbacks of finished operations run between two steps of a script.
            if fiber.is_paused() || !self.has_operations() || !self.poll_operations(task) {
                return Poll::Pending;
            }
        }
    }
}

/// Why an event loop stopped early.
pub enum Drained {
    Thrown(Thrown),
    /// The reason of an unhandled rejection.
    Unhandled(Persistent),
}
