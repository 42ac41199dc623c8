//! Limits the number of closed connections that are kept.
//!
//! A closed QUIC connection is kept for three probe timeouts, to respond to packets that are still
//! in flight (RFC 9000, section 10.2). That is three seconds if nothing was ever received from the
//! server. Each connection needs more than 100 kB in quinn, so a thousand failed connections per
//! second would use hundreds of megabytes. If there are too many, the oldest ones are dropped
//! early. Late packets for them cause a stateless reset instead.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use quinn::{AsyncTimer, AsyncUdpSocket, TokioRuntime};
use tokio::task::AbortHandle;

/// Number of closed connections that are always kept.
const ALWAYS_KEPT: usize = 64;

/// The closed connections of a worker: at most as many as were ever open at the same time, but at
/// least [`ALWAYS_KEPT`].
#[derive(Default)]
pub(crate) struct Draining {
    /// The tasks of closed connections, oldest first.
    closed: RefCell<VecDeque<AbortHandle>>,
    open: Cell<usize>,
    most_open: Cell<usize>,
}

impl Draining {
    fn opened(&self) {
        self.open.set(self.open.get() + 1);
        self.most_open
            .set(self.most_open.get().max(self.open.get()));
    }

    fn closed(&self, task: AbortHandle) {
        self.open.set(self.open.get().saturating_sub(1));
        let mut closed = self.closed.borrow_mut();
        closed.push_back(task);
        while let Some(oldest) = closed.front()
            && (oldest.is_finished() || closed.len() > self.most_open.get().max(ALWAYS_KEPT))
        {
            oldest.abort();
            closed.pop_front();
        }
    }
}

/// The task that sends and receives for an open connection. It continues for a while after this
/// value has been dropped.
pub(crate) struct Task {
    task: Option<AbortHandle>,
    draining: Rc<Draining>,
}

impl Task {
    /// The task of the connection that was started last with this runtime.
    pub fn of_new_connection(runtime: &Runtime, draining: &Rc<Draining>) -> Task {
        draining.opened();
        Task {
            task: runtime.newest().take(),
            draining: Rc::clone(draining),
        }
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        if let Some(task) = self.task.take() {
            self.draining.closed(task);
        }
    }
}

/// A tokio runtime for quinn that keeps the handles of connection tasks, which quinn does not expose.
#[derive(Debug, Default)]
pub(crate) struct Runtime {
    newest: Mutex<Option<AbortHandle>>,
}

impl Runtime {
    fn newest(&self) -> std::sync::MutexGuard<'_, Option<AbortHandle>> {
        self.newest.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl quinn::Runtime for Runtime {
    fn new_timer(&self, at: Instant) -> Pin<Box<dyn AsyncTimer>> {
        TokioRuntime.new_timer(at)
    }

    fn spawn(&self, future: Pin<Box<dyn Future<Output = ()> + Send>>) {
        *self.newest() = Some(tokio::spawn(future).abort_handle());
    }

    fn wrap_udp_socket(&self, socket: std::net::UdpSocket) -> io::Result<Arc<dyn AsyncUdpSocket>> {
        TokioRuntime.wrap_udp_socket(socket)
    }

    fn now(&self) -> Instant {
        TokioRuntime.now()
    }
}
