//! Bounds how many connections remain after they were closed.
//!
//! A closed QUIC connection remains for three probe timeouts, to respond to packets that are still under way (RFC 9000,
//! section 10.2): three seconds if the server has never been heard. It takes more than 100 kB in quinn, so a thousand
//! failed connections per second would hold hundreds of megabytes. Where too many remain, the oldest ones end early. Late
//! packets for them get a stateless reset instead.

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

/// Closed connections that may always remain.
const ALWAYS: usize = 64;

/// Closed connections of a worker: as many remain as were ever open at once, but at least [`ALWAYS`].
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
            && (oldest.is_finished() || closed.len() > self.most_open.get().max(ALWAYS))
        {
            oldest.abort();
            closed.pop_front();
        }
    }
}

/// The task that sends and receives for an open connection. It remains for a while after this has been dropped.
pub(crate) struct Task {
    task: Option<AbortHandle>,
    draining: Rc<Draining>,
}

impl Task {
    /// The task of the connection that was just begun with this runtime.
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

/// Tokio for quinn, which starts a task for each connection and does not give it away.
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
