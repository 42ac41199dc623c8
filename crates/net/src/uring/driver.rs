#![allow(unsafe_code)]
//! The task that turns a ring.

use std::future::poll_fn;
use std::io;
use std::os::fd::{FromRawFd, OwnedFd};
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use tokio::io::unix::AsyncFd;

use super::ring::Ring;

/// Starts the driver of `ring` as a local task, which ends with the event loop. It owns the ring:
/// a ring that ended with its last stream would be made anew for every connection of a user that
/// keeps none.
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
    /// Nobody turns the ring any more: streams that outlive the event loop fail, and do not hang.
    fn drop(&mut self) {
        self.ring.end(libc::ECANCELED);
    }
}

impl Driver {
    /// One turn. If it did something, another follows when the tasks it woke have
    /// run; if not, the driver sleeps until a task queues something or the kernel
    /// has completed something.
    fn poll(&self, cx: &mut Context<'_>) -> Poll<()> {
        self.ring.awake();
        self.ring.set_driver(cx.waker());
        loop {
            match self.ring.turn() {
                // The kernel refuses the ring altogether, and its streams have failed.
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
            // Readiness of old is taken away until there is none.
            loop {
                match ready!(self.event.poll_read_ready(cx)) {
                    Ok(mut guard) => guard.clear_ready(),
                    Err(_) => return Poll::Ready(()),
                }
            }
        }
    }
}

/// An eventfd that the reactor can watch. It is never read: each notification
/// is an edge of its own.
fn event() -> io::Result<OwnedFd> {
    // SAFETY: the call takes no pointers; a descriptor it returns is ours.
    unsafe {
        let fd = libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK);
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(OwnedFd::from_raw_fd(fd))
    }
}
