//! The connection of one iteration to Chromium, driven by the user's event loop while the script waits for a message.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use plimsoll_browser::Connection;

/// Maximum number of messages that wait for the script; while there are more, nothing is read.
const UNHEARD: usize = 256;

/// A connection. Dropping it at the end of the iteration closes the user's pages.
pub struct Link {
    connection: RefCell<Connection>,
    /// Messages that the script waits for.
    held: Cell<i64>,
    driven: Cell<bool>,
    open: Cell<bool>,
    unheard: Cell<usize>,
    driver: RefCell<Option<Waker>>,
}

impl Link {
    /// Starts to use a connection; returns the response to `Browser.getVersion` too.
    pub async fn open(mut connection: Connection) -> Result<(Link, String), String> {
        connection.send(r#"{"id":0,"method":"Browser.getVersion"}"#);
        let version = connection.message().await?;
        let link = Link {
            connection: RefCell::new(connection),
            held: Cell::new(0),
            driven: Cell::new(false),
            open: Cell::new(true),
            unheard: Cell::new(0),
            driver: RefCell::default(),
        };
        Ok((link, version))
    }

    pub fn is_open(&self) -> bool {
        self.open.get()
    }

    /// Queues a message.
    pub fn send(&self, message: &str) {
        self.connection.borrow_mut().send(message);
        self.wake();
    }

    /// Changes how many messages the script waits for. True if [`Link::drive`] must be run.
    pub fn hold(&self, change: i64) -> bool {
        self.held.set((self.held.get() + change).max(0));
        self.wake();
        self.held.get() > 0 && self.open.get() && !self.driven.replace(true)
    }

    /// Called when the script has processed a message.
    pub fn heard(&self) {
        let unheard = self.unheard.get();
        self.unheard.set(unheard.saturating_sub(1));
        if unheard == UNHEARD {
            self.wake();
        }
    }

    fn wake(&self) {
        if let Some(driver) = &*self.driver.borrow() {
            driver.wake_by_ref();
        }
    }

    /// Writes and reads messages as long as the script waits for any, and passes them to `tell`.
    pub async fn drive(self: Rc<Link>, tell: impl Fn(Result<String, String>)) {
        while let Some(message) = poll_fn(|cx| self.poll(cx)).await {
            let failed = message.is_err();
            self.unheard.set(self.unheard.get() + 1);
            if failed {
                self.open.set(false);
            }
            tell(message);
            if failed {
                break;
            }
        }
        self.driven.set(false);
    }

    /// The next message; `None` when the script waits for none.
    fn poll(&self, cx: &mut Context<'_>) -> Poll<Option<Result<String, String>>> {
        *self.driver.borrow_mut() = Some(cx.waker().clone());
        if self.held.get() == 0 {
            return Poll::Ready(None);
        }
        if self.unheard.get() >= UNHEARD {
            return Poll::Pending;
        }
        self.connection.borrow_mut().poll_message(cx).map(Some)
    }
}
