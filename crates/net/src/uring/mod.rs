//! TCP through io_uring: many sends and receives per system call.
//!
//! There is one ring per worker thread. Sends are queued. Once the tasks that were ready have run,
//! they go to the kernel together, with a receive for every socket whose receive buffer is empty. A
//! separate task, the *driver*, submits, reaps and wakes; when there is nothing to do, it sleeps on
//! an eventfd in tokio's reactor, so the rest of the program needs no changes.
//!
//! The time of a send is taken just before the system call that submits it: a server can look
//! slower by the length of that call, never faster.

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
    /// The kernel has no io_uring, lacks a needed feature, or rejects it with this error.
    Refused(i32),
    /// Owned by its driver, which ends with the event loop, and by its streams.
    Running(Weak<Ring>),
}

/// Checks that the kernel allows io_uring, with all the features used here.
///
/// # Errors
/// The kernel's reason.
pub fn check() -> io::Result<()> {
    Ring::new().map(drop)
}

/// This thread's ring, created on first use. Call it where tokio can spawn local tasks.
///
/// # Errors
/// The kernel's reason; it is checked once per thread.
pub(crate) fn current() -> io::Result<Rc<Ring>> {
    CURRENT.with(|current| {
        let mut current = current.borrow_mut();
        match &*current {
            Current::Refused(error) => return Err(io::Error::from_raw_os_error(*error)),
            Current::Running(ring) => {
                // An earlier event loop of this thread may have left a ring.
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
