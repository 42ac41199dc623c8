#![allow(unsafe_code)]
//! The task that drives a ring.

use std::future::poll_fn;
use std::io;
use std::os::fd::{FromRawFd, OwnedFd};
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use tokio::io::unix::AsyncFd;

use super::ring::Ring;

/// Starts the driver of `ring` as a local task that lives until the event loop ends. The driver
/// owns the ring. If the streams owned it, a user without open connections would create a new ring
/// for each connection.
pub(super) fn start(ring: &Rc<Ring>) -> io::Result<()> {
    let event = event()?;
    ring.notify(&event)?;
    // SAFETY: the descriptor is owned, and does not change until it is closed.
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
    /// Tells the ring that it no longer has a driver, so streams that outlive the event loop fail instead of hanging.
    fn drop(&mut self) {
        self.ring.end(libc::ECANCELED);
    }
}

impl Driver {
    /// Runs one turn. If the turn did something, another one follows after the tasks that it woke have
    /// run. Otherwise the driver sleeps until a task queues an operation or the kernel completes one.
    fn poll(&self, cx: &mut Context<'_>) -> Poll<()> {
        self.ring.cancel_sleep();
        self.ring.set_driver(cx.waker());
        loop {
            match self.ring.turn() {
                // The kernel rejects the ring completely, so its streams have failed.
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
            // Clear stale readiness.
            loop {
                match ready!(self.event.poll_read_ready(cx)) {
                    Ok(mut guard) => guard.clear_ready(),
                    Err(_) => return Poll::Ready(()),
                }
            }
        }
    }
}

/// An eventfd that tokio can watch. It is never read: with edge triggering, each notification wakes
/// the task.
fn event() -> io::Result<OwnedFd> {
    // SAFETY: the call takes no pointers, and it returns a new descriptor that only this code owns.
    unsafe {
        let fd = libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK);
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(OwnedFd::from_raw_fd(fd))
    }
}
