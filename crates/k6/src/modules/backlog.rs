//! The data that a connection has received and the script has not processed yet. While the backlog is full, nothing is
//! read.

use std::cell::{Cell, RefCell};
use std::task::{Context, Waker};

/// Counts pieces of any type, and wakes the task that drives the connection.
pub struct Backlog {
    limit: usize,
    count: Cell<usize>,
    driver: RefCell<Option<Waker>>,
}

impl Backlog {
    /// Nothing is read while `limit` pieces wait for the script.
    pub fn new(limit: usize) -> Backlog {
        Backlog {
            limit,
            count: Cell::new(0),
            driver: RefCell::default(),
        }
    }

    /// Called when a piece is passed on to the script.
    pub fn add(&self) {
        self.count.set(self.count.get() + 1);
    }

    /// Called when the script has processed a piece.
    pub fn processed(&self) {
        let count = self.count.get();
        self.count.set(count.saturating_sub(1));
        if count == self.limit {
            self.wake();
        }
    }

    pub fn is_full(&self) -> bool {
        self.count.get() >= self.limit
    }

    /// Registers the task of `cx` as the one that drives the connection.
    pub fn set_driver(&self, cx: &Context<'_>) {
        let mut driver = self.driver.borrow_mut();
        match &mut *driver {
            Some(driver) => driver.clone_from(cx.waker()),
            None => *driver = Some(cx.waker().clone()),
        }
    }

    /// Wakes the task that drives the connection, if there is one.
    pub fn wake(&self) {
        if let Some(driver) = &*self.driver.borrow() {
            driver.wake_by_ref();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    use super::*;

    struct Wakes(AtomicUsize);

    impl Wake for Wakes {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn the_driver_wakes_when_the_backlog_is_no_longer_full() {
        let wakes = Arc::new(Wakes(AtomicUsize::new(0)));
        let woken = || wakes.0.load(Ordering::Relaxed);
        let backlog = Backlog::new(2);
        backlog.wake();
        backlog.set_driver(&Context::from_waker(&Waker::from(Arc::clone(&wakes))));
        backlog.add();
        assert!(!backlog.is_full());
        backlog.add();
        assert!(backlog.is_full());
        assert_eq!(woken(), 0);
        backlog.processed();
        assert!(!backlog.is_full());
        assert_eq!(woken(), 1);
        backlog.processed();
        backlog.processed();
        assert_eq!(woken(), 1, "it was not full");
    }
}
