//! The connection of one iteration to Chromium. The user's event loop drives it while the script waits for a message.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Context, Poll};

use plimsoll_browser::Connection;

use crate::modules::backlog::Backlog;

/// Maximum number of messages that wait for the script. While there are more, nothing is read.
const MAX_UNPROCESSED: usize = 256;

/// A connection. Dropping it at the end of the iteration closes the user's pages.
pub struct Link {
    connection: RefCell<Connection>,
    /// The number of messages that the script waits for.
    held: Cell<i64>,
    driven: Cell<bool>,
    open: Cell<bool>,
    backlog: Backlog,
}

impl Link {
    /// Connects. Also returns the response to `Browser.getVersion`.
    pub async fn open(mut connection: Connection) -> Result<(Link, String), String> {
        connection.send(r#"{"id":0,"method":"Browser.getVersion"}"#);
        let version = connection.message().await?;
        let link = Link {
            connection: RefCell::new(connection),
            held: Cell::new(0),
            driven: Cell::new(false),
            open: Cell::new(true),
            backlog: Backlog::new(MAX_UNPROCESSED),
        };
        Ok((link, version))
    }

    pub fn is_open(&self) -> bool {
        self.open.get()
    }

    /// Queues a message.
    pub fn send(&self, message: &str) {
        self.connection.borrow_mut().send(message);
        self.backlog.wake();
    }

    /// Changes the number of messages that the script waits for. Returns true if [`Link::drive`] must be run.
    pub fn hold(&self, change: i64) -> bool {
        self.held.set((self.held.get() + change).max(0));
        self.backlog.wake();
        self.held.get() > 0 && self.open.get() && !self.driven.replace(true)
    }

    /// Called when the script has processed a message.
    pub fn processed(&self) {
        self.backlog.processed();
    }

    /// Writes and reads messages while the script waits for any, and passes received messages to `tell`.
    pub async fn drive(self: Rc<Link>, tell: impl Fn(Result<String, String>)) {
        while let Some(message) = poll_fn(|cx| self.poll(cx)).await {
            let failed = message.is_err();
            self.backlog.add();
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

    /// The next message. `None` when the script waits for none.
    fn poll(&self, cx: &mut Context<'_>) -> Poll<Option<Result<String, String>>> {
        self.backlog.set_driver(cx);
        if self.held.get() == 0 {
            return Poll::Ready(None);
        }
        if self.backlog.is_full() {
            return Poll::Pending;
        }
        self.connection.borrow_mut().poll_message(cx).map(Some)
    }
}
