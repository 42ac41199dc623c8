//! Shares a worker's thread between users that compute without waiting.
//!
//! A worker runs one task at a time, and a task gives the thread back only where it waits. A user
//! that never waits (an empty function, an endless loop) would keep timers, sockets, stop signals
//! and all other users of its worker waiting. So whoever may compute for long asks [`is_used_up`]
//! now and then, and then awaits [`next`].
//!
//! The slice belongs to the worker, not to the user: a hundred busy users together hold the thread
//! no longer than one does. They wait in one queue, and each turn of the event loop, after timers
//! and sockets have been looked at, lets only the first of them go on.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::task::{Poll, Waker};
use std::time::Duration;

use plimsoll_units::Moment;

/// How long users may compute before the event loop takes its turn. A turn costs a few
/// microseconds, and everything else that the worker does is late by up to this long.
const SLICE: Duration = Duration::from_millis(2);

struct Slices {
    /// When the event loop last took its turn; none where no worker runs.
    began: Cell<Option<Moment>>,
    /// Who waits for a slice, in the order in which they came, and so of their tickets.
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

/// Notes that the event loop has just taken its turn; `None` when the worker is over.
pub(crate) fn begin(now: Option<Moment>) {
    SLICES.with(|slices| slices.began.set(now));
}

/// Whether users of this worker have computed for longer than they should. Never on a thread
/// without an event loop of ours.
#[inline]
pub fn is_used_up(now: Moment) -> bool {
    let began = SLICES.with(|slices| slices.began.get());
    began.is_some_and(|began| now.since(began) >= SLICE)
}

/// Waits until the event loop has looked at timers and sockets, and until users that have waited
/// for longer have had their slice.
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
    // Resumed after the event loop has asked the system, unlike a task that wakes itself.
    tokio::task::yield_now().await;
    begin(Some(plimsoll_clock::now()));
}

/// A place in the queue. Dropping it lets the next one move up.
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
        // The thread may be ending, its queue gone.
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
