//! Signals that end the iteration of one user.

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::task::{Poll, Waker};

use plimsoll_units::Moment;

/// A signal that asks one virtual user to end its iteration now.
///
/// A user is one task, and that task polls everything it waits for. So the signal needs no list of
/// waiters: firing it sets a flag and wakes the task, and [`Stop::race`] sees the flag when it is
/// polled again. So waiting with a stop signal costs one comparison per poll and no setup.
///
/// The user's own task must await `race` and `stopped` (not a task that the user spawned), because
/// they are polled only when that task wakes.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    inner: Rc<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    tripped: Cell<bool>,
    deadline: Cell<Option<Moment>>,
    task: RefCell<Option<Waker>>,
}

/// The stop signal asked the iteration to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped;

impl Stop {
    /// Creates a signal that has not fired.
    pub fn new() -> Self {
        Stop::default()
    }

    /// Whether the user should end its iteration. Synchronous code that may run for a long time (for
    /// example a loop in a script) must check this regularly.
    pub fn is_stopped(&self) -> bool {
        self.inner.tripped.get()
    }

    /// Waits for `work` or for the signal, whichever is first. If the signal is first, `work` is
    /// dropped, which cancels it.
    pub async fn race<T>(&self, work: impl Future<Output = T>) -> Result<T, Stopped> {
        let mut work = pin!(work);
        poll_fn(|context| {
            if self.is_stopped() {
                return Poll::Ready(Err(Stopped));
            }
            work.as_mut().poll(context).map(Ok)
        })
        .await
    }

    /// Waits only for the signal.
    pub async fn stopped(&self) {
        poll_fn(|_| match self.is_stopped() {
            true => Poll::Ready(()),
            false => Poll::Pending,
        })
        .await;
    }

    /// Sets the latest time at which the signal fires. Synchronous code that occupies the worker's
    /// thread also blocks the code that would fire the signal. So it checks [`Stop::is_overdue`]
    /// instead.
    pub fn set_deadline(&self, deadline: Moment) {
        self.inner.deadline.set(Some(deadline));
    }

    /// Whether the signal has fired, or should have by `now`.
    pub fn is_overdue(&self, now: Moment) -> bool {
        self.is_stopped()
            || self
                .inner
                .deadline
                .get()
                .is_some_and(|deadline| now >= deadline)
    }

    /// Fires the signal.
    pub fn trip(&self) {
        self.inner.tripped.set(true);
        if let Some(task) = self.inner.task.borrow().as_ref() {
            task.wake_by_ref();
        }
    }

    /// Resets the signal before the user's next iteration.
    pub fn reset(&self) {
        self.inner.tripped.set(false);
        self.inner.deadline.set(None);
    }

    /// Registers the current task as the one to wake. The task that will run the user must await this
    /// once. This includes other callers, such as a test or a setup call.
    pub async fn adopt_task(&self) {
        poll_fn(|context| {
            *self.inner.task.borrow_mut() = Some(context.waker().clone());
            Poll::Ready(())
        })
        .await;
    }
}
