//! Shares a worker's thread between users that compute without waiting.
//!
//! A worker runs one task at a time, and a task releases the thread only where it waits. A user
//! that never waits (an empty function, an endless loop) would block timers, sockets, stop signals
//! and all other users of its worker. So code that may compute for a long time regularly checks
//! [`is_used_up`], and awaits [`next`] if that returns true.
//!
//! The slice belongs to the worker, not to the user: a hundred busy users together occupy the
//! thread no longer than one does. They wait in one queue. Each turn of the event loop checks
//! timers and sockets, and then lets only the first user in the queue continue.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::task::{Poll, Waker};
use std::time::Duration;

use plimsoll_units::Moment;

/// How long users may compute before the event loop gets a turn. A turn costs a few microseconds.
/// The worker's other tasks may be delayed by up to this duration.
const SLICE: Duration = Duration::from_millis(2);

struct Slices {
    /// When the event loop last had its turn; `None` on a thread without a worker.
    began: Cell<Option<Moment>>,
    /// The tasks that wait for a slice, in the order of their arrival, which is also the order of their
    /// tickets.
    queue: RefCell<VecDeque<Waiter>>,
    last_ticket: Cell<u64>,
}

struct Waiter {
    ticket: u64,
    task: Waker,
}

thread_local! {
    static SLICES: Slices = const {
        Slices {
            began: Cell::new(None),
            queue: RefCell::new(VecDeque::new()),
            last_ticket: Cell::new(0),
        }
    };
}

/// Records that the event loop just had its turn; `None` when the worker has ended.
pub(crate) fn begin(now: Option<Moment>) {
    SLICES.with(|slices| slices.began.set(now));
}

/// Whether users of this worker have computed for too long. Always false on a thread without a
/// worker's event loop.
#[inline]
pub fn is_used_up(now: Moment) -> bool {
    let began = SLICES.with(|slices| slices.began.get());
    began.is_some_and(|began| now.since(began) >= SLICE)
}

/// Waits until the event loop has checked timers and sockets, and until users that have waited
/// longer have had their slice.
pub async fn next() {
    let mut place: Option<Place> = None;
    poll_fn(|context| {
        let place = place.get_or_insert_with(|| Place::take(context.waker()));
        if place.is_first(context.waker()) {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
    // The event loop resumes this task after it has polled the system. A task that wakes itself would
    // resume earlier.
    tokio::task::yield_now().await;
    begin(Some(plimsoll_clock::now()));
}

/// A position in the queue. Dropping it moves up the next one.
struct Place {
    ticket: u64,
}

impl Place {
    fn take(task: &Waker) -> Place {
        SLICES.with(|slices| {
            let ticket = slices.last_ticket.get() + 1;
            slices.last_ticket.set(ticket);
            slices.queue.borrow_mut().push_back(Waiter {
                ticket,
                task: task.clone(),
            });
            Place { ticket }
        })
    }

    fn is_first(&self, task: &Waker) -> bool {
        SLICES.with(|slices| {
            let mut queue = slices.queue.borrow_mut();
            let Ok(index) = queue.binary_search_by_key(&self.ticket, |waiter| waiter.ticket) else {
                return true;
            };
            queue[index].task.clone_from(task);
            index == 0
        })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // The thread may be exiting, and its queue may already be freed.
        let _ = SLICES.try_with(|slices| {
            let mut queue = slices.queue.borrow_mut();
            let index = queue.binary_search_by_key(&self.ticket, |waiter| waiter.ticket);
            if let Ok(index) = index {
                queue.remove(index);
            }
            if index == Ok(0)
                && let Some(first) = queue.front()
            {
                first.task.wake_by_ref();
            }
        });
    }
}
