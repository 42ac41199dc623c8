//! TCP through io_uring: many sends and receives per system call.
//!
//! Each worker thread has one ring. Sends are queued. After all ready tasks have run, the queued
//! sends go to the kernel together, with a receive for every socket whose receive buffer is empty.
//! A separate task, the *driver*, submits operations, collects completions and wakes tasks. When it
//! has nothing to do, it sleeps on an eventfd in tokio's reactor, so the rest of the program needs
//! no changes.
//!
//! The time of a send is recorded just before the system call that submits it. So a server can look
//! slower by the duration of that call, but never faster.

mod driver;
#[cfg(test)]
mod model;
mod ring;
mod socket;
mod stream;
#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::io;
use std::rc::{Rc, Weak};

use ring::Ring;
pub use stream::UringTcp;

thread_local! {
    static CURRENT: RefCell<Current> = const { RefCell::new(Current::Untried) };
}

enum Current {
    Untried,
    /// The kernel has no io_uring, lacks a required feature, or rejects io_uring with this error.
    Refused(i32),
    /// The driver and the streams own the ring. The driver ends with the event loop.
    Running(Weak<Ring>),
}

/// Checks that the kernel allows io_uring and supports every feature that this module uses.
///
/// # Errors
/// The kernel's reason for rejecting it.
pub fn check() -> io::Result<()> {
    Ring::new().map(drop)
}

/// This thread's ring, created on first use. The caller must run where tokio can spawn local tasks.
///
/// # Errors
/// The kernel's reason for rejecting it. It is checked once per thread.
pub(crate) fn current() -> io::Result<Rc<Ring>> {
    CURRENT.with(|current| {
        let mut current = current.borrow_mut();
        match &*current {
            Current::Refused(error) => return Err(io::Error::from_raw_os_error(*error)),
            Current::Running(ring) => {
                // The ring may belong to an earlier event loop of this thread.
                if let Some(ring) = ring.upgrade()
                    && ring.is_usable()
                {
                    return Ok(ring);
                }
            }
            Current::Untried => {}
        }
        let made = Ring::new().map(Rc::new);
        let started = made.and_then(|ring| driver::start(&ring).map(|()| ring));
        *current = match &started {
            Ok(ring) => Current::Running(Rc::downgrade(ring)),
            Err(error) => Current::Refused(error.raw_os_error().unwrap_or(libc::ENOSYS)),
        };
        started
    })
}
