#![allow(unsafe_code)]
//! The task that drives a ring.

use std::future::poll_fn;
use std::io;
use std::os::fd::{FromRawFd, OwnedFd};
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use tokio::io::unix::AsyncFd;

use super::ring::Ring;

/// Starts the driver of `ring` as a local task, which ends with the event loop. The driver owns the
/// ring: if the streams owned it, a user that keeps no connection would create a new ring for each
/// one.
pub(super) fn start(ring: &Rc<Ring>) -> io::Result<()> {
    let event = event()?;
    ring.notify(&event)?;
    // SAFETY: the descriptor is owned, and stays the same one until it closes.
    let event = unsafe { AsyncFd::register(event)? };
    let driver = Driver {
        ring: Rc::clone(ring),
        event,
    };
    tokio::task::spawn_local(poll_fn(move |cx| driver.poll(cx)));
    Ok(())
}

struct Driver {
    ring: Rc<Ring>,
    event: AsyncFd<OwnedFd>,
}

impl Drop for Driver {
    /// The ring has no driver any more: streams that outlive the event loop fail instead of
    /// hanging.
    fn drop(&mut self) {
        self.ring.end(libc::ECANCELED);
    }
}

impl Driver {
    /// One turn. If it did something, another follows once the tasks it woke have run. If not, the
    /// driver sleeps until a task queues something or the kernel completes something.
    fn poll(&self, cx: &mut Context<'_>) -> Poll<()> {
        self.ring.awake();
        self.ring.set_driver(cx.waker());
        loop {
            match self.ring.turn() {
                // The kernel rejects the ring completely, and its streams have failed.
                Err(_) => return Poll::Ready(()),
                Ok(true) => {
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
                Ok(false) => {}
            }
            if !self.ring.sleep() {
                continue;
            }
            // Clear old readiness until none is left.
            loop {
                match ready!(self.event.poll_read_ready(cx)) {
                    Ok(mut guard) => guard.clear_ready(),
                    Err(_) => return Poll::Ready(()),
                }
            }
        }
    }
}

/// An eventfd that tokio can watch. It is never read: with edge triggering, each notification
/// counts.
fn event() -> io::Result<OwnedFd> {
    // SAFETY: the call takes no pointers; the returned descriptor is new and ours.
    unsafe {
        let fd = libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK);
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(OwnedFd::from_raw_fd(fd))
    }
}
