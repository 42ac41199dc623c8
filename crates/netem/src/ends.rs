//! Postpones the close of streams while the relay has other work and no peer waits for the close.
//!
//! Closing a connection takes about as long as opening it. In a burst of short connections, the
//! first ones are due to close while the last ones still exchange data. A relay that closed each
//! connection on time would deliver that data late. So a close waits while there is other work, but
//! only for a limited time, and only if neither side can notice the delay.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::time::Duration;

use plimsoll_units::Moment;
use tokio::sync::Notify;

use crate::account::Side;

/// Maximum delay of a close.
const MAX_WAIT: Duration = Duration::from_millis(50);
/// If a turn of the event loop has more steps than this, there is other work to do.
const FEW_STEPS: u64 = 8;
/// Number of streams to close before other work runs.
const ENDS_PER_TURN: usize = 16;

/// The progress of both directions of a connection.
#[derive(Debug, Default)]
pub struct Exchange {
    has_reply: Cell<bool>,
    is_closed: Cell<bool>,
}

impl Exchange {
    /// Records that data was delivered.
    pub fn data(&self, side: Side) {
        if side == Side::Backward {
            self.has_reply.set(true);
        }
    }

    /// Records that the close of a direction is due.
    pub fn end(&self, side: Side) {
        if side == Side::Forward {
            self.is_closed.set(true);
        }
    }

    /// Whether no peer waits for the close of this direction: the client already has its response, or
    /// has closed first.
    pub fn can_wait(&self, side: Side) -> bool {
        match side {
            Side::Forward => self.has_reply.get(),
            Side::Backward => self.is_closed.get(),
        }
    }
}

/// The streams of type `T` whose close is postponed.
#[derive(Debug)]
pub struct Ends<T> {
    waiting: RefCell<VecDeque<(Moment, T)>>,
    added: Notify,
    /// Counts the steps of all tasks.
    steps: Cell<u64>,
}

impl<T> Default for Ends<T> {
    fn default() -> Self {
        Ends {
            waiting: RefCell::default(),
            added: Notify::new(),
            steps: Cell::new(0),
        }
    }
}

impl<T> Ends<T> {
    /// Records that a task is about to do something that takes time.
    pub fn step(&self) {
        self.steps.set(self.steps.get() + 1);
    }

    /// Number of steps that all tasks have taken.
    pub fn steps(&self) -> u64 {
        self.steps.get()
    }

    /// Adds a stream whose close was due at `due`.
    pub fn add(&self, due: Moment, stream: T) {
        self.waiting.borrow_mut().push_back((due, stream));
        self.added.notify_one();
    }

    /// Calls `end` for streams when there is little other work or when they have waited long enough.
    /// Runs until the future is dropped.
    pub async fn run(&self, end: impl Fn(&T)) {
        loop {
            let first = self.waiting.borrow().front().map(|(due, _)| *due);
            let Some(due) = first else {
                self.added.notified().await;
                continue;
            };
            let before = self.steps.get();
            // One turn of the event loop, in which every ready task runs.
            tokio::task::yield_now().await;
            let is_calm = self.steps.get() - before <= FEW_STEPS;
            if is_calm || plimsoll_clock::now() >= due + MAX_WAIT {
                let mut waiting = self.waiting.borrow_mut();
                let count = waiting.len().min(ENDS_PER_TURN);
                waiting.drain(..count).for_each(|(_, stream)| end(&stream));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::task::yield_now;

    use super::*;

    #[test]
    fn only_an_end_that_nobody_waits_for_can_wait() {
        let exchange = Exchange::default();
        assert!(
            !exchange.can_wait(Side::Forward),
            "the server waits for the end"
        );
        assert!(
            !exchange.can_wait(Side::Backward),
            "the client waits for the end"
        );
        exchange.data(Side::Forward);
        exchange.end(Side::Backward);
        assert!(!exchange.can_wait(Side::Forward));
        assert!(!exchange.can_wait(Side::Backward));
        exchange.data(Side::Backward);
        assert!(exchange.can_wait(Side::Forward));
        exchange.end(Side::Forward);
        assert!(exchange.can_wait(Side::Backward));
    }

    #[test]
    fn an_end_waits_while_there_is_other_work() -> std::io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().build()?;
        let (ends, ended) = (Ends::default(), Cell::new(0));
        let start = plimsoll_clock::now();
        ends.add(start, "first");
        ends.add(start, "second");
        // Each turn of the event loop polls each side once.
        let turns = async {
            for turn in 0..100 {
                if plimsoll_clock::now() < start + MAX_WAIT {
                    assert_eq!(ended.get(), 0, "ended in turn {turn}");
                }
                (0..FEW_STEPS + 2).for_each(|_| ends.step());
                yield_now().await;
            }
            while ended.get() < 2 {
                yield_now().await;
            }
        };
        runtime.block_on(async {
            tokio::select! {
                biased;
                () = turns => {}
                () = ends.run(|_| ended.set(ended.get() + 1)) => {}
            }
        });
        assert_eq!(ended.get(), 2);
        Ok(())
    }

    #[test]
    fn an_end_waits_for_a_limited_time() -> std::io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().build()?;
        let (ends, ended) = (Ends::default(), Cell::new(false));
        ends.add(plimsoll_clock::now(), ());
        let busy = async {
            while !ended.get() {
                (0..FEW_STEPS + 2).for_each(|_| ends.step());
                yield_now().await;
            }
        };
        runtime.block_on(async {
            tokio::select! {
                biased;
                () = busy => {}
                () = ends.run(|()| ended.set(true)) => {}
            }
        });
        assert!(ended.get());
        Ok(())
    }
}
